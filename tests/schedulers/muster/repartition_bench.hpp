#pragma once

#include <vector>

#include "schedulers/muster/repartition.hpp"
#include "tests/schedulers/muster/offered.hpp"

namespace muster::own {

/// Tasks and instances of Table 3's catalog, whatever the test draws.
class Bench {
 public:
  Bench() {
    for (const Demands& demands : testing::tasks_of_table_3())
      shapes_.push_back(prices_.add({demands}));
  }

  Piece piece(std::size_t shape, std::uint32_t cls, double value_usd_h) const {
    Piece piece;
    piece.shape = shapes_[shape % shapes_.size()];
    piece.cls = ClassId{cls};
    piece.value_usd_h = value_usd_h;
    piece.start_h = 0.01;
    piece.markets = MarketChoice::on_demand;
    piece.stake_usd_h = value_usd_h;
    return piece;
  }
  Host host(std::uint32_t type) const {
    const TypeId id{type % static_cast<std::uint32_t>(catalog_.size())};
    return {id, prices_.types().usd_h(id), 0, {}};
  }
  const ValueModel& model() const { return model_; }
  PairRates& rates() { return rates_; }

 private:
  Catalog catalog_ = table_3_on_both_markets();
  ReservationPrices prices_{catalog_, MarketChoice::any};
  PairRates rates_{0.9};
  std::vector<Host> offers_ = all_offers(prices_.types(), 0.3);
  ValueModel model_{prices_, rates_, 2, offers_};
  std::vector<ShapeId> shapes_;
};

}  // namespace muster::own
