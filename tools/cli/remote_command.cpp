#include "tools/cli/remote_command.hpp"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <nlohmann/json.hpp>
#include <utility>

#include "model/base64.hpp"
#include "model/exec.hpp"
#include "tools/cli/output.hpp"

namespace muster::cli {
namespace {

using client::ClientError;

/// Time that an answer may wait for output: below the patience of a client with several APIs.
constexpr int kWait_s = 4;

Failure<ClientError> malformed(std::string_view what) {
  return {ClientError::malformed, fmt::format("the answer about the command has no {}", what)};
}

std::optional<std::uint64_t> number_in(const nlohmann::json& document, const char* name) {
  const auto found = document.find(name);
  if (found == document.end() || !found->is_number_unsigned()) return std::nullopt;
  return found->get<std::uint64_t>();
}

std::optional<std::string> bytes_in(const nlohmann::json& document, const char* name) {
  const auto found = document.find(name);
  if (found == document.end() || !found->is_string()) return std::nullopt;
  return from_base64(found->get_ref<const std::string&>());
}

}  // namespace

std::optional<TerminalRoom> terminal_room(int descriptor) {
  winsize size{};
  if (ioctl(descriptor, TIOCGWINSZ, &size) != 0 || size.ws_row == 0 || size.ws_col == 0) {
    return std::nullopt;
  }
  return TerminalRoom{size.ws_row, size.ws_col};
}

RawKeys::RawKeys() {
  termios now{};
  if (tcgetattr(STDIN_FILENO, &now) != 0) return;
  before_ = now;
  cfmakeraw(&now);
  tcsetattr(STDIN_FILENO, TCSADRAIN, &now);
}

RawKeys::~RawKeys() {
  if (before_) tcsetattr(STDIN_FILENO, TCSADRAIN, &*before_);
}

SignalStream::SignalStream(bool has_terminal) {
  sigset_t taken;
  sigemptyset(&taken);
  for (const int number : {SIGTERM, SIGHUP, SIGWINCH}) sigaddset(&taken, number);
  if (!has_terminal) {
    for (const int number : {SIGINT, SIGQUIT, SIGUSR1, SIGUSR2}) sigaddset(&taken, number);
  }
  pthread_sigmask(SIG_BLOCK, &taken, &before_);
  descriptor_ = signalfd(-1, &taken, SFD_CLOEXEC | SFD_NONBLOCK);
}

SignalStream::~SignalStream() {
  if (descriptor_ >= 0) close(descriptor_);
  pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

int SignalStream::next() const {
  signalfd_siginfo info{};
  if (read(descriptor_, &info, sizeof info) != sizeof info) return 0;
  return static_cast<int>(info.ssi_signo);
}

/// False: its reader has gone.
bool RemoteCommand::print(int descriptor, std::string_view bytes) const {
  while (!bytes.empty()) {
    const ssize_t put = write(descriptor, bytes.data(), bytes.size());
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(put));
  }
  return true;
}

Expected<int, ClientError> RemoteCommand::print_output() {
  std::uint64_t out_at = 0;
  std::uint64_t err_at = 0;
  while (true) {
    const nlohmann::json asked{
        {"out_at", out_at}, {"err_at", err_at}, {"max_bytes", kMostExecOutput}};
    const auto answer = out_.post(fmt::format("{}?wait_s={}", path_, kWait_s), asked.dump(),
                                  client::Elsewhere::always);
    if (!answer) return answer.error();
    const nlohmann::json& state = answer->document;
    const auto out = bytes_in(state, "out");
    const auto err = bytes_in(state, "err");
    const auto from_out = number_in(state, "out_at");
    const auto from_err = number_in(state, "err_at");
    if (!out || !err) return malformed("output");
    if (!from_out || !from_err) return malformed("places of its output");
    if (!print(STDOUT_FILENO, *out) || !print(STDERR_FILENO, *err)) {
      return Failure<ClientError>{
          ClientError::stopped,
          fmt::format("its output cannot be written: {}; it is ended", std::strerror(errno))};
    }
    out_at = *from_out + out->size();
    err_at = *from_err + err->size();
    if (!state.value("over", false)) continue;
    const nlohmann::json code = state.value("exit_code", nlohmann::json());
    if (!code.is_number_integer()) return malformed("exit code");
    const nlohmann::json reason = state.value("reason", nlohmann::json());
    if (reason.is_string()) complain(reason.get<std::string>());
    return code.get<int>();
  }
}

std::optional<Failure<ClientError>> RemoteCommand::hand_in(const Step& step) {
  nlohmann::json said{
      {"input_at", input_at_}, {"input", to_base64(input_)}, {"input_ends", input_ends_}};
  if (step.room) {
    said["rows"] = step.room->rows;
    said["columns"] = step.room->columns;
  }
  if (step.signal != 0) said["signal"] = step.signal;
  if (step.ends) said["ends"] = true;
  const auto answer = in_.post(path_, said.dump(), client::Elsewhere::always);
  if (!answer) return answer.error();
  const auto taken = number_in(answer->document, "input_at");
  if (!taken || *taken < input_at_ || *taken > input_at_ + input_.size()) {
    return malformed("place of its input");
  }
  input_.erase(0, *taken - input_at_);
  input_at_ = *taken;
  end_is_taken_ = input_ends_ && input_.empty();
  return std::nullopt;
}

}  // namespace muster::cli
