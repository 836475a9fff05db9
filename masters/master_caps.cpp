// The part of a master that keeps the day's cap. The sum that is compared with it is never below
// what the cloud will charge: what is spent by now, and all that is rented for the time that ending
// it may take. So the cap holds unless the cloud does not answer an end.

#include <algorithm>

#include "masters/master.hpp"

namespace muster {
namespace {

Money money_of(double usd) {
  return Money{static_cast<Money::Units>(static_cast<long double>(usd) * 1e9L * 3600e9L)};
}

Instant midnight_before(Instant t) {
  return Instant{t.time_since_epoch() / kCapDay * kCapDay};
}

}  // namespace

/// How long the slowest of the types on offer may take to end.
Duration Master::end_time() const {
  Duration longest{};
  for (const InstanceType& type : catalog_->types()) longest = std::max(longest, type.terminate);
  return longest + caps_.end_time;
}

/// What the cloud has not said to be up may have been up since it was asked for.
Money Master::spent_at_most(Instant billed) const {
  Money sum = spent_today(billed);
  for (InstanceId id : unanswered_) {
    const InstanceRow& row = *state_.find(id);
    const Instant since = std::max(row.requested_at, midnight_before(billed));
    if (!row.up && since < billed) sum += Money::of(row.price, billed - since);
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
  return boot + 2 * caps_.spend_margin + end_time();
}

/// Once the cap has been reached, all of the day's money counts as spent: what is left would be
/// rented for and given back again, and nothing done with it.
double Master::spent_today_usd(Instant now) const {
  const double spent = spent_at_most(now).usd();
  const bool reached = midnight_before(now) == Instant{capped_day_ * kCapDay};
  return reached ? std::max(spent, caps_.max_usd_day) : spent;
}

/// How long until what is spent, and what is rented for `margin` more, come to the day's cap. That
/// may be on the next day, when today is too short for it.
std::optional<Duration> Master::until_spent(Duration margin, Instant billed) const {
  Money::Units rate = 0;
  for (const InstanceRow& row : state_.instances()) rate += row.price.nano_usd_h();
  if (rate == 0) return std::nullopt;
  const Money::Units fresh = money_of(caps_.max_usd_day).units() - rate * margin.count();
  const Money::Units left = fresh - spent_at_most(billed).units();
  if (left <= 0) return Duration::zero();
  const Duration to_midnight = midnight_before(billed) + kCapDay - billed;
  if (left / rate < to_midnight.count()) return Duration{static_cast<Duration::rep>(left / rate)};
  if (fresh / rate >= kCapDay.count()) return std::nullopt;
  return to_midnight +
         Duration{static_cast<Duration::rep>(std::max<Money::Units>(0, fresh) / rate)};
}

void Master::keep_caps(Instant now, Instant billed) {
  if (caps_.max_usd_day <= 0) return;
  const auto reached = [&](Duration margin) {
    const auto wait = until_spent(margin, billed);
    return wait && *wait <= Duration::zero();
  };
  if (!reached(end_time() + caps_.spend_margin)) return;
  std::vector<InstanceId> all;
  for (const InstanceRow& row : state_.instances()) all.push_back(row.id);
  const bool at_once = reached(end_time());
  for (InstanceId id : all) {
    at_once ? abandon(id, CauseCode::spend_cap, now) : evict(id, CauseCode::spend_cap, now);
  }
}

std::optional<Duration> Master::until_cap(Instant billed) const {
  if (caps_.max_usd_day <= 0) return std::nullopt;
  bool wanted = false;
  bool ending = true;
  for (const InstanceRow& row : state_.instances()) {
    wanted |= !row.released;
    ending &= row.phase == InstancePhase::terminating;
  }
  if (ending) return std::nullopt;
  return until_spent(wanted ? end_time() + caps_.spend_margin : end_time(), billed);
}

}  // namespace muster
