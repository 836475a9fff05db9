#include "storage/memory_site_book.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/builders.hpp"

namespace muster {
namespace {

using test::JobBuilder;
using ::testing::IsEmpty;

constexpr HandTarget kMaster{false, 0}, kOtherMaster{false, 1};

std::string keep(MemorySiteBook& book, SiteNews news) {
  std::string said = "nothing";
  book.keep(std::move(news), [&said](const std::string& trouble) { said = trouble; });
  return said;
}

TEST(MemorySiteBook, KeepsHandOffsUntilTheyAreTakenAndSaysSoAtOnce) {
  MemorySiteBook book;
  SiteNews news;
  for (const HandTarget& to : {kMaster, kOtherMaster}) {
    news.handoffs.push_back({JobBuilder(3).build(), to});
  }
  news.next_job = 4;
  EXPECT_EQ(keep(book, std::move(news)), "");
  EXPECT_EQ(book.recall().handoffs.size(), 2u);
  book.handed_over(JobId{3}, kMaster);
  ASSERT_EQ(book.recall().handoffs.size(), 1u);
  EXPECT_EQ(book.recall().handoffs[0].to, kOtherMaster);
  book.handed_over(JobId{3}, kOtherMaster);
  EXPECT_THAT(book.recall().handoffs, IsEmpty());
  EXPECT_EQ(book.recall().next_job, 4u);
}

TEST(MemorySiteBook, KeepsTheLatestTokens) {
  MemorySiteBook book(2);
  for (std::uint64_t i = 1; i <= 3; ++i) {
    SiteNews news;
    news.tokens.push_back({"token " + std::to_string(i), JobId{i}});
    keep(book, std::move(news));
  }
  const SiteMemory memory = book.recall();
  ASSERT_EQ(memory.tokens.size(), 2u);
  EXPECT_EQ(memory.tokens.front().token, "token 2");
  EXPECT_EQ(memory.tokens.back().job, JobId{3});
}

TEST(MemorySiteBook, KeepsEveryJobThatWasForwarded) {
  MemorySiteBook book(1);
  for (std::uint64_t i = 1; i <= 3; ++i) {
    SiteNews news;
    news.tokens.push_back({{}, JobId{i}, {}, true});
    news.tokens.push_back({"token " + std::to_string(i), JobId{10 + i}});
    keep(book, std::move(news));
  }
  const SiteMemory memory = book.recall();
  EXPECT_EQ(memory.tokens.size(), 1u);
  for (std::uint64_t i = 1; i <= 3; ++i) EXPECT_TRUE(memory.forwarded.contains(i));
  EXPECT_FALSE(memory.forwarded.contains(11));
}

TEST(MemorySiteBook, KeepsTheNewestOfWhatWasLearnt) {
  MemorySiteBook book;
  book.keep_sorter("old");
  book.keep_sorter("new");
  EXPECT_EQ(book.recall().sorter, "new");
}

}  // namespace
}  // namespace muster
