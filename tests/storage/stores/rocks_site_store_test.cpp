#include "storage/stores/rocks_site_store.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>

#include "storage/stores/store_check.hpp"
#include "tests/support/golden.hpp"
#include "tests/support/temp_store.hpp"

namespace muster {
namespace {

using test::IsGolden;
using test::opened;
using test::TempStore;
using testing::ElementsAre;

Handoff handoff(std::uint64_t job, const std::string& token = {}) {
  Handoff made{test::JobBuilder(job).build(), {false, 1}};
  made.job.token = token;
  return made;
}

/// Keeps and waits; the answer is the trouble.
std::string persist(SiteStore& records, std::vector<Handoff> jobs) {
  SiteNews news{std::move(jobs), {}, 0};
  for (const Handoff& each : news.handoffs) {
    if (!each.job.token.empty()) news.tokens.push_back({each.job.token, each.job.id});
    news.next_job = std::max(news.next_job, each.job.id.value + 1);
  }
  std::promise<std::string> told;
  records.persist(std::move(news), [&](const std::string& trouble) { told.set_value(trouble); });
  return told.get_future().get();
}

std::vector<std::uint64_t> jobs_of(const SiteMemory& memory) {
  std::vector<std::uint64_t> jobs;
  for (const Handoff& each : memory.handoffs) jobs.push_back(each.job.id.value);
  return jobs;
}

TEST(RocksSiteStore, recalls_what_was_kept_and_not_handed_over) {
  const TempStore folder;
  {
    const auto store = folder.open();
    const auto records = opened<RocksSiteStore>(*store);
    EXPECT_EQ(records->recall().next_job, 0u);
    EXPECT_EQ(persist(*records, {handoff(300), handoff(2, "a")}), "");
    EXPECT_EQ(persist(*records, {handoff(4, "b")}), "");
    records->handed_over(JobId{300}, {false, 1});
  }
  const auto store = folder.open();
  const SiteMemory memory = opened<RocksSiteStore>(*store)->recall();
  EXPECT_THAT(jobs_of(memory), ElementsAre(2, 4));
  EXPECT_EQ(memory.next_job, 301u);
  ASSERT_EQ(memory.tokens.size(), 2u);
  EXPECT_EQ(memory.tokens[1].token, "b");
  EXPECT_EQ(memory.tokens[1].job, JobId{4});
}

TEST(RocksSiteStore, each_part_of_a_job_is_handed_over_by_itself) {
  const TempStore folder;
  {
    const auto store = folder.open();
    const auto records = opened<RocksSiteStore>(*store);
    Handoff to_master = handoff(7);
    Handoff to_other = handoff(7);
    to_other.to.index = 2;
    Handoff to_site = handoff(7);
    to_site.to.site = true;
    EXPECT_EQ(persist(*records, {to_master, to_other, to_site}), "");
    records->handed_over(JobId{7}, to_master.to);
  }
  const auto store = folder.open();
  const SiteMemory memory = opened<RocksSiteStore>(*store)->recall();
  ASSERT_EQ(memory.handoffs.size(), 2u);
  EXPECT_EQ(memory.handoffs[0].to, (HandoffTarget{false, 2}));
  EXPECT_EQ(memory.handoffs[1].to, (HandoffTarget{true, 1}));
}

TEST(RocksSiteStore, a_job_that_has_waited_is_on_its_way_from_one_write_on) {
  const TempStore folder;
  {
    const auto store = folder.open();
    const auto records = opened<RocksSiteStore>(*store);
    Handoff waits = handoff(7);
    waits.to.site = true;
    waits.job.after = {{JobId{3}, AfterEnd::fail}};
    EXPECT_EQ(persist(*records, {waits}), "");
    SiteNews news;
    news.begun = {waits};
    news.handoffs = {waits};
    news.handoffs[0].to.site = false;
    std::promise<std::string> told;
    records->persist(std::move(news), [&](const std::string& trouble) { told.set_value(trouble); });
    EXPECT_EQ(told.get_future().get(), "");
  }
  const auto store = folder.open();
  const SiteMemory memory = opened<RocksSiteStore>(*store)->recall();
  ASSERT_EQ(memory.handoffs.size(), 1u);
  EXPECT_FALSE(memory.handoffs[0].to.site);
  EXPECT_THAT(memory.handoffs[0].job.after, ElementsAre(AfterJob{JobId{3}, AfterEnd::fail}));
}

TEST(RocksSiteStore, a_waiting_job_that_has_changed_is_kept_as_it_is_now) {
  const TempStore folder;
  {
    const auto store = folder.open();
    const auto records = opened<RocksSiteStore>(*store);
    Handoff waits = handoff(7);
    waits.to.site = true;
    EXPECT_EQ(persist(*records, {waits}), "");
    waits.job.held = true;
    SiteNews news;
    news.changed = {{waits}};
    std::promise<std::string> told;
    records->persist(std::move(news), [&](const std::string& trouble) { told.set_value(trouble); });
    EXPECT_EQ(told.get_future().get(), "");
  }
  const auto store = folder.open();
  const SiteMemory memory = opened<RocksSiteStore>(*store)->recall();
  ASSERT_EQ(memory.handoffs.size(), 1u);
  EXPECT_TRUE(memory.handoffs[0].job.held);
}

TEST(RocksSiteStore, an_end_takes_the_place_of_its_hand_off_and_the_oldest_go_first) {
  const TempStore folder;
  RocksSiteStoreOptions options;
  options.max_ended = 2;
  for (std::uint64_t job = 1; job <= 4; ++job) {
    const auto store = folder.open();
    const auto records = opened<RocksSiteStore>(*store, options);
    EXPECT_EQ(persist(*records, {handoff(job)}), "");
    SiteNews news;
    news.ended.push_back(
        {handoff(job).job, handoff(job).to, 3, JobOutcome::refused, "no", test::at_s(7), job == 4});
    news.cancels = {JobId{job}};
    std::promise<std::string> done;
    records->persist(std::move(news), [&](const std::string& trouble) { done.set_value(trouble); });
    EXPECT_EQ(done.get_future().get(), "");
    if (job != 3) records->cancelled(JobId{job});
  }
  const auto store = folder.open();
  const SiteMemory memory = opened<RocksSiteStore>(*store, options)->recall();
  EXPECT_TRUE(memory.handoffs.empty());
  ASSERT_EQ(memory.ended.size(), 2u);
  EXPECT_EQ(memory.ended[0].job.id, JobId{3});
  EXPECT_EQ(memory.ended[1].job.id, JobId{4});
  EXPECT_EQ(memory.ended[1].tasks, 3u);
  EXPECT_EQ(memory.ended[1].outcome, JobOutcome::refused);
  EXPECT_EQ(memory.ended[1].reason, "no");
  EXPECT_FALSE(memory.ended[0].conflict);
  EXPECT_TRUE(memory.ended[1].conflict);
  EXPECT_TRUE(memory.ended[1].at == test::at_s(7));
  EXPECT_EQ(memory.cancels, std::vector<JobId>{JobId{3}});
}

TEST(RocksSiteStore, knows_how_every_job_ended_however_many_have_since) {
  const TempStore folder;
  const auto end = [](SiteStore& records, std::uint64_t job, JobOutcome outcome,
                      bool conflict = false) {
    SiteNews news;
    news.ended.push_back({handoff(job).job, {false, 1}, 1, outcome, "", {}, conflict});
    std::promise<std::string> told;
    records.persist(std::move(news), [&](const std::string& why) { told.set_value(why); });
    EXPECT_EQ(told.get_future().get(), "");
  };
  {
    const auto store = folder.open();
    RocksSiteStoreOptions options;
    options.max_ended = 1;
    const auto records = opened<RocksSiteStore>(*store, options);
    end(*records, 7, JobOutcome::skipped);
    end(*records, 5'000, JobOutcome::cancelled);
    end(*records, 8, JobOutcome::skipped, true);
    end(*records, 9, JobOutcome::skipped);
  }
  const auto store = folder.open();
  const SiteMemory memory = opened<RocksSiteStore>(*store)->recall();
  EXPECT_EQ(memory.ended.size(), 1u);
  ASSERT_EQ(memory.past.size(), 2u);
  const NumberSet& skipped = memory.past.at(JobOutcome::skipped);
  EXPECT_TRUE(skipped.contains(7) && skipped.contains(9));
  EXPECT_FALSE(skipped.contains(8)) << "its number is another job's";
  EXPECT_TRUE(memory.past.at(JobOutcome::cancelled).contains(5'000));
  EXPECT_TRUE(check_store(*store).problems.empty());
}

TEST(RocksSiteStore, goes_on_knowing_how_the_jobs_of_an_old_store_ended) {
  const TempStore folder;
  {
    const auto store = folder.open();
    StoreBatch batch;
    EndedHandoff old{handoff(7).job, {false, 1}, 1, JobOutcome::skipped, "", {}};
    batch.put(Family::ended, key_of(0), encode_ended(old));
    ASSERT_FALSE(store->write(batch, Durability::process));
  }
  RocksSiteStoreOptions options;
  options.max_ended = 1;
  {
    const auto store = folder.open();
    const auto records = opened<RocksSiteStore>(*store, options);
    SiteNews news;
    news.ended.push_back({handoff(8).job, {false, 1}, 1, JobOutcome::cancelled, "", {}});
    std::promise<std::string> told;
    records->persist(std::move(news), [&](const std::string& why) { told.set_value(why); });
    EXPECT_EQ(told.get_future().get(), "");
  }
  const auto store = folder.open();
  const SiteMemory memory = opened<RocksSiteStore>(*store, options)->recall();
  ASSERT_EQ(memory.ended.size(), 1u);
  EXPECT_TRUE(memory.past.at(JobOutcome::skipped).contains(7));
}

TEST(RocksSiteStore, the_oldest_tokens_go_first) {
  const TempStore folder;
  RocksSiteStoreOptions options;
  options.max_tokens = 2;
  for (std::uint64_t job = 1; job <= 5; ++job) {
    const auto store = folder.open();
    EXPECT_EQ(
        persist(*opened<RocksSiteStore>(*store, options), {handoff(job, std::to_string(job))}), "");
  }
  const auto store = folder.open();
  const SiteMemory memory = opened<RocksSiteStore>(*store, options)->recall();
  ASSERT_EQ(memory.tokens.size(), 2u);
  EXPECT_EQ(memory.tokens[0].token, "4");
  EXPECT_EQ(memory.tokens[1].token, "5");
}

/// Keeps that another site has left the job to this one; the answer is the trouble.
std::string keep_forwarded(SiteStore& records, std::uint64_t job) {
  SiteNews news{{handoff(job)}, {{{}, JobId{job}, {}, true}}, 0};
  std::promise<std::string> told;
  records.persist(std::move(news), [&](const std::string& trouble) { told.set_value(trouble); });
  return told.get_future().get();
}

TEST(RocksSiteStore, knows_every_job_that_was_forwarded_however_many_tokens_came_since) {
  const TempStore folder;
  RocksSiteStoreOptions options;
  options.max_tokens = 1;
  {
    const auto store = folder.open();
    const auto records = opened<RocksSiteStore>(*store, options);
    for (const std::uint64_t job : {7, 5'000, 5'001}) EXPECT_EQ(keep_forwarded(*records, job), "");
  }
  for (std::uint64_t job = 10; job < 13; ++job) {
    const auto store = folder.open();
    EXPECT_EQ(
        persist(*opened<RocksSiteStore>(*store, options), {handoff(job, std::to_string(job))}), "");
  }
  const auto store = folder.open();
  EXPECT_TRUE(check_store(*store).problems.empty());
  const SiteMemory memory = opened<RocksSiteStore>(*store, options)->recall();
  EXPECT_EQ(memory.tokens.size(), 1u);
  for (const std::uint64_t job : {7, 5'000, 5'001}) EXPECT_TRUE(memory.forwarded.contains(job));
  for (const std::uint64_t job : {6, 10, 4'999}) EXPECT_FALSE(memory.forwarded.contains(job));
}

TEST(RocksSiteStore, goes_on_knowing_the_forwarded_jobs_of_an_old_store) {
  const TempStore folder;
  RocksSiteStoreOptions options;
  options.max_tokens = 1;
  {
    const auto store = folder.open();
    StoreBatch batch;
    batch.put(Family::token, key_of(0), encode_token({"forwarded 7", JobId{7}}));
    batch.put(Family::token, key_of(1), encode_token({{}, JobId{8}, {}, true}));
    batch.put(Family::token, key_of(2), encode_token({"forwarded 9", JobId{3}, "ann"}));
    ASSERT_FALSE(store->write(batch, Durability::process));
    const auto records = opened<RocksSiteStore>(*store, options);
    EXPECT_EQ(records->recall().tokens.size(), 3u);
    EXPECT_EQ(persist(*records, {handoff(1, "a")}), "");
    EXPECT_EQ(persist(*records, {handoff(2, "b")}), "");
  }
  const auto store = folder.open();
  const SiteMemory memory = opened<RocksSiteStore>(*store, options)->recall();
  ASSERT_EQ(memory.tokens.size(), 1u);
  EXPECT_EQ(memory.tokens[0].token, "b");
  EXPECT_TRUE(memory.forwarded.contains(7));
  EXPECT_TRUE(memory.forwarded.contains(8));
  EXPECT_FALSE(memory.forwarded.contains(9)) << "a user's own";
}

TEST(RocksSiteStore, refuses_what_does_not_fit_in_its_queue) {
  const TempStore folder;
  const auto store = folder.open();
  RocksSiteStoreOptions options;
  options.max_queued_jobs = 1;
  const auto records = opened<RocksSiteStore>(*store, options);
  EXPECT_THAT(persist(*records, {handoff(1), handoff(2)}), IsGolden());
  EXPECT_EQ(persist(*records, {handoff(1)}), "");
}

JobLetter letter_of(std::uint64_t job) {
  return {JobId{job}, "train", "ann", {"https://a.org/x", "me@a.org"}, NotifyOn::all, JobId{2}, {}};
}

TEST(RocksSiteStore, keeps_letters_with_their_jobs_until_all_are_told) {
  const TempStore folder;
  JobLetter told = letter_of(3);
  {
    const auto store = folder.open();
    const auto records = opened<RocksSiteStore>(*store);
    SiteNews news{{handoff(2), handoff(3), handoff(4)}, {}, 5};
    news.letters = {letter_of(2), letter_of(3), letter_of(4)};
    std::promise<std::string> written;
    records->persist(std::move(news), [&](const std::string& text) { written.set_value(text); });
    EXPECT_EQ(written.get_future().get(), "");
    told.to.pop_back();
    told.end = LetterEnd{JobOutcome::failed, 7, Instant{std::chrono::seconds{9}}};
    records->persist_letter(told);
    JobLetter gone = letter_of(4);
    gone.to.clear();
    records->persist_letter(gone);
  }
  const auto store = folder.open();
  EXPECT_THAT(opened<RocksSiteStore>(*store)->recall().letters, ElementsAre(letter_of(2), told));
}

}  // namespace
}  // namespace muster
