#include <CLI/CLI.hpp>
#include <exception>

#include "tools/cli/commands.hpp"
#include "tools/cli/output.hpp"

int main(int argc, char** argv) {
  using namespace muster::cli;
  CLI::App app{"muster: hosts batch work on rented cloud instances at the lowest cost"};
  app.require_subcommand(1);
  app.set_version_flag("--version", MUSTER_VERSION);
  int exit_code = kDone;
  add_replay(app, exit_code);
  add_policies(app, exit_code);
  add_explain(app, exit_code);
  add_convert(app, exit_code);
  add_config_keys(app, exit_code);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (app.exit(error) != 0) return kUsage;
  } catch (const std::exception& error) {
    complain(error.what());
    return kFailed;
  }
  return flush_standard_output() ? exit_code : kFailed;
}
