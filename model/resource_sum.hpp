#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "model/resources.hpp"

namespace muster {

/// A sum of amounts that come and go. It is kept in whole units of 2^-40, so that it does not
/// depend on the order of additions and subtractions: a sum that is built anew is equal.
class ResourceSum {
 public:
  constexpr ResourceSum& operator+=(const Resources& amount) {
    for (std::size_t i = 0; i < kResourceKinds; ++i) units_[i] += units_of(amount.amounts()[i]);
    return *this;
  }
  constexpr ResourceSum& operator-=(const Resources& amount) {
    for (std::size_t i = 0; i < kResourceKinds; ++i) units_[i] -= units_of(amount.amounts()[i]);
    return *this;
  }

  constexpr Resources value() const {
    Resources sum;
    for (std::size_t i = 0; i < kResourceKinds; ++i) {
      sum[kAllResources[i]] = static_cast<double>(units_[i]) / kUnitsInOne;
    }
    return sum;
  }
  friend constexpr bool operator==(const ResourceSum&, const ResourceSum&) = default;

 private:
  __extension__ using Units = __int128;
  static constexpr double kUnitsInOne = 1099511627776;  // 2^40

  /// Most kinds of most amounts are 0, and 128-bit conversions are dear.
  static constexpr Units units_of(double amount) {
    return amount == 0 ? Units{0} : static_cast<Units>(amount * kUnitsInOne);
  }

  std::array<Units, kResourceKinds> units_{};
};

}  // namespace muster
