#include "actors/cloud/loopback.hpp"

#include <algorithm>

#include "model/rng.hpp"

namespace muster {

LoopbackCloud::LoopbackCloud(caf::actor_config& config, LoopbackSetup setup)
    : CloudActor::base(config), setup_(std::move(setup)), timer_(this, setup_.epoch) {}

void LoopbackCloud::on_exit() {
  setup_.machines->watch({});
  rented_.clear();
}

CloudActor::behavior_type LoopbackCloud::make_behavior() {
  setup_.machines->watch([this, run = post()](const MachineNews& news) {
    run([this, news] {
      note("instance " + std::to_string(news.instance.value) + ": " + news.text);
      if (news.restarted) ++restarts_;
    });
  });
  recall();
  return {
      [this](launch_atom, const LaunchOrder& order, const MasterActor& master) {
        rent(order, master);
      },
      [this](end_atom, InstanceId id, const MasterActor& master) { order_end(id, master); },
      [this](interrupt_atom, InstanceId id) { return asked_to_interrupt(id); },
      [this](const Query& query) { return answer(query); },
      [](const Wakeup& wakeup) { wakeup.run(); },
  };
}

std::function<void(std::function<void()>)> LoopbackCloud::post() {
  // A weak address: what comes after the cloud's end is dropped.
  return [address = caf::actor_cast<caf::weak_actor_ptr>(this)](std::function<void()> step) {
    if (auto cloud = caf::actor_cast<CloudActor>(address.lock())) {
      caf::anon_send(cloud, Wakeup{std::move(step)});
    }
  };
}

Duration LoopbackCloud::scaled(Duration delay) const {
  if (setup_.delay_scale == 1) return delay;
  return from_seconds(to_seconds(delay) * setup_.delay_scale);
}

Instant LoopbackCloud::next(Instant when) const {
  const Instant due = std::max(when, timer_.now());
  const Instant step = floor_to(due, setup_.quantum);
  return step == due ? due : step + setup_.quantum;
}

void LoopbackCloud::note(const std::string& text) const {
  if (setup_.note) setup_.note(text);
}

void LoopbackCloud::at(Instant when, Step step, InstanceId id) {
  timer_.at(when, [this, step, id] { take(step, id); });
}

void LoopbackCloud::take(Step step, InstanceId id) {
  switch (step) {
    case Step::come_up:
      return come_up(id);
    case Step::boot:
      return boot(id);
    case Step::end:
      return end(id);
    case Step::reclaim:
      return reclaim(id);
    case Step::halt:
      return halt(id);
    case Step::interrupt:
      return interrupt(id);
    case Step::gone:
      return gone(id);
    case Step::close:
      if (const auto over = over_.find(id); over != over_.end()) keep(over->second, step);
      return;
  }
}

void LoopbackCloud::retry(Step step, InstanceId id) {
  if (!retried_.insert({id, step}).second) return;
  timer_.at(now() + setup_.write_retry, [this, step, id] {
    retried_.erase({id, step});
    take(step, id);
  });
}

bool LoopbackCloud::write(const RentedRecord& record) {
  const std::string why = setup_.book->put(record);
  if (why != trouble_) note(why.empty() ? "the cloud's book takes records again" : why);
  trouble_ = why;
  return why.empty();
}

/// Writes the record down. When that fails, the step is taken again after a while, from the state
/// that the instance is in then.
bool LoopbackCloud::keep(const RentedRecord& record, Step step) {
  const bool written = write(record);
  if (!written) retry(step, record.instance);
  return written;
}

void LoopbackCloud::rent(const LaunchOrder& order, const MasterActor& master) {
  if (const auto known = rented_.find(order.instance); known != rented_.end()) {
    known->second.master = master;
    return tell_state(known->second);
  }
  if (const auto over = over_.find(order.instance); over != over_.end()) {
    return tell_over(over->second, master);
  }
  RentedRecord record;
  record.instance = order.instance;
  record.ordered_at = now();
  if (!offers(order)) return refuse(std::move(record), master);
  const InstanceType& type = (*setup_.catalog)[order.type];
  record.type = type.name;
  record.market = static_cast<Market>(order.market);
  record.price = setup_.catalog->price(order.type, record.market);
  if (full(record)) return refuse(std::move(record), master);
  if (!write(record)) return refuse(std::move(record), master);
  rented_[order.instance] = {std::move(record), order.type, master};
  setup_.bill->rented = rented_.size();
  at(next(now() + scaled(type.acquire)), Step::come_up, order.instance);
}

bool LoopbackCloud::offers(const LaunchOrder& order) const {
  if (order.type.value >= setup_.catalog->size()) return false;
  if (order.market == static_cast<std::uint8_t>(Market::on_demand)) return true;
  return order.market == static_cast<std::uint8_t>(Market::spot) &&
         (*setup_.catalog)[order.type].spot.has_value();
}

bool LoopbackCloud::full(const RentedRecord& record) const {
  const CloudLimits& limits = setup_.limits;
  if (limits.instances > 0 && rented_.size() >= limits.instances) return true;
  const auto reached = [this](const auto& limit, const auto& same) {
    return static_cast<std::uint64_t>(std::count_if(
               rented_.begin(), rented_.end(),
               [&](const auto& entry) { return same(entry.second.record); })) >= limit;
  };
  if (const auto limit = limits.by_type.find(record.type);
      limit != limits.by_type.end() &&
      reached(limit->second, [&](const auto& other) { return other.type == record.type; })) {
    return true;
  }
  const auto limit = limits.by_market.find(record.market);
  return limit != limits.by_market.end() &&
         reached(limit->second, [&](const auto& other) { return other.market == record.market; });
}

/// What cannot be written down is remembered all the same until it can, so that the order stays
/// refused when it is repeated.
void LoopbackCloud::refuse(RentedRecord record, const MasterActor& master) {
  record.refused = true;
  ++setup_.bill->refused;
  keep(record, Step::close);
  tell_over(record, master);
  remember(std::move(record));
}

void LoopbackCloud::tell(const MasterActor& master, InstanceId id, CloudReportKind kind,
                         Instant when) {
  if (master) send(master, CloudReport{id, kind, when});
}

void LoopbackCloud::tell_state(const Rented& rented) {
  const RentedRecord& record = rented.record;
  if (record.up_at) tell(rented.master, record.instance, CloudReportKind::up, *record.up_at);
  if (record.notice) tell(rented.master, record.instance, CloudReportKind::notice, *record.notice);
}

void LoopbackCloud::tell_over(const RentedRecord& record, const MasterActor& master) {
  if (record.refused) {
    tell(master, record.instance, CloudReportKind::refused, record.ordered_at);
  } else {
    CloudReport report{record.instance, CloudReportKind::gone, record.gone_at.value_or(now())};
    report.billed_from = record.up_at;
    if (master) send(master, std::move(report));
  }
}

void LoopbackCloud::come_up(InstanceId id) {
  const auto found = rented_.find(id);
  if (found == rented_.end() || found->second.record.ending || found->second.record.up_at) return;
  Rented& rented = found->second;
  RentedRecord record = rented.record;
  record.up_at = std::max(now(), record.ordered_at);
  if (!keep(record, Step::come_up)) return;
  rented.record = std::move(record);
  ++setup_.bill->launched;
  tell_state(rented);
  at(next(now() + scaled((*setup_.catalog)[*rented.type].setup)), Step::boot, id);
  await_interruption(rented);
}

void LoopbackCloud::boot(InstanceId id) {
  const auto found = rented_.find(id);
  if (found == rented_.end() || found->second.record.ending) return;
  Rented& rented = found->second;
  RentedRecord record = rented.record;
  auto machine = setup_.machines->boot(
      {id, *rented.type, (*setup_.catalog)[*rented.type], record.market, rented.master});
  if (!machine) {
    note("instance " + std::to_string(id.value) + ": " + machine.error().message);
    return retry(Step::boot, id);
  }
  // Until this is written down the machine is found by its instance.
  record.machine = std::move(machine).value();
  if (keep(record, Step::boot)) rented.record = std::move(record);
}

void LoopbackCloud::order_end(InstanceId id, const MasterActor& master) {
  if (const auto over = over_.find(id); over != over_.end()) {
    return tell_over(over->second, master);
  }
  if (const auto found = rented_.find(id); found != rented_.end()) {
    found->second.master = master;
    return end(id);
  }
  // The launch order never came; should it still come, it is too late.
  RentedRecord record;
  record.instance = id;
  record.ordered_at = now();
  record.gone_at = now();
  if (!write(record)) return;  // the master repeats what it gets no answer to
  tell_over(record, master);
  remember(std::move(record));
}

void LoopbackCloud::end(InstanceId id) {
  const auto found = rented_.find(id);
  if (found == rented_.end() || found->second.record.ending) return;
  Rented& rented = found->second;
  RentedRecord record = rented.record;
  record.ending = true;
  if (!keep(record, Step::end)) return;
  rented.record = std::move(record);
  const bool delayed = rented.record.up_at && rented.type;
  // What never came up costs nothing, so its end need not fall on a multiple.
  at(delayed ? next(now() + scaled((*setup_.catalog)[*rented.type].terminate)) : now(), Step::halt,
     id);
}

/// Ends the instance without delay.
void LoopbackCloud::reclaim(InstanceId id) {
  const auto found = rented_.find(id);
  if (found == rented_.end()) return;
  Rented& rented = found->second;
  if (!rented.record.ending) {
    RentedRecord record = rented.record;
    record.ending = true;
    if (!keep(record, Step::reclaim)) return;
    rented.record = std::move(record);
  }
  halt(id);
}

void LoopbackCloud::halt(InstanceId id) {
  const auto found = rented_.find(id);
  if (found == rented_.end() || std::exchange(found->second.halting, true)) return;
  const RentedRecord& record = found->second.record;
  const auto ended = [this, id, run = post()] { run([this, id] { gone(id); }); };
  const bool nothing_runs =
      !record.up_at || setup_.machines->halt(id, record.machine, setup_.halt_grace, ended);
  if (nothing_runs) gone(id);
}

void LoopbackCloud::gone(InstanceId id) {
  const auto found = rented_.find(id);
  if (found == rented_.end()) return;
  RentedRecord record = found->second.record;
  record.gone_at = std::max(now(), record.up_at.value_or(record.ordered_at));
  if (!keep(record, Step::gone)) return;
  const MasterActor master = std::move(found->second.master);
  rented_.erase(found);
  setup_.bill->rented = rented_.size();
  setup_.bill->total += charge_of(record, *record.gone_at);
  tell_over(record, master);
  remember(std::move(record));
}

void LoopbackCloud::remember(RentedRecord record) {
  const InstanceId id = record.instance;
  over_[id] = std::move(record);
  over_in_order_.push_back(id);
  if (over_in_order_.size() <= setup_.keep_gone) return;
  over_.erase(over_in_order_.front());
  over_in_order_.pop_front();
}

caf::result<InstanceId> LoopbackCloud::asked_to_interrupt(InstanceId id) {
  const auto found = rented_.find(id);
  const std::string name = "instance " + std::to_string(id.value);
  if (found == rented_.end()) {
    return caf::make_error(ActorError::unknown, name + " is not rented");
  }
  const RentedRecord& record = found->second.record;
  if (record.market != Market::spot) {
    return caf::make_error(ActorError::unknown,
                           name + " is an on-demand instance; only spot ones are interrupted");
  }
  if (!record.up_at || record.ending) {
    return caf::make_error(ActorError::unknown,
                           name + (record.ending ? " is ending already" : " is not up yet"));
  }
  if (!record.notice && !give_notice(found->second)) {
    return caf::make_error(ActorError::store_failed, trouble_);
  }
  return id;
}

/// The cloud wants the instance back by itself.
void LoopbackCloud::interrupt(InstanceId id) {
  const auto found = rented_.find(id);
  if (found == rented_.end() || found->second.record.ending || found->second.record.notice) return;
  if (!give_notice(found->second)) retry(Step::interrupt, id);
}

bool LoopbackCloud::give_notice(Rented& rented) {
  RentedRecord record = rented.record;
  record.notice = next(now() + scaled(setup_.interruptions.notice));
  if (!write(record)) return false;
  rented.record = std::move(record);
  const InstanceId id = rented.record.instance;
  tell(rented.master, id, CloudReportKind::notice, *rented.record.notice);
  at(*rented.record.notice, Step::reclaim, id);
  return true;
}

/// The time depends on nothing but the seed and the instance, so that a cloud that is started anew
/// comes to the same one.
void LoopbackCloud::await_interruption(const Rented& rented) {
  const CloudInterruptions& interruptions = setup_.interruptions;
  if (interruptions.per_h <= 0 || rented.record.market != Market::spot) return;
  const InstanceId id = rented.record.instance;
  constexpr std::uint64_t kSpread = 0x9E3779B97F4A7C15;
  Rng rng(interruptions.seed ^ ((id.value + 1) * kSpread));
  constexpr double kFarthest_h = 24.0 * 365;
  const double wait_h = std::min(rng.exponential(1 / interruptions.per_h), kFarthest_h);
  at(*rented.record.up_at + from_seconds(wait_h * 3600), Step::interrupt, id);
}

}  // namespace muster
