#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "schedulers/packing/types/market_offers.hpp"
#include "schedulers/packing/types/reservation_price.hpp"
#include "schedulers/stratus/bin_packer.hpp"

namespace muster::stratus {

/// A number of tasks of a list, one after the other, on a new instance.
struct Candidate {
  TypeId type;
  Market market = Market::on_demand;
  std::size_t first = 0;
  std::size_t tasks = 0;
  double score = 0;  ///< cost efficiency: larger is better
  Price price;
};

/// The scaler of Stratus: which group of tasks gets which new instance (3.3). Groups are the first
/// i tasks of a list that begins with the longest; of all groups and types the pair with the best
/// cost-efficiency score is taken. Ties: more tasks, the lower price, the catalog's order.
class Scaler {
 public:
  /// Offerings that the cloud does not have now are asked for when nothing else holds a task.
  /// `most` bounds the groups; 0: nothing does.
  Scaler(const ReservationPrices& prices, const MarketOffers& offers, std::size_t most = 0)
      : prices_(prices), offers_(offers), most_(most) {}

  /// The amount of the constraining resource that is used, in units of the smallest type's, over
  /// the price ($/h) of an instance of the type; the constraining resource is the one of which the
  /// largest share of the instance is used.
  double score(const Resources& used, TypeId type, Price price, MarketChoice markets);

  /// The best group of the list, whose jobs have the same choice of markets. Nothing: the first
  /// task fits on no type that is on offer there.
  std::optional<Candidate> best(std::span<const Item> items);
  /// The best type for all of them together.
  std::optional<Candidate> best_for_all(std::span<const Item> items);
  /// The groups of the whole list, one after the other; without what no type holds.
  std::vector<Candidate> groups(std::span<const Item> items);

 private:
  struct Open {
    RentedAs as;
    double at_most = 0;  ///< no group has a larger score on it
    Resources used;
  };

  void open_types(MarketChoice markets, bool resting);
  std::optional<Candidate> search(std::span<const Item> items, bool whole);
  const Resources& smallest(MarketChoice markets);

  const ReservationPrices& prices_;
  MarketOffers offers_;
  std::size_t most_;
  std::vector<Open> open_;     ///< types that hold all tasks so far
  std::size_t looked_at_ = 0;  ///< tasks that the last search added up
  std::optional<MarketChoice> smallest_of_;
  Resources smallest_;
};

}  // namespace muster::stratus
