#include "masters/instances/spend_guard.hpp"

#include <algorithm>

// The day's cap. All sums are upper bounds: where the cloud's clock or an instance's start is not
// known, the dearer of the possible is taken, since money that is spent cannot be taken back.

namespace muster {
namespace {

Money money_of(double usd) {
  return Money{static_cast<Money::Units>(static_cast<long double>(usd) * 1e9L * 3600e9L)};
}

}  // namespace

SpendGuard::SpendGuard(MasterRecorder& recorder, const CloudOrders& cloud, const MasterCaps& caps)
    : recorder_(recorder), cloud_(cloud), caps_(caps) {
  recorder_.listen(*this);
}

void SpendGuard::before(const Event& event, const MasterFacts& /*facts*/) {
  if (const auto* refused = std::get_if<LaunchRefused>(&event.body)) {
    ended_at_once_.erase(refused->instance);
  } else if (const auto* gone = std::get_if<InstanceGone>(&event.body)) {
    ended_at_once_.erase(gone->instance);
  }
}

Money SpendGuard::spent_today(Instant now) const {
  return recorder_.facts().spend.until(now + cloud_ahead_, state());
}

/// How long the slowest of the types on offer may take to end.
Duration SpendGuard::end_time() const {
  Duration longest{};
  for (const InstanceType& type : state().catalog().types()) {
    longest = std::max(longest, type.terminate);
  }
  return longest + caps_.end_time;
}

Duration SpendGuard::affordable_time() const {
  Duration boot{};
  for (const InstanceType& type : state().catalog().types()) {
    boot = std::max(boot, type.acquire + type.setup);
  }
  return boot + 2 * caps_.spend_margin + end_time();
}

Duration SpendGuard::affordable_beside_others() const {
  return std::max(affordable_time(), recorder_.facts().losses.needed());
}

/// An instance that the cloud has not reported up may have been up since it was asked for.
Money SpendGuard::spent_at_most(Instant now) const {
  Money sum = spent_today(now);
  const Instant billed = now + cloud_ahead_;
  for (InstanceId id : cloud_.unanswered()) {
    const InstanceRow& row = *state().find(id);
    if (is_owned(row)) continue;
    const Instant since = std::max(row.requested_at + cloud_ahead_, midnight_before(billed));
    if (!row.up) sum += charge(row.earlier_prices, row.price, since, billed);
  }
  return sum;
}

/// Once the cap has been reached, all of the day's money counts as spent: the rest would be rented
/// for and given back again, and nothing done with it. A cap that was raised since has not been
/// reached.
double SpendGuard::spent_today_usd(Instant now) const {
  if (!has_cap()) return 0;  // every instance would be asked what it costs
  const MasterFacts& facts = recorder_.facts();
  const double spent = spent_at_most(now).usd();
  const bool reached = day_of(now + cloud_ahead_) == facts.capped_day;
  const bool raised = facts.capped_usd > 0 && caps_.max_usd_day > facts.capped_usd;
  return reached && !raised ? std::max(spent, caps_.max_usd_day) : spent;
}

/// How long until what is spent, and what is rented for `margin` more, come to the day's cap. That
/// may be on the next day, when today is too short for it.
std::optional<Duration> SpendGuard::until_spent(Duration margin, Instant now) const {
  Money::Units rate = 0;
  for (const InstanceRow& row : state().instances()) {
    if (!is_owned(row)) rate += row.price.nano_usd_h();
  }
  if (rate == 0) return std::nullopt;
  const Instant billed = now + cloud_ahead_;
  const Money::Units fresh = money_of(caps_.max_usd_day).units() - rate * margin.count();
  const Money::Units left = fresh - spent_at_most(now).units();
  if (left <= 0) return Duration::zero();
  const Duration to_midnight = midnight_before(billed) + kCapDay - billed;
  if (left / rate < to_midnight.count()) return Duration{static_cast<Duration::rep>(left / rate)};
  if (fresh / rate >= kCapDay.count()) return std::nullopt;
  return to_midnight +
         Duration{static_cast<Duration::rep>(std::max<Money::Units>(0, fresh) / rate)};
}

CapStep SpendGuard::due(Instant now) const {
  if (!has_cap()) return CapStep::none;
  const auto reached = [&](Duration margin) {
    const auto wait = until_spent(margin, now);
    return wait && *wait <= Duration::zero();
  };
  if (!reached(end_time() + caps_.spend_margin)) return CapStep::none;
  return reached(end_time()) ? CapStep::end : CapStep::save;
}

std::optional<Duration> SpendGuard::until_due(Instant now) const {
  if (!has_cap()) return std::nullopt;
  bool wanted = false;
  bool ending = true;
  for (const InstanceRow& row : state().instances()) {
    if (is_owned(row)) continue;
    wanted |= !row.released;
    ending &= ended_at_once_.contains(row.id);
  }
  if (ending) return std::nullopt;
  return until_spent(wanted ? end_time() + caps_.spend_margin : end_time(), now);
}

ReleaseDecided SpendGuard::release(InstanceId id, const Cause& cause, Instant now) const {
  ReleaseDecided release{id, cause};
  if (cause.code == CauseCode::spend_cap) {
    release.capped_day = static_cast<std::int32_t>(day_of(now + cloud_ahead_));
    release.capped_usd = caps_.max_usd_day;
  }
  return release;
}

void SpendGuard::repeat_ends() {
  for (InstanceId id : ended_at_once_) recorder_.at_once(id);
}

}  // namespace muster
