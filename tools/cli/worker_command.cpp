#include <fcntl.h>
#include <fmt/format.h>
#include <pthread.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "config/worker_config.hpp"
#include "serve/machines/machine_folder.hpp"
#include "serve/machines/task_user.hpp"
#include "serve/worker_node.hpp"
#include "tools/cli/commands.hpp"
#include "tools/cli/output.hpp"
#include "workers/process/limits/limits.hpp"
#include "workers/process/limits/task_limits.hpp"
#include "workers/process/progress.hpp"
#include "workers/process/shim/lease.hpp"

// The command that is the worker of an instance. Flags become overrides of its config, so that
// there is one way to state a setting. How the process ends decides what becomes of the tasks: on
// SIGTERM they go on under their shims, on the end of the instance they do not.

namespace muster::cli {
namespace {

namespace fs = std::filesystem;

constexpr unsigned kFirstOwnDescriptor = 3;
constexpr unsigned kCloseRangeCloexec = 1u << 2;

/// A flag and the key of the config that it sets.
struct KeyFlag {
  const char* flag;
  const char* key;
  const char* meaning;
  bool path = false;  ///< meant from where the command is called
};
constexpr KeyFlag kKeyFlags[] = {
    {"--instance", "instance", "number of the instance that it is the worker of"},
    {"--master-name", "master_name", "name in the master's certificate"},
    {"--tls-cert", "tls.certificate", "the instance's certificate", true},
    {"--tls-key", "tls.key", "its key", true},
    {"--tls-trusted", "tls.trusted", "the nodes' authority", true},
    {"--state-dir", "state_dir", "folder of this instance's attempts", true},
    {"--checkpoint-root", "checkpoint_root", "folder of checkpoints, shared by instances", true},
    {"--shim", "shim_program", "program that supervises an attempt; default: this command", true},
    {"--log", "log", "file of its log; default: standard error", true},
};

struct WorkerFlags {
  std::string config;
  std::vector<std::string> values = std::vector<std::string>(std::size(kKeyFlags));
  std::vector<std::string> masters;
  std::string capacity;
  bool insecure_loopback = false;
  std::vector<std::string> sets;
};

std::string quoted(const std::string& text) {
  std::string toml = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') toml += '\\';
    toml += c;
  }
  return toml + "\"";
}

/// The flags as overrides of the config. False after a complaint.
bool collect(const WorkerFlags& flags, std::vector<std::string>& overrides) {
  for (std::size_t i = 0; i < std::size(kKeyFlags); ++i) {
    const KeyFlag& flag = kKeyFlags[i];
    const std::string& value = flags.values[i];
    if (value.empty()) continue;
    overrides.push_back(std::string(flag.key) + "=" +
                        (flag.path ? quoted(fs::absolute(value).string()) : value));
  }
  if (!flags.masters.empty()) {
    std::string list;
    for (const std::string& place : flags.masters) {
      list += (list.empty() ? "" : ",") + quoted(place);
    }
    overrides.push_back("masters=[" + list + "]");
  }
  std::istringstream amounts(flags.capacity);
  for (std::string amount; std::getline(amounts, amount, ',');) {
    if (amount.find('=') == std::string::npos) {
      complain("--type-capacity has to be like cpu=4,memory=16,gpu=0; a part of it is '" + amount +
               "'");
      return false;
    }
    overrides.push_back("capacity." + amount);
  }
  if (flags.insecure_loopback) overrides.emplace_back("insecure_loopback=true");
  overrides.insert(overrides.end(), flags.sets.begin(), flags.sets.end());
  return true;
}

/// Descriptors that this process was given are not for the tasks: only this process's end closes a
/// lock.
void keep_descriptors_here() {
  if (syscall(SYS_close_range, kFirstOwnDescriptor, ~0u, kCloseRangeCloexec) == 0) return;
  // Kernels before 5.11 do not know the flag of close_range().
  const long most = sysconf(_SC_OPEN_MAX);
  for (int i = kFirstOwnDescriptor; i < most; ++i) {
    if (const int found = fcntl(i, F_GETFD); found >= 0) fcntl(i, F_SETFD, found | FD_CLOEXEC);
  }
}

/// A worker's last work when its instance ends and it reports nothing any more: it stays the
/// process to which orphans come, so that they are found, until all have ended or the machine sends
/// a second signal for the instance's end; then it kills the rest.
void hold_orphans(const sigset_t& endings) {
  constexpr timespec kLook{0, 50'000'000};
  while (true) {
    pid_t reaped = 0;
    while ((reaped = waitpid(-1, nullptr, WNOHANG)) > 0) {
    }
    if (reaped < 0) return;  // nothing is left
    const int signal = sigtimedwait(&endings, nullptr, &kLook);
    if (signal == machines::kInstanceEnds) return process::kill_descendants();
    if (signal > 0) return;
  }
}

/// Why tasks cannot run as the user that the config names, or not get to their folders; empty: they
/// can.
std::string task_user_fault(const WorkerConfig& config) {
  // Keys are those of a cluster file, but for the section's name and what it makes superfluous.
  const auto own_name = [](const std::string& key) {
    constexpr std::string_view kTask = "task_";
    return "tasks." + (key.starts_with(kTask) ? key.substr(kTask.size()) : key);
  };
  if (const auto fault = machines::task_user_fault(config.tasks)) {
    return fmt::format("{} = {}: {}", own_name(fault->key), fault->value, fault->text);
  }
  const auto user = machines::other_task_user(config.tasks);
  if (!user) return {};
  for (const fs::path& folder : {config.state_dir, config.checkpoint_root}) {
    if (const auto barred = machines::barred_on_way(fs::absolute(folder).parent_path(), *user)) {
      return own_name(machines::task_user_setting(config.tasks)) + ": " +
             machines::barred_text(*barred, *user);
    }
  }
  return {};
}

/// Waits until the worker is to end: the signal that says so, or nothing when the lease of its
/// machine is over. Supervisors, which see to their tasks, have the first seconds after it.
std::optional<int> await_end(const sigset_t& endings, const process::Lease& lease) {
  constexpr timespec kLook{1, 0};
  constexpr Duration kOfSupervisors = std::chrono::seconds{2};
  while (true) {
    const auto lease_end = lease.end();
    if (lease_end && process::boot_time() >= *lease_end + kOfSupervisors) return std::nullopt;
    const int signal = sigtimedwait(&endings, nullptr, lease_end ? &kLook : nullptr);
    if (signal < 0) continue;
    // Anybody who may signal this process could say that its instance ends.
    if (signal != machines::kInstanceEnds || machines::is_told_to_end()) return signal;
  }
}

int run_worker(const WorkerFlags& flags) {
  std::vector<std::string> overrides;
  if (!collect(flags, overrides)) return kUsage;
  const auto config = load_worker_config(flags.config, overrides);
  if (!config) {
    complain(config.error().message);
    return config.error().code == ConfigError::bad_override ? kUsage : kFailed;
  }
  if (const std::string fault = task_user_fault(config.value()); !fault.empty()) {
    complain(fault);
    return kUsage;
  }
  umask(077);  // tasks have their own
  process::raise_own_limits();
  keep_descriptors_here();
  // Children of a killed shim become children of this process, and so can be found.
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  // Blocked before there are threads, which inherit it: sigwait() below is the one to get them.
  sigset_t endings;
  sigemptyset(&endings);
  sigaddset(&endings, SIGTERM);
  sigaddset(&endings, SIGINT);
  sigaddset(&endings, machines::kInstanceEnds);
  pthread_sigmask(SIG_BLOCK, &endings, nullptr);
  std::signal(SIGPIPE, SIG_IGN);  // NOLINT(cert-err33-c): the former handler is of no interest
  auto node = WorkerNode::start(config.value(), fs::read_symlink("/proc/self/exe"));
  if (!node) {
    complain(node.error().message);
    return kFailed;
  }
  const auto lease = process::Lease::of_worker(config->state_dir);
  const auto signal = await_end(endings, lease);
  if (signal && *signal != machines::kInstanceEnds) return kDone;  // its tasks go on
  // First of all: the worker must not report later ends of tasks as their own.
  node.value().reset();
  if (!signal) {
    // A daemon that is gone ends nothing, nor does a supervisor that is stopped itself.
    process::kill_descendants();
    return kDone;
  }
  machines::notify_ending();
  hold_orphans(endings);
  return kDone;
}

}  // namespace

void add_worker(CLI::App& app, int& exit_code) {
  auto flags = std::make_shared<WorkerFlags>();
  CLI::App* command = app.add_subcommand("worker",
                                         "Run the worker of an instance, which runs the tasks that "
                                         "its master orders as processes of this host");
  command->add_option("--config", flags->config, "worker config (TOML)");
  for (std::size_t i = 0; i < std::size(kKeyFlags); ++i) {
    command->add_option(kKeyFlags[i].flag, flags->values[i], kKeyFlags[i].meaning);
  }
  command->add_option("--master", flags->masters,
                      "HOST:PORT of its master; several are tried in turn");
  command->add_option("--type-capacity", flags->capacity, "cpu=4,memory=16,gpu=0,...");
  command->add_flag("--insecure-loopback", flags->insecure_loopback,
                    "no TLS, loopback addresses only: for development");
  command->add_option("--set", flags->sets, "dotted.key=value, overrides the config");
  command->callback([flags, &exit_code] { exit_code = run_worker(*flags); });
}

}  // namespace muster::cli
