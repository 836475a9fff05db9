#include "schedulers/stratus/bin_packer.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>

#include "tests/schedulers/draw.hpp"
#include "tests/schedulers/stratus/m4.hpp"

namespace muster::stratus {
namespace {

using testing::draw;
using testing::job_of;
using namespace std::chrono_literals;

TEST(RuntimeBins, are_0_to_1_then_double) {
  const auto bin = [](Duration time) { return bin_of(time, 1s); };
  EXPECT_EQ(bin(0s), 0u);
  EXPECT_EQ(bin(1s - 1ns), 0u);
  EXPECT_EQ(bin(1s), 1u);
  EXPECT_EQ(bin(2s - 1ns), 1u);
  EXPECT_EQ(bin(2s), 2u);
  EXPECT_EQ(bin(4s - 1ns), 2u);
  EXPECT_EQ(bin(4s), 3u);
  EXPECT_EQ(bin(16s), 5u);
  EXPECT_EQ(bin(32s - 1ns), 5u);
}

TEST(RuntimeBins, are_counted_in_their_unit) {
  EXPECT_EQ(bin_of(59s, 60s), 0u);
  EXPECT_EQ(bin_of(60s, 60s), 1u);
  EXPECT_EQ(bin_of(479s, 60s), 3u);
  EXPECT_EQ(bin_of(480s, 60s), 4u);
}

RC_GTEST_PROP(RuntimeBins, hold_what_lies_between_their_bounds, ()) {
  const auto time = Duration{draw<std::int64_t>(0, 1LL << 60)};
  const std::uint32_t bin = bin_of(time, 1s);
  RC_ASSERT(bin < kMostBins);
  const double s = to_seconds(time);
  if (bin == 0) {
    RC_ASSERT(s < 1);
  } else {
    RC_ASSERT(s >= std::ldexp(1, static_cast<int>(bin) - 1) * (1 - 1e-12));
    RC_ASSERT(s <= std::ldexp(1, static_cast<int>(bin)) * (1 + 1e-12));
  }
}

/// Tasks of one core and 4 GiB, rooms of m4.
struct Packer {
  explicit Packer(const PackerRules& rules = {}) : packer(groups, mask, rules) {
    state.apply({Instant{}, JobAccepted{job_of(1, 1, 1, 4)}});
    mask.learn(state);
    shape = state.task(state.find(JobId{1})->tasks[0]).shape;
  }
  std::uint32_t room(const char* type, double free_cores, Duration remaining) {
    return packer.add({test::type_named(catalog, type), Market::on_demand,
                       Resources::of(0, free_cores, 4 * free_cores), remaining});
  }
  Item task(Duration remaining) const { return {shape, MarketChoice::any, remaining}; }
  /// "native 2", or "none".
  std::string look(Duration remaining) {
    const auto found = packer.find(task(remaining));
    if (!found) return "none";
    const char* phases[] = {"native ", "up ", "down "};
    return phases[static_cast<int>(found->phase)] + std::to_string(found->room);
  }
  void put(Duration remaining) {
    const auto found = packer.find(task(remaining));
    ASSERT_TRUE(found);
    packer.put(task(remaining), found->room);
  }

  Catalog catalog = testing::m4();
  ClusterState state{catalog};
  RoomGroups groups{catalog};
  PlacementMask mask{catalog};
  BinPacker packer;
  ShapeId shape;
};

TEST(BinPacker, takes_the_closest_remaining_time_of_the_native_bin) {
  Packer p;
  p.room("2xlarge", 4, 17s);
  p.room("2xlarge", 1, 24s);
  p.room("16xlarge", 60, 31s);
  EXPECT_EQ(p.look(25s), "native 1");
  EXPECT_EQ(p.look(30s), "native 2");
  EXPECT_EQ(p.look(16s), "native 0");
  EXPECT_EQ(p.look(31500ms), "native 2") << "an instance may end before the task";
}

TEST(BinPacker, passes_over_what_has_no_room) {
  Packer p;
  p.room("2xlarge", 4, 17s);
  p.room("2xlarge", 0.5, 24s);
  EXPECT_EQ(p.look(24s), "native 0");
  EXPECT_EQ(p.look(40s), "down 0");
}

TEST(BinPacker, leaves_an_instances_time_as_it_is_where_two_are_equally_close) {
  Packer p;
  p.room("2xlarge", 4, 20s);
  p.room("2xlarge", 4, 24s);
  EXPECT_EQ(p.look(22s), "native 1");
}

TEST(BinPacker, goes_up_to_the_next_bin_and_there_to_the_most_available) {
  Packer p;
  p.room("2xlarge", 8, 100s);
  p.room("2xlarge", 2, 40s);
  p.room("4xlarge", 3, 60s);
  p.room("large", 2, 5s);
  EXPECT_EQ(p.look(17s), "up 2");
}

TEST(BinPacker, goes_down_only_when_nothing_above_has_room_and_promotes_what_it_finds) {
  Packer p;
  p.room("large", 2, 3s);
  p.room("xlarge", 3, 9s);
  p.room("xlarge", 4, 9s);
  p.room("large", 0, 1000s);
  EXPECT_EQ(p.look(100s), "down 2");
  p.put(100s);
  EXPECT_EQ(p.packer.room(2).remaining, 100s);
  EXPECT_EQ(p.look(100s), "native 2");
  EXPECT_EQ(p.look(9s), "native 1");
}

// Figure 2: an instance for four tasks of one size. Tasks of its bin come first; those of a lesser
// bin may join; and as time passes the instance itself is of a lesser bin.
TEST(BinPacker, runs_the_toy_example) {
  Packer p;
  p.room("xlarge", 4, 0s);
  for (Duration time : {31s, 20s}) p.put(time);
  EXPECT_EQ(p.packer.bin_of(p.packer.room(0).remaining), 5u) << "[16, 32)";
  EXPECT_EQ(p.look(17s), "native 0");
  EXPECT_EQ(p.look(15s), "up 0");
  p.put(15s);
  EXPECT_EQ(p.packer.bin_of(p.packer.room(0).remaining), 5u) << "it stays in its bin";
  // 16 s later the longest task has 15 s to go, and those of 20 and 15 s have ended.
  Packer later;
  later.room("xlarge", 3, 15s);
  EXPECT_EQ(later.look(12s), "native 0");
  for (Duration time : {12s, 10s, 8s}) later.put(time);
  EXPECT_EQ(later.look(8s), "none") << "it is full";
}

TEST(BinPacker, does_without_each_of_its_ways) {
  Packer no_up({.up = false});
  no_up.room("large", 2, 100s);
  EXPECT_EQ(no_up.look(10s), "none");
  Packer no_down({.down = false});
  no_down.room("large", 2, 10s);
  EXPECT_EQ(no_down.look(100s), "none");
  Packer none({.packing = Packing::none});
  none.room("large", 2, 10s);
  EXPECT_EQ(none.look(10s), "none");
}

TEST(BinPacker, finds_nothing_in_a_closed_room_until_it_is_open_again) {
  Packer p;
  p.room("large", 2, 10s);
  p.packer.close(0);
  EXPECT_EQ(p.look(10s), "none");
  p.packer.open(0);
  EXPECT_EQ(p.look(10s), "native 0");
}

/// As the packer says that it looks, room by room.
std::optional<Found> plain(const BinPacker& packer, const RoomGroups& groups, Resources need,
                           Duration own) {
  std::optional<Found> best;
  const auto fits = [&](std::uint32_t i) { return need.fits_in(packer.room(i).free); };
  const auto gap = [&](std::uint32_t i) {
    const Duration longer = packer.room(i).remaining - own;
    return std::pair(std::max(longer, -longer), longer < Duration{});
  };
  const auto free = [&](std::uint32_t i) { return groups.sum_of_shares(packer.room(i).free); };
  const std::uint32_t native = packer.bin_of(own);
  for (std::uint32_t i = 0; i < packer.size(); ++i) {
    if (!fits(i) || packer.bin_of(packer.room(i).remaining) != native) continue;
    if (!best || gap(i) < gap(best->room)) best = Found{i, Phase::native};
  }
  const auto look_in = [&](std::uint32_t bin, Phase phase) {
    for (std::uint32_t i = 0; i < packer.size(); ++i) {
      if (!fits(i) || packer.bin_of(packer.room(i).remaining) != bin) continue;
      if (!best || free(i) > free(best->room)) best = Found{i, phase};
    }
  };
  for (std::uint32_t bin = native + 1; !best && bin < kMostBins; ++bin) look_in(bin, Phase::up);
  for (std::uint32_t bin = native; !best && bin > 0; --bin) look_in(bin - 1, Phase::down);
  return best;
}

RC_GTEST_PROP(BinPacker, finds_what_a_look_at_every_room_finds_and_never_overpacks, ()) {
  Packer p;
  const char* names[] = {"large", "xlarge", "2xlarge", "16xlarge"};
  for (int i = draw(0, 12); i > 0; --i) {
    p.room(names[draw(0, 4)], draw(0, 5), std::chrono::seconds{draw(0, 80)});
  }
  for (int i = draw(1, 20); i > 0; --i) {
    const Item item = p.task(std::chrono::seconds{draw(0, 80)});
    const auto found = p.packer.find(item);
    const auto expected = plain(p.packer, p.groups, Resources::of(0, 1, 4), item.remaining);
    RC_ASSERT(found.has_value() == expected.has_value());
    if (!found) continue;
    RC_ASSERT(found->room == expected->room);
    RC_ASSERT(found->phase == expected->phase);
    p.packer.put(item, found->room);
    for (double left : p.packer.room(found->room).free.amounts()) RC_ASSERT(left >= -1e-9);
  }
}

RC_GTEST_PROP(BinPacker, fills_a_room_as_it_would_with_one_task_after_the_other, ()) {
  Packer at_once, by_one;
  const char* names[] = {"large", "xlarge", "2xlarge", "16xlarge"};
  for (int i = draw(0, 10); i > 0; --i) {
    const char* name = names[draw(0, 4)];
    const double free = draw(0, 6);
    const Duration remaining = std::chrono::seconds{draw(0, 40)};
    at_once.room(name, free, remaining);
    by_one.room(name, free, remaining);
  }
  const Item item = at_once.task(std::chrono::seconds{draw(0, 40)});
  const auto found = at_once.packer.find(item);
  if (!found || found->phase == Phase::up) return;
  const std::size_t count = at_once.packer.fill({item, found->room, 5});
  RC_ASSERT(count >= 1u);
  for (std::size_t i = 0; i < count; ++i) {
    const auto next = by_one.packer.find(item);
    RC_ASSERT(next && next->room == found->room);
    by_one.packer.put(item, next->room);
  }
  RC_ASSERT(at_once.packer.room(found->room).free == by_one.packer.room(found->room).free);
}

TEST(DotPacking, takes_the_room_that_is_freest_of_what_the_task_needs) {
  Packer p({.packing = Packing::dot});
  const TypeId type = test::type_named(p.catalog, "16xlarge");
  p.packer.add({type, Market::on_demand, Resources::of(0, 8, 8), 10s});
  p.packer.add({type, Market::on_demand, Resources::of(0, 2, 100), 1000s});
  p.packer.add({type, Market::on_demand, Resources::of(0, 40, 3), 10s});
  // One core of 64 and 4 GiB of 256 are the same share: the sum of free shares decides.
  EXPECT_EQ(p.look(10s), "native 1");
  p.packer.close(1);
  EXPECT_EQ(p.look(1s), "native 0");
}

RC_GTEST_PROP(DotPacking, finds_the_largest_product, ()) {
  Packer p({.packing = Packing::dot});
  for (int i = draw(1, 12); i > 0; --i) p.room("16xlarge", draw(0, 60), 10s);
  const auto found = p.packer.find(p.task(5s));
  std::uint32_t best = 0;
  for (std::uint32_t i = 1; i < p.packer.size(); ++i) {
    if (p.packer.room(i).free[Resource::cpu] > p.packer.room(best).free[Resource::cpu]) best = i;
  }
  RC_ASSERT(found.has_value() == (p.packer.room(best).free[Resource::cpu] >= 1));
  if (found) RC_ASSERT(found->room == best);
}

}  // namespace
}  // namespace muster::stratus
