#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "config/numbers.hpp"
#include "serve/hosts/host_daemon.hpp"
#include "serve/hosts/measured.hpp"
#include "serve/machines/computer.hpp"
#include "tools/cli/commands.hpp"
#include "tools/cli/output.hpp"
#include "workers/process/descriptor.hpp"

// `muster join`: on a machine of one's own, which becomes one of a cluster. It runs in the
// foreground, as a unit of systemd has it.

namespace muster::cli {
namespace {

namespace fs = std::filesystem;
using hosts::Labels;

constexpr std::size_t kMostToken = 256;
/// The exit code of a machine that the cluster does not know any more: muster-host.service is not
/// started again after it.
constexpr int kRemoved = 3;

struct JoinArguments {
  std::string url;
  std::string token;
  std::string token_file;
  std::string state;
  std::string checkpoints;
  std::vector<std::string> labels;
  std::optional<std::uint32_t> cpus;
  std::optional<double> memory_gib;
  bool once = false;
};

/// Nothing after a complaint.
std::optional<Endpoint> place_of(const std::string& url) {
  constexpr std::string_view kScheme = "https://";
  std::string_view rest = url;
  const bool is_https = rest.starts_with(kScheme);
  if (is_https) rest.remove_prefix(kScheme.size());
  if (rest.ends_with('/')) rest.remove_suffix(1);
  auto place = is_https ? parse_endpoint(rest) : std::nullopt;
  if (!place) {
    complain(
        "URL: has to be https://HOST:PORT, the address of node.join in the cluster file; it "
        "is '" +
        url + "'");
  }
  return place;
}

/// Other users, and tasks, can read a process' arguments for as long as it runs.
void cover(const std::vector<char*>& words, const std::string& secret) {
  for (char* word : words) {
    char* found = secret.empty() ? nullptr : std::strstr(word, secret.c_str());
    if (found != nullptr) std::memset(found, 'x', secret.size());
  }
}

/// The first line of that file, or of the standard input; nothing after a complaint.
std::optional<std::string> token_in(const std::string& file) {
  std::ifstream opened;
  const bool is_input = file == "-";
  if (!is_input) opened.open(file);
  std::array<char, kMostToken> line{};
  std::istream& in = is_input ? std::cin : opened;
  // Longer lines are cut, and no token is as long.
  in.getline(line.data(), line.size());
  std::string token = line.data();
  while (!token.empty() && (token.back() == '\r' || token.back() == ' ')) token.pop_back();
  if (!token.empty()) return token;
  complain(fmt::format("--token-file: {} has no token in its first line, or may not be read",
                       is_input ? "the standard input" : file));
  return std::nullopt;
}

/// False after a complaint.
bool read_labels(const std::vector<std::string>& words, Labels& labels) {
  for (const std::string& word : words) {
    const std::size_t equals = word.find('=');
    const bool fits = equals != std::string::npos && equals > 0 && equals <= hosts::kMaxText &&
                      word.size() - equals - 1 <= hosts::kMaxText;
    if (!fits || labels.size() >= hosts::kMaxLabels) {
      complain(
          fmt::format("--label: has to be KEY=TEXT, like rack=3, of at most {} bytes each, and "
                      "at most {} times; it is '{}'",
                      hosts::kMaxText, hosts::kMaxLabels, word));
      return false;
    }
    labels[word.substr(0, equals)] = word.substr(equals + 1);
  }
  return true;
}

fs::path default_state() {
  if (geteuid() == 0) return "/var/lib/muster-host";
  const char* state = std::getenv("XDG_STATE_HOME");
  if (state != nullptr && *state != '\0') return fs::path(state) / "muster-host";
  const char* home = std::getenv("HOME");
  return fs::path(home == nullptr ? "." : home) / ".local/state/muster-host";
}

/// Amounts for workers: as measured, unless an option says how much of it. Nothing after a
/// complaint.
std::optional<hosts::Measured> measure(const JoinArguments& arguments, const fs::path& state) {
  const machines::Computer computer = machines::look_at_computer();
  hosts::Measured has{computer.cores, static_cast<std::uint32_t>(computer.memory_bytes >> 30)};
  if (arguments.cpus.value_or(0) > has.cpus) {
    complain(fmt::format("--cpus: the machine has {} cores, and {} are above that", has.cpus,
                         *arguments.cpus));
    return std::nullopt;
  }
  if (arguments.memory_gib.value_or(0) > has.memory_gib) {
    complain(fmt::format("--memory: the machine has {} GiB, and {} are above that", has.memory_gib,
                         *arguments.memory_gib));
    return std::nullopt;
  }
  has.cpus = arguments.cpus.value_or(has.cpus);
  if (arguments.memory_gib) has.memory_gib = static_cast<std::uint32_t>(*arguments.memory_gib);
  hosts::measure_rest(state, has);
  return has;
}

/// Says which options come too late for a machine that has joined. A token may stay.
void say_what_is_too_late(const JoinArguments& arguments, const hosts::JoinedHost& host) {
  const auto say = [](const char* option, const std::string& amount) {
    complain(
        fmt::format("{} is not looked at: the machine has joined with {}; another amount "
                    "counts when it joins anew, with another --state folder",
                    option, amount));
  };
  if (!arguments.labels.empty()) {
    complain(
        fmt::format("--label is not looked at: the machine has joined, and `muster hosts "
                    "label {} {}` changes its labels",
                    host.number, arguments.labels.front()));
  }
  const hosts::Measured& has = host.measured;
  if (arguments.cpus && *arguments.cpus != has.cpus) {
    say("--cpus", fmt::format("{} cores", has.cpus));
  }
  if (arguments.memory_gib && static_cast<std::uint32_t>(*arguments.memory_gib) != has.memory_gib) {
    say("--memory", fmt::format("{} GiB", has.memory_gib));
  }
}

std::string own_name() {
  std::array<char, hosts::kMaxText> name{};
  gethostname(name.data(), name.size() - 1);
  return name.data();
}

/// Nothing after a complaint. The folder's lock goes with the process.
std::optional<process::Descriptor> open_state(const fs::path& state) {
  std::error_code bad;
  fs::create_directories(state, bad);
  if (!bad)
    fs::permissions(state, fs::perms::group_write | fs::perms::others_all, fs::perm_options::remove,
                    bad);
  const fs::path file = state / "lock";
  process::Descriptor lock(::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  if (bad || !lock) {
    complain(fmt::format("{}: cannot be written: {}; give another folder by --state",
                         state.string(), bad ? bad.message() : std::strerror(errno)));
    return std::nullopt;
  }
  if (flock(lock.get(), LOCK_EX | LOCK_NB) != 0) {
    complain(fmt::format("{}: another `muster join` runs with this folder", state.string()));
    return std::nullopt;
  }
  return lock;
}

/// Nothing after a complaint.
std::optional<hosts::JoinedHost> joined(const JoinArguments& arguments, const Endpoint& place,
                                        const fs::path& state) {
  auto known = hosts::joined_in(state);
  if (!known) {
    complain(known.error().message);
    return std::nullopt;
  }
  if (known.value()) {
    if (arguments.url.empty() || known.value()->port.place == place) {
      say_what_is_too_late(arguments, *known.value());
      return *known.value();
    }
    complain(fmt::format("{}: has joined by {} and not by {}: give another folder by --state",
                         state.string(), to_text(known.value()->port.place), to_text(place)));
    return std::nullopt;
  }
  if (arguments.url.empty()) {
    complain(
        fmt::format("URL is missing, as {} has not joined: it is https://HOST:PORT, the "
                    "address of node.join in the cluster file",
                    state.string()));
    return std::nullopt;
  }
  hosts::JoinWish wish;
  wish.place = place;
  const bool by_file = !arguments.token_file.empty();
  const auto given = by_file ? token_in(arguments.token_file) : arguments.token;
  if (!given) return std::nullopt;
  if (given->empty()) {
    complain(
        "--token-file is missing: an admin makes a token by `muster join-token create`, and - is "
        "the standard input");
    return std::nullopt;
  }
  const auto token = hosts::token_from(*given);
  if (!token) {
    complain((by_file ? "--token-file: " : "--token: ") + token.error().message);
    return std::nullopt;
  }
  wish.token = token.value();
  if (!read_labels(arguments.labels, wish.labels)) return std::nullopt;
  wish.name = own_name();
  const auto has = measure(arguments, state);
  if (!has) return std::nullopt;
  wish.measured = *has;
  const auto host = hosts::join_cluster(state, wish);
  if (!host) {
    complain(host.error().message);
    return std::nullopt;
  }
  complain(fmt::format("joined as host {}, of the type {}", host->number, host->type));
  return host.value();
}

int run_join(const JoinArguments& arguments) {
  const auto place =
      arguments.url.empty() ? std::optional<Endpoint>(Endpoint{}) : place_of(arguments.url);
  if (!place) return kUsage;
  umask(077);
  const fs::path state =
      fs::absolute(arguments.state.empty() ? default_state() : fs::path(arguments.state));
  const auto lock = open_state(state);
  if (!lock) return kFailed;
  std::signal(SIGPIPE, SIG_IGN);  // NOLINT(cert-err33-c): the former handler is of no interest
  const auto host = joined(arguments, *place, state);
  if (!host) return kFailed;
  if (arguments.once) return kDone;
  // Blocked before there are threads, which inherit it.
  sigset_t endings;
  sigemptyset(&endings);
  sigaddset(&endings, SIGTERM);
  sigaddset(&endings, SIGINT);
  pthread_sigmask(SIG_BLOCK, &endings, nullptr);
  hosts::DaemonSetup setup;
  setup.state = state;
  setup.checkpoints =
      arguments.checkpoints.empty() ? state / "checkpoints" : fs::absolute(arguments.checkpoints);
  setup.program = fs::read_symlink("/proc/self/exe");
  setup.note = [](const std::string& text) { complain(text); };
  setup.wait = [&endings](std::chrono::milliseconds time) {
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(time);
    const timespec wait{seconds.count(), static_cast<long>((time - seconds).count()) * 1'000'000L};
    return sigtimedwait(&endings, nullptr, &wait) > 0;
  };
  const hosts::HostEnd end = hosts::run_host(*host, setup);
  if (end.fault.empty()) return kDone;
  complain(end.fault);
  return end.removed ? kRemoved : kFailed;
}

}  // namespace

void add_join(CLI::App& app, int& exit_code, const std::vector<char*>& words) {
  auto arguments = std::make_shared<JoinArguments>();
  CLI::App* command = app.add_subcommand(
      "join", "Make this machine one of a cluster's, and run what the cluster has it run");
  command->add_option("URL", arguments->url,
                      "https://HOST:PORT of the cluster's join port; needed until the machine has "
                      "joined");
  CLI::Option* file = command->add_option(
      "--token-file", arguments->token_file,
      "file with the token by `muster join-token create`, or - for the standard input; needed "
      "until the machine has joined");
  command
      ->add_option("--token", arguments->token,
                   "the token itself, which others on the machine may read until the command has "
                   "covered it")
      ->excludes(file);
  command->add_option("--state", arguments->state,
                      "folder of this machine's part; default: /var/lib/muster-host, or for others "
                      "than root muster-host in the folder of states");
  command->add_option("--checkpoints", arguments->checkpoints,
                      "folder of tasks' checkpoints, shared by all machines; default: one of this "
                      "machine alone, so that a task that moves begins anew");
  command->add_option("--label", arguments->labels, "KEY=TEXT, shown by `muster hosts`")
      ->take_all();
  command->add_option("--cpus", arguments->cpus, "cores for tasks; default: all")
      ->check(CLI::Range(1, 1'000'000));
  command->add_option("--memory", arguments->memory_gib, "GiB for tasks; default: all")
      ->check(number_from(1, 1'000'000));
  command->add_flag("--only-join", arguments->once, "join and end, to run later");
  command->callback([arguments, &exit_code, words] {
    cover(words, arguments->token);
    exit_code = run_join(*arguments);
  });
}

}  // namespace muster::cli
