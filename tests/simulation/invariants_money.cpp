// What is held against the money of a run: ledgers, the cloud's book, its bill, and caps.

#include <fmt/format.h>

#include <algorithm>

#include "actors/cloud/rented.hpp"
#include "model/live_ids.hpp"
#include "tests/simulation/invariants.hpp"

namespace muster::ring {

/// The instances that their masters' logs bill for another time than the cloud's book.
std::string Invariants::differences() const {
  std::map<InstanceId, Instant> from, until;
  for (std::uint32_t i = 0; i < cells_.size(); ++i) {
    for (const Event& event : cluster_.master_disk(i).events) {
      if (const auto* up = std::get_if<InstanceUp>(&event.body)) {
        from[up->instance] = up->billed_from.value_or(event.at);
      } else if (const auto* gone = std::get_if<InstanceGone>(&event.body)) {
        until[gone->instance] = gone->billed_until.value_or(event.at);
      }
    }
  }
  std::string text;
  for (const auto& [id, record] : cluster_.cloud_disk().records) {
    if (!record.up_at || !record.gone_at) continue;
    if (!from.contains(id)) {
      text += fmt::format("instance {} is not billed at its master; ", id.value);
    } else if (until[id] - from[id] != *record.gone_at - *record.up_at) {
      text += fmt::format(
          "instance {} is billed from {:.3f} s to {:.3f} s instead of {:.3f} s to "
          "{:.3f} s; ",
          id.value, to_seconds(from[id]), to_seconds(until[id]), to_seconds(*record.up_at),
          to_seconds(*record.gone_at));
    }
  }
  return text;
}

/// Ledger = bill = log.
void Invariants::check_money() {
  Money ledgers, logs, records;
  for (std::uint32_t i = 0; i < cells_.size(); ++i) {
    const Ledger& ledger = cells_[i].ledger;
    ledgers += ledger.total();
    Money parts = ledger.tasks();
    for (const OverheadKind kind : {OverheadKind::boot, OverheadKind::idle, OverheadKind::drain,
                                    OverheadKind::fragmentation}) {
      parts += ledger.idleness(kind);
    }
    if (!(parts == ledger.total())) broken("the parts of a ledger do not add up");
  }
  for (const auto& [id, record] : cluster_.cloud_disk().records) {
    records += charge_of(record, record.gone_at.value_or(Instant{}));
  }
  if (!(ledgers == records)) {
    broken(fmt::format("the ledgers say ${:.9f}, the cloud's book ${:.9f}; {}", ledgers.usd(),
                       records.usd(), differences()));
  }
  if (!(cluster_.bill().total == records)) {
    broken(fmt::format("the cloud's bill is ${:.9f}, its book says ${:.9f}",
                       cluster_.bill().total.usd(), records.usd()));
  }
}

void Invariants::excuse(std::uint32_t master, Instant from, Instant until) {
  unable_[master].push_back({from, until});
}

/// When nobody could know that the instance is to be ended, or it was ordered and the cloud took
/// longer for it than it may; by the cloud's clock.
Invariants::Spans Invariants::in_the_way(const RentedRecord& record) const {
  const std::uint32_t master = master_of(record.instance);
  Spans spans;
  const auto add = [&](Instant from, Instant until) {
    spans.push_back({cluster_.cloud_clock(from), until});
  };
  if (const auto found = deaf_.find(master); found != deaf_.end()) {
    for (const auto& [from, until] : found->second) add(from, cluster_.cloud_clock(until));
  }
  const auto deaf = deaf_since_.find(master);
  if (deaf != deaf_since_.end()) add(deaf->second, Instant::max());
  const auto ended = cells_[master].ended.find(record.instance);
  if (ended != cells_[master].ended.end()) {
    Duration allowed{};
    for (const InstanceType& type : cluster_.scenario().catalog.types()) {
      allowed = std::max(allowed, type.terminate);
    }
    allowed += cluster_.scenario().master.caps.end_time - kClockLag;
    add(ended->second + allowed, *record.gone_at);
  }
  std::sort(spans.begin(), spans.end());
  return spans;
}

/// What the instance cost in the time of the cloud's clock, less what no master could have spared.
Money Invariants::counted(const RentedRecord& record, Instant from, Instant to) const {
  Duration left{};
  for (const auto& [begin, end] : in_the_way(record)) {
    if (end <= begin) continue;
    if (begin > from) left += std::min(begin, to) - from;
    from = std::max(from, end);
    if (from >= to) break;
  }
  return Money::of(record.price, left + std::max(to - from, Duration::zero()));
}

/// No master spends more in a day than it may.
void Invariants::check_caps() {
  const double cap = cluster_.scenario().master.caps.max_usd_day;
  if (cap <= 0) return;
  constexpr Duration kDay = std::chrono::hours{24};
  std::map<std::pair<std::uint32_t, std::int64_t>, Money> spent;
  for (const auto& [id, record] : cluster_.cloud_disk().records) {
    if (!record.up_at || !record.gone_at) continue;
    for (Instant from = *record.up_at; from < *record.gone_at;) {
      const std::int64_t day = from.time_since_epoch() / kDay;
      const Instant to = std::min(*record.gone_at, Instant{(day + 1) * kDay});
      spent[{master_of(id), day}] += counted(record, from, to);
      from = to;
    }
  }
  for (const auto& [key, money] : spent) {
    if (money.usd() <= cap) continue;
    broken(fmt::format("master {} spent ${:.6f} of ${:.6f} in a day", key.first, money.usd(), cap));
  }
}

}  // namespace muster::ring
