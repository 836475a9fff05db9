// The part of a master that keeps the day's cap. The day is that of the cloud's clock, which bills.
// The sum that is compared with the cap is never below what the cloud will charge: what is spent by
// now, and all that is rented for the time that ending it may take. In that time are the type's
// own, and `end_time`: for the cloud's disk, for the order on its way, and for the cloud's word
// about its clock, of which a master knows no more than that it was not ahead of the truth. So the
// cap holds unless the cloud does not carry out an end in time.

#include <algorithm>

#include "masters/master.hpp"

namespace muster {
namespace {

Money money_of(double usd) {
  return Money{static_cast<Money::Units>(static_cast<long double>(usd) * 1e9L * 3600e9L)};
}

}  // namespace

/// How long the slowest of the types on offer may take to end.
Duration Master::end_time() const {
  Duration longest{};
  for (const InstanceType& type : catalog_->types()) longest = std::max(longest, type.terminate);
  return longest + settings_.caps.end_time;
}

/// What the cloud has not said to be up may have been up since it was asked for.
Money Master::spent_at_most(Instant now) const {
  Money sum = spent_today(now);
  const Instant billed = now + cloud_ahead_;
  for (InstanceId id : unanswered_) {
    const InstanceRow& row = *state_.find(id);
    const Instant since = std::max(row.requested_at + cloud_ahead_, midnight_before(billed));
    if (!row.up) sum += charge(row.earlier_prices, row.price, since, billed);
  }
  return sum;
}

/// How long an instance has to be affordable to be rented: until it is up, and then for checkpoints
/// once for having them saved and once more for what there will be to save.
Duration Master::affordable_time() const {
  Duration boot{};
  for (const InstanceType& type : catalog_->types()) {
    boot = std::max(boot, type.acquire + type.setup);
  }
  return boot + 2 * settings_.caps.spend_margin + end_time();
}

/// Once the cap has been reached, all of the day's money counts as spent: what is left would be
/// rented for and given back again, and nothing done with it. A cap that was raised since has not
/// been reached.
double Master::spent_today_usd(Instant now) const {
  const double spent = spent_at_most(now).usd();
  const bool reached = day_of(now + cloud_ahead_) == known_.capped_day;
  const bool raised = known_.capped_usd > 0 && settings_.caps.max_usd_day > known_.capped_usd;
  return reached && !raised ? std::max(spent, settings_.caps.max_usd_day) : spent;
}

/// How long until what is spent, and what is rented for `margin` more, come to the day's cap. That
/// may be on the next day, when today is too short for it.
std::optional<Duration> Master::until_spent(Duration margin, Instant now) const {
  Money::Units rate = 0;
  for (const InstanceRow& row : state_.instances()) rate += row.price.nano_usd_h();
  if (rate == 0) return std::nullopt;
  const Instant billed = now + cloud_ahead_;
  const Money::Units fresh = money_of(settings_.caps.max_usd_day).units() - rate * margin.count();
  const Money::Units left = fresh - spent_at_most(now).units();
  if (left <= 0) return Duration::zero();
  const Duration to_midnight = midnight_before(billed) + kCapDay - billed;
  if (left / rate < to_midnight.count()) return Duration{static_cast<Duration::rep>(left / rate)};
  if (fresh / rate >= kCapDay.count()) return std::nullopt;
  return to_midnight +
         Duration{static_cast<Duration::rep>(std::max<Money::Units>(0, fresh) / rate)};
}

void Master::keep_caps(Instant now) {
  if (settings_.caps.max_usd_day <= 0) return;
  const auto reached = [&](Duration margin) {
    const auto wait = until_spent(margin, now);
    return wait && *wait <= Duration::zero();
  };
  if (!reached(end_time() + settings_.caps.spend_margin)) return;
  std::vector<InstanceId> all;
  for (const InstanceRow& row : state_.instances()) all.push_back(row.id);
  if (!reached(end_time())) {
    for (InstanceId id : all) evict(id, CauseCode::spend_cap, now);
    return;
  }
  for (InstanceId id : all) {
    abandon(id, CauseCode::spend_cap, now);
    ended_at_once_.insert(id);
  }
  end_at_once();
}

void Master::end_at_once() {
  for (InstanceId id : ended_at_once_) commit_.at_once.push_back({id});
}

std::optional<Duration> Master::until_cap(Instant now) const {
  if (settings_.caps.max_usd_day <= 0) return std::nullopt;
  bool wanted = false;
  bool ending = true;
  for (const InstanceRow& row : state_.instances()) {
    wanted |= !row.released;
    ending &= ended_at_once_.contains(row.id);
  }
  if (ending) return std::nullopt;
  return until_spent(wanted ? end_time() + settings_.caps.spend_margin : end_time(), now);
}

}  // namespace muster
