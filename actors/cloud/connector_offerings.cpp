// What a connector knows of what its cloud offers, and what that makes its instances cost.

#include <algorithm>
#include <memory>

#include "actors/cloud/connector_host.hpp"

namespace muster {
namespace {

/// Masters that are told of changes; more than a cluster has.
constexpr std::size_t kMostMasters = 1'000;

}  // namespace

/// Puts together the catalog, the changes that the store has had since, and the cloud's present
/// word.
void CloudConnector::recall_offerings() {
  const auto know = [this](Offering offering) {
    const OfferingKey key = key_of(offering);
    offered_[key] = {offering, {}, std::move(offering)};
  };
  for (const InstanceType& type : setup_.catalog->types()) {
    know({type.name, Market::on_demand, {}, type.on_demand});
    if (type.spot) know({type.name, Market::spot, {}, *type.spot});
  }
  for (OfferingChange& change : setup_.store->changes()) {
    const OfferingKey key = key_of(change.offering);
    Offered& offered = offered_.try_emplace(key, Offered{change.offering, {}, {}}).first->second;
    offered.last = change.offering;
    last_change_ = change.number;
    last_change_at_ = change.at;
    changes_[change.number] = key;
    offered.changes[change.number] = std::move(change);
  }
}

void CloudConnector::on_offering(const HeardOffering& heard) {
  const Offering& offering = heard.offering;
  const auto same = [&](const HeardOffering& other) {
    return key_of(other.offering) == key_of(offering);
  };
  // The first one may be on its way into the store: what is told then comes after it.
  const auto waiting = changing_ ? std::next(to_change_.begin()) : to_change_.begin();
  const auto later = std::find_if(waiting, to_change_.end(), same);
  if (later != to_change_.end()) {
    *later = heard;
    return;
  }
  const auto known = offered_.find(key_of(offering));
  const bool in_flight = changing_ && *changing_ == key_of(offering);
  if (!in_flight && known != offered_.end() && known->second.last == offering) return;
  to_change_.push_back(heard);
  write_changes();
}

/// From when on the change counts. Times of changes never go back, whatever the clock does, and a
/// bill whose end is on its way into the store has been made without it: what was charged stays
/// charged.
Instant CloudConnector::start_of(const HeardOffering& heard) const {
  const std::set<InstanceId> rented = rented_of(key_of(heard.offering));
  const bool may_be_past = std::none_of(rented.begin(), rented.end(), [this](InstanceId id) {
    const auto writing = writing_.find(id);
    return writing != writing_.end() && writing->second.ends_bill;
  });
  Instant at = now();
  if (heard.at && may_be_past) at = std::min(at, floor_to(*heard.at, setup_.quantum));
  return std::max(at, last_change_at_);
}

/// One after the other: each has its number and time when it is written.
void CloudConnector::write_changes() {
  // The store may answer within put_change(), which leads back here: the loop below goes on then.
  if (std::exchange(writes_changes_, true)) return;
  while (!changing_ && !change_waits_ && !to_change_.empty()) {
    OfferingChange change;
    change.number = last_change_ + 1;
    change.at = start_of(to_change_.front());
    change.offering = to_change_.front().offering;
    changing_ = key_of(change.offering);
    const std::vector<std::uint64_t> dropped = droppable();
    setup_.store->put_change(change, dropped,
                             when_durable([this, change, dropped](const std::string& trouble) {
                               if (trouble.empty()) drop(dropped);
                               on_change_written(change, trouble);
                             }));
  }
  writes_changes_ = false;
}

void CloudConnector::on_change_written(const OfferingChange& change, const std::string& trouble) {
  show_trouble(trouble);
  const OfferingKey key = *std::exchange(changing_, std::nullopt);
  if (trouble.empty()) {
    to_change_.pop_front();
    last_change_ = change.number;
    last_change_at_ = change.at;
    changes_[change.number] = key;
    Offered& offered = offered_.try_emplace(key, Offered{change.offering, {}, {}}).first->second;
    offered.last = change.offering;
    offered.changes[change.number] = change;
  } else {
    change_waits_ = true;
    host_->at(now() + setup_.write_retry, [this] {
      change_waits_ = false;
      write_changes();
    });
  }
  const std::set<InstanceId> rented = rented_of(key);
  for (const InstanceId id : rented) catch_up(rented_.at(id).record);
  if (trouble.empty()) {
    CloudReport report{{}, CloudReportKind::offerings, change.at};
    report.changes.push_back(change);
    for (const MasterForCloud& master : masters_) tell(master, report);
  }
  for (const InstanceId id : rented) settle(id);
  write_changes();
}

std::set<InstanceId> CloudConnector::rented_of(const OfferingKey& key) const {
  const auto found = rented_of_.find(key);
  return found == rented_of_.end() ? std::set<InstanceId>{} : found->second;
}

/// The changes that nobody needs any more: neither the newest of their offering nor since the
/// oldest order that is still open, and more than are kept besides, the oldest first. Looked for
/// only now and then, so that a change costs little however much is rented.
std::vector<std::uint64_t> CloudConnector::droppable() {
  if (changes_.size() < look_for_droppable_) return {};
  Instant oldest = Instant::max();
  for (const auto& [id, rented] : rented_) oldest = std::min(oldest, rented.record.ordered_at);
  // Half of what may be kept: the search, O(changes + rented), pays off for as many changes.
  const std::size_t room = std::max<std::size_t>(setup_.keep_changes / 2, 1);
  std::vector<std::uint64_t> numbers;
  for (const auto& [number, key] : changes_) {
    const auto& changes = offered_.at(key).changes;
    // Times never go back: what comes behind this one is needed, too.
    if (changes.at(number).at >= oldest) break;
    const bool newest = changes.rbegin()->first == number;
    if (!newest && is_on_record(key, number)) numbers.push_back(number);
  }
  numbers.resize(numbers.size() - std::min(numbers.size(), room));
  look_for_droppable_ = changes_.size() - numbers.size() + room;
  return numbers;
}

/// The records of all that is rented of the offering have that change in them: without it nothing
/// costs anything else after a restart. Records that do not have it are written anew.
bool CloudConnector::is_on_record(const OfferingKey& key, std::uint64_t change) {
  bool all = true;
  for (const InstanceId id : rented_of(key)) {
    Rented& rented = rented_.at(id);
    if (rented.change_on_record >= change) continue;
    all = false;
    if (!rented.due.try_emplace(Due::price).second) continue;
    host_->at(now(), [this, id] { settle(id); });
  }
  return all;
}

void CloudConnector::drop(const std::vector<std::uint64_t>& numbers) {
  for (const std::uint64_t number : numbers) {
    const auto change = changes_.find(number);
    if (change == changes_.end()) continue;
    Offered& offered = offered_.at(change->second);
    // The dropped change becomes what was there before the first that is kept.
    offered.first = offered.changes.at(number).offering;
    offered.changes.erase(number);
    changes_.erase(change);
  }
}

/// The instance costs what its offering cost at that time, and nothing was charged before.
void CloudConnector::price_from(RentedRecord& record, Instant from) const {
  record.charged = {};
  record.priced_at.reset();
  record.change = 0;
  const auto found = offered_.find(key_of(record));
  if (found == offered_.end()) return;
  record.price = found->second.first.price;
  for (const auto& [number, change] : found->second.changes) {
    if (change.at > from) break;
    record.price = change.offering.price;
    record.change = number;
  }
}

/// Charges the record with what has passed at each price since its last change.
void CloudConnector::catch_up(RentedRecord& record) const {
  const auto found = offered_.find(key_of(record));
  if (found == offered_.end()) return;
  const auto& changes = found->second.changes;
  for (auto each = changes.upper_bound(record.change); each != changes.end(); ++each) {
    // The bill has ended by then.
    const auto& [number, change] = *each;
    if (record.gone_at && change.at >= *record.gone_at) return;
    if (record.up_at) {
      const Instant from = record.priced_at.value_or(*record.up_at);
      const Instant until = std::max(change.at, from);
      record.charged += Money::of(record.price, until - from);
      record.priced_at = until;
    }
    record.price = change.offering.price;
    record.change = number;
  }
}

/// Whoever has spoken is told of changes.
void CloudConnector::meet(const MasterForCloud& master) {
  if (!master) return;
  const auto known = std::find(masters_.begin(), masters_.end(), master);
  if (known != masters_.end()) return;
  masters_.push_back(master);
  if (masters_.size() > kMostMasters) masters_.erase(masters_.begin());
}

}  // namespace muster
