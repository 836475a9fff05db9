#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>

#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tools/cli/commands.hpp"
#include "tools/cli/output.hpp"
#include "workers/process/descriptor.hpp"
#include "workers/process/progress.hpp"

// The command by which a task reports what it has done, and numbers of its own. It speaks to its
// worker through the socket that the attempt's environment names; a task without muster may write
// the same lines itself.

namespace muster::cli {
namespace {

using process::Descriptor;

constexpr timeval kPatience{10, 0};  ///< for the answer
constexpr std::size_t kMaxAnswerBytes = 256;

/// Connects to the socket of that name, "@" before that of an abstract one; empty: see errno.
Descriptor connect_to(std::string name) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (name.size() >= sizeof address.sun_path) {
    errno = ENAMETOOLONG;
    return {};
  }
  // An abstract name begins with a zero byte and has no end of its own: its length says it. A path
  // includes its final zero.
  auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + name.size());
  if (name[0] == '@') {
    name[0] = '\0';
  } else {
    ++size;
  }
  std::memcpy(address.sun_path, name.data(), name.size());
  Descriptor connection(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!connection ||
      connect(connection.get(), reinterpret_cast<const sockaddr*>(&address), size) != 0) {
    return {};
  }
  // A worker that hangs must not hold up the task for longer than kPatience.
  setsockopt(connection.get(), SOL_SOCKET, SO_RCVTIMEO, &kPatience, sizeof kPatience);
  return connection;
}

std::string answer_of(int connection) {
  std::string answer;
  char c = 0;
  while (answer.size() < kMaxAnswerBytes && recv(connection, &c, 1, 0) == 1) {
    if (c == '\n') return answer;
    answer += c;
  }
  return "no answer";
}

/// The lines to say, checked here as the worker does: the messages are better than what comes back
/// over the socket. Nothing: it has complained.
std::optional<std::vector<std::string>> lines_of(const std::string& units,
                                                 const std::vector<std::string>& metrics) {
  std::vector<std::string> lines;
  for (const std::string& metric : metrics) {
    const std::size_t is = metric.find('=');
    if (is == std::string::npos) {
      complain("--metric is NAME=VALUE, such as p99_ms=12.5, not '" + metric + "'");
      return std::nullopt;
    }
    lines.push_back("metric " + metric.substr(0, is) + " " + metric.substr(is + 1));
    if (const process::SaidMetric said = process::metric_from(lines.back());
        !said.problem.empty()) {
      complain("--metric '" + metric + "': " + said.problem);
      return std::nullopt;
    }
  }
  // Last: the newest metrics go with it.
  if (!units.empty()) {
    lines.push_back("progress " + units);
    if (!process::progress_from(lines.back())) {
      complain("progress is a number of units done, from 0 to 1e15, not '" + units + "'");
      return std::nullopt;
    }
  }
  if (lines.empty()) {
    complain("there is nothing to report: say units, such as 120, or --metric NAME=VALUE");
    return std::nullopt;
  }
  return lines;
}

int report(const std::string& units, const std::vector<std::string>& metrics) {
  const auto lines = lines_of(units, metrics);
  if (!lines) return kUsage;
  const char* name = std::getenv("MUSTER_SOCKET");
  if (name == nullptr || *name == '\0') {
    complain("MUSTER_SOCKET is not set: progress can only be reported from within a task");
    return kFailed;
  }
  const Descriptor connection = connect_to(name);
  int outcome = kDone;
  for (const std::string& line : *lines) {
    const std::string text = line + "\n";
    // A worker that has just ended gives an error here and not SIGPIPE, which would end the
    // caller's script.
    if (!connection || send(connection.get(), text.data(), text.size(), MSG_NOSIGNAL) !=
                           static_cast<ssize_t>(text.size())) {
      complain("cannot reach the worker at " + std::string(name) + ": " + std::strerror(errno));
      return kFailed;
    }
    const std::string answer = answer_of(connection.get());
    if (answer == "ok") continue;
    const bool of_metric = line.starts_with("metric ");
    complain((of_metric ? "'" + line + "' was not taken: " : "the progress was not taken: ") +
             answer);
    // The others are reported nevertheless.
    outcome = kFailed;
  }
  return outcome;
}

}  // namespace

void add_progress(CLI::App& app, int& exit_code) {
  struct Said {
    std::string units;
    std::vector<std::string> metrics;
  };
  auto said = std::make_shared<Said>();
  CLI::App* command = app.add_subcommand(
      "progress",
      "Report how much the calling task has done and numbers of its own, from within it");
  command->add_option("units", said->units, "units of work done so far, of the whole task");
  command
      ->add_option("--metric", said->metrics,
                   "a number under a name, such as p99_ms=12.5; may be repeated")
      ->type_name("NAME=VALUE")
      ->allow_extra_args(false);
  command->callback([said, &exit_code] { exit_code = report(said->units, said->metrics); });
}

}  // namespace muster::cli
