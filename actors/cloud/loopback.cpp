#include "actors/cloud/loopback.hpp"

#include <algorithm>
#include <memory>
#include <thread>

#include "model/live_ids.hpp"
#include "model/rng.hpp"

namespace muster {
namespace {

/// Orders for one instance that wait for its record to be written; masters repeat what is dropped.
constexpr std::size_t kMaxDeferred = 16;

}  // namespace

LoopbackCloud::LoopbackCloud(caf::actor_config& config, LoopbackSetup setup)
    : CloudActor::base(config), setup_(std::move(setup)), timer_(this, setup_.epoch) {}

void LoopbackCloud::on_exit() {
  setup_.machines->watch({});
  rented_.clear();
  writing_.clear();
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
      [this](greet_atom, const MasterActor& master) { tell_clock(master); },
      [this](interrupt_atom, InstanceId id) -> caf::result<InstanceId> {
        auto promise = make_response_promise<InstanceId>();
        asked_to_interrupt(id, promise);
        return promise;
      },
      [this](const RentedQuestion& wanted) { return show_rented(wanted); },
      [this](figures_atom) { return figures(); },
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
  if (const auto writing = writing_.find(id); writing != writing_.end()) {
    writing->second.steps.insert(step);
    return;
  }
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
  }
}

void LoopbackCloud::retry(Step step, InstanceId id) {
  if (!retried_.insert({id, step}).second) return;
  timer_.at(now() + setup_.write_retry, [this, step, id] {
    retried_.erase({id, step});
    take(step, id);
  });
}

/// Has the order taken again when the record of its instance is written; false: too many wait.
bool LoopbackCloud::defer(InstanceId id, std::function<void()> order) {
  std::vector<std::function<void()>>& orders = writing_.at(id).orders;
  if (orders.size() >= kMaxDeferred) return false;
  orders.push_back(std::move(order));
  return true;
}

void LoopbackCloud::write(const RentedRecord& record, std::function<void(bool written)> then) {
  const InstanceId id = record.instance;
  note_number(id);
  writing_[id] = {std::move(then)};
  // A book may answer at once or later from its own thread, to which the actor is a stranger.
  const auto at_once = std::make_shared<bool>(true);
  setup_.book->put(record, [this, id, at_once, here = std::this_thread::get_id(),
                            run = post()](const std::string& trouble) {
    if (std::this_thread::get_id() == here && *at_once) return on_written(id, trouble);
    run([this, id, trouble] { on_written(id, trouble); });
  });
  *at_once = false;
}

void LoopbackCloud::on_written(InstanceId id, const std::string& trouble) {
  if (trouble != trouble_) note(trouble.empty() ? "the cloud's book takes records again" : trouble);
  trouble_ = trouble;
  const Writing written = std::move(writing_.extract(id).mapped());
  written.then(trouble.empty());
  // Each of these may write again; then the ones behind it wait again, in their order.
  for (const auto& order : written.orders) order();
  for (const Step step : written.steps) take(step, id);
}

/// Writes down what a rented instance is to be from now on, and goes on when it is so. When it
/// cannot be written, the step is taken again after a while, from the state that the instance is in
/// then.
void LoopbackCloud::advance(const RentedRecord& record, Step step,
                            std::function<void(Rented&)> then) {
  write(record, [this, record, step, then = std::move(then)](bool written) {
    if (!written) return retry(step, record.instance);
    Rented& rented = rented_.at(record.instance);
    rented.record = record;
    then(rented);
  });
}

void LoopbackCloud::rent(const LaunchOrder& order, const MasterActor& master) {
  const InstanceId id = order.instance;
  if (is_being_written(id)) {
    defer(id, [this, order, master] { rent(order, master); });
    return;
  }
  if (const auto known = rented_.find(id); known != rented_.end()) {
    if (is_of_another(order, known->second.record)) {
      return tell(master, id, CloudReportKind::refused, now());
    }
    known->second.master = master;
    return tell_state(known->second);
  }
  if (const auto over = over_.find(id); over != over_.end()) {
    if (is_of_another(order, over->second)) {
      return tell(master, id, CloudReportKind::refused, now());
    }
    return tell_over(over->second, master);
  }
  RentedRecord record;
  record.instance = id;
  record.ordered_at = now();
  record.type = order.type;
  const auto offered = type_of(order);
  if (!offered) return refuse(std::move(record), master);
  const InstanceType& type = (*setup_.catalog)[*offered];
  record.market = static_cast<Market>(order.market);
  record.price = setup_.catalog->price(*offered, record.market);
  if (full(record)) return refuse(std::move(record), master);
  add({record, *offered, master});
  write(record, [this, id, up_at = next(record.ordered_at + type.acquire)](bool written) {
    if (written) return at(up_at, Step::come_up, id);
    remove(id);  // the master repeats what it gets no answer to
  });
}

/// The number is one that its master has given to something else before: what is on record would be
/// billed as what is ordered.
bool LoopbackCloud::is_of_another(const LaunchOrder& order, const RentedRecord& known) {
  // What was ended before its order came has no type; what was refused is so again.
  if (known.type.empty() || known.refused) return false;
  if (known.type == order.type && static_cast<std::uint8_t>(known.market) == order.market) {
    return false;
  }
  ++setup_.bill->refused;
  note("instance " + std::to_string(order.instance.value) + " was ordered as " + known.type + " (" +
       std::string(name_of(known.market)) + ") before: the order of that number for " + order.type +
       " is refused");
  return true;
}

/// Masters that have lost what they knew go on from the numbers.
void LoopbackCloud::tell_clock(const MasterActor& master) {
  CloudReport report{{}, CloudReportKind::clock, timer_.now()};
  report.now = report.at;
  for (const auto& [number, newest] : newest_) report.newest.push_back(newest);
  if (master) send(master, std::move(report));
}

void LoopbackCloud::note_number(InstanceId id) {
  const auto [newest, fresh] = newest_.try_emplace(master_of(id), id);
  if (!fresh) newest->second = std::max(newest->second, id);
}

/// What is ordered, when it is on offer in that market.
std::optional<TypeId> LoopbackCloud::type_of(const LaunchOrder& order) const {
  const std::optional<TypeId> type = setup_.catalog->find(order.type);
  if (!type || order.market == static_cast<std::uint8_t>(Market::on_demand)) return type;
  const bool spot = order.market == static_cast<std::uint8_t>(Market::spot);
  return spot && (*setup_.catalog)[*type].spot ? type : std::nullopt;
}

bool LoopbackCloud::full(const RentedRecord& record) const {
  const CloudLimits& limits = setup_.limits;
  if (limits.instances > 0 && rented_.size() >= limits.instances) return true;
  if (!setup_.machines->has_room(rented_.size())) return true;
  const auto reached = [](const auto& limit_of, const auto& rented, const auto& key) {
    const auto limit = limit_of.find(key);
    if (limit == limit_of.end()) return false;
    const auto count = rented.find(key);
    return (count == rented.end() ? 0 : count->second) >= limit->second;
  };
  return reached(limits.by_type, rented_by_type_, record.type) ||
         reached(limits.by_market, rented_by_market_, record.market);
}

void LoopbackCloud::add(Rented rented) {
  ++rented_by_type_[rented.record.type];
  ++rented_by_market_[rented.record.market];
  const InstanceId id = rented.record.instance;
  rented_[id] = std::move(rented);
  setup_.bill->rented = rented_.size();
}

LoopbackCloud::Rented LoopbackCloud::remove(InstanceId id) {
  Rented rented = std::move(rented_.extract(id).mapped());
  --rented_by_type_[rented.record.type];
  --rented_by_market_[rented.record.market];
  setup_.bill->rented = rented_.size();
  return rented;
}

/// What is refused is so for good, also over a crash: it is told when it is written down.
void LoopbackCloud::refuse(RentedRecord record, const MasterActor& master) {
  record.refused = true;
  write(record, [this, record, master](bool written) {
    if (!written) return;  // the master repeats what it gets no answer to
    ++setup_.bill->refused;
    tell_over(record, master);
    remember(record);
  });
}

void LoopbackCloud::tell(const MasterActor& master, InstanceId id, CloudReportKind kind,
                         Instant when) {
  if (master) send(master, CloudReport{id, kind, when, {}, timer_.now()});
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
    report.now = timer_.now();
    if (master) send(master, std::move(report));
  }
}

void LoopbackCloud::come_up(InstanceId id) {
  const auto found = rented_.find(id);
  if (found == rented_.end() || found->second.record.ending || found->second.record.up_at) return;
  RentedRecord record = found->second.record;
  record.up_at = std::max(now(), record.ordered_at);
  advance(record, Step::come_up, [this, id](const Rented& rented) {
    ++setup_.bill->launched;
    tell_state(rented);
    at(next(now() + (*setup_.catalog)[*rented.type].setup), Step::boot, id);
    await_interruption(rented);
  });
}

void LoopbackCloud::boot(InstanceId id) {
  const auto found = rented_.find(id);
  if (found == rented_.end() || found->second.record.ending) return;
  const Rented& rented = found->second;
  RentedRecord record = rented.record;
  auto machine = setup_.machines->boot(
      {id, *rented.type, (*setup_.catalog)[*rented.type], record.market, rented.master});
  if (!machine) {
    note("instance " + std::to_string(id.value) + ": " + machine.error().message);
    return retry(Step::boot, id);
  }
  // Until this is written down the machine is found by its instance.
  record.machine = std::move(machine).value();
  advance(record, Step::boot, [](const Rented&) {});
}

void LoopbackCloud::order_end(InstanceId id, const MasterActor& master) {
  if (is_being_written(id)) {
    defer(id, [this, id, master] { order_end(id, master); });
    return;
  }
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
  write(record, [this, record, master](bool written) {
    if (!written) return;  // the master repeats what it gets no answer to
    tell_over(record, master);
    remember(record);
  });
}

void LoopbackCloud::end(InstanceId id) {
  const auto found = rented_.find(id);
  if (found == rented_.end() || found->second.record.ending) return;
  RentedRecord record = found->second.record;
  record.ending = true;
  advance(record, Step::end, [this, id](const Rented& rented) {
    const bool delayed = rented.record.up_at && rented.type;
    // What never came up costs nothing, so its end need not fall on a multiple.
    at(delayed ? next(now() + (*setup_.catalog)[*rented.type].terminate) : now(), Step::halt, id);
  });
}

/// Ends the instance without delay.
void LoopbackCloud::reclaim(InstanceId id) {
  const auto found = rented_.find(id);
  if (found == rented_.end()) return;
  if (found->second.record.ending) return halt(id);
  RentedRecord record = found->second.record;
  record.ending = true;
  advance(record, Step::reclaim, [this, id](const Rented&) { halt(id); });
}

void LoopbackCloud::halt(InstanceId id) {
  const auto found = rented_.find(id);
  if (found == rented_.end() || std::exchange(found->second.halting, true)) return;
  const RentedRecord& record = found->second.record;
  const auto ended = [this, id, run = post()] { run([this, id] { take(Step::gone, id); }); };
  const bool nothing_runs =
      !record.up_at || setup_.machines->halt(id, record.machine, setup_.halt_grace, ended);
  if (nothing_runs) return gone(id);
  found->second.ended_at.reset();
}

void LoopbackCloud::gone(InstanceId id) {
  const auto found = rented_.find(id);
  if (found == rented_.end()) return;
  RentedRecord record = found->second.record;
  const Instant ended = std::min(now(), found->second.ended_at.value_or(now()));
  record.gone_at = std::max(ended, record.up_at.value_or(record.ordered_at));
  advance(record, Step::gone, [this, id](const Rented&) {
    const Rented over = remove(id);
    setup_.bill->total += charge_of(over.record, *over.record.gone_at);
    tell_over(over.record, over.master);
    remember(over.record);
  });
}

void LoopbackCloud::remember(RentedRecord record) {
  const InstanceId id = record.instance;
  over_[id] = std::move(record);
  over_in_order_.push_back(id);
  if (over_in_order_.size() <= setup_.keep_gone) return;
  over_.erase(over_in_order_.front());
  over_in_order_.pop_front();
}

void LoopbackCloud::asked_to_interrupt(InstanceId id, InterruptPromise promise) {
  const auto fail = [&](ActorError code, const std::string& why) {
    promise.deliver(caf::make_error(code, why));
  };
  const std::string name = "instance " + std::to_string(id.value);
  if (is_being_written(id)) {
    const bool waits = defer(id, [this, id, promise] { asked_to_interrupt(id, promise); });
    return waits ? void() : fail(ActorError::unknown, name + " has too many orders at once");
  }
  const auto found = rented_.find(id);
  if (found == rented_.end()) return fail(ActorError::unknown, name + " is not rented");
  const RentedRecord& record = found->second.record;
  if (record.market != Market::spot) {
    return fail(ActorError::unknown,
                name + " is an on-demand instance; only spot ones are interrupted");
  }
  if (!record.up_at || record.ending) {
    return fail(ActorError::unknown,
                name + (record.ending ? " is ending already" : " is not up yet"));
  }
  if (record.notice) {
    promise.deliver(id);
    return;
  }
  give_notice(found->second, [this, id, promise](bool written) mutable {
    if (written) {
      promise.deliver(id);
    } else {
      promise.deliver(caf::make_error(ActorError::store_failed, trouble_));
    }
  });
}

/// The cloud wants the instance back by itself.
void LoopbackCloud::interrupt(InstanceId id) {
  const auto found = rented_.find(id);
  if (found == rented_.end() || found->second.record.ending || found->second.record.notice) return;
  give_notice(found->second, [this, id](bool written) {
    if (!written) retry(Step::interrupt, id);
  });
}

void LoopbackCloud::give_notice(const Rented& rented, std::function<void(bool written)> then) {
  RentedRecord record = rented.record;
  record.notice = next(now() + setup_.interruptions.notice);
  write(record, [this, record, then = std::move(then)](bool written) {
    if (written) {
      Rented& noticed = rented_.at(record.instance);
      noticed.record = record;
      tell(noticed.master, record.instance, CloudReportKind::notice, *record.notice);
      at(*record.notice, Step::reclaim, record.instance);
    }
    then(written);
  });
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
