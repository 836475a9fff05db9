#include <algorithm>

#include "actors/cloud/loopback.hpp"

// How a loopback cloud goes on where an earlier one ended, and what it answers.

namespace muster {

void LoopbackCloud::recall() {
  for (const auto& [master, sums] : setup_.book->dropped()) {
    setup_.bill->total += sums.charged;
    setup_.bill->launched += sums.launched;
    setup_.bill->refused += sums.refused;
    if (sums.newest > 0) note_number(InstanceId{sums.newest});
  }
  std::set<InstanceId> on_record;
  std::vector<RentedRecord> records = setup_.book->recall();
  Instant newest = setup_.machines->all_ended_at().value_or(Instant{});
  for (const RentedRecord& record : records) {
    newest = std::max({newest, record.ordered_at, record.up_at.value_or(record.ordered_at),
                       record.gone_at.value_or(record.ordered_at)});
  }
  go_on_from(newest);
  for (RentedRecord& record : records) {
    const InstanceId id = record.instance;
    note_number(id);
    if (record.up_at) ++setup_.bill->launched;
    if (record.refused) ++setup_.bill->refused;
    if (record.refused || record.gone_at) {
      setup_.bill->total += charge_of(record, record.gone_at.value_or(now()));
      remember(std::move(record));
      continue;
    }
    on_record.insert(id);
    const std::optional<TypeId> type = setup_.catalog->find(record.type);
    add({std::move(record), type, {}});
  }
  setup_.machines->keep_only(on_record);
  for (const InstanceId id : on_record) resume(rented_.at(id));
}

/// A bill for time that has been billed already could spend more on a day than masters know of.
void LoopbackCloud::go_on_from(Instant newest) {
  const Duration set_back = newest - timer_.now();
  if (set_back <= Duration::zero()) return;
  timer_ = {this, ClusterEpoch{setup_.epoch.start - set_back}};
  note("the clock shows an earlier time than the cloud's book: its bills go on from there, " +
       std::to_string(set_back / std::chrono::seconds{1}) + " s ahead of the clock");
}

/// Goes on with an instance where the last cloud ended. It may be over afterwards; of one whose
/// machine was ended meanwhile the bill ends then, and no machine is made anew. The clock may
/// have been set back meanwhile: nothing takes longer from now on than it takes in all.
void LoopbackCloud::resume(Rented& rented) {
  const RentedRecord& record = rented.record;
  const InstanceId id = record.instance;
  const std::optional<Instant> all_ended = setup_.machines->all_ended_at();
  if (all_ended && record.ordered_at <= *all_ended) {
    rented.ended_at = all_ended;
    return halt(id);
  }
  if (record.ending) return halt(id);
  const auto after = [this](Instant began, Duration delay) {
    return next(std::min(began, now()) + delay);
  };
  const bool booted = !record.machine.empty();
  if (booted ? !setup_.machines->adopt(record) : !rented.type) {
    note("instance " + std::to_string(id.value) + " is lost: " +
         (booted ? "its machine is not there any more"
                 : "the catalog has no type '" + record.type + "' any more"));
    return reclaim(id);
  }
  if (!record.up_at) {
    return at(after(record.ordered_at, (*setup_.catalog)[*rented.type].acquire), Step::come_up, id);
  }
  if (!booted) {
    at(after(*record.up_at, (*setup_.catalog)[*rented.type].setup), Step::boot, id);
  }
  if (record.notice) {
    const Instant latest = after(now(), setup_.interruptions.notice);
    return at(std::min(next(*record.notice), latest), Step::reclaim, id);
  }
  await_interruption(rented);
}

RentedView LoopbackCloud::show_rented(const RentedQuestion& wanted) const {
  const Instant present = now();
  RentedView view;
  Money total = setup_.bill->total;
  view.launched = setup_.bill->launched;
  const std::size_t limit = wanted.most > 0 ? wanted.most : RentedQuestion::kUnlessAsked;
  for (const auto& [id, rented] : rented_) {
    total += charge_of(rented.record, present);
    if (view.rented.size() < limit) view.rented.push_back(view_of(rented.record, present));
  }
  for (auto id = over_in_order_.rbegin(); id != over_in_order_.rend() && view.rented.size() < limit;
       ++id) {
    view.rented.push_back(view_of(over_.at(*id), present));
  }
  view.total_usd = total.usd();
  return view;
}

CloudFigures LoopbackCloud::figures() const {
  return {rented_.size(), setup_.bill->launched, setup_.bill->refused, restarts_, trouble_};
}

}  // namespace muster
