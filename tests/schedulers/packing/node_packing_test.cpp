#include "schedulers/packing/node_packing.hpp"

#include <gtest/gtest.h>

namespace muster {
namespace {

/// Nodes of four GPUs, of which so many are free; those below zero come later, with as many.
std::vector<PackingNode> nodes(const std::vector<int>& free) {
  std::vector<PackingNode> nodes;
  for (const int gpus : free) {
    nodes.push_back({InstanceId{nodes.size() + 1}, TypeId{0},
                     Resources::of(std::abs(gpus), 48, 192), gpus >= 0});
  }
  return nodes;
}
const WorkerDemand kWorker{Resources::of(1, 4, 16), 4};

/// As "node:workers node:workers"; "-": there is no room.
std::string packed(const std::vector<int>& free, std::uint32_t workers, bool ready_only = true) {
  const auto shares = pack_workers(nodes(free), workers, kWorker, ready_only);
  if (!shares) return "-";
  std::string text;
  for (const NodeShare& share : *shares) {
    text += (text.empty() ? "" : " ") + std::to_string(share.node) + ":" +
            std::to_string(share.workers);
  }
  return text;
}

TEST(NodePacking, FillsEmptyNodesAndPutsTheRestWhereItFitsBest) {
  EXPECT_EQ(packed({3, 4, 2, 4}, 6), "1:4 2:2");
  EXPECT_EQ(packed({3, 4, 2, 4}, 2), "2:2");
  EXPECT_EQ(packed({3, 4, 2, 4}, 3), "0:3");
  EXPECT_EQ(packed({3, 4, 2, 4}, 8), "1:4 3:4");
  EXPECT_EQ(packed({3, 4, 1, 4}, 11), "1:4 3:4 0:3");
}

TEST(NodePacking, DoesNotSpreadWorkersOverMoreNodesThanHoldThem) {
  EXPECT_EQ(packed({2, 2}, 4), "-");
  EXPECT_EQ(packed({1, 1}, 2), "-");
}

TEST(NodePacking, CountsOnNodesThatComeOnlyWhereItMay) {
  EXPECT_EQ(packed({4, -4}, 8), "-");
  EXPECT_EQ(packed({4, -4}, 8, false), "0:4 1:4");
}

TEST(NodePacking, CountsTheScarcestResource) {
  EXPECT_EQ(workers_in(Resources::of(4, 10, 192), kWorker.amount), 2U);
  EXPECT_EQ(workers_in(Resources::of(0, 48, 192), kWorker.amount), 0U);
}

TEST(NodePacking, TakesWhatWorkersAskFor) {
  auto left = nodes({4, 4});
  take(left, {{1, 3}}, kWorker.amount);
  EXPECT_EQ(left[1].free, Resources::of(1, 36, 144));
  EXPECT_TRUE(left[1].wanted);
  EXPECT_FALSE(left[0].wanted);
}

}  // namespace
}  // namespace muster
