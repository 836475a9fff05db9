#include "actors/cloud/rented_book.hpp"

#include <algorithm>
#include <utility>

#include "actors/cloud/rented.hpp"
#include "actors/messages/byte_cut.hpp"
#include "model/live_ids.hpp"

namespace muster {

RentedBook::Rented* RentedBook::find(InstanceId id) {
  const auto found = rented_.find(id);
  return found == rented_.end() ? nullptr : &found->second;
}

const RentedBook::Rented* RentedBook::find(InstanceId id) const {
  const auto found = rented_.find(id);
  return found == rented_.end() ? nullptr : &found->second;
}

std::size_t RentedBook::count_of(const OfferingName& offering) const {
  const auto found = rented_of_.find(offering);
  return found == rented_of_.end() ? 0 : found->second.size();
}

std::set<InstanceId> RentedBook::rented_of(const OfferingName& offering) const {
  const auto found = rented_of_.find(offering);
  return found == rented_of_.end() ? std::set<InstanceId>{} : found->second;
}

Instant RentedBook::oldest_order() const {
  Instant oldest = Instant::max();
  for (const auto& [id, rented] : rented_) oldest = std::min(oldest, rented.record.ordered_at);
  return oldest;
}

void RentedBook::add(Rented rented) {
  const InstanceId id = rented.record.instance;
  note_number(id);
  rented_of_[offering_name(rented.record)].insert(id);
  rented_[id] = std::move(rented);
  bill_.rented = rented_.size();
}

RentedBook::Rented RentedBook::remove(InstanceId id) {
  Rented rented = std::move(rented_.extract(id).mapped());
  const auto others = rented_of_.find(offering_name(rented.record));
  others->second.erase(id);
  if (others->second.empty()) rented_of_.erase(others);
  bill_.rented = rented_.size();
  return rented;
}

const RentedRecord* RentedBook::find_over(InstanceId id) const {
  const auto found = over_.find(id);
  return found == over_.end() ? nullptr : &found->second;
}

void RentedBook::remember(RentedRecord record) {
  const InstanceId id = record.instance;
  note_number(id);
  over_[id] = std::move(record);
  over_in_order_.push_back(id);
  if (over_in_order_.size() <= keep_gone_) return;
  forgotten_.add(over_in_order_.front().value);
  over_.erase(over_in_order_.front());
  over_in_order_.pop_front();
}

bool RentedBook::is_forgotten(InstanceId id) const {
  const auto before = recalled_.find(master_of(id));
  return forgotten_.contains(id.value) || (before != recalled_.end() && id <= before->second);
}

void RentedBook::note_number(InstanceId id) {
  const auto [newest, fresh] = newest_.try_emplace(master_of(id), id);
  if (!fresh) newest->second = std::max(newest->second, id);
}

std::vector<InstanceId> RentedBook::newest() const {
  std::vector<InstanceId> newest;
  for (const auto& [master, id] : newest_) newest.push_back(id);
  return newest;
}

RentedView RentedBook::show(const RentedQuestion& wanted, Instant now) const {
  RentedView view;
  Money total = bill_.total;
  view.launched = bill_.launched;
  const std::size_t limit = wanted.most > 0 ? wanted.most : RentedQuestion::kUnlessAsked;
  for (const auto& [id, rented] : rented_) {
    total += charge_of(rented.record, now);
    if (view.rented.size() < limit) view.rented.push_back(view_of(rented.record, now));
  }
  for (auto id = over_in_order_.rbegin(); id != over_in_order_.rend() && view.rented.size() < limit;
       ++id) {
    view.rented.push_back(view_of(over_.at(*id), now));
  }
  view.total_usd = total.usd();
  cut_to_message(view.rented);
  return view;
}

}  // namespace muster
