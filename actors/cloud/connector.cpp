#include "actors/cloud/connector.hpp"

#include <algorithm>
#include <memory>

#include "actors/cloud/connector_host.hpp"
#include "actors/messages/byte_cut.hpp"
#include "model/live_ids.hpp"

// Everything about one instance happens in turn: while its record is being written all orders for
// it wait, because the next record is made from the one before. Other instances go on meanwhile.

namespace muster {
namespace {

/// Orders for one instance that wait for its record to be written; masters repeat what is dropped.
constexpr std::size_t kMaxDeferred = 16;

}  // namespace

CloudConnector::CloudConnector(caf::actor_config& config, ConnectorSetup setup)
    : CloudActor::base(config), setup_(std::move(setup)), timer_(this, setup_.origin) {}

CloudConnector::~CloudConnector() = default;

void CloudConnector::on_exit() {
  // First: news must not come to a connector that is letting go.
  setup_.provider->unwatch();
  rented_.clear();
  writing_.clear();
  interrupting_.clear();
  masters_.clear();
}

CloudActor::behavior_type CloudConnector::make_behavior() {
  host_ = std::make_shared<Host>(this);
  host_->turn([this] { recall(); });
  return {
      [this](launch_atom, const LaunchOrder& order, const MasterForCloud& master) {
        host_->turn([&] { rent(order, master); });
      },
      [this](end_atom, InstanceId id, const MasterForCloud& master) {
        host_->turn([&] { order_end(id, master); });
      },
      [this](greet_atom, const MasterForCloud& master) { notify_clock(master); },
      [this](interrupt_atom, InstanceId id) -> caf::result<InstanceId> {
        auto promise = make_response_promise<InstanceId>();
        host_->turn([&] { asked_to_interrupt(id, promise); });
        return promise;
      },
      [this](const RentedQuestion& wanted) { return show_rented(wanted); },
      [this](figures_atom) { return figures(); },
      [](const Wakeup& wakeup) { wakeup.run(); },
  };
}

void CloudConnector::note(const std::string& text) const {
  if (setup_.note) setup_.note(text);
}

/// Has the order taken again when the record of its instance is written; false: too many wait.
bool CloudConnector::defer(InstanceId id, std::function<void()> order) {
  std::vector<std::function<void()>>& orders = writing_.at(id).orders;
  if (orders.size() >= kMaxDeferred) return false;
  orders.push_back(std::move(order));
  return true;
}

/// The store may answer at once, or later from a thread of its own, which must not touch this
/// actor.
CloudStore::Durable CloudConnector::when_durable(
    std::function<void(const std::string& trouble)> then) {
  return [host = host_, then = std::move(then)](const std::string& trouble) {
    host->run([then, trouble] { then(trouble); });
  };
}

void CloudConnector::write(const RentedRecord& record, std::function<void(bool written)> then) {
  const InstanceId id = record.instance;
  note_number(id);
  writing_[id] = {std::move(then), record.gone_at.has_value()};
  setup_.store->put(
      record, when_durable([this, id](const std::string& trouble) { on_written(id, trouble); }));
}

void CloudConnector::show_trouble(const std::string& trouble) {
  if (trouble != trouble_)
    note(trouble.empty() ? "the cloud's store takes records again" : trouble);
  trouble_ = trouble;
}

void CloudConnector::on_written(InstanceId id, const std::string& trouble) {
  show_trouble(trouble);
  // Taken out before `then`, which may write the next record of the instance.
  const Writing written = std::move(writing_.extract(id).mapped());
  written.then(trouble.empty());
  // Each of these may write again; then the ones behind it wait again, in their order.
  for (const auto& order : written.orders) order();
  settle(id);
}

void CloudConnector::rent(const LaunchOrder& order, const MasterForCloud& master) {
  const InstanceId id = order.instance;
  meet(master);
  if (is_being_written(id)) {
    defer(id, [this, order, master] { rent(order, master); });
    return;
  }
  const auto refuse_other = [&] {
    CloudReport report{id, CloudReportKind::refused, now()};
    report.reason = CloudReason::failed;
    tell(master, std::move(report));
  };
  if (const auto known = rented_.find(id); known != rented_.end()) {
    if (is_of_another(order, known->second.record)) return refuse_other();
    // The master that spoke last hears the rest, as after its restart under another handle.
    known->second.master = master;
    return notify_state(known->second);
  }
  if (const auto over = over_.find(id); over != over_.end()) {
    if (is_of_another(order, over->second)) return refuse_other();
    return notify_over(over->second, master);
  }
  if (is_forgotten(id)) {
    note("instance " + std::to_string(id.value) +
         " was over long ago: an order for it that comes now rents nothing");
    CloudReport report{id, CloudReportKind::gone, now()};
    report.reason = CloudReason::ended;
    return tell(master, std::move(report));
  }
  RentedRecord record;
  record.instance = id;
  record.ordered_at = now();
  record.type = order.type;
  record.market = static_cast<Market>(order.market);
  record.zone = order.zone;
  record.max_price = order.max_price;
  price_from(record, record.ordered_at);
  // Known before it is written: a repeated order waits for this record instead of making another.
  add({record, master});
  // The intent is on record before the cloud hears of it: what a crash leaves behind is found again
  // by its number.
  write(record, [this, id](bool written) {
    if (written) return order_launch(id);
    remove(id);  // the master repeats what it gets no answer to
  });
}

/// The number is one that its master has given to something else before: what is on record would be
/// billed as what is ordered.
bool CloudConnector::is_of_another(const LaunchOrder& order, const RentedRecord& known) {
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

/// Masters that have lost what they knew go on from the numbers, and learn of the prices.
void CloudConnector::notify_clock(const MasterForCloud& master) {
  meet(master);
  std::vector<InstanceId> newest;
  for (const auto& [number, id] : newest_) newest.push_back(id);
  std::vector<OfferingChange> changes;
  for (const auto& [number, key] : changes_) {
    changes.push_back(offered_.at(key).changes.at(number));
  }
  auto pieces = in_messages(std::move(changes));
  if (pieces.empty()) pieces.emplace_back();
  for (std::vector<OfferingChange>& piece : pieces) {
    CloudReport report{{}, CloudReportKind::clock, timer_.now()};
    report.newest = newest;
    report.changes = std::move(piece);
    tell(master, std::move(report));
  }
}

/// It was over before anything that is remembered: a repetition that comes so late is no new order.
bool CloudConnector::is_forgotten(InstanceId id) const {
  const auto before = recalled_.find(master_of(id));
  return forgotten_.contains(id.value) || (before != recalled_.end() && id <= before->second);
}

void CloudConnector::note_number(InstanceId id) {
  const auto [newest, fresh] = newest_.try_emplace(master_of(id), id);
  if (!fresh) newest->second = std::max(newest->second, id);
}

void CloudConnector::add(Rented rented) {
  const InstanceId id = rented.record.instance;
  rented_of_[key_of(rented.record)].insert(id);
  rented_[id] = std::move(rented);
  setup_.bill->rented = rented_.size();
}

CloudConnector::Rented CloudConnector::remove(InstanceId id) {
  Rented rented = std::move(rented_.extract(id).mapped());
  const auto others = rented_of_.find(key_of(rented.record));
  others->second.erase(id);
  if (others->second.empty()) rented_of_.erase(others);
  setup_.bill->rented = rented_.size();
  if (auto asked = interrupting_.extract(id)) {
    const std::string why = "instance " + std::to_string(id.value) + " is gone";
    asked.mapped().deliver(caf::make_error(ActorError::unknown, why));
  }
  return rented;
}

void CloudConnector::tell(const MasterForCloud& master, CloudReport report) {
  report.now = timer_.now();
  report.last_change = last_change_;
  if (master) send(master, std::move(report));
}

void CloudConnector::notify_state(const Rented& rented) {
  const RentedRecord& record = rented.record;
  const InstanceId id = record.instance;
  if (record.up_at) tell(rented.master, {id, CloudReportKind::up, *record.up_at});
  if (record.notice) tell(rented.master, {id, CloudReportKind::notice, *record.notice});
}

void CloudConnector::notify_over(const RentedRecord& record, const MasterForCloud& master) {
  CloudReport report{record.instance, CloudReportKind::refused, record.ordered_at};
  // A refused instance never was: there is nothing to bill and no end to tell.
  if (!record.refused) {
    report.kind = CloudReportKind::gone;
    report.at = record.gone_at.value_or(now());
    report.billed_from = record.up_at;
  }
  report.reason = record.reason;
  tell(master, std::move(report));
}

void CloudConnector::remember(RentedRecord record) {
  const InstanceId id = record.instance;
  over_[id] = std::move(record);
  over_in_order_.push_back(id);
  if (over_in_order_.size() <= setup_.keep_gone) return;
  forgotten_.add(over_in_order_.front().value);
  over_.erase(over_in_order_.front());
  over_in_order_.pop_front();
}

void CloudConnector::order_end(InstanceId id, const MasterForCloud& master) {
  meet(master);
  if (is_being_written(id)) {
    defer(id, [this, id, master] { order_end(id, master); });
    return;
  }
  if (const auto over = over_.find(id); over != over_.end()) {
    return notify_over(over->second, master);
  }
  if (const auto found = rented_.find(id); found != rented_.end()) {
    found->second.master = master;
    if (!found->second.record.ending) take(id, Due::end, {});
    return;
  }
  // The launch order never came; should it still come, it is too late.
  RentedRecord record;
  record.instance = id;
  record.ordered_at = now();
  record.gone_at = now();
  record.reason = CloudReason::ended;
  write(record, [this, record, master](bool written) {
    if (!written) return;  // the master repeats what it gets no answer to
    notify_over(record, master);
    remember(record);
  });
}

void CloudConnector::asked_to_interrupt(InstanceId id, InterruptPromise promise) {
  const auto fail = [&](const std::string& why) {
    promise.deliver(caf::make_error(ActorError::unknown, why));
  };
  const std::string name = "instance " + std::to_string(id.value);
  if (is_being_written(id)) {
    const bool waits = defer(id, [this, id, promise] { asked_to_interrupt(id, promise); });
    return waits ? void() : fail(name + " has too many orders at once");
  }
  const auto found = rented_.find(id);
  if (found == rented_.end()) return fail(name + " is not rented");
  const RentedRecord& record = found->second.record;
  if (record.market != Market::spot) {
    return fail(name + " is an on-demand instance; only spot ones are interrupted");
  }
  if (!record.up_at || record.ending) {
    return fail(name + (record.ending ? " is ending already" : " is not up yet"));
  }
  if (record.notice) {
    promise.deliver(id);
    return;
  }
  if (interrupting_.contains(id)) return fail(name + " is being interrupted already");
  // Before the call: the provider may tell of the notice within it.
  interrupting_[id] = promise;
  if (setup_.provider->interrupt(id)) return;
  interrupting_.erase(id);
  fail(name + " cannot be interrupted: its cloud does not do that when it is told to");
}

void CloudConnector::answer_interruption(InstanceId id, bool written) {
  auto asked = interrupting_.extract(id);
  if (asked.empty()) return;
  if (written) {
    asked.mapped().deliver(id);
  } else {
    asked.mapped().deliver(caf::make_error(ActorError::store_failed, trouble_));
  }
}

}  // namespace muster
