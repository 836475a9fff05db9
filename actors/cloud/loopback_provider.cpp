#include "actors/cloud/loopback_provider.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "model/rng.hpp"

// All that happens to an instance is a step at a time that follows from its record, its number and
// the seed alone, so that a provider that is started anew goes on where the last one ended. Steps
// ask what holds when they come: nothing is called back.

namespace muster {
namespace {

constexpr std::uint64_t kSpread = 0x9E3779B97F4A7C15;  // makes seeds of numbers that follow

/// Around 0 with a standard deviation of 1 and no farther than 6: the sum of 12 uniform numbers,
/// which is equal on every platform.
double normal(Rng& rng) {
  double sum = -6;
  for (int i = 0; i < 12; ++i) sum += rng.uniform();
  return sum;
}

/// Of a mean of 1.
double factor_of(const CloudDelays& delays, Rng& rng) {
  const double spread = delays.spread;
  switch (delays.kind) {
    case DelayKind::constant:
      return 1;
    case DelayKind::uniform:
      // A uniform variable on [-1, 1] has the deviation 1/sqrt(3).
      return std::max(0.0, 1 + spread * std::sqrt(3.0) * rng.uniform(-1, 1));
    case DelayKind::normal:
      return std::max(0.0, 1 + spread * normal(rng));
    case DelayKind::lognormal: {
      const double variance = std::log1p(spread * spread);
      // The logarithm's mean is shifted by half its variance, which gives the factor a mean of 1.
      return std::exp(std::sqrt(variance) * normal(rng) - variance / 2);
    }
  }
  return 1;
}

}  // namespace

void LoopbackProvider::watch(std::shared_ptr<CloudHost> host,
                             const std::vector<RentedRecord>& rented) {
  host_ = std::move(host);
  options_.machines->watch([this, host = host_](const MachineEvent& news) {
    if (news.room) {
      // The connector leaves out what it knows.
      return host->run([this] {
        for (Offering& offering : offerings()) {
          ProviderNews told;
          told.kind = ProviderNewsKind::offering;
          told.offering = std::move(offering);
          tell(std::move(told));
        }
      });
    }
    if (news.lost) {
      return host->run([this, id = news.instance, text = news.text] { lose(id, text); });
    }
    ProviderNews told;
    told.kind = news.restarted ? ProviderNewsKind::restarted : ProviderNewsKind::note;
    told.instance = news.instance;
    told.text = news.text;
    host->tell(std::move(told));
  });
  std::set<InstanceId> on_record;
  for (const RentedRecord& record : rented) {
    const Held& held = add(record.instance, record);
    if (held.type && !held.ending && held.machine.empty()) {
      options_.machines->reserve(machine_order(record.instance, held), held_.size());
    }
    on_record.insert(record.instance);
  }
  // Machines without a record would run for ever: no instance is known for them.
  options_.machines->keep_only(on_record);
  for (const InstanceId id : on_record) resume(id);
}

void LoopbackProvider::unwatch() {
  options_.machines->watch({});
}

std::optional<Instant> LoopbackProvider::all_ended_at() const {
  return options_.machines->all_ended_at();
}

std::vector<Offering> LoopbackProvider::offerings() const {
  std::vector<Offering> all;
  const auto free = options_.machines->free_machines();
  const auto offer = [&](const std::string& type, Market market, Price price) {
    all.push_back({type, market, {}, price});
    if (!free) return;
    const auto found = free->find(type);
    all.back().free = found == free->end() ? 0 : found->second;
  };
  for (const InstanceType& type : options_.catalog->types()) {
    offer(type.name, Market::on_demand, type.on_demand);
    if (!type.spot) continue;
    offer(type.name, Market::spot, *type.spot);
    all.back().interruptions_h = options_.interruptions.per_h;
  }
  return all;
}

/// The first time at which something can happen that is due at `when`. News carries the time at
/// which it happens, so that no bill ends or begins in a master's past.
Instant LoopbackProvider::next(Instant when) const {
  const Instant due = std::max(when, host_->now());
  const Instant step = floor_to(due, options_.quantum);
  return step == due ? due : step + options_.quantum;
}

/// The same whenever it is asked for, so that a cloud that is started anew comes to the same time.
Duration LoopbackProvider::drawn(InstanceId id, Duration InstanceType::*delay,
                                 const InstanceType& type) const {
  const Duration mean = type.*delay;
  const CloudDelays& delays = options_.delays;
  if (delays.kind == DelayKind::constant || delays.spread <= 0) return mean;
  std::uint64_t which = 0;
  if (delay == &InstanceType::setup) which = 1;
  if (delay == &InstanceType::terminate) which = 2;
  // Three delays an instance, each with a generator of its own: asking for one does not change the
  // others.
  Rng rng(delays.seed ^ ((3 * id.value + which + 1) * kSpread));
  return from_seconds(to_seconds(mean) * factor_of(delays, rng));
}

void LoopbackProvider::step_at(Instant when, void (LoopbackProvider::*step)(InstanceId),
                               InstanceId id) {
  host_->at(when, [this, step, id] { (this->*step)(id); });
}

void LoopbackProvider::note(InstanceId id, const std::string& text) {
  ProviderNews news;
  news.instance = id;
  news.text = text;
  tell(std::move(news));
}

LoopbackProvider::Held& LoopbackProvider::add(InstanceId id, const RentedRecord& record) {
  Held held;
  held.type_name = record.type;
  held.type = options_.catalog->find(record.type);
  held.market = record.market;
  held.ordered_at = record.ordered_at;
  held.up_at = record.up_at;
  held.notice = record.notice;
  held.machine = record.machine;
  held.reason = record.reason;
  held.ending = record.ending;
  ++held_by_type_[record.type];
  ++held_by_market_[record.market];
  return held_[id] = std::move(held);
}

void LoopbackProvider::remove(InstanceId id) {
  const auto held = held_.extract(id);
  if (held.empty()) return;
  options_.machines->release(id);
  --held_by_type_[held.mapped().type_name];
  --held_by_market_[held.mapped().market];
}

/// Goes on with an instance where the last provider ended. Of one whose machine was ended meanwhile
/// the bill ends then, and no machine is made anew. The clock may have been set back meanwhile:
/// nothing takes longer from now on than it takes in all.
void LoopbackProvider::resume(InstanceId id) {
  Held& held = held_.at(id);
  const std::optional<Instant> all_ended = all_ended_at();
  if (all_ended && held.ordered_at <= *all_ended) {
    held.ended_at = all_ended;
    return halt(id);
  }
  if (held.ending) return halt(id);
  const auto after = [this](Instant began, Duration delay) {
    return next(std::min(began, now()) + delay);
  };
  const bool booted = !held.machine.empty();
  RentedRecord record;
  record.instance = id;
  record.machine = held.machine;
  if (booted ? !options_.machines->adopt(record) : !held.type) {
    note(id, booted ? "is lost: its machine is not there any more"
                    : "is lost: the catalog has no type '" + held.type_name + "' any more");
    held.reason = CloudReason::failed;
    return reclaim(id);
  }
  if (!held.up_at) {
    const Instant up_at = after(held.ordered_at, drawn(id, &InstanceType::acquire, type_of(held)));
    return step_at(up_at, &LoopbackProvider::come_up, id);
  }
  if (!booted) {
    step_at(after(*held.up_at, drawn(id, &InstanceType::setup, type_of(held))),
            &LoopbackProvider::boot, id);
  }
  if (held.notice) {
    if (held.reason == CloudReason::not_said) held.reason = CloudReason::reclaimed;
    const Instant latest = after(now(), options_.interruptions.notice);
    return step_at(std::min(next(*held.notice), latest), &LoopbackProvider::reclaim, id);
  }
  await_interruption(id);
}

LaunchAnswer LoopbackProvider::answer_to(const RentedRecord& order) const {
  const std::optional<TypeId> type = options_.catalog->find(order.type);
  const bool spot = order.market == Market::spot;
  if (!type || (!spot && order.market != Market::on_demand) ||
      (spot && !(*options_.catalog)[*type].spot)) {
    return {LaunchResult::capacity, order.type + " is not on offer in that market"};
  }
  if (order.max_price > Price{} && order.max_price < options_.catalog->price(*type, order.market)) {
    return {LaunchResult::price, order.type + " costs more than that"};
  }
  const CloudLimits& limits = options_.limits;
  // Instances that are ending count: they hold their room until they are gone.
  if (limits.instances > 0 && held_.size() >= limits.instances) {
    return {LaunchResult::quota, "no more than " + std::to_string(limits.instances) + " instances"};
  }
  const auto reached = [](const auto& limit_of, const auto& counts, const auto& key) {
    const auto limit = limit_of.find(key);
    if (limit == limit_of.end()) return false;
    const auto count = counts.find(key);
    return (count == counts.end() ? 0 : count->second) >= limit->second;
  };
  if (reached(limits.by_type, held_by_type_, order.type)) {
    return {LaunchResult::capacity, "there is no " + order.type + " left"};
  }
  if (reached(limits.by_market, held_by_market_, order.market)) {
    return {LaunchResult::capacity, "nothing is left on that market"};
  }
  // Last: nothing refuses the order after it.
  const MachineOrder machine{order.instance, *type, (*options_.catalog)[*type], order.market};
  if (!options_.machines->reserve(machine, held_.size())) {
    return {LaunchResult::capacity, options_.no_room};
  }
  return {};
}

void LoopbackProvider::launch(const RentedRecord& order, std::function<void(LaunchAnswer)> done) {
  // A repeated order: its machine goes on.
  if (held_.contains(order.instance)) return done({});
  LaunchAnswer answer = answer_to(order);
  if (answer.result == LaunchResult::granted) {
    const Held& held = add(order.instance, order);
    const Instant up_at =
        next(order.ordered_at + drawn(order.instance, &InstanceType::acquire, type_of(held)));
    step_at(up_at, &LoopbackProvider::come_up, order.instance);
  }
  done(std::move(answer));
}

void LoopbackProvider::come_up(InstanceId id) {
  const auto found = held_.find(id);
  if (found == held_.end() || found->second.ending || found->second.up_at) return;
  ProviderNews news;
  news.kind = ProviderNewsKind::up;
  news.instance = id;
  // Only when it is on record: its delays begin at the recorded instant.
  news.recorded = [this, id](Instant up_at) {
    const auto up = held_.find(id);
    if (up == held_.end() || up->second.ending) return;
    up->second.up_at = up_at;
    step_at(next(now() + drawn(id, &InstanceType::setup, type_of(up->second))),
            &LoopbackProvider::boot, id);
    await_interruption(id);
  };
  tell(std::move(news));
}

void LoopbackProvider::boot(InstanceId id) {
  const auto found = held_.find(id);
  if (found == held_.end() || found->second.ending || found->second.halting) return;
  Held& held = found->second;
  auto machine = options_.machines->boot(machine_order(id, held));
  if (!machine) {
    note(id, machine.error().message);
    return step_at(now() + options_.boot_retry, &LoopbackProvider::boot, id);
  }
  // Until this is on record the machine is found by its instance.
  held.machine = std::move(machine).value();
  ProviderNews news;
  news.kind = ProviderNewsKind::machine;
  news.instance = id;
  news.text = held.machine;
  tell(std::move(news));
}

void LoopbackProvider::terminate(InstanceId id, std::function<void(EndResult)> done) {
  const auto found = held_.find(id);
  if (found == held_.end()) return done(EndResult::absent);
  Held& held = found->second;
  if (!std::exchange(held.ending, true)) {
    const bool delayed = held.up_at && held.type;
    // An instance that never came up costs nothing, so its end need not fall on a multiple.
    step_at(delayed ? next(now() + drawn(id, &InstanceType::terminate, type_of(held))) : now(),
            &LoopbackProvider::halt, id);
  }
  done(EndResult::accepted);
}

void LoopbackProvider::list(std::function<void(FoundInstances)> done) {
  FoundInstances found{true, {}};
  for (const auto& [id, held] : held_) found.instances.push_back(id);
  done(std::move(found));
}

bool LoopbackProvider::take_back(InstanceId id, CloudReason reason) {
  const auto found = held_.find(id);
  if (found == held_.end()) return false;
  const Held& held = found->second;
  if (!held.up_at || held.ending || held.notice || held.market != Market::spot) return false;
  ProviderNews news;
  news.kind = ProviderNewsKind::notice;
  news.instance = id;
  news.at = next(now() + options_.interruptions.notice);
  news.reason = reason;
  news.recorded = [this, id, reason](Instant notice) {
    // It may be gone by the time that this is on record.
    const auto noticed = held_.find(id);
    if (noticed == held_.end()) return;
    noticed->second.notice = notice;
    noticed->second.reason = reason;
    step_at(notice, &LoopbackProvider::reclaim, id);
  };
  tell(std::move(news));
  return true;
}

/// The time depends on nothing but the seed and the instance, so that a cloud that is started anew
/// comes to the same one.
void LoopbackProvider::await_interruption(InstanceId id) {
  const CloudInterruptions& interruptions = options_.interruptions;
  const Held& held = held_.at(id);
  if (interruptions.per_h <= 0 || held.market != Market::spot) return;
  Rng rng(interruptions.seed ^ ((id.value + 1) * kSpread));
  constexpr double kFarthest_h = 24.0 * 365;
  const double wait_h = std::min(rng.exponential(1 / interruptions.per_h), kFarthest_h);
  step_at(*held.up_at + from_seconds(wait_h * 3600), &LoopbackProvider::interrupt_by_chance, id);
}

/// Its machine is not there any more.
void LoopbackProvider::lose(InstanceId id, const std::string& text) {
  const auto found = held_.find(id);
  if (found == held_.end() || found->second.ending) return;
  note(id, text);
  found->second.reason = CloudReason::failed;
  reclaim(id);
}

/// Ends the instance without delay, when it is on record that it ends: a provider that goes on from
/// the records must not boot it again.
void LoopbackProvider::reclaim(InstanceId id) {
  const auto found = held_.find(id);
  if (found == held_.end()) return;
  if (found->second.ending) return halt(id);
  ProviderNews news;
  news.kind = ProviderNewsKind::ending;
  news.instance = id;
  news.reason = found->second.reason;
  news.recorded = [this, id](Instant) {
    const auto ending = held_.find(id);
    if (ending == held_.end()) return;
    ending->second.ending = true;
    halt(id);
  };
  tell(std::move(news));
}

void LoopbackProvider::halt(InstanceId id) {
  const auto found = held_.find(id);
  if (found == held_.end() || std::exchange(found->second.halting, true)) return;
  Held& held = found->second;
  const auto ended = [this, id, host = host_] { host->run([this, id] { gone(id); }); };
  const bool nothing_runs =
      // Before it is up there is no machine.
      !held.up_at || options_.machines->halt(id, held.machine, options_.halt_grace, ended);
  if (nothing_runs) return gone(id);
  // It ends when the machine has ended, not at the time that was known before.
  held.ended_at.reset();
}

void LoopbackProvider::gone(InstanceId id) {
  const auto found = held_.find(id);
  if (found == held_.end()) return;
  ProviderNews news;
  news.kind = ProviderNewsKind::gone;
  news.instance = id;
  news.at = found->second.ended_at;
  news.reason = found->second.reason;
  news.recorded = [this, id](Instant) { remove(id); };
  tell(std::move(news));
}

}  // namespace muster
