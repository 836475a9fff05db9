#include "storage/stores/memory_site_store.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/builders.hpp"

namespace muster {
namespace {

using test::JobBuilder;
using ::testing::IsEmpty;

constexpr HandoffTarget kMaster{false, 0}, kOtherMaster{false, 1};

std::string persist(MemorySiteStore& records, SiteNews news) {
  std::string said = "nothing";
  records.persist(std::move(news), [&said](const std::string& trouble) { said = trouble; });
  return said;
}

TEST(MemorySiteStore, KeepsHandOffsUntilTheyAreTakenAndSaysSoAtOnce) {
  MemorySiteStore records;
  SiteNews news;
  for (const HandoffTarget& to : {kMaster, kOtherMaster}) {
    news.handoffs.push_back({JobBuilder(3).build(), to});
  }
  news.next_job = 4;
  EXPECT_EQ(persist(records, std::move(news)), "");
  EXPECT_EQ(records.recall().handoffs.size(), 2u);
  records.handed_over(JobId{3}, kMaster);
  ASSERT_EQ(records.recall().handoffs.size(), 1u);
  EXPECT_EQ(records.recall().handoffs[0].to, kOtherMaster);
  records.handed_over(JobId{3}, kOtherMaster);
  EXPECT_THAT(records.recall().handoffs, IsEmpty());
  EXPECT_EQ(records.recall().next_job, 4u);
}

TEST(MemorySiteStore, KeepsTheLatestTokens) {
  MemorySiteStore records(2);
  for (std::uint64_t i = 1; i <= 3; ++i) {
    SiteNews news;
    news.tokens.push_back({"token " + std::to_string(i), JobId{i}});
    persist(records, std::move(news));
  }
  const SiteMemory memory = records.recall();
  ASSERT_EQ(memory.tokens.size(), 2u);
  EXPECT_EQ(memory.tokens.front().token, "token 2");
  EXPECT_EQ(memory.tokens.back().job, JobId{3});
}

TEST(MemorySiteStore, KeepsEveryJobThatWasForwarded) {
  MemorySiteStore records(1);
  for (std::uint64_t i = 1; i <= 3; ++i) {
    SiteNews news;
    news.tokens.push_back({{}, JobId{i}, {}, true});
    news.tokens.push_back({"token " + std::to_string(i), JobId{10 + i}});
    persist(records, std::move(news));
  }
  const SiteMemory memory = records.recall();
  EXPECT_EQ(memory.tokens.size(), 1u);
  for (std::uint64_t i = 1; i <= 3; ++i) EXPECT_TRUE(memory.forwarded.contains(i));
  EXPECT_FALSE(memory.forwarded.contains(11));
}

TEST(MemorySiteStore, KeepsTheNewestOfWhatWasLearnt) {
  MemorySiteStore records;
  records.persist_classifier("old");
  records.persist_classifier("new");
  EXPECT_EQ(records.recall().classifier, "new");
}

}  // namespace
}  // namespace muster
