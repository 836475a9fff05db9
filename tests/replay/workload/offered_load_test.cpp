#include "replay/workload/offered_load.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/replay/workload/workload_compare.hpp"
#include "tests/support/builders.hpp"
#include "tests/support/golden.hpp"
#include "tests/support/message_of.hpp"
#include "tests/support/temp_file.hpp"

namespace muster::replay {
namespace {

using muster::test::IsGolden;
using muster::test::IsGoldenAt;
using muster::test::message_of;
using muster::test::TempFile;
using test::reading;
using testing::AllOf;
using testing::HasSubstr;

/// 4 slots of 1 CPU, 8 servers of 4 CPUs and 16 GiB.
Catalog two_types() {
  InstanceType slot;
  slot.name = slot.family = "slot";
  slot.capacity = Resources::of(0, 1, 0);
  InstanceType server;
  server.name = server.family = "server";
  server.capacity = Resources::of(0, 4, 16);
  return Catalog({slot, server});
}
const Catalog kCatalog = two_types();
const Fleet kSlots = {{TypeId{0}, Market::on_demand, 4}};
const Fleet kServers = {{TypeId{1}, Market::on_demand, 8}};

CompactWorkload jobs_of(const std::string& lines, double memory_gib = 0) {
  const TempFile file("jobs.tr", lines);
  WorkloadConfig config = reading("tr", file.path());
  config.task.memory_gib = memory_gib;
  return read_compact_workload(config, 1).value();
}

TEST(OfferedLoad, IsWorkOverCapacityTimesArrivalTime) {
  // 10 + 20 + 30 task-seconds in 100 s on 4 slots.
  const CompactWorkload workload = jobs_of("0 2 15 10 20\n100 1 30 30\n");
  EXPECT_DOUBLE_EQ(*offered_load(workload, kSlots, kCatalog), 60.0 / 400);
}

TEST(OfferedLoad, IsThatOfTheScarcestResource) {
  // Of 32 CPUs 1, of 128 GiB 8 are held for 60 s in 100 s.
  const CompactWorkload workload = jobs_of("0 2 15 10 20\n100 1 30 30\n", 8);
  EXPECT_DOUBLE_EQ(*offered_load(workload, kServers, kCatalog), 8 * 60 / (128.0 * 100));
}

TEST(OfferedLoad, IsReachedByMovingTheSubmissions) {
  const CompactWorkload workload = jobs_of("0 2 15 10 20\n100 1 30 30\n");
  const CompactWorkload loaded = with_load(workload, kSlots, kCatalog, 0.6).value();
  EXPECT_EQ(loaded.submit(1), muster::test::at_s(25));
  EXPECT_DOUBLE_EQ(*offered_load(loaded, kSlots, kCatalog), 0.6);
  EXPECT_THAT(loaded.description, AllOf(HasSubstr("x 0.25"), HasSubstr("0.6"), IsGolden()));
}

TEST(OfferedLoad, OfJobsThatComeAtOnceCannotBeSet) {
  const auto loaded = with_load(jobs_of("5 1 15 15\n5 1 30 30\n"), kSlots, kCatalog, 0.6);
  EXPECT_THAT(message_of(loaded, WorkloadError::invalid), IsGoldenAt("workload.load"));
}

}  // namespace
}  // namespace muster::replay
