#include "replay/metrics/id_set.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <set>

namespace muster::metrics {
namespace {

TEST(IdSet, TakesMemoryByItsRuns) {
  IdSet ids;
  for (std::uint64_t id = 0; id < 1000; id += 2) ids.add(id);
  EXPECT_EQ(ids.runs(), 500U);
  for (std::uint64_t id = 1; id < 1000; id += 2) ids.add(id);
  EXPECT_EQ(ids.runs(), 1U);
  EXPECT_TRUE(ids.contains(999));
  EXPECT_FALSE(ids.contains(1000));
}

RC_GTEST_PROP(IdSet, HoldsWhatASetHolds, ()) {
  const auto added =
      *rc::gen::container<std::vector<std::uint64_t>>(rc::gen::inRange<std::uint64_t>(0, 60));
  IdSet ids;
  std::set<std::uint64_t> plain;
  for (const std::uint64_t id : added) {
    ids.add(id);
    plain.insert(id);
  }
  std::size_t runs = 0;
  for (std::uint64_t id = 0; id < 62; ++id) {
    RC_ASSERT(ids.contains(id) == plain.contains(id));
    runs += plain.contains(id) && !plain.contains(id + 1);
  }
  RC_ASSERT(ids.runs() == runs);
}

}  // namespace
}  // namespace muster::metrics
