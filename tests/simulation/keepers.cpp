#include "tests/simulation/keepers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "model/live_ids.hpp"
#include "tests/simulation/draws.hpp"

namespace muster::ring {
namespace {

constexpr std::int32_t kCrashed = 139;
constexpr std::uint32_t kFirstPort = 20'000;
constexpr double kPorts = 12'000;

/// Programs of one service are alike: some stand for seconds, some for hours.
struct Temper {
  double stands_s;  ///< in the mean
  double warm_s;    ///< at the most, until it is ready
  double dies;      ///< share of its programs' ends that end the keeper with them
};

Temper temper_of(std::uint64_t seed, TaskId task) {
  const double share = draw(seed, job_of(task).value, 0x5E41);
  if (share < 0.25) return {20, 40, 0.3};
  return share < 0.65 ? Temper{400, 60, 0.2} : Temper{10'000, 30, 0.5};
}

}  // namespace

std::string address_of(InstanceId instance) {
  return fmt::format("i{}", instance.value);
}

double Keepers::draw_of(AttemptKey key, const Keeper& keeper, std::uint64_t what) const {
  constexpr std::uint64_t kMost = 100'000;
  return draw(seed_ + what, key.first.value, key.second * kMost + keeper.programs);
}

void Keepers::begin(AttemptKey key, const ServiceSpec& service, InstanceId at, Listener listener) {
  Keeper& keeper = keepers_[key];
  keeper.service = service;
  keeper.listener = std::move(listener);
  keeper.state.address = address_of(at);
  for (const std::string& port : service.ports) {
    const double share = draw_of(key, keeper, 10 + keeper.state.ports.size());
    keeper.state.ports.push_back({port, kFirstPort + static_cast<std::uint32_t>(kPorts * share)});
  }
  start(key);
}

/// A step of the present program, unless it ends before that.
void Keepers::later(AttemptKey key, Duration wait, void (Keepers::*step)(AttemptKey)) {
  timeline_.after(wait, [this, key, step, of = keepers_.at(key).programs] {
    const Keeper& keeper = keepers_.at(key);
    if (keeper.runs && !keeper.stops && keeper.programs == of) (this->*step)(key);
  });
}

void Keepers::say(Keeper& keeper) {
  // So that each word is another one, and its place is known.
  keeper.state.trouble = fmt::format("word {}", keeper.said.size());
  keeper.said.push_back(keeper.state);
  keeper.said_at = timeline_.now();
  keeper.listener.tell(keeper.state);
}

void Keepers::start(AttemptKey key) {
  Keeper& keeper = keepers_.at(key);
  if (keeper.programs > 0) ++keeper.state.restarts;
  ++keeper.programs;
  keeper.state.pause = {};
  say(keeper);
  const Temper temper = temper_of(seed_, key.first);
  const double stands_s = -temper.stands_s * std::log(1 - draw_of(key, keeper, 1));
  later(key, from_seconds(temper.warm_s * draw_of(key, keeper, 2)), &Keepers::get_ready);
  later(key, from_seconds(std::max(1.0, stands_s)), &Keepers::crash);
}

void Keepers::get_ready(AttemptKey key) {
  Keeper& keeper = keepers_.at(key);
  keeper.state.ready = true;
  keeper.ready_since = timeline_.now();
  say(keeper);
}

void Keepers::crash(AttemptKey key) {
  Keeper& keeper = keepers_.at(key);
  const Temper temper = temper_of(seed_, key.first);
  if (draw_of(key, keeper, 3) < temper.dies) {
    end(key);
    return keeper.listener.died();
  }
  if (keeper.ready_since && timeline_.now() - *keeper.ready_since >= kForgetSetbacks) {
    keeper.ends = 0;
  }
  ++keeper.programs;
  keeper.ready_since.reset();
  keeper.state.ready = false;
  keeper.state.exit_code = kCrashed;
  keeper.state.pause = restart_pause(++keeper.ends);
  say(keeper);
  later(key, keeper.state.pause, &Keepers::start);
}

Duration Keepers::stop(AttemptKey key) {
  const auto found = keepers_.find(key);
  if (found == keepers_.end() || !found->second.runs) return {};
  Keeper& keeper = found->second;
  keeper.stops = true;
  const bool is_up = keeper.state.pause == Duration::zero();
  keeper.state.ready = false;
  say(keeper);
  return is_up ? keeper.service.drain : Duration::zero();
}

void Keepers::end(AttemptKey key) {
  const auto found = keepers_.find(key);
  if (found != keepers_.end()) found->second.runs = false;
}

const ReplicaState* Keepers::state(AttemptKey key) const {
  const auto found = keepers_.find(key);
  return found == keepers_.end() || !found->second.runs ? nullptr : &found->second.state;
}

Instant Keepers::said_at(AttemptKey key) const {
  return keepers_.at(key).said_at;
}

std::optional<std::size_t> Keepers::place_of(AttemptKey key, const ReplicaState& word) const {
  const auto found = keepers_.find(key);
  if (found == keepers_.end()) return std::nullopt;
  const auto& said = found->second.said;
  const auto at = std::ranges::find(said, word);
  if (at == said.end()) return std::nullopt;
  return static_cast<std::size_t>(at - said.begin());
}

}  // namespace muster::ring
