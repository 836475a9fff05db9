#pragma once

#include <compare>
#include <cstdint>
#include <ratio>

#include "model/time.hpp"

namespace muster {

/// Price of an instance while it is up: whole nano-dollars per hour, so that sums are exact.
class Price {
 public:
  constexpr Price() = default;
  static constexpr Price from_usd_h(double usd_h) {
    return Price{static_cast<std::int64_t>(usd_h * 1e9 + (usd_h < 0 ? -0.5 : 0.5))};
  }
  static constexpr Price from_nano_usd_h(std::int64_t nano_usd_h) { return Price{nano_usd_h}; }

  constexpr std::int64_t nano_usd_h() const { return nano_usd_h_; }
  constexpr double usd_h() const { return static_cast<double>(nano_usd_h_) / 1e9; }
  friend constexpr auto operator<=>(Price, Price) = default;

 private:
  constexpr explicit Price(std::int64_t nano_usd_h) : nano_usd_h_(nano_usd_h) {}
  std::int64_t nano_usd_h_ = 0;
};

/// An exact amount of money: a whole number of (nano-dollar per hour) x nanosecond.
/// 128 bits hold 10^16 dollars; adding and subtracting never rounds.
class Money {
 public:
  __extension__ using Units = __int128;

  constexpr Money() = default;
  constexpr explicit Money(Units units) : units_(units) {}
  /// Charge at `price` for `time`.
  static constexpr Money of(Price price, Duration time) {
    return Money{static_cast<Units>(price.nano_usd_h()) * time.count()};
  }

  constexpr Units units() const { return units_; }
  constexpr double usd() const { return static_cast<double>(units_) / (1e9 * 3600e9); }

  /// The part that `fraction` (0..1) is of this amount, rounded towards zero.
  constexpr Money part(double fraction) const {
    return Money{static_cast<Units>(static_cast<double>(units_) * fraction)};
  }

  constexpr Money& operator+=(Money other) {
    units_ += other.units_;
    return *this;
  }
  constexpr Money& operator-=(Money other) {
    units_ -= other.units_;
    return *this;
  }
  friend constexpr Money operator+(Money a, Money b) { return a += b; }
  friend constexpr Money operator-(Money a, Money b) { return a -= b; }
  friend constexpr bool operator==(Money a, Money b) { return a.units_ == b.units_; }
  friend constexpr bool operator<(Money a, Money b) { return a.units_ < b.units_; }

 private:
  Units units_ = 0;
};

}  // namespace muster
