#include "model/money.hpp"

#include <gtest/gtest.h>

#include "model/rng.hpp"
#include "model/time.hpp"

namespace muster {
namespace {

TEST(Money, AnHourAtThePriceCostsThePrice) {
  const Money hour = Money::of(Price::from_usd_h(3.06), std::chrono::hours{1});
  EXPECT_DOUBLE_EQ(hour.usd(), 3.06);
}

TEST(Money, SumsOfManySmallPartsAreExact) {
  const Price price = Price::from_usd_h(0.08925);
  Money sum;
  for (int i = 0; i < 3600; ++i) sum += Money::of(price, std::chrono::seconds{1});
  EXPECT_TRUE(sum == Money::of(price, std::chrono::hours{1}));
}

TEST(Money, HoldsYearsOfALargeFleetWithoutOverflow) {
  Money sum;
  const Money year = Money::of(Price::from_usd_h(98.32), std::chrono::hours{24 * 365});
  for (int i = 0; i < 10'000; ++i) sum += year;
  EXPECT_NEAR(sum.usd(), 98.32 * 24 * 365 * 10'000, 1);
}

TEST(Money, APartNeverExceedsTheWhole) {
  Rng rng(7);
  const Money whole = Money::of(Price::from_usd_h(24.48), from_seconds(123456.789));
  for (int i = 0; i < 1000; ++i) EXPECT_FALSE(whole < whole.part(rng.uniform()));
}

TEST(Time, FloorsToWholeSteps) {
  EXPECT_EQ(floor_to(Instant{from_seconds(12.9)}, std::chrono::seconds{5}),
            Instant{from_seconds(10)});
  EXPECT_EQ(floor_to(Instant{from_seconds(12.9)}, Duration{}), Instant{from_seconds(12.9)});
}

TEST(Rng, GivesTheSameNumbersForTheSameSeed) {
  Rng a(5);
  Rng b(5);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(a.next(), b.next());
  EXPECT_NE(Rng(5).next(), Rng(6).next());
}

TEST(Rng, DrawsExponentialGapsOfTheWantedMean) {
  Rng rng(11);
  double sum = 0;
  for (int i = 0; i < 100'000; ++i) sum += rng.exponential(1200);
  EXPECT_NEAR(sum / 100'000, 1200, 15);
}

}  // namespace
}  // namespace muster
