#include "workers/process/keeper/replica_voice.hpp"

#include <sys/socket.h>
#include <sys/un.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstddef>
#include <cstring>
#include <utility>

#include "workers/process/progress.hpp"
#include "workers/process/shim/line_server.hpp"

namespace muster::process {
namespace {

constexpr std::size_t kMostReplyBytes = 256;
constexpr std::string_view kTaken = "ok";

bool says_alike(const ReplicaState& a, const ReplicaState& b) {
  return a.ready == b.ready && a.restarts == b.restarts && a.exit_code == b.exit_code &&
         a.pause == b.pause;
}

std::string replica_line(const ReplicaState& state, Duration left) {
  const bool down = state.pause > Duration::zero();
  const auto left_ms = std::chrono::ceil<std::chrono::milliseconds>(left).count();
  std::string line = "replica ";
  line += down ? "down" : state.ready ? "ready" : "up";
  line += ' ' + std::to_string(state.restarts) + ' ' + std::to_string(state.exit_code) + ' ';
  // A pause that is about to end is still one.
  return line + std::to_string(down ? std::max<std::int64_t>(left_ms, 1) : 0) + '\n';
}

}  // namespace

void ReplicaVoice::say(const ReplicaState& state, Duration next_start) {
  state_ = state;
  next_start_ = next_start;
}

void ReplicaVoice::say_metric(const std::string& name, double value) {
  std::array<char, 32> digits;
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr;
  metric_ = "metric " + name + ' ' + std::string(digits.data(), end) + '\n';
}

void ReplicaVoice::go_on() {
  if (socket_.empty() || !state_) return;
  if (!connection_ && (boot_time() < retry_at_ || !connect_now())) return;
  if (!hear()) return break_off();
  if (awaited_) return;
  const std::string line = take_line();
  if (line.empty()) return;
  if (!send_text(connection_.get(), line)) return break_off();
  awaited_ = true;
}

bool ReplicaVoice::connect_now() {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  connection_ = Descriptor(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  const bool fits = socket_.size() < sizeof address.sun_path;
  if (fits) std::memcpy(address.sun_path, socket_.data(), socket_.size());
  // An abstract name begins with a zero byte and has no end.
  const bool abstract = socket_.front() == '@';
  if (abstract) address.sun_path[0] = '\0';
  const auto size =
      static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + socket_.size() + (abstract ? 0 : 1));
  if (fits && connection_ &&
      connect(connection_.get(), reinterpret_cast<const sockaddr*>(&address), size) == 0) {
    return true;
  }
  break_off();
  return false;
}

bool ReplicaVoice::hear() {
  std::array<char, kMostReplyBytes> chunk;
  const ssize_t got = recv(connection_.get(), chunk.data(), chunk.size(), MSG_DONTWAIT);
  if (got < 0) return errno == EAGAIN || errno == EINTR;
  if (got == 0) return false;
  answer_.append(chunk.data(), static_cast<std::size_t>(got));
  const std::size_t end = answer_.find('\n');
  if (end == std::string::npos) return answer_.size() <= kMostReplyBytes;
  // One line is said at a time, so that one is answered.
  const bool taken =
      awaited_ && end + 1 == answer_.size() && std::string_view(answer_).substr(0, end) == kTaken;
  answer_.clear();
  awaited_ = false;
  return taken;
}

std::string ReplicaVoice::take_line() {
  if (ports_said_ < state_->ports.size()) {
    const ReplicaPort& port = state_->ports[ports_said_++];
    return "port " + port.name + ' ' + std::to_string(port.number) + '\n';
  }
  if (trouble_said_ != state_->trouble) {
    trouble_said_ = state_->trouble;
    return "trouble " + state_->trouble + '\n';
  }
  const Duration now = boot_time();
  if (said_ && says_alike(*said_, *state_) && now < said_at_ + say_again_) {
    return std::exchange(metric_, {});
  }
  said_ = state_;
  said_at_ = now;
  return replica_line(*state_, next_start_ - now);
}

void ReplicaVoice::break_off() {
  connection_.reset();
  answer_.clear();
  awaited_ = false;
  retry_at_ = boot_time() + reconnect_;
  // The shim that comes may have heard nothing.
  said_.reset();
  ports_said_ = 0;
  trouble_said_.reset();
}

void ReplicaVoice::add_to(std::vector<pollfd>& polled) const {
  if (connection_) polled.push_back({connection_.get(), POLLIN, 0});
}

Duration ReplicaVoice::due() const {
  if (socket_.empty() || !state_) return Duration::max();
  if (!connection_) return retry_at_;
  return awaited_ || !said_ ? Duration::max() : said_at_ + say_again_;
}

}  // namespace muster::process
