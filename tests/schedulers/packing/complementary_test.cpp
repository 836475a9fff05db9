#include "schedulers/packing/complementary.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "tests/schedulers/draw.hpp"

namespace muster {
namespace {

using testing::draw;
using ::testing::ElementsAre;

const Resources kReference = Resources::of(4, 16, 64);

Packable task(std::uint32_t number, const Resources& demand) {
  return packable(demand, kReference, number, number);
}

/// Everything that the group and one more take is at most the capacity.
FitsWith fits_in(const Resources& share) {
  return [share](std::span<const Packable> group, const Packable& one) {
    Resources sum = one.share;
    for (const Packable& other : group) sum += other.share;
    return sum.fits_in(share);
  };
}

std::vector<std::vector<std::uint32_t>> handles(const std::vector<std::vector<Packable>>& groups) {
  std::vector<std::vector<std::uint32_t>> numbers;
  for (const std::vector<Packable>& group : groups) {
    numbers.emplace_back();
    for (const Packable& one : group) numbers.back().push_back(one.handle);
  }
  return numbers;
}

std::vector<std::vector<std::uint32_t>> pack(const std::vector<Packable>& queue, std::size_t most,
                                             const Resources& room = Resources::of(1, 1, 1)) {
  ComplementaryIndex index({room}, kReference);
  for (const Packable& one : queue) index.insert(one);
  return handles(pack_greedily(queue, most, fits_in(room), index));
}

double deviations(const std::vector<std::vector<Packable>>& groups) {
  double sum = 0;
  for (const std::vector<Packable>& group : groups) {
    if (group.size() == 2) sum += deviation(group[0].share, group[1].share);
  }
  return sum;
}

TEST(Complementary, the_dominant_resource_is_the_largest_share_of_the_reference) {
  EXPECT_EQ(task(1, Resources::of(0, 8, 16)).dominant, Resource::cpu);     // 1/2 before 1/4
  EXPECT_EQ(task(2, Resources::of(0, 4, 24)).dominant, Resource::memory);  // 1/4 before 3/8
  EXPECT_EQ(task(3, Resources::of(1, 3, 10)).dominant, Resource::gpu);
  EXPECT_EQ(task(4, Resources::of(0, 8, 32)).dominant, Resource::cpu) << "a tie: the first kind";
}

TEST(Complementary, the_deviation_is_that_of_equation_1) {
  // Shares (1/2, 1/4) and (1/4, 3/8) of cpu and memory. Means 3/8 and 5/16:
  // 2 (1/8)^2 + 2 (1/16)^2 = 1/32 + 1/128 = 5/128.
  const Resources a = task(1, Resources::of(0, 8, 16)).share;
  const Resources b = task(2, Resources::of(0, 4, 24)).share;
  EXPECT_DOUBLE_EQ(deviation(a, b), 5.0 / 128);
  const std::vector<Resources> both{a, b};
  EXPECT_DOUBLE_EQ(deviation(both), 5.0 / 128);
}

TEST(Complementary, the_deviation_of_three_is_the_sum_around_their_mean) {
  // One resource each, half of it: means 1/6, so 3 ((1/3)^2 + 2 (1/6)^2) = 1/2.
  const std::vector<Resources> three{task(1, Resources::of(2, 0, 0)).share,
                                     task(2, Resources::of(0, 8, 0)).share,
                                     task(3, Resources::of(0, 0, 32)).share};
  EXPECT_DOUBLE_EQ(deviation(three), 0.5);
}

TEST(Complementary, each_task_takes_the_one_with_the_largest_deviation) {
  // Task 1 needs cpu; 2 and 4 need memory, 4 more of it; 3 needs cpu like 1.
  const std::vector<Packable> queue{
      task(1, Resources::of(0, 8, 4)), task(2, Resources::of(0, 1, 16)),
      task(3, Resources::of(0, 6, 4)), task(4, Resources::of(0, 1, 32))};
  EXPECT_THAT(pack(queue, 2), ElementsAre(ElementsAre(1, 4), ElementsAre(2, 3)));
}

TEST(Complementary, what_needs_most_of_the_same_stays_alone) {
  const std::vector<Packable> queue{task(1, Resources::of(0, 8, 4)),
                                    task(2, Resources::of(0, 2, 1))};
  EXPECT_THAT(pack(queue, 2), ElementsAre(ElementsAre(1), ElementsAre(2)));
}

TEST(Complementary, what_does_not_fit_together_is_no_company) {
  // 1 and 2 ask for 18 of 16 cores; 3 needs less memory, but fits.
  const std::vector<Packable> queue{task(1, Resources::of(0, 12, 4)),
                                    task(2, Resources::of(0, 6, 60)),
                                    task(3, Resources::of(0, 1, 16))};
  EXPECT_THAT(pack(queue, 2), ElementsAre(ElementsAre(1, 3), ElementsAre(2)));
}

TEST(Complementary, of_equally_good_ones_the_first_in_the_queue_is_taken) {
  const std::vector<Packable> queue{
      task(1, Resources::of(0, 8, 4)), task(2, Resources::of(0, 1, 32)),
      task(3, Resources::of(0, 1, 32)), task(4, Resources::of(0, 8, 4))};
  EXPECT_THAT(pack(queue, 2), ElementsAre(ElementsAre(1, 2), ElementsAre(3, 4)));
}

TEST(Complementary, three_tasks_need_three_dominant_resources) {
  const std::vector<Packable> queue{
      task(1, Resources::of(0, 8, 4)), task(2, Resources::of(0, 1, 32)),
      task(3, Resources::of(0, 6, 4)), task(4, Resources::of(2, 1, 4))};
  EXPECT_THAT(pack(queue, 3), ElementsAre(ElementsAre(1, 4, 2), ElementsAre(3)));
}

TEST(Complementary, the_exact_pairing_looks_at_all_pairs_together) {
  // Shares: 1 half the cpu, 2 half the gpus, 3 six tenths of the memory, 4 six tenths of the gpus
  // and a quarter of the cpu. Greedily 1 takes 3 (0.305), which leaves two that need gpus most.
  const std::vector<Packable> queue{
      task(1, Resources::of(0, 8, 0)), task(2, Resources::of(2, 0, 0)),
      task(3, Resources::of(0, 0, 38.4)), task(4, Resources::of(2.4, 4, 0))};
  EXPECT_THAT(pack(queue, 2), ElementsAre(ElementsAre(1, 3), ElementsAre(2), ElementsAre(4)));
  const auto exact = pack_exactly(queue, fits_in(Resources::of(1, 1, 1)));
  EXPECT_THAT(handles(exact), ElementsAre(ElementsAre(1, 2), ElementsAre(3, 4)));
  EXPECT_NEAR(deviations(exact), 0.25 + 0.39125, 1e-12);
}

/// Demands in steps, so that there are ties, or any.
Resources any_demand(bool in_steps) {
  const auto amount = [in_steps](double most) {
    const int part = draw(0, in_steps ? 5 : 1000);
    return most * part / (in_steps ? 5 : 1000);
  };
  Resources demand = Resources::of(amount(4), amount(16), amount(64));
  if (draw(0, 2) == 0) demand[Resource::gpu] = 0;
  return demand;
}

std::vector<Packable> any_queue(std::uint32_t longest) {
  std::vector<Packable> queue;
  const bool in_steps = draw(0, 2) == 0;
  const std::uint32_t count = draw(0U, longest);
  for (std::uint32_t i = 0; i < count; ++i) queue.push_back(task(i + 1, any_demand(in_steps)));
  return queue;
}

RC_GTEST_PROP(Complementary, the_fast_packing_is_that_of_the_definition, ()) {
  const std::vector<Packable> queue = any_queue(120);
  const std::size_t most = draw<std::size_t>(2, 4);
  const double room = draw(5, 21) / 10.0;
  const PackLimits limits{Resources::of(room, room, room), Resources::of(0, 2 * room, room)};
  const FitsWith fits = [&](std::span<const Packable> group, const Packable& one) {
    return fits_in(limits[0])(group, one) || fits_in(limits[1])(group, one);
  };
  ComplementaryIndex index(limits, kReference);
  for (const Packable& one : queue) index.insert(one);
  RC_ASSERT(handles(pack_greedily(queue, most, fits, index)) == pack_plainly(queue, most, fits));
}

RC_GTEST_PROP(Complementary, a_companion_is_the_best_after_any_insertions_and_removals, ()) {
  std::vector<Packable> there = any_queue(60);
  const Resources room = Resources::of(1, 1, 1);
  ComplementaryIndex index({room}, kReference);
  for (const Packable& one : there) index.insert(one);
  for (std::size_t i = there.size() / 2; i > 0; --i) {
    const auto gone = there.begin() + draw<std::ptrdiff_t>(0, std::ssize(there));
    index.erase(*gone);
    there.erase(gone);
  }
  RC_ASSERT(index.size() == there.size());
  const Packable seeker = task(1000, any_demand(false));
  std::vector<Packable> queue = there;
  queue.insert(queue.begin(), seeker);
  const auto plain = pack_plainly(queue, 2, fits_in(room)).front();
  const auto fast = handles({index.group_of(seeker, 2, fits_in(room))}).front();
  RC_ASSERT(fast == plain);
}

RC_GTEST_PROP(Complementary, no_pairing_has_a_larger_sum_than_the_exact_one, ()) {
  const std::vector<Packable> queue = any_queue(24);
  const FitsWith fits = fits_in(Resources::of(1, 1, 1));
  ComplementaryIndex index({Resources::of(1, 1, 1)}, kReference);
  for (const Packable& one : queue) index.insert(one);
  const auto exact = pack_exactly(queue, fits);
  std::size_t tasks = 0;
  for (const std::vector<Packable>& group : exact) tasks += group.size();
  RC_ASSERT(tasks == queue.size());
  RC_ASSERT(deviations(exact) >= deviations(pack_greedily(queue, 2, fits, index)) - 1e-9);
}

}  // namespace
}  // namespace muster
