#pragma once

#include <compare>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "schedulers/muster/pair_rates.hpp"
#include "schedulers/packing/rounds/round_input.hpp"
#include "schedulers/packing/types/reservation_price.hpp"

namespace muster::own {

/// Fair prices of an hour of work where the tasks that are there share instances as well as they
/// can: duals of the cheapest parts of instances, on demand, that host them all at learnt rates.
/// They count company: where neighbours slow each other a place on a crowded instance is dear
/// whatever the task's size. They follow from what is there alone; a few earlier answers are kept.
class PatternPrices {
 public:
  struct Parts {
    const RoundInput& input;
    const ClusterState& state;
    const ReservationPrices& prices;
    const PairRates& rates;
  };
  /// Takes in the tasks of a round. Where they are of too many kinds no price is known.
  void learn(const Parts& parts);
  /// $/h; nothing where it is not known.
  std::optional<double> of(ShapeId shape, ClassId cls) const;

 private:
  /// Alike tasks.
  struct Kind {
    std::uint32_t shape = 0;
    std::uint32_t cls = 0;
    std::uint64_t made = 0;   ///< number of the shape, as the state counts them
    std::uint32_t tasks = 0;  ///< roughly

    friend auto operator<=>(const Kind&, const Kind&) = default;
  };
  /// Everything that prices follow from.
  struct Question {
    std::uint64_t prices = 0;  ///< their version
    std::vector<Kind> kinds;
    std::vector<int> rates;  ///< of each class beside each, in steps

    friend bool operator==(const Question&, const Question&) = default;
  };
  using Prices = std::map<std::pair<std::uint32_t, std::uint32_t>, double>;
  struct Answer {
    Question asked;
    Prices usd_h;  ///< by shape and class
  };

  static Question ask(const Parts& parts);
  static Prices answer(const Question& asked, const Parts& parts);

  std::deque<Answer> answers_;  ///< the one that counts first
};

}  // namespace muster::own
