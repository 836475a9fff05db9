#include "schedulers/packing/tnrp.hpp"

// Throughput-normalised reservation prices (Eva 4.3 and 4.4). The same set may be valued with
// products of pair rates or with a recorded rate of the whole set, which wins where there is one.

namespace muster {

Entrant entrant_of(const WorthModel& model, const TaskKind& kind, TypeId type) {
  Entrant entrant{kind.cls, model.prices.on(kind.shape, type).worth_usd_h, 0};
  if (model.form == GangForm::clipped) {
    entrant.loss = kind.gang;
  } else {
    entrant.loss = kind.gang > 1 ? kind.gang_worth_usd_h : entrant.worth;
  }
  return entrant;
}

double InstanceWorth::rate_alone(ClassId cls) const {
  return rates_ != nullptr && alone_is_learned_ ? rates_->rate(cls, {}) : 1;
}

InstanceWorth::Company InstanceWorth::company_of(ClassId cls) const {
  if (members_.empty()) return {0, rate_alone(cls)};
  Company company;
  if (rates_ == nullptr) {
    for (const Member& member : members_) company.members_usd_h += value(member.task, 1);
    return company;
  }
  // A recorded set of two is what pair_rate() answers: only larger ones have to be looked up.
  ColocationTable::Recorded recorded;
  if (members_.size() > 1 && rates_->knows_sets_of(key_.size() + 1)) {
    recorded = rates_->recorded(key_.with(cls));
  }
  for (const Member& member : members_) {
    company.rate *= rates_->pair_rate(cls, member.task.cls);
    double rate = member.product * rates_->pair_rate(member.task.cls, cls);
    if (recorded) [[unlikely]] {
      if (const double* mean = recorded.rate_of(member.task.cls)) rate = *mean;
    }
    company.members_usd_h += value(member.task, rate);
  }
  if (recorded) [[unlikely]] {
    if (const double* mean = recorded.rate_of(cls)) company.rate = *mean;
  }
  return company;
}

void InstanceWorth::add(const Entrant& entrant) {
  // total_ is the very number by which the task was chosen: candidates are compared for equality.
  total_ = with(entrant);
  undisturbed_ += entrant.worth;
  double own = 1;
  by_pairs_ = 0;
  for (Member& member : members_) {
    if (rates_ != nullptr) {
      own *= rates_->pair_rate(entrant.cls, member.task.cls);
      member.product *= rates_->pair_rate(member.task.cls, entrant.cls);
    }
    // Added up anew, since the entrant changes the product of every member.
    by_pairs_ += value(member.task, member.product);
  }
  by_pairs_ += value(entrant, own);
  key_.add(entrant.cls);
  members_.push_back({entrant, own});
}

}  // namespace muster
