#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>

#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>

#include "tools/cli/commands.hpp"
#include "tools/cli/output.hpp"
#include "workers/process/descriptor.hpp"
#include "workers/process/progress.hpp"

// The command by which a task reports what it has done. It speaks to its worker through the socket
// that the attempt's environment names; a task without muster may write the same line itself.

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

int report(const std::string& units) {
  const std::string line = "progress " + units;
  // Checked here as the worker does: the message is better than what comes back over the socket.
  if (!process::progress_from(line)) {
    complain("progress is a number of units done, from 0 to 1e15, not '" + units + "'");
    return kUsage;
  }
  const char* name = std::getenv("MUSTER_SOCKET");
  if (name == nullptr || *name == '\0') {
    complain("MUSTER_SOCKET is not set: progress can only be reported from within a task");
    return kFailed;
  }
  const Descriptor connection = connect_to(name);
  const std::string text = line + "\n";
  // A worker that has just ended gives an error here and not SIGPIPE, which would end the caller's
  // script.
  if (!connection || send(connection.get(), text.data(), text.size(), MSG_NOSIGNAL) !=
                         static_cast<ssize_t>(text.size())) {
    complain("cannot reach the worker at " + std::string(name) + ": " + std::strerror(errno));
    return kFailed;
  }
  const std::string answer = answer_of(connection.get());
  if (answer == "ok") return kDone;
  complain("the progress was not taken: " + answer);
  return kFailed;
}

}  // namespace

void add_progress(CLI::App& app, int& exit_code) {
  auto units = std::make_shared<std::string>();
  CLI::App* command =
      app.add_subcommand("progress", "Report how much the calling task has done, from within it");
  command->add_option("units", *units, "units of work done so far, of the whole task")->required();
  command->callback([units, &exit_code] { exit_code = report(*units); });
}

}  // namespace muster::cli
