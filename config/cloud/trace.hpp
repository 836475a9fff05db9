#pragma once

#include "config/cloud/cloud_module.hpp"

namespace muster::config {

/// Speeds of a series: a day of it in a second at most.
inline constexpr NumberRange kPriceSpeeds{.low = 1, .high = 100'000};

/// As the loopback cloud, with prices, availability and revocations from a series.
template <class C>
CloudModule<C> trace_cloud() {
  constexpr Duration kLongest = std::chrono::hours{24 * 366 * 10};
  constexpr Duration kLatest = std::chrono::hours{24 * 366 * 200};  // live: from 1970 on
  CloudModule<C> module{"trace"};
  module.needs = {"cloud.prices"};
  module.keys = {
      {"cloud.prices", "CSV file of prices, availability and revocations over time",
       PathKeyOf<C>{[](C& c) -> std::filesystem::path& {
         return c.cloud.own.template of<TraceCloudSettings>().prices;
       }}},
      {"cloud.prices_period", "time of the series after which it begins anew; 0: never",
       TimeKeyOf<C>{
           [](C& c) -> Duration& { return c.cloud.own.template of<TraceCloudSettings>().period; },
           Duration{}, kLongest}},
      {"cloud.prices_speed", "seconds of the series that pass in one second",
       NumberKeyOf<C>{
           [](C& c) -> double& { return c.cloud.own.template of<TraceCloudSettings>().speed; },
           kPriceSpeeds}},
      {"cloud.prices_start",
       "when the series begins, counted from the time 0 of the cluster (live: 1970)",
       TimeKeyOf<C>{
           [](C& c) -> Duration& { return c.cloud.own.template of<TraceCloudSettings>().start; },
           Duration{}, kLatest}},
      {"cloud.prices_from", "the series begins with what holds at this time of it",
       TimeKeyOf<C>{
           [](C& c) -> Duration& { return c.cloud.own.template of<TraceCloudSettings>().from; },
           Duration{}, kLongest}}};
  return module;
}

}  // namespace muster::config
