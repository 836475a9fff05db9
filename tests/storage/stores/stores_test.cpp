#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <map>
#include <thread>

#include "model/live_ids.hpp"
#include "storage/stores/rocks_cloud_store.hpp"
#include "storage/stores/store_check.hpp"
#include "storage/stores/store_history.hpp"
#include "tests/support/golden.hpp"
#include "tests/support/temp_store.hpp"

namespace muster {
namespace {

using test::IsGolden;
using test::IsGoldenAt;
using test::opened;
using test::TempStore;
using testing::ElementsAre;

JobHistory history_of(std::uint64_t job) {
  JobHistory made;
  made.job = test::JobBuilder(job).build();
  made.tasks.resize(1);
  return made;
}

std::vector<std::uint64_t> listed(const History& history, const HistoryPage& page) {
  std::vector<std::uint64_t> jobs;
  history.list(page, [&](const JobHistory& job) {
    jobs.push_back(job.job.id.value);
    return true;
  });
  return jobs;
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

Money dollars(double usd) {
  return Money::of(Price::from_usd_h(usd), std::chrono::hours{1});
}

JobHistory paid(std::uint64_t job, const std::string& user, double usd) {
  JobHistory made = history_of(job);
  made.job.user = user;
  made.tasks[0].cost = dollars(usd);
  return made;
}

using Spent = std::map<std::string, Money>;

TEST(StoreHistory, sums_what_all_jobs_of_a_user_have_cost_that_ever_were) {
  const TempStore folder;
  const Catalog catalog = test::table3_catalog();
  const Spent expected{{"ada", dollars(15)}, {"bob", dollars(2)}, {"eve", {}}};
  {
    const auto store = folder.open();
    StoreJournal journal(*store, catalog, {});
    const auto history = opened<StoreHistory>(*store, journal, catalog, StoreHistoryOptions{2});
    history->add(paid(1, "ada", 1));
    history->add(paid(2, "bob", 2));
    history->add(paid(3, "eve", 0));
    history->add(paid(4, "ada", 4));
    history->add(paid(5, "ada", 10));
    EXPECT_EQ(history->spent_by_user(), expected);
  }
  const auto store = folder.open();
  StoreJournal journal(*store, catalog, {});
  const auto history = opened<StoreHistory>(*store, journal, catalog, StoreHistoryOptions{2});
  EXPECT_EQ(history->size(), 2u);
  EXPECT_EQ(history->spent_by_user(), expected);
}

TEST(StoreHistory, a_job_that_is_added_again_is_paid_once) {
  const TempStore folder;
  const Catalog catalog = test::table3_catalog();
  const auto store = folder.open();
  StoreJournal journal(*store, catalog, {});
  const auto history = opened<StoreHistory>(*store, journal, catalog);
  history->add(paid(1, "ada", 1));
  history->add(paid(1, "ada", 3));
  EXPECT_EQ(history->spent_by_user(), (Spent{{"ada", dollars(3)}}));
}

TEST(StoreHistory, lists_without_reading_and_by_user) {
  const TempStore folder;
  const Catalog catalog = test::table3_catalog();
  const auto store = folder.open();
  StoreJournal journal(*store, catalog, {});
  const auto history = opened<StoreHistory>(*store, journal, catalog);
  for (std::uint64_t job = 1; job <= 6; ++job) {
    history->add(paid(job, job % 2 == 0 ? "ada" : "bob", 1));
  }
  EXPECT_THAT(listed(*history, {{.user = "ada"}, {}, 2}), ElementsAre(6, 4));
  std::vector<HistoryEntry> entries;
  history->newest_entries(1, [&](const HistoryEntry& entry) { entries.push_back(entry); });
  HistoryEntry sixth{JobId{6}, "ada", "job-6", dollars(1)};
  sixth.exit_code = 0;
  EXPECT_THAT(entries, ElementsAre(sixth));
  EXPECT_TRUE(history->contains(JobId{3}));
  EXPECT_FALSE(history->contains(JobId{7}));
}

TEST(StoreHistory, lists_by_number_what_has_no_time_of_submission) {
  const TempStore folder;
  const Catalog catalog = test::table3_catalog();
  for (int life = 0; life < 2; ++life) {
    const auto store = folder.open();
    StoreJournal journal(*store, catalog, {});
    const auto history = opened<StoreHistory>(*store, journal, catalog, StoreHistoryOptions{4});
    if (life == 0) {
      for (const std::uint64_t job : {8, 1'000'000'001, 3, 9, 5}) {
        history->add(paid(job, job == 3 ? "ada" : "bob", 1));
      }
    }
    EXPECT_THAT(listed(*history, {{}, {}, 9}), ElementsAre(1'000'000'001, 9, 5, 3))
        << "the first to end is not kept";
    EXPECT_THAT(listed(*history, {{}, {Instant{}, JobId{9}}, 9}), ElementsAre(5, 3));
    EXPECT_THAT(listed(*history, {{}, {Instant{}, JobId{1'000'000'000}}, 1}), ElementsAre(9));
    EXPECT_THAT(listed(*history, {{.user = "ada"}, {Instant{}, JobId{9}}, 9}), ElementsAre(3));
    EXPECT_THAT(listed(*history, {{.user = "ada"}, {Instant{}, JobId{3}}, 9}), ElementsAre());
    EXPECT_THAT(listed(*history, {{}, {}, 0}), ElementsAre());
  }
}

JobHistory submitted(std::uint64_t job, int at_s, const std::string& name = "job") {
  JobHistory made = paid(job, "ada", 1);
  made.job.name = name;
  made.job.submitted = Instant{std::chrono::seconds{at_s}};
  return made;
}

TEST(StoreHistory, lists_by_time_of_submission_over_all_sites) {
  const TempStore folder;
  const Catalog catalog = test::table3_catalog();
  for (int life = 0; life < 2; ++life) {
    const auto store = folder.open();
    StoreJournal journal(*store, catalog, {});
    const auto history = opened<StoreHistory>(*store, journal, catalog);
    if (life == 0) {
      history->add(submitted(1'000'000'001, 10));
      history->add(submitted(353, 30));
      history->add(submitted(354, 20));
      history->add(submitted(1'000'000'002, 20));
      history->add(paid(9, "ada", 1));
    }
    EXPECT_THAT(listed(*history, {{}, {}, 9}),
                ElementsAre(353, 1'000'000'002, 354, 1'000'000'001, 9))
        << "those of before such times were kept come last";
    const JobPlace behind{Instant{std::chrono::seconds{20}}, JobId{1'000'000'002}};
    EXPECT_THAT(listed(*history, {{}, behind, 2}), ElementsAre(354, 1'000'000'001));
  }
}

TEST(StoreHistory, lists_what_a_filter_takes) {
  const TempStore folder;
  const Catalog catalog = test::table3_catalog();
  for (int life = 0; life < 2; ++life) {
    const auto store = folder.open();
    StoreJournal journal(*store, catalog, {});
    const auto history = opened<StoreHistory>(*store, journal, catalog);
    if (life == 0) {
      history->add(submitted(1, 10, "sweep-1"));
      JobHistory failed = submitted(2, 20, "train");
      failed.outcome = JobOutcome::failed;
      failed.tasks[0].failed = true;
      failed.tasks[0].end.exit_code = 3;
      history->add(failed);
      history->add(submitted(3, 30, "sweep-2"));
    }
    EXPECT_THAT(listed(*history, {{.name = "sweep*"}, {}, 9}), ElementsAre(3, 1));
    EXPECT_THAT(listed(*history, {{.failed = true}, {}, 9}), ElementsAre(2));
    EXPECT_THAT(listed(*history, {{.exit_code = 3}, {}, 9}), ElementsAre(2));
    EXPECT_THAT(listed(*history, {{.outcome = JobOutcome::completed}, {}, 1}), ElementsAre(3));
    EXPECT_THAT(listed(*history, {{.since = Instant{std::chrono::seconds{20}}}, {}, 9}),
                ElementsAre(3, 2));
  }
}

TEST(StoreHistory, keeps_jobs_no_longer_than_it_is_told) {
  const TempStore folder;
  const Catalog catalog = test::table3_catalog();
  const auto ended = [](std::uint64_t job, int day) {
    JobHistory made = paid(job, "ada", 1);
    made.over_at = Instant{std::chrono::hours{24 * day}};
    return made;
  };
  for (int life = 0; life < 2; ++life) {
    const auto store = folder.open();
    StoreJournal journal(*store, catalog, {});
    StoreHistoryOptions options;
    options.max_age = std::chrono::hours{24 * 30};
    const auto history = opened<StoreHistory>(*store, journal, catalog, options);
    if (life == 0) {
      for (int day = 1; day <= 40; ++day) history->add(ended(static_cast<unsigned>(day), day));
    }
    EXPECT_EQ(history->size(), 31U);
    EXPECT_FALSE(history->contains(JobId{9}));
    EXPECT_TRUE(history->contains(JobId{10}));
    EXPECT_EQ(history->spent_by_user(), (Spent{{"ada", dollars(40)}}));
  }
}

TEST(StoreHistory, finds_a_users_few_jobs_among_many) {
  const TempStore folder;
  const Catalog catalog = test::table3_catalog();
  const auto store = folder.open();
  StoreJournal journal(*store, catalog, {});
  const auto history = opened<StoreHistory>(*store, journal, catalog);
  for (std::uint64_t job = 1; job <= 9'000; ++job) {
    history->add(paid(job, job % 4'000 == 1 ? "ada" : "bob", 1));
  }
  EXPECT_THAT(listed(*history, {{.user = "ada"}, {}, 9}), ElementsAre(8'001, 4'001, 1));
  EXPECT_THAT(listed(*history, {{.user = "ada"}, {Instant{}, JobId{8'001}}, 1}),
              ElementsAre(4'001));
}

TEST(StoreHistory, an_index_of_the_first_format_is_brought_up_to_date_once) {
  const TempStore folder;
  const Catalog catalog = test::table3_catalog();
  {
    const auto store = folder.open();
    StoreBatch batch;
    for (std::uint64_t job = 1; job <= 2500; ++job) {
      batch.put(Family::history, key_of(10'000 - job),
                encode_history(paid(job, "ada", 1), catalog));
      batch.put(Family::place, key_of(job), encode_number(10'000 - job));
    }
    ASSERT_FALSE(store->write(batch, Durability::process));
  }
  const auto store = folder.open();
  StoreJournal journal(*store, catalog, {});
  {
    const auto history = opened<StoreHistory>(*store, journal, catalog);
    EXPECT_EQ(history->spent_by_user(), (Spent{{"ada", dollars(2500)}}));
    EXPECT_THAT(newest(*history, 2), ElementsAre(1, 2));
  }
  const auto place = decode_place(*store->get(Family::place, key_of(2500)).value());
  ASSERT_TRUE(place);
  EXPECT_TRUE(place->known);
  EXPECT_EQ(place->place, 7500u);
  HistoryEntry last{JobId{2500}, "ada", "job-2500", dollars(1)};
  last.exit_code = 0;
  EXPECT_EQ(place->entry, last);
}

TEST(StoreHistory, an_index_that_names_a_job_that_is_not_there_is_refused) {
  const TempStore folder;
  const Catalog catalog = test::table3_catalog();
  const auto store = folder.open();
  ASSERT_FALSE(store->write(test::batch_of(Family::place, key_of(3), encode_number(8)),
                            Durability::process));
  StoreJournal journal(*store, catalog, {});
  const auto history = StoreHistory::open(*store, journal, catalog);
  ASSERT_FALSE(history);
  EXPECT_EQ(history.error().code, StoreError::corrupt);
  EXPECT_THAT(history.error().message, IsGoldenAt("history"));
}

TEST(StoreHistory, is_read_apart_and_no_more_wait_than_may) {
  const TempStore folder;
  const Catalog catalog = test::table3_catalog();
  const auto store = folder.open();
  StoreJournal journal(*store, catalog, {});
  StoreHistoryOptions options;
  options.max_reads = 1;
  const auto history = opened<StoreHistory>(*store, journal, catalog, options);
  history->add(history_of(7));
  std::promise<std::thread::id> began;
  std::promise<void> go_on;
  EXPECT_TRUE(history->read_apart([&] {
    began.set_value(std::this_thread::get_id());
    go_on.get_future().wait();
  }));
  EXPECT_NE(began.get_future().get(), std::this_thread::get_id());
  std::promise<bool> found;
  EXPECT_TRUE(history->read_apart([&] { found.set_value(history->find(JobId{7}).has_value()); }));
  EXPECT_FALSE(history->read_apart([] { ADD_FAILURE() << "too many"; }));
  go_on.set_value();
  EXPECT_TRUE(found.get_future().get());
}

RentedRecord rented(std::uint64_t instance, bool gone) {
  RentedRecord made;
  made.instance = InstanceId{instance};
  made.type = "it3";
  if (gone) made.gone_at = test::at_s(9);
  return made;
}

/// Puts and waits; the answer is the trouble.
std::string put(CloudStore& records, const RentedRecord& record) {
  std::promise<std::string> told;
  records.put(record, [&](const std::string& trouble) { told.set_value(trouble); });
  return told.get_future().get();
}

TEST(RocksCloudStore, recalls_the_last_word_on_each_instance) {
  const TempStore folder;
  {
    const auto store = folder.open();
    const auto records = opened<RocksCloudStore>(*store);
    EXPECT_EQ(put(*records, rented(1, false)), "");
    EXPECT_EQ(put(*records, rented(2, false)), "");
    EXPECT_EQ(put(*records, rented(1, true)), "");
  }
  const auto store = folder.open();
  EXPECT_THAT(opened<RocksCloudStore>(*store)->recall(),
              ElementsAre(rented(1, true), rented(2, false)));
}

TEST(RocksCloudStore, keeps_changes_of_offerings_until_they_are_dropped) {
  const TempStore folder;
  const auto change = [](std::uint64_t number) {
    return OfferingChange{number,
                          test::at_s(static_cast<double>(number)),
                          {"it3", Market::spot, "a", Price::from_usd_h(0.1)}};
  };
  {
    const auto store = folder.open();
    const auto records = opened<RocksCloudStore>(*store);
    const auto put_change = [&](std::uint64_t number, const std::vector<std::uint64_t>& dropped) {
      std::promise<std::string> told;
      records->put_change(change(number), dropped,
                          [&](const std::string& trouble) { told.set_value(trouble); });
      return told.get_future().get();
    };
    EXPECT_EQ(put_change(1, {}), "");
    EXPECT_EQ(put_change(2, {}), "");
    EXPECT_EQ(put_change(3, {1}), "");
  }
  const auto store = folder.open();
  EXPECT_THAT(opened<RocksCloudStore>(*store)->changes(), ElementsAre(change(2), change(3)));
}

TEST(RocksCloudStore, forgets_the_oldest_of_what_is_gone_but_nothing_that_is_rented) {
  const TempStore folder;
  {
    const auto store = folder.open();
    const auto records = opened<RocksCloudStore>(*store, RocksCloudStoreOptions{2});
    for (std::uint64_t i = 0; i < 4; ++i) EXPECT_EQ(put(*records, rented(i, false)), "");
    for (std::uint64_t i : {3, 1, 2}) EXPECT_EQ(put(*records, rented(i, true)), "");
    EXPECT_EQ(put(*records, rented(2, true)), "");
  }
  const auto store = folder.open();
  EXPECT_THAT(opened<RocksCloudStore>(*store)->recall(),
              ElementsAre(rented(0, false), rented(1, true), rented(2, true)));
}

TEST(RocksCloudStore, one_group_may_hold_more_than_is_kept) {
  const TempStore folder;
  constexpr std::uint64_t kCount = 1000;
  {
    const auto store = folder.open();
    const auto records = opened<RocksCloudStore>(*store, RocksCloudStoreOptions{2});
    // The first write keeps the writer busy; what follows goes in groups, in the order of puts.
    std::atomic<std::uint64_t> next{0};
    std::atomic<bool> in_order{true};
    for (std::uint64_t i = 0; i < kCount; ++i) {
      records->put(rented(i, true), [&, i](const std::string& trouble) {
        if (!trouble.empty() || next.exchange(i + 1) != i) in_order = false;
      });
    }
    EXPECT_EQ(put(*records, rented(kCount, true)), "");
    EXPECT_TRUE(in_order);
    EXPECT_EQ(next, kCount);
  }
  const auto store = folder.open();
  EXPECT_THAT(opened<RocksCloudStore>(*store)->recall(),
              ElementsAre(rented(kCount - 1, true), rented(kCount, true)));
}

TEST(RocksCloudStore, refuses_what_does_not_fit_in_its_queue) {
  const TempStore folder;
  const auto store = folder.open();
  RocksCloudStoreOptions options;
  options.max_queued = 1;
  std::promise<void> seen, go_on;  // longer there than the store, whose thread uses them
  const auto records = opened<RocksCloudStore>(*store, options);
  records->put(rented(1, false), [&](const std::string&) {
    seen.set_value();
    go_on.get_future().wait();
  });
  seen.get_future().wait();
  records->put(rented(2, false), [](const std::string& trouble) { EXPECT_EQ(trouble, ""); });
  EXPECT_THAT(put(*records, rented(3, false)), IsGolden());
  go_on.set_value();
}

/// Was up from second 1 to second 9, of the master with that number.
RentedRecord paid(std::uint32_t master, std::uint64_t number) {
  RentedRecord made = rented(first_instance_of(master) + number, true);
  made.price = Price::from_nano_usd_h(static_cast<std::int64_t>(1'000'003 + number));
  made.up_at = test::at_s(1);
  return made;
}

TEST(RocksCloudStore, forgets_no_charge_with_the_records_it_drops) {
  const TempStore folder;
  constexpr std::uint64_t kCount = 10'500;  // more than the 10,000 that are kept
  std::map<std::uint32_t, RentedSums> whole;
  for (int start = 0; start < 2; ++start) {
    const auto store = folder.open();
    const auto records = opened<RocksCloudStore>(*store);
    std::promise<void> all;
    std::atomic<std::uint64_t> left{kCount};
    for (std::uint64_t i = 0; i < kCount; ++i) {
      const auto master = static_cast<std::uint32_t>(i % 3);
      RentedRecord record = paid(master, static_cast<std::uint64_t>(start) * kCount + i);
      if (i % 7 == 0) record.up_at.reset(), record.gone_at.reset(), record.refused = true;
      whole[master].add(record);
      records->put(record, [&](const std::string& trouble) {
        EXPECT_EQ(trouble, "");
        if (--left == 0) all.set_value();
      });
    }
    all.get_future().wait();
  }
  const auto store = folder.open();
  const auto records = opened<RocksCloudStore>(*store);
  std::map<std::uint32_t, RentedSums> found = records->dropped();
  EXPECT_EQ(found.size(), 3u);
  const std::vector<RentedRecord> kept = records->recall();
  EXPECT_EQ(kept.size(), 10'000u);
  for (const RentedRecord& record : kept) found[master_of(record.instance)].add(record);
  EXPECT_TRUE(found == whole) << "to the last unit, of each master";
  EXPECT_TRUE(check_store(*store).problems.empty());
}

}  // namespace
}  // namespace muster
