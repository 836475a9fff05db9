// The command that is a node of a cluster.

#include <fmt/format.h>
#include <malloc.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "config/cluster_folder.hpp"
#include "config/key_place.hpp"
#include "serve/local/local_cluster.hpp"
#include "serve/node/live_node.hpp"
#include "tools/cli/commands.hpp"
#include "tools/cli/output.hpp"
#include "workers/process/limits/task_limits.hpp"

namespace muster::cli {
namespace {

/// Files of a cluster are for the user who runs it.
constexpr mode_t kPrivate = 077;
constexpr int kKeeperIsGone = SIGUSR2;

/// Memory of requests is used again and not given back to the system between any two of them:
/// an array of 1,000 tasks touches megabytes, whose pages the kernel would have to clear each time.
void keep_memory() {
  constexpr int kMiB = 1 << 20;
  mallopt(M_MMAP_THRESHOLD, 32 * kMiB);
  mallopt(M_TRIM_THRESHOLD, 64 * kMiB);
  mallopt(M_TOP_PAD, kMiB);
}

struct NodeArguments {
  std::string config;
  std::string name;
  std::vector<std::string> overrides;
  bool terminal = false;
  int keeper = 0;  ///< process that started it; 0: it has no keeper
  bool new_store = false;
};

/// A fault of a value of the file, with the place of the value.
std::string with_place(const NodeArguments& arguments, const Failure<NodeError>& fault) {
  const std::string catalog = "catalog";
  // The message of a catalog names the key itself, and that of a fleet another one.
  const bool of_catalog = fault.message.starts_with(catalog + ": ");
  if (fault.code == NodeError::bad_catalog && of_catalog) {
    return key_place(arguments.config, arguments.overrides, catalog) +
           fault.message.substr(catalog.size());
  }
  if (fault.code != NodeError::bad_policy) return fault.message;
  return key_place(arguments.config, arguments.overrides, "policy") + ": " + fault.message;
}

/// The supervisor of the node starts it again.
int take_numbers(const NodeSetup& setup, const RosterOffer& offer, const std::string& who) {
  if (const auto trouble = LiveNode::take(setup, offer)) {
    complain(fmt::format("{}{}; it cannot take the numbers of node {}: {}", who, offer.difference,
                         offer.node, trouble->message));
  } else {
    complain(
        fmt::format("{}{}; it had no state yet and has taken the numbers of node {}: it has to "
                    "be started again",
                    who, offer.difference, offer.node));
  }
  return kFailed;
}

/// Of all nodes that do this one's keeper comes first, and the others find it there.
void replace_keeper(const NodeSetup& setup, const std::string& who) {
  const std::filesystem::path dir = setup.config.file.parent_path();
  if (keeper_state(dir) != KeeperState::killed) return;
  complain(who + "its keeper was killed, and is started again");
  const std::string why = start_keeper(dir, setup.program, Surroundings::whole);
  if (!why.empty()) complain(who + why);
}

int run_node(const NodeArguments& arguments) {
  // All nodes of a supervisor write into one log.
  const std::string who =
      arguments.keeper != 0 ? fmt::format("node {}: ", arguments.name) : std::string{};
  auto config = load_cluster_config(arguments.config, arguments.overrides);
  if (!config) {
    complain(who + config.error().message);
    return kUsage;
  }
  umask(kPrivate);
  process::raise_own_limits();
  keep_memory();
  // Before there are threads, so that all of them inherit it.
  sigset_t ends;
  sigemptyset(&ends);
  sigaddset(&ends, SIGTERM);
  sigaddset(&ends, SIGINT);
  sigaddset(&ends, SIGUSR1);
  sigaddset(&ends, kKeeperIsGone);
  pthread_sigmask(SIG_BLOCK, &ends, nullptr);
  // A keeper that is killed cannot start its nodes again: they end, and start another one.
  if (arguments.keeper != 0) prctl(PR_SET_PDEATHSIG, kKeeperIsGone);
  if (arguments.keeper != 0 && getppid() != arguments.keeper) kill(getpid(), kKeeperIsGone);
  signal(SIGPIPE, SIG_IGN);
  NodeSetup setup{std::move(config).value(), arguments.name, local::own_program(),
                  arguments.terminal, arguments.new_store};
  if (setup.node.empty() && setup.config.nodes.size() == 1) {
    // A cluster of one node needs no name on the command line.
    setup.node = setup.config.nodes.front().name;
  }
  // A signal of its own wakes sigwait() below: from any calling thread, the node ends in this one.
  setup.has_to_end = [] { kill(getpid(), SIGUSR1); };
  auto node = LiveNode::start(setup);
  if (!node) {
    complain(who + with_place(arguments, node.error()));
    const NodeError code = node.error().code;
    const bool said_wrongly = code == NodeError::unknown_node || code == NodeError::bad_policy ||
                              code == NodeError::bad_catalog || code == NodeError::task_user;
    return said_wrongly ? kUsage : kFailed;
  }
  int caught = 0;
  sigwait(&ends, &caught);
  // Asked before the node is destroyed and acted upon after it: the stores are locked while it
  // runs.
  const auto offer = node.value()->offer();
  node.value().reset();
  if (caught == kKeeperIsGone) replace_keeper(setup, who);
  return offer ? take_numbers(setup, *offer, who) : int{kDone};
}

}  // namespace

void add_node(CLI::App& app, int& exit_code) {
  auto arguments = std::make_shared<NodeArguments>();
  CLI::App* command = app.add_subcommand("node", "run one node of a cluster, until SIGTERM");
  command->add_option("--config", arguments->config, "cluster file (see config-keys --cluster)")
      ->required();
  command->add_option("--name", arguments->name, "which of the file's nodes this is");
  command->add_option("--set", arguments->overrides, "KEY=VALUE instead of what the file says");
  command->add_flag("--verbose", arguments->terminal, "log to standard error too");
  command->add_flag("--new-store", arguments->new_store,
                    "make the stores of its roles that are not there: at the first start, or when "
                    "they are lost");
  command->add_option("--kept", arguments->keeper)->group("");
  command->callback([arguments, &exit_code] { exit_code = run_node(*arguments); });
}

}  // namespace muster::cli
