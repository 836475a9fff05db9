#pragma once

#include <utility>
#include <vector>

#include "schedulers/muster/offers.hpp"
#include "tests/schedulers/catalogs.hpp"

namespace muster::own {

/// Table 3's types, each on the spot market too at two fifths of its price.
inline Catalog table_3_on_both_markets() {
  std::vector<InstanceType> types = testing::table_3().types();
  for (InstanceType& type : types) type.spot = Price::from_usd_h(type.on_demand.usd_h() * 0.4);
  return Catalog(std::move(types));
}

/// All that is on offer, by types; spot instances are taken back so often in an hour.
inline std::vector<Host> all_offers(const PricedTypes& types, double interruptions_h) {
  std::vector<Host> found;
  for (std::uint32_t i = 0; i < types.size(); ++i) {
    for (const Market market : {Market::on_demand, Market::spot}) {
      if (!types.price(TypeId{i}, market)) continue;
      found.push_back(to_rent(types, TypeId{i}, market, 2));
      if (market == Market::spot) found.back().interruptions_h = interruptions_h;
    }
  }
  return found;
}

/// The instance is one of the spot market that is taken back now and then.
inline void put_on_spot(Host& host, double interruptions_h) {
  host.market = Market::spot;
  host.price_usd_h *= 0.4;
  host.interruptions_h = interruptions_h;
  host.renew_h = 0.1;
}

}  // namespace muster::own
