#include "workers/process/shim/shim_replica.hpp"

#include <algorithm>
#include <charconv>
#include <concepts>
#include <utility>

namespace muster::process {
namespace {

constexpr std::string_view kReplicaVerb = "replica ";
constexpr std::string_view kPortVerb = "port ";
constexpr std::string_view kTroubleVerb = "trouble";
constexpr std::string_view kTold = "replica";
constexpr const char* kOk = "ok\n";

/// Takes the first word off, so that the next is the first.
std::string_view take_word(std::string_view& words) {
  const std::size_t end = std::min(words.find(' '), words.size());
  const std::string_view word = words.substr(0, end);
  words.remove_prefix(std::min(end + 1, words.size()));
  return word;
}

template <std::integral Number>
bool take_number(std::string_view& words, Number& number) {
  const std::string_view word = take_word(words);
  const auto read = std::from_chars(word.data(), word.data() + word.size(), number);
  return !word.empty() && read.ec == std::errc{} && read.ptr == word.data() + word.size();
}

}  // namespace

std::optional<std::string> ShimReplica::hear(std::string_view line, Duration now) {
  const ReplicaState before = state();
  std::string answer;
  if (line == "ready" || line == "unready") {
    answer = hear_ready(line == "ready");
  } else if (line.starts_with(kReplicaVerb)) {
    answer = hear_state(line.substr(kReplicaVerb.size()));
  } else if (line.starts_with(kPortVerb)) {
    answer = hear_port(line.substr(kPortVerb.size()));
  } else if (line.starts_with(kTroubleVerb)) {
    line.remove_prefix(std::min(kTroubleVerb.size() + 1, line.size()));
    state_.trouble = trouble_text(line);
    answer = kOk;
  } else {
    return std::nullopt;
  }
  if (state() != before && !untold_) untold_ = now;
  return answer;
}

std::string ShimReplica::hear_ready(bool ready) {
  if (service_.ready.kind != CheckKind::line) {
    return "error: this service is asked by a check whether it is ready\n";
  }
  says_ready_ = ready;
  return kOk;
}

std::string ShimReplica::hear_state(std::string_view words) {
  const std::string_view how = take_word(words);
  ReplicaState said = state_;
  std::int64_t pause_ms = 0;
  const bool is_how = how == "ready" || how == "up" || how == "down";
  if (!is_how || !take_number(words, said.restarts) || !take_number(words, said.exit_code) ||
      !take_number(words, pause_ms) || pause_ms < 0 || !words.empty()) {
    return "error: say: replica ready|up|down RESTARTS EXIT_CODE PAUSE_MS\n";
  }
  said.ready = how == "ready";
  said.pause = std::chrono::milliseconds{pause_ms};
  // A program that was started again has not said yet that it is ready.
  if (how == "down" || said.restarts != state_.restarts) says_ready_ = false;
  runs_ = how != "down";
  state_ = std::move(said);
  return kOk;
}

std::string ShimReplica::hear_port(std::string_view words) {
  ReplicaPort port{std::string(take_word(words)), 0};
  if (!is_port_name(port.name) || !take_number(words, port.number) || !words.empty() ||
      port.number > kMostPortNumber) {
    return "error: say: port NAME NUMBER\n";
  }
  const auto known = std::ranges::find(state_.ports, port.name, &ReplicaPort::name);
  if (known != state_.ports.end()) {
    *known = std::move(port);
  } else if (state_.ports.size() < kMostPorts) {
    state_.ports.push_back(std::move(port));
  } else {
    return "error: a replica has at most " + std::to_string(kMostPorts) + " ports\n";
  }
  return kOk;
}

ReplicaState ShimReplica::state() const {
  ReplicaState state = state_;
  if (service_.ready.kind == CheckKind::line) state.ready = runs_ && says_ready_;
  return state;
}

std::optional<Duration> ShimReplica::due() const {
  if (!untold_) return std::nullopt;
  return told_at_ ? std::max(*untold_, *told_at_ + kInterval) : *untold_;
}

std::string ShimReplica::tell(Duration now) {
  told_at_ = now;
  untold_.reset();
  return told_ = replica_line(state());
}

std::string replica_line(const ReplicaState& state) {
  std::string line(kTold);
  for (const std::int64_t number :
       {std::int64_t{state.ready}, std::int64_t{state.restarts}, std::int64_t{state.exit_code},
        std::int64_t{state.pause.count()}, static_cast<std::int64_t>(state.ports.size())}) {
    line += ' ' + std::to_string(number);
  }
  for (const ReplicaPort& port : state.ports) {
    line += ' ' + port.name + ' ' + std::to_string(port.number);
  }
  // The rest of the line: it may have spaces.
  return line + ' ' + state.trouble + '\n';
}

std::optional<ReplicaState> replica_from(std::string_view line) {
  if (take_word(line) != kTold) return std::nullopt;
  ReplicaState state;
  int ready = 0;
  std::int64_t pause = 0;
  std::size_t ports = 0;
  if (!take_number(line, ready) || !take_number(line, state.restarts) ||
      !take_number(line, state.exit_code) || !take_number(line, pause) ||
      !take_number(line, ports) || ports > kMostPorts) {
    return std::nullopt;
  }
  state.ready = ready != 0;
  state.pause = Duration{pause};
  for (std::size_t i = 0; i < ports; ++i) {
    ReplicaPort& port = state.ports.emplace_back();
    port.name = take_word(line);
    if (!take_number(line, port.number)) return std::nullopt;
  }
  state.trouble = line;
  return is_replica_state(state) ? std::optional(std::move(state)) : std::nullopt;
}

}  // namespace muster::process
