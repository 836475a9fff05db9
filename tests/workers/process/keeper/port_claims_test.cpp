#include "workers/process/keeper/port_claims.hpp"

#include <gtest/gtest.h>

#include <set>

#include "tests/workers/process/keeper/tiny_server.hpp"

namespace muster::process {
namespace {

constexpr std::uint32_t kFirst = 47'000;
constexpr std::uint32_t kLast = 47'999;

std::uint32_t number_of(const PortClaims& claims, std::size_t index = 0) {
  return claims.ports().at(index).number;
}

TEST(PortClaims, EveryNameHasANumberOfItsOwnInTheRange) {
  const auto claims = PortClaims::make({"http", "admin", "data"}, kFirst, kLast, 5);
  ASSERT_TRUE(claims);
  std::set<std::uint32_t> numbers;
  for (const ReplicaPort& port : claims->ports()) {
    EXPECT_GE(port.number, kFirst);
    EXPECT_LE(port.number, kLast);
    numbers.insert(port.number);
  }
  EXPECT_EQ(numbers.size(), 3U);
  EXPECT_EQ(claims->ports()[1].name, "admin");
}

TEST(PortClaims, ANumberIsAnotherKeepersUntilItIsGivenBack) {
  auto first = PortClaims::make({"http"}, kFirst, kLast, 7);
  ASSERT_TRUE(first);
  const std::uint32_t number = number_of(*first);
  const auto second = PortClaims::make({"http"}, kFirst, kLast, 7);
  ASSERT_TRUE(second);
  EXPECT_NE(number_of(*second), number);
  EXPECT_FALSE(PortClaims::make({"http"}, number, number, 0));
  first.reset();
  EXPECT_TRUE(PortClaims::make({"http"}, number, number, 0));
}

TEST(PortClaims, ANumberOfASocketIsPassedOver) {
  const test::TinyServer server;
  ASSERT_NE(server.port(), 0U);
  EXPECT_FALSE(PortClaims::make({"http"}, server.port(), server.port(), 0));
}

TEST(PortClaims, TooFewNumbersAreNoneAtAll) {
  const auto free = PortClaims::make({"a", "b"}, kFirst, kLast, 100);
  ASSERT_TRUE(free);
  const std::uint32_t number = number_of(*free);
  EXPECT_FALSE(PortClaims::make({"a", "b"}, number, number, 0));
}

TEST(PortClaims, TheWholeRangeIsSearchedWhereverItBegins) {
  std::optional<PortClaims> whole = PortClaims::make({"a", "b"}, kFirst, kLast, 200);
  ASSERT_TRUE(whole);
  const std::uint32_t low = std::min(number_of(*whole, 0), number_of(*whole, 1));
  const std::uint32_t high = std::max(number_of(*whole, 0), number_of(*whole, 1));
  whole.reset();
  const auto last = PortClaims::make({"a"}, low, high, high - low);
  ASSERT_TRUE(last);
  EXPECT_EQ(number_of(*last), high);
  EXPECT_TRUE(PortClaims::make({"b"}, low, high, high - low)) << "it goes on at the first";
}

TEST(PortClaims, WithoutNamesNothingIsClaimed) {
  const auto claims = PortClaims::make({}, 0, 0, 3);
  ASSERT_TRUE(claims);
  EXPECT_TRUE(claims->ports().empty());
}

}  // namespace
}  // namespace muster::process
