#include <algorithm>

#include "actors/cloud/connector_host.hpp"
#include "actors/messages/byte_cut.hpp"

// How a connector goes on where an earlier one ended, and what it answers.

namespace muster {

void CloudConnector::recall() {
  for (const auto& [master, sums] : setup_.store->dropped()) {
    setup_.bill->total += sums.charged;
    setup_.bill->launched += sums.launched;
    setup_.bill->refused += sums.refused;
    if (sums.newest > 0) note_number(InstanceId{sums.newest});
  }
  recall_offerings();
  std::vector<RentedRecord> records = setup_.store->recall();
  Instant newest = std::max(setup_.provider->all_ended_at().value_or(Instant{}), last_change_at_);
  for (const RentedRecord& record : records) {
    newest = std::max({newest, record.ordered_at, record.up_at.value_or(record.ordered_at),
                       record.gone_at.value_or(record.ordered_at)});
  }
  // Before anything asks for the time.
  go_on_from(newest);
  std::vector<RentedRecord> live;
  for (RentedRecord& record : records) {
    note_number(record.instance);
    if (record.up_at) ++setup_.bill->launched;
    if (record.refused) ++setup_.bill->refused;
    if (record.refused || record.gone_at) {
      setup_.bill->total += charge_of(record, record.gone_at.value_or(now()));
      remember(std::move(record));
      continue;
    }
    Rented rented{std::move(record), {}};
    rented.change_on_record = rented.record.change;
    catch_up(rented.record);
    live.push_back(rented.record);
    add(std::move(rented));
  }
  recalled_ = newest_;
  begin(live);
}

/// Shows the provider what is on record, and goes on with what it finds.
void CloudConnector::begin(const std::vector<RentedRecord>& live) {
  setup_.provider->watch(host_, live);
  // Told again in full: the cloud may have changed them while no connector ran.
  for (const Offering& offering : setup_.provider->offerings()) on_offering({offering});
  for (const RentedRecord& record : live) {
    if (record.ending) terminate(record.instance);
  }
  // Orders that never reached the cloud, and instances that are nobody's, are found by this.
  look();
}

/// A bill for time that has been billed already could spend more on a day than masters know of.
void CloudConnector::go_on_from(Instant newest) {
  const Duration set_back = newest - timer_.now();
  if (set_back <= Duration::zero()) return;
  timer_ = {this, ClockOrigin{setup_.origin.start - set_back}};
  note("the clock shows an earlier time than the cloud's store: its bills go on from there, " +
       std::to_string(set_back / std::chrono::seconds{1}) + " s ahead of the clock");
}

RentedView CloudConnector::show_rented(const RentedQuestion& wanted) const {
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
  cut_to_message(view.rented);
  return view;
}

CloudFigures CloudConnector::figures() const {
  return {rented_.size(), setup_.bill->launched, setup_.bill->refused, restarts_, trouble_};
}

}  // namespace muster
