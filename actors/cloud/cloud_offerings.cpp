#include "actors/cloud/cloud_offerings.hpp"

#include <algorithm>
#include <limits>
#include <set>
#include <utility>

namespace muster {

CloudOfferings::CloudOfferings(const ConnectorSetup& setup, RentedBook& book, CloudWriter& writer,
                               Host host)
    : setup_(setup), book_(book), writer_(writer), host_(std::move(host)) {}

void CloudOfferings::recall() {
  const auto know = [this](Offering offering) {
    const OfferingName name = offering_name(offering);
    offered_[name] = {offering, {}, std::move(offering), 0};
  };
  for (const InstanceType& type : setup_.catalog->types()) {
    know({type.name, Market::on_demand, {}, type.on_demand});
    if (type.spot) know({type.name, Market::spot, {}, *type.spot});
  }
  for (const OfferingChange& change : setup_.store->changes()) add(change);
  // The store does not say how many were rented then: the provider's first word counts.
  for (auto& [name, offered] : offered_) offered.rented = std::numeric_limits<std::size_t>::max();
}

void CloudOfferings::add(const OfferingChange& change) {
  const OfferingName name = offering_name(change.offering);
  last_change_ = change.number;
  last_change_at_ = change.at;
  changes_[change.number] = name;
  Offered& offered = offered_.try_emplace(name, Offered{change.offering, {}, {}, 0}).first->second;
  offered.last = change.offering;
  offered.changes[change.number] = change;
  offered.rented = book_.count_of(name);
}

void CloudOfferings::hear(const Heard& heard) {
  const OfferingName name = offering_name(heard.offering);
  const auto of_it = [&](const Heard& other) { return offering_name(other.offering) == name; };
  // The first one may be on its way into the store: later ones come after it.
  const auto waiting = changing_ ? std::next(to_change_.begin()) : to_change_.begin();
  const auto later = std::find_if(waiting, to_change_.end(), of_it);
  if (later != to_change_.end()) {
    *later = heard;
    return;
  }
  const auto known = offered_.find(name);
  const bool in_flight = changing_ == name;
  if (!in_flight && known != offered_.end() && known->second.last == heard.offering) {
    // Masters take off what they have asked for since: as many may be left as before, though one
    // was taken, for another one has come.
    const bool counts = heard.offering.free && known->second.rented != book_.count_of(name);
    if (!counts) return;
  }
  to_change_.push_back(heard);
  write_changes();
}

/// From when on the change counts. Times of changes never go back, whatever the clock does, and a
/// bill whose end is being written was made without this change: its charge stays.
Instant CloudOfferings::start_of(const Heard& heard) const {
  const std::set<InstanceId> rented = book_.rented_of(offering_name(heard.offering));
  const bool may_be_past = std::none_of(rented.begin(), rented.end(),
                                        [this](InstanceId id) { return writer_.ends_bill(id); });
  Instant at = host_.connector->billed_now();
  if (heard.at && may_be_past) at = std::min(at, floor_to(*heard.at, setup_.quantum));
  return std::max(at, last_change_at_);
}

/// One after the other: each has its number and time when it is written.
void CloudOfferings::write_changes() {
  // The store may answer within write_change(), which leads back here: the loop below goes on then.
  if (std::exchange(writes_changes_, true)) return;
  while (!changing_ && !change_waits_ && !to_change_.empty()) {
    OfferingChange change;
    change.number = last_change_ + 1;
    change.at = start_of(to_change_.front());
    change.offering = to_change_.front().offering;
    changing_ = offering_name(change.offering);
    const std::vector<std::uint64_t> dropped = droppable();
    writer_.write_change(change, dropped, [this, change, dropped](bool written) {
      if (written) drop(dropped);
      on_written(change, written);
    });
  }
  writes_changes_ = false;
}

void CloudOfferings::on_written(const OfferingChange& change, bool written) {
  const OfferingName name = *std::exchange(changing_, std::nullopt);
  if (written) {
    to_change_.pop_front();
    add(change);
  } else {
    change_waits_ = true;
    host_.connector->at(host_.connector->billed_now() + setup_.write_retry, [this] {
      change_waits_ = false;
      write_changes();
    });
  }
  const std::set<InstanceId> rented = book_.rented_of(name);
  for (const InstanceId id : rented) catch_up(book_.at(id).record);
  if (written) host_.announce(change);
  for (const InstanceId id : rented) host_.settle(id);
  write_changes();
}

std::vector<OfferingChange> CloudOfferings::changes() const {
  std::vector<OfferingChange> all;
  for (const auto& [number, name] : changes_) all.push_back(offered_.at(name).changes.at(number));
  return all;
}

/// The changes that are no longer needed, more than are kept besides, the oldest first: neither the
/// newest of their offering nor since the oldest order that is still open, or without another
/// price, as of counts, by which nothing was charged. Looked for only now and then, so that a
/// change costs little however much is rented.
std::vector<std::uint64_t> CloudOfferings::droppable() {
  if (changes_.size() < look_for_droppable_) return {};
  const Instant oldest = book_.oldest_order();
  // Half of what may be kept: the search, O(changes + rented), pays off for as many changes.
  const std::size_t room = std::max<std::size_t>(setup_.keep_changes / 2, 1);
  std::vector<std::uint64_t> numbers;
  for (const auto& [number, name] : changes_) {
    const Offered& offered = offered_.at(name);
    const auto change = offered.changes.find(number);
    if (std::next(change) == offered.changes.end()) continue;
    const bool is_old = change->second.at < oldest;
    if (!has_own_price(offered, change) || (is_old && is_on_record(name, number))) {
      numbers.push_back(number);
    }
  }
  numbers.resize(numbers.size() - std::min(numbers.size(), room));
  look_for_droppable_ = changes_.size() - numbers.size() + room;
  return numbers;
}

/// The price is another one than before the change.
bool CloudOfferings::has_own_price(const Offered& offered,
                                   std::map<std::uint64_t, OfferingChange>::const_iterator change) {
  const Offering& before =
      change == offered.changes.begin() ? offered.first : std::prev(change)->second.offering;
  return before.price != change->second.offering.price;
}

/// The records of all that is rented of the offering have that change in them: without it nothing
/// costs anything else after a restart. Records that do not have it are written anew.
bool CloudOfferings::is_on_record(const OfferingName& offering, std::uint64_t change) {
  bool all = true;
  for (const InstanceId id : book_.rented_of(offering)) {
    if (book_.at(id).change_on_record >= change) continue;
    all = false;
    host_.renew(id);
  }
  return all;
}

void CloudOfferings::drop(const std::vector<std::uint64_t>& numbers) {
  for (const std::uint64_t number : numbers) {
    const auto change = changes_.find(number);
    if (change == changes_.end()) continue;
    Offered& offered = offered_.at(change->second);
    const auto dropped = offered.changes.find(number);
    // It becomes what was there before the first that is kept.
    if (dropped == offered.changes.begin()) offered.first = dropped->second.offering;
    offered.changes.erase(dropped);
    changes_.erase(change);
  }
}

void CloudOfferings::price_from(RentedRecord& record, Instant from) const {
  record.charged = {};
  record.priced_at.reset();
  record.change = 0;
  const auto found = offered_.find(offering_name(record));
  if (found == offered_.end()) return;
  record.price = found->second.first.price;
  for (const auto& [number, change] : found->second.changes) {
    if (change.at > from) break;
    record.price = change.offering.price;
    record.change = number;
  }
}

void CloudOfferings::catch_up(RentedRecord& record) const {
  const auto found = offered_.find(offering_name(record));
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

}  // namespace muster
