#include "workers/process/shim/shim_commands.hpp"

#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstring>
#include <utility>

#include "workers/process/limits/limits.hpp"
#include "workers/process/progress.hpp"
#include "workers/process/shim/line_server.hpp"

// A command leads a session of its own. A hang-up ends the whole session: also the jobs of a shell,
// which are in other process groups.

namespace muster::process {
namespace {

constexpr int kRequestsARound = 4;
constexpr std::size_t kMostLine = 64;
constexpr int kLastSignal = 64;
constexpr int kSignalBase = 128;

void signal_session(pid_t leader, int number) {
  for (const pid_t process : descendants_of(getpid())) {
    if (process == leader || getsid(process) == leader) kill(process, number);
  }
}

int code_of_end(int status) {
  return WIFSIGNALED(status) ? kSignalBase + WTERMSIG(status) : WEXITSTATUS(status);
}

/// One line, whatever the text is.
void say(const Descriptor& channel, std::string_view word, std::string text) {
  std::replace(text.begin(), text.end(), '\n', ' ');
  if (channel) send_text(channel.get(), std::string(word) + text + "\n");
}

}  // namespace

void ShimCommands::add_to(std::vector<pollfd>& polled) const {
  if (listener_) polled.push_back({listener_.get(), POLLIN, 0});
  for (const Command& command : commands_) {
    if (command.channel) polled.push_back({command.channel.get(), POLLIN, 0});
    if (command.news) polled.push_back({command.news.get(), POLLIN, 0});
  }
}

void ShimCommands::accept_all() {
  for (int i = 0; i < kRequestsARound; ++i) {
    Descriptor channel(accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (!channel) return;
    // Its name is open to every process of the machine, and isolated tasks are of this user, too.
    if (user_of_peer(channel.get()) != geteuid() || !is_peer_in_own_namespace(channel.get())) {
      continue;
    }
    if (commands_.size() >= kMost) {
      say(channel, kBesideNotNow, "as many commands run beside it as may");
      continue;
    }
    commands_.emplace_back().channel = std::move(channel);
  }
}

void ShimCommands::serve(const std::vector<pollfd>& polled, const std::string& not_now,
                         const Fork& fork, const Describe& describe) {
  const bool any = std::any_of(polled.begin(), polled.end(), [this](const pollfd& each) {
    return listener_ && each.fd == listener_.get() && each.revents != 0;
  });
  if (any) accept_all();
  for (std::size_t i = 0; i < commands_.size();) {
    Command& command = commands_[i];
    if (command.process < 0) begin(command, not_now, fork);
    if (command.news && !look_at_start(command, describe)) command.channel.reset();
    if (command.channel && command.process > 0 && !hear(command)) hang_up(command);
    // One that was begun stays until it is reaped.
    if (command.process < 0 && !command.channel) {
      commands_.erase(commands_.begin() + static_cast<std::ptrdiff_t>(i));
    } else {
      ++i;
    }
  }
}

void ShimCommands::begin(Command& command, const std::string& not_now, const Fork& fork) {
  const auto asked = take_beside(command.channel.get());
  if (!asked) {
    if (errno != EAGAIN && errno != EINTR) command.channel.reset();
    return;
  }
  auto forked = not_now.empty() ? fork(*asked) : std::nullopt;
  if (!forked) {
    say(command.channel, kBesideNotNow, not_now.empty() ? std::strerror(errno) : not_now);
    command.channel.reset();
    return;
  }
  command.process = forked->pid;
  command.news = std::move(forked->news);
  command.program = asked->request.argv.front();
}

/// False: it did not start, which was said.
bool ShimCommands::look_at_start(Command& command, const Describe& describe) {
  StartTrouble trouble;
  const ssize_t got = read(command.news.get(), &trouble, sizeof trouble);
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return true;
  // The pipe closes with exec: nothing in it means that the program runs.
  command.news.reset();
  if (got == sizeof trouble) {
    say(command.channel, kBesideFailed,
        std::to_string(exit_code_of(trouble)) + " " + describe(trouble, command.program));
    return false;
  }
  say(command.channel, kBesideRuns, "");
  return true;
}

/// False when who asked has gone.
bool ShimCommands::hear(Command& command) const {
  std::array<char, 256> chunk{};
  const ssize_t got = recv(command.channel.get(), chunk.data(), chunk.size(), MSG_DONTWAIT);
  if (got < 0) return errno == EAGAIN || errno == EINTR;
  if (got == 0) return false;
  command.input.append(chunk.data(), static_cast<std::size_t>(got));
  std::size_t end = 0;
  while ((end = command.input.find('\n')) != std::string::npos) {
    if (!heed(command, std::string_view(command.input).substr(0, end))) return false;
    command.input.erase(0, end + 1);
  }
  return command.input.size() <= kMostLine;
}

bool ShimCommands::heed(Command& command, std::string_view line) {
  if (!line.starts_with(kBesideSignal)) return false;
  line.remove_prefix(kBesideSignal.size());
  int number = 0;
  const auto parsed = std::from_chars(line.data(), line.data() + line.size(), number);
  if (parsed.ec != std::errc{} || number < 1 || number > kLastSignal) return false;
  // Before its setsid() the child leads no group yet.
  if (kill(-command.process, number) != 0) kill(command.process, number);
  return true;
}

void ShimCommands::hang_up(Command& command) {
  command.channel.reset();
  signal_session(command.process, SIGHUP);
  command.kill_at = boot_time() + kGrace;
}

bool ShimCommands::reaped(pid_t process, int status, const Describe& describe) {
  const auto found =
      std::find_if(commands_.begin(), commands_.end(),
                   [process](const Command& command) { return command.process == process; });
  if (found == commands_.end()) return false;
  // Read once more: it may have ended before its start was heard of.
  const bool started = !found->news || look_at_start(*found, describe);
  if (started) say(found->channel, kBesideEnded, std::to_string(code_of_end(status)));
  commands_.erase(found);
  return true;
}

std::optional<Duration> ShimCommands::next_due() const {
  std::optional<Duration> next;
  for (const Command& command : commands_) {
    if (command.kill_at == Duration::zero()) continue;
    next = next ? std::min(*next, command.kill_at) : command.kill_at;
  }
  return next;
}

void ShimCommands::kill_due(Duration now) {
  for (Command& command : commands_) {
    if (command.kill_at == Duration::zero() || command.kill_at > now) continue;
    // Once more a little later, as long as it is not reaped: it may have forked meanwhile.
    command.kill_at = now + kGrace;
    signal_session(command.process, SIGKILL);
  }
}

}  // namespace muster::process
