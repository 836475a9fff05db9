#include "serve/node/merge_services.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace muster {
namespace {

ReplicaView replica(std::uint32_t index, bool ready, std::uint32_t port) {
  ReplicaView view;
  view.index = index;
  view.ready = ready;
  view.instance = InstanceId{index};
  view.address = "10.0.0.1";
  view.ports = {{"http", port}};
  return view;
}

ServiceView service(const std::string& user, const std::string& name, std::uint64_t job) {
  ServiceView view;
  view.user = user;
  view.name = name;
  view.job = JobId{job};
  view.replicas = {replica(0, true, 20000), replica(1, false, 20001), replica(2, true, 20002)};
  return view;
}

TEST(MergeServices, ThoseOfAllMastersStandByUserAndName) {
  const ServicesView all = merge::services(
      {{{service("bob", "a", 1), service("ann", "web", 2)}}, {{service("ann", "db", 3)}}});
  ASSERT_EQ(all.services.size(), 3U);
  EXPECT_EQ(all.services[0].job, JobId{3});
  EXPECT_EQ(all.services[1].job, JobId{2});
  EXPECT_EQ(all.services[2].job, JobId{1});
}

TEST(MergeServices, EndpointsAreTheReadyReplicas) {
  const auto endpoints = merge::endpoints({{service("ann", "web", 2)}});
  ASSERT_TRUE(endpoints);
  EXPECT_EQ(endpoints->service, "web");
  ASSERT_EQ(endpoints->endpoints.size(), 2U);
  EXPECT_EQ(endpoints->endpoints[1].index, 2U);
  EXPECT_EQ(endpoints->endpoints[1].ports[0].number, 20002U);
}

TEST(MergeServices, WithoutAServiceThereAreNoEndpoints) {
  EXPECT_FALSE(merge::endpoints({}));
}

TEST(MergeServices, OfSeveralUsersServicesOfOneNameTheOldestCounts) {
  const auto endpoints = merge::endpoints({{service("ann", "web", 5), service("bob", "web", 4)}});
  ASSERT_TRUE(endpoints);
  EXPECT_EQ(endpoints->user, "bob");
}

TEST(MergeServices, TheRevisionIsAnotherOneForAnotherListAlone) {
  ServiceView changed = service("ann", "web", 2);
  const std::string before = merge::endpoints({{changed}})->revision;
  changed.replicas[1].restarts = 9;  // of one that is not listed
  EXPECT_EQ(merge::endpoints({{changed}})->revision, before);
  changed.replicas[1].ready = true;
  const std::string after = merge::endpoints({{changed}})->revision;
  EXPECT_NE(after, before);
  changed.replicas[0].ports[0].number = 20009;
  EXPECT_NE(merge::endpoints({{changed}})->revision, after);
}

}  // namespace
}  // namespace muster
