#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "actors/messages/inspect.hpp"
#include "model/offering.hpp"

// Messages between masters and clouds.

namespace muster {

/// Asks a cloud for an instance. The id is the order's token: repeating an order changes nothing.
struct LaunchOrder {
  InstanceId instance;
  std::string type;  ///< by name: the two nodes' catalogs may differ in order
  std::uint8_t market = 0;
  std::string zone{};  ///< empty: whichever the cloud takes
  Price max_price{};   ///< highest price of an hour; zero: any price
};

/// Outcome of an order for an instance.
enum class CloudReportKind : std::uint8_t {
  up,        ///< billed from `at`
  refused,   ///< never was
  gone,      ///< nothing runs there any more; billed until `at`
  notice,    ///< a spot instance that the cloud takes back at `at`
  clock,     ///< of no instance: the cloud's clock, as an answer to a greeting
  offerings  ///< of no instance: an offering has changed
};

/// Report of the cloud on an order.
struct CloudReport {
  InstanceId instance;
  CloudReportKind kind = CloudReportKind::up;
  Instant at;
  std::optional<Instant> billed_from{};  ///< gone: nothing when it never came up
  Instant now{};                         ///< the cloud's clock at the time of the report
  /// clock: of all instances that were ever ordered, the one with the highest number of each
  /// master.
  std::vector<InstanceId> newest{};
  CloudReason reason = CloudReason::not_said;  ///< refused, gone
  /// clock, offerings: by rising numbers, those that who is told may not know. They are told again
  /// after each greeting, for as long as something is rented that they are about.
  std::vector<OfferingChange> changes{};
  std::uint64_t last_change = 0;  ///< number of the newest change by then; 0: there was no change
};

template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, LaunchOrder& x) {
  std::int64_t price = x.max_price.nano_usd_h();
  const auto load = [&]() -> caf::error {
    x.max_price = Price::from_nano_usd_h(price);
    return caf::none;
  };
  return f(caf::meta::type_name("launch_order"), x.instance, x.type, x.market, x.zone, price,
           caf::meta::load_callback(load));
}
template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, CloudReport& x) {
  Duration at = x.at.time_since_epoch();
  bool was_up = x.billed_from.has_value();
  Duration from = x.billed_from.value_or(Instant{}).time_since_epoch();
  Duration now = x.now.time_since_epoch();
  const auto load = [&]() -> caf::error {
    x.at = Instant{at};
    x.billed_from = was_up ? std::optional(Instant{from}) : std::nullopt;
    x.now = Instant{now};
    return caf::none;
  };
  return f(caf::meta::type_name("cloud_report"), x.instance, x.kind, at, was_up, from, now,
           x.newest, x.reason, x.changes, x.last_change, caf::meta::load_callback(load));
}

}  // namespace muster
