// Ends a cluster of this machine, and says what has ended and what is kept.

#include <fmt/format.h>

#include <memory>
#include <system_error>

#include "model/rounded_text.hpp"
#include "serve/local/local_cluster.hpp"
#include "tools/cli/commands.hpp"
#include "tools/cli/local_folder.hpp"
#include "tools/cli/output.hpp"
#include "tools/client/context.hpp"
#include "tools/client/printable.hpp"

namespace muster::cli {
namespace {

namespace fs = std::filesystem;

struct DownArguments {
  std::string dir;
  bool keep = false;
  bool erase = false;
};

/// "The cluster in DIR has ended: 2 instances, with what ran on them; ..."
std::string ended_text(const fs::path& folder, const DownArguments& arguments,
                       const local::Stopped& stopped) {
  const local::KeptLogs& logs = stopped.logs;
  std::string text = stopped.ran ? "The cluster in {} has ended" : "The cluster in {} did not run";
  text = fmt::format(fmt::runtime(text), client::printable(folder.string()));
  if (arguments.keep) text += "; its instances and their tasks run on";
  if (stopped.instances > 0) {
    text += "; " + count_text(stopped.instances, "instance") + " ended with what ran there";
  }
  if (logs.kept > 0) text += "; the output of " + count_text(logs.kept, "attempt") + " is kept";
  if (logs.lost > 0) text += "; that of " + count_text(logs.lost, "attempt") + " is lost";
  return text + (arguments.erase ? "; its folder is erased" : "");
}

int run_down(const DownArguments& arguments) {
  const fs::path folder = local_folder(arguments.dir);
  if (folder.empty()) {
    complain(std::string(client::kNoHome));
    return kFailed;
  }
  const auto progress = [](std::size_t left) {
    complain(fmt::format("waiting for {} instance{} to end", left, left == 1 ? "" : "s"));
  };
  const auto stopped =
      local::LocalCluster(folder).stop({arguments.keep, arguments.erase, progress});
  if (!stopped) {
    complain(stopped.error().message);
    return stopped.error().code == local::LocalError::bad_request ? kUsage : kFailed;
  }
  std::error_code bad;
  // Nothing is deleted while something may still run: stop() has failed otherwise.
  if (arguments.erase) fs::remove_all(folder, bad);
  if (bad) {
    complain(folder.string() + ": " + bad.message());
    return kFailed;
  }
  fmt::print("{}\n", ended_text(folder, arguments, stopped.value()));
  return kDone;
}

}  // namespace

void add_down(CLI::App& app, int& exit_code) {
  auto down = std::make_shared<DownArguments>();
  CLI::App* command = app.add_subcommand("down", "end the cluster that `up` started");
  command
      ->add_option("--dir", down->dir,
                   "its folder; else MUSTER_CLUSTER, else that of `up` without both")
      ->type_name("DIR");
  command->add_flag("--keep-instances", down->keep, "leave the instances and their tasks running");
  command->add_flag("--erase", down->erase, "delete its folder, with everything it knows");
  command->callback([down, &exit_code] { exit_code = run_down(*down); });
}

}  // namespace muster::cli
