#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "model/catalog.hpp"
#include "model/enum_words.hpp"
#include "model/money.hpp"
#include "model/time.hpp"

namespace muster {

/// An offering of a cloud: a type on a market of a zone, as it stands at some moment. By names,
/// because those who speak of it may have other catalogs.
struct Offering {
  std::string type;
  Market market = Market::on_demand;
  std::string zone;  ///< empty: the only one
  Price price;
  bool available = true;       ///< orders are worth trying
  double interruptions_h = 0;  ///< expected number in an hour of one instance
  /// Instances of it that the cloud has left; nothing: it does not say.
  std::optional<std::uint32_t> free{};

  friend bool operator==(const Offering&, const Offering&) = default;
};

/// An offering that is not as it was. Its instances cost the new price from then on.
struct OfferingChange {
  std::uint64_t number = 0;  ///< of the cloud's changes, from 1 on, without a gap
  Instant at;                ///< by the cloud's clock; never before the change before it
  Offering offering;

  friend bool operator==(const OfferingChange&, const OfferingChange&) = default;
};

/// Why a cloud did not give an instance, or why one is gone.
enum class CloudReason : std::uint8_t {
  not_said,
  capacity,   ///< it has no such instance now
  quota,      ///< the account's limit is reached
  price,      ///< the price is above the most that was to be paid
  throttled,  ///< it was asked too often
  failed,     ///< it could not do what it was asked
  reclaimed,  ///< it took the spot instance back
  ended       ///< its renter wanted it ended
};
constexpr auto words_of(CloudReason) {
  using E = CloudReason;
  return std::to_array<EnumWord<E>>({{E::not_said, "not_said"},
                                     {E::capacity, "capacity"},
                                     {E::quota, "quota"},
                                     {E::price, "price"},
                                     {E::throttled, "throttled"},
                                     {E::failed, "failed"},
                                     {E::reclaimed, "reclaimed"},
                                     {E::ended, "ended"}});
}

}  // namespace muster
