#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>

#include "storage/store_cloud_book.hpp"
#include "storage/store_history.hpp"
#include "storage/store_site_book.hpp"
#include "tests/support/temp_store.hpp"

namespace muster {
namespace {

using test::TempStore;
using testing::ElementsAre;

template <class Book, class... Args>
std::unique_ptr<Book> opened(Args&&... args) {
  auto book = Book::open(std::forward<Args>(args)...);
  if (!book) {
    ADD_FAILURE() << book.error().message;
    std::abort();
  }
  return std::move(book).value();
}

JobHistory history_of(std::uint64_t job) {
  JobHistory made;
  made.job = test::JobBuilder(job).build();
  made.tasks.resize(1);
  return made;
}

std::vector<std::uint64_t> newest(const History& history, std::size_t limit) {
  std::vector<std::uint64_t> jobs;
  history.newest(limit, [&](const JobHistory& job) {
    jobs.push_back(job.job.id.value);
    return true;
  });
  return jobs;
}

TEST(StoreHistory, finds_a_job_at_once_and_after_a_restart) {
  const TempStore folder;
  const Catalog catalog = test::table3_catalog();
  {
    const auto store = folder.open();
    StoreJournal journal(*store, catalog, {});
    const auto history = opened<StoreHistory>(*store, journal, catalog);
    history->add(history_of(7));
    ASSERT_TRUE(history->find(JobId{7}));
    EXPECT_EQ(history->find(JobId{7})->job.name, "job-7");
    EXPECT_FALSE(history->find(JobId{8}));
  }
  const auto store = folder.open();
  StoreJournal journal(*store, catalog, {});
  const auto history = opened<StoreHistory>(*store, journal, catalog);
  ASSERT_TRUE(history->find(JobId{7}));
  EXPECT_EQ(history->find(JobId{7})->tasks.size(), 1u);
}

TEST(StoreHistory, keeps_the_newest_jobs_only) {
  const TempStore folder;
  const Catalog catalog = test::table3_catalog();
  {
    const auto store = folder.open();
    StoreJournal journal(*store, catalog, {});
    const auto history = opened<StoreHistory>(*store, journal, catalog, StoreHistoryOptions{3});
    for (std::uint64_t job : {9, 4, 6, 5}) history->add(history_of(job));
    EXPECT_THAT(newest(*history, 10), ElementsAre(5, 6, 4));
    EXPECT_FALSE(history->find(JobId{9}));
  }
  const auto store = folder.open();
  StoreJournal journal(*store, catalog, {});
  const auto history = opened<StoreHistory>(*store, journal, catalog, StoreHistoryOptions{3});
  EXPECT_THAT(newest(*history, 2), ElementsAre(5, 6));
  history->add(history_of(1));
  EXPECT_THAT(newest(*history, 10), ElementsAre(1, 5, 6));
}

TEST(StoreHistory, a_job_that_is_added_again_is_there_once) {
  const TempStore folder;
  const Catalog catalog = test::table3_catalog();
  const auto store = folder.open();
  StoreJournal journal(*store, catalog, {});
  const auto history = opened<StoreHistory>(*store, journal, catalog);
  for (std::uint64_t job : {1, 2, 1}) history->add(history_of(job));
  EXPECT_THAT(newest(*history, 10), ElementsAre(1, 2));
}

Handoff handoff(std::uint64_t job, const std::string& token = {}) {
  Handoff made{test::JobBuilder(job).build(), {false, 1}};
  made.job.token = token;
  return made;
}

/// Keeps and waits; the answer is the trouble.
std::string keep(SiteBook& book, std::vector<Handoff> jobs) {
  SiteNews news{std::move(jobs), {}, 0};
  for (const Handoff& each : news.handoffs) {
    if (!each.job.token.empty()) news.tokens.push_back({each.job.token, each.job.id});
    news.next_job = std::max(news.next_job, each.job.id.value + 1);
  }
  std::promise<std::string> told;
  book.keep(std::move(news), [&](const std::string& trouble) { told.set_value(trouble); });
  return told.get_future().get();
}

std::vector<std::uint64_t> jobs_of(const SiteMemory& memory) {
  std::vector<std::uint64_t> jobs;
  for (const Handoff& each : memory.handoffs) jobs.push_back(each.job.id.value);
  return jobs;
}

TEST(StoreSiteBook, recalls_what_was_kept_and_not_handed_over) {
  const TempStore folder;
  {
    const auto store = folder.open();
    const auto book = opened<StoreSiteBook>(*store);
    EXPECT_EQ(book->recall().next_job, 0u);
    EXPECT_EQ(keep(*book, {handoff(300), handoff(2, "a")}), "");
    EXPECT_EQ(keep(*book, {handoff(4, "b")}), "");
    book->handed_over(JobId{300}, {false, 1});
  }
  const auto store = folder.open();
  const SiteMemory memory = opened<StoreSiteBook>(*store)->recall();
  EXPECT_THAT(jobs_of(memory), ElementsAre(2, 4));
  EXPECT_EQ(memory.next_job, 301u);
  ASSERT_EQ(memory.tokens.size(), 2u);
  EXPECT_EQ(memory.tokens[1].token, "b");
  EXPECT_EQ(memory.tokens[1].job, JobId{4});
}

TEST(StoreSiteBook, each_part_of_a_job_is_handed_over_by_itself) {
  const TempStore folder;
  {
    const auto store = folder.open();
    const auto book = opened<StoreSiteBook>(*store);
    Handoff to_master = handoff(7);
    Handoff to_other = handoff(7);
    to_other.to.index = 2;
    Handoff to_site = handoff(7);
    to_site.to.site = true;
    EXPECT_EQ(keep(*book, {to_master, to_other, to_site}), "");
    book->handed_over(JobId{7}, to_master.to);
  }
  const auto store = folder.open();
  const SiteMemory memory = opened<StoreSiteBook>(*store)->recall();
  ASSERT_EQ(memory.handoffs.size(), 2u);
  EXPECT_EQ(memory.handoffs[0].to, (HandTarget{false, 2}));
  EXPECT_EQ(memory.handoffs[1].to, (HandTarget{true, 1}));
}

TEST(StoreSiteBook, the_oldest_tokens_go_first) {
  const TempStore folder;
  StoreSiteBookOptions options;
  options.max_tokens = 2;
  for (std::uint64_t job = 1; job <= 5; ++job) {
    const auto store = folder.open();
    EXPECT_EQ(keep(*opened<StoreSiteBook>(*store, options), {handoff(job, std::to_string(job))}),
              "");
  }
  const auto store = folder.open();
  const SiteMemory memory = opened<StoreSiteBook>(*store, options)->recall();
  ASSERT_EQ(memory.tokens.size(), 2u);
  EXPECT_EQ(memory.tokens[0].token, "4");
  EXPECT_EQ(memory.tokens[1].token, "5");
}

TEST(StoreSiteBook, refuses_what_does_not_fit_in_its_queue) {
  const TempStore folder;
  const auto store = folder.open();
  StoreSiteBookOptions options;
  options.max_queued_jobs = 1;
  const auto book = opened<StoreSiteBook>(*store, options);
  EXPECT_EQ(keep(*book, {handoff(1), handoff(2)}), "the queue of the site's store is full");
  EXPECT_EQ(keep(*book, {handoff(1)}), "");
}

RentedRecord rented(std::uint64_t instance, bool gone) {
  RentedRecord made;
  made.instance = InstanceId{instance};
  made.type = "it3";
  if (gone) made.gone_at = test::at_s(9);
  return made;
}

TEST(StoreCloudBook, recalls_the_last_word_on_each_instance) {
  const TempStore folder;
  {
    const auto store = folder.open();
    const auto book = opened<StoreCloudBook>(*store);
    EXPECT_EQ(book->put(rented(1, false)), "");
    EXPECT_EQ(book->put(rented(2, false)), "");
    EXPECT_EQ(book->put(rented(1, true)), "");
  }
  const auto store = folder.open();
  EXPECT_THAT(opened<StoreCloudBook>(*store)->recall(),
              ElementsAre(rented(1, true), rented(2, false)));
}

TEST(StoreCloudBook, forgets_the_oldest_of_what_is_gone_but_nothing_that_is_rented) {
  const TempStore folder;
  {
    const auto store = folder.open();
    const auto book = opened<StoreCloudBook>(*store, StoreCloudBookOptions{2});
    for (std::uint64_t i = 0; i < 4; ++i) EXPECT_EQ(book->put(rented(i, false)), "");
    for (std::uint64_t i : {3, 1, 2}) EXPECT_EQ(book->put(rented(i, true)), "");
    EXPECT_EQ(book->put(rented(2, true)), "");
  }
  const auto store = folder.open();
  EXPECT_THAT(opened<StoreCloudBook>(*store)->recall(),
              ElementsAre(rented(0, false), rented(1, true), rented(2, true)));
}

}  // namespace
}  // namespace muster
