#include <CLI/CLI.hpp>
#include <algorithm>
#include <exception>
#include <string>
#include <vector>

#include "tools/cli/commands.hpp"
#include "tools/cli/hand_over.hpp"
#include "tools/cli/output.hpp"
#include "tools/cli/request_options.hpp"

// The command that people type. It knows only what speaks to a cluster, and links only what that
// takes, so that it starts in a few milliseconds. All else is muster-full's: the other commands,
// and help and complaints of any, which are the same wherever they were asked for.

int main(int argc, char** argv) {
  using namespace muster::cli;
  open_standard_streams();
  CLI::App app;
  app.require_subcommand(1);
  int exit_code = kDone;
  const auto [own, rest] = own_words(argc, argv);
  const std::vector<std::string> words(argv + rest, argv + argc);
  if (argc < 2 || !add_client_command(app, exit_code, words, argv[1])) return hand_over(argv);
  try {
    app.parse(own, argv);
  } catch (const CLI::ParseError&) {
    // No command has begun: words are looked at before anything is done.
    return hand_over(argv);
  } catch (const std::exception& error) {
    complain(sentence_of(error));
    return kFailed;
  }
  return flush_standard_output() ? exit_code : kFailed;
}
