#pragma once

#include "config/cloud/cloud_module.hpp"

namespace muster::config {

/// The same with prices, availability and revocations from a series.
template <class C>
CloudModule<C> trace_cloud() {
  constexpr Duration kLongest = std::chrono::hours{24 * 366 * 10};
  CloudModule<C> module{"trace"};
  module.needs = {"cloud.prices"};
  module.keys = {
      {"cloud.prices", "CSV file of prices, availability and revocations over time",
       PathKeyOf<C>{[](C& c) -> std::filesystem::path& {
         return c.cloud.own.template of<TraceCloudSettings>().prices;
       }}},
      {"cloud.prices_period",
       "the series begins anew after so long, counted from the time 0 of the cluster (live: 1970); "
       "0: never",
       TimeKeyOf<C>{
           [](C& c) -> Duration& { return c.cloud.own.template of<TraceCloudSettings>().period; },
           Duration{}, kLongest}}};
  return module;
}

}  // namespace muster::config
