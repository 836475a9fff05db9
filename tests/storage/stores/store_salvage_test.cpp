// Damaged stores of which a new one is made: it opens, has only what was durable, and what it lacks
// is said.

#include "storage/stores/store_salvage.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <future>
#include <map>
#include <optional>
#include <set>
#include <sstream>

#include "model/rng.hpp"
#include "storage/stores/recovery.hpp"
#include "storage/stores/rocks_site_store.hpp"
#include "storage/stores/store_check.hpp"
#include "storage/stores/store_journal.hpp"
#include "storage/stores/store_roster.hpp"
#include "tests/support/golden.hpp"
#include "tests/support/random_cluster.hpp"
#include "tests/support/temp_store.hpp"

namespace muster {
namespace {

namespace fs = std::filesystem;
using test::IsGolden;
using test::opened;
using test::TempStore;
using testing::IsEmpty;
using testing::IsSupersetOf;
using testing::Not;

using Files = std::map<std::string, std::string>;

Files files_of(const fs::path& folder) {
  Files files;
  for (const auto& entry : fs::directory_iterator(folder)) {
    std::ifstream in(entry.path(), std::ios::binary);
    std::ostringstream text;
    text << in.rdbuf();
    files[entry.path().filename().string()] = text.str();
  }
  return files;
}

void put_files(const Files& files, const fs::path& folder) {
  fs::remove_all(folder);
  fs::create_directories(folder);
  for (const auto& [name, text] : files) std::ofstream(folder / name, std::ios::binary) << text;
}

void keep_numbers(Store& store) {
  EXPECT_FALSE(keep_roster(store, {{{"s0", 0}}, {{"m0", 0}}}));
}

/// A master's store, and the events that it has.
struct MasterStore {
  Files files;
  std::vector<Event> events;
};

/// A history has the job, which was cancelled.
void keep_over(Store& store, const Catalog& catalog, int job) {
  JobHistory history;
  history.job = test::JobBuilder(job).build();
  history.outcome = JobOutcome::cancelled;
  const HistoryEntry entry = entry_of(history);
  StoreBatch batch;
  batch.put(Family::history, key_of(entry.job.value), encode_history(history, catalog));
  batch.put(Family::place, key_of(entry.job.value), encode_place({entry.job.value, entry}));
  EXPECT_FALSE(store.write(batch, Durability::process));
}

/// `over`: jobs that the history has, whatever the events say.
MasterStore master_store(const std::set<int>& over = {}, std::uint64_t seed = 5) {
  const TempStore folder;
  MasterStore made;
  const Catalog catalog = test::table3_catalog();
  test::RandomCluster cluster(catalog, seed);
  for (int opening = 0; opening < 3; ++opening) {
    const auto store = opened<Store>(folder.path(), folder.options());
    if (opening == 0) {
      keep_numbers(*store);
      for (const int job : over) keep_over(*store, catalog, job);
    }
    RecoveredMaster found;
    found.next_event = made.events.size();
    StoreJournal journal(*store, catalog, found);
    for (int i = 0; i < 20; ++i) {
      made.events.push_back(cluster.step());
      // One by one: each has a record of its own in the log.
      std::promise<void> durable;
      journal.append({made.events.back()}, [&] { durable.set_value(); });
      durable.get_future().wait();
    }
  }
  made.files = files_of(folder.path());
  return made;
}

/// A seed of a cluster, and its jobs that have a task with resources after two thirds of its events
/// and are not over after all of them.
std::pair<std::uint64_t, std::set<int>> cluster_with_jobs_that_go_on() {
  const Catalog catalog = test::table3_catalog();
  for (std::uint64_t seed = 1; seed < 100; ++seed) {
    test::RandomCluster cluster(catalog, seed);
    for (int i = 0; i < 40; ++i) cluster.step();
    std::set<int> jobs;
    for (const JobRow& row : cluster.state.jobs()) {
      const bool has = std::any_of(row.tasks.begin(), row.tasks.end(), [&](Slot slot) {
        return cluster.state.task(slot).at != kNoSlot;
      });
      if (has) jobs.insert(static_cast<int>(row.job.id.value));
    }
    for (int i = 0; i < 20; ++i) cluster.step();
    std::erase_if(jobs, [&](int job) {
      return cluster.state.find(JobId{static_cast<std::uint64_t>(job)}) == nullptr;
    });
    if (!jobs.empty()) return {seed, jobs};
  }
  ADD_FAILURE() << "no such cluster";
  return {};
}

/// A site's store with jobs that it answers for: ten in tables, ten in the log.
Files site_store() {
  const TempStore folder;
  for (int opening = 0; opening < 2; ++opening) {
    const auto store = opened<Store>(folder.path(), folder.options("site s0"));
    if (opening == 0) keep_numbers(*store);
    const auto records = opened<RocksSiteStore>(*store);
    for (int i = 1; i <= 10; ++i) {
      const std::uint64_t job = static_cast<std::uint64_t>(opening) * 10 + i;
      std::promise<void> durable;
      records->persist({{{test::JobBuilder(static_cast<int>(job)).build(), {}}},
                        {{"t" + std::to_string(job), JobId{job}, "ann"}},
                        job + 1},
                       [&](const std::string&) { durable.set_value(); });
      durable.get_future().wait();
    }
  }
  return files_of(folder.path());
}

std::unique_ptr<Store> reader(const fs::path& folder) {
  StoreOptions options;
  options.read_only = true;
  return opened<Store>(folder, options);
}

bool is_refused(const fs::path& folder) {
  StoreOptions options;
  options.read_only = true;
  return !Store::open(folder, options);
}

SalvageReport salvaged(const SalvageOrder& order) {
  auto report = salvage_store(order);
  if (!report) ADD_FAILURE() << report.error().message;
  return report ? std::move(report).value() : SalvageReport{};
}

/// Nothing: the new store was made.
std::optional<StoreError> refusal(const SalvageOrder& order) {
  const auto report = salvage_store(order);
  return report ? std::nullopt : std::optional(report.error().code);
}

std::string lines_of(const SalvageReport& report) {
  std::string lines;
  for (const SalvageLoss& loss : report.lost) lines += loss.where + ": " + loss.what + "\n";
  return lines;
}

/// Flips the byte of the file whose name ends so: the last such file.
Files flipped(Files files, const std::string& ending, std::size_t at) {
  for (auto file = files.rbegin(); file != files.rend(); ++file) {
    if (!file->first.ends_with(ending) || file->second.size() <= at) continue;
    file->second[at] = static_cast<char>(file->second[at] ^ 0x10);
    return files;
  }
  ADD_FAILURE() << "no " << ending;
  return files;
}

class StoreSalvage : public testing::Test {
 protected:
  test::TempFile place_{"beside", ""};
  fs::path from_ = place_.folder() / "from";
  fs::path to_ = place_.folder() / "to";
  SalvageOrder order_{from_, to_, {}};
};

TEST_F(StoreSalvage, of_a_store_that_is_whole_loses_nothing_and_its_owner_asks_for_numbers) {
  put_files(site_store(), from_);
  const SalvageReport report = salvaged(order_);
  EXPECT_EQ(lines_of(report), "");
  const auto store = opened<Store>(to_, TempStore().options("site s0"));
  const SiteMemory memory = opened<RocksSiteStore>(*store)->recall();
  EXPECT_TRUE(memory.asks_numbers);
  EXPECT_EQ(memory.handoffs.size(), 20u);
  EXPECT_EQ(memory.next_job, 21u);
}

TEST_F(StoreSalvage,
       of_any_one_flipped_byte_opens_has_only_what_was_durable_and_says_what_is_lost) {
  const MasterStore made = master_store();
  const fs::path like = place_.folder() / "like";
  put_files(made.files, like);
  order_.like = like;
  int refused = 0;
  for (std::uint64_t round = 0; round < 12; ++round) {
    Rng dice(round);
    Files files = made.files;
    auto file = std::next(files.begin(), static_cast<std::ptrdiff_t>(dice.below(files.size())));
    if (file->second.empty()) continue;
    const std::size_t at = dice.below(file->second.size());
    file->second[at] = static_cast<char>(file->second[at] ^ (1 << dice.below(8)));
    SCOPED_TRACE("round " + std::to_string(round) + ": " + file->first + " " + std::to_string(at));
    put_files(files, from_);
    fs::remove_all(to_);
    const bool whole = !is_refused(from_);
    const SalvageReport report = salvaged(order_);
    EXPECT_EQ(report.lost.empty(), whole);
    EXPECT_EQ(files_of(from_), files);
    refused += whole ? 0 : 1;

    EXPECT_THAT(check_store(*reader(to_)).problems, IsEmpty());
    const auto store = opened<Store>(to_, TempStore().options());
    const auto found = recover_master(*store, store->meta().catalog);
    ASSERT_TRUE(found) << found.error().message;
    ASSERT_LE(report.next_event, made.events.size());
    const auto kept = static_cast<std::ptrdiff_t>(whole ? made.events.size() : report.next_event);
    ASSERT_GE(found->tail.size(), static_cast<std::size_t>(kept));
    EXPECT_TRUE(std::equal(made.events.begin(), made.events.begin() + kept, found->tail.begin()));
    for (std::size_t i = static_cast<std::size_t>(kept); i < found->tail.size(); ++i) {
      EXPECT_TRUE(std::holds_alternative<JobHeld>(found->tail[i].body));
    }
  }
  EXPECT_GT(refused, 2);
}

TEST_F(StoreSalvage, of_a_master_ends_before_the_first_gap_and_holds_every_open_job) {
  const MasterStore made = master_store();
  put_files(flipped(made.files, ".log", 1500), from_);
  const SalvageReport report = salvaged(order_);
  EXPECT_THAT(lines_of(report), IsGolden());
  EXPECT_EQ(report.next_event + report.lost_events, made.events.size());
  EXPECT_GE(report.next_event, 40u);
  const auto store = opened<Store>(to_, TempStore().options());
  const auto found = recover_master(*store, store->meta().catalog);
  ASSERT_TRUE(found) << found.error().message;
  ClusterState state(store->meta().catalog);
  for (const Event& event : found->tail) state.apply(event);
  ASSERT_FALSE(report.held.empty());
  for (const JobId job : report.held) EXPECT_TRUE(state.find(job)->held_by_user);
  for (const JobRow& row : state.jobs()) EXPECT_TRUE(row.held_by_user || row.terminal_outcome);
}

TEST_F(StoreSalvage, of_a_master_takes_the_historys_word_for_jobs_that_are_over) {
  const auto [seed, over] = cluster_with_jobs_that_go_on();
  const MasterStore made = master_store(over, seed);
  put_files(flipped(made.files, ".log", 1500), from_);
  const SalvageReport report = salvaged(order_);
  const auto store = opened<Store>(to_, TempStore().options());
  const auto found = recover_master(*store, store->meta().catalog);
  ASSERT_TRUE(found) << found.error().message;
  ClusterState state(store->meta().catalog);
  bool ran = false;
  for (const Event& event : found->tail) {
    ran = ran || std::holds_alternative<TaskFailed>(event.body);
    const auto* end = std::get_if<JobFinished>(&event.body);
    if (end != nullptr && over.contains(static_cast<int>(end->job.value))) {
      EXPECT_EQ(end->outcome, JobOutcome::cancelled);
      for (const Slot slot : state.find(end->job)->tasks) {
        EXPECT_EQ(state.task(slot).target, kNoSlot) << "a master would still start it there";
      }
    }
    state.apply(event);
  }
  EXPECT_TRUE(ran) << "a task of these had resources by the events that are left";
  EXPECT_THAT(report.over, Not(IsEmpty()));
  for (const JobId job : report.over) {
    EXPECT_TRUE(over.contains(static_cast<int>(job.value)));
    EXPECT_EQ(state.find(job), nullptr);
  }
  for (const JobId job : report.held) EXPECT_FALSE(over.contains(static_cast<int>(job.value)));
  EXPECT_THAT(check_store(*store).problems, IsEmpty());
}

TEST_F(StoreSalvage,
       of_a_site_keeps_the_jobs_beside_the_damaged_one_and_gives_out_no_number_again) {
  put_files(flipped(site_store(), ".log", 1500), from_);
  const SalvageReport report = salvaged(order_);
  EXPECT_FALSE(report.lost.empty());
  EXPECT_GT(report.lost_changes, 0u);
  const auto store = opened<Store>(to_, TempStore().options("site s0"));
  const SiteMemory memory = opened<RocksSiteStore>(*store)->recall();
  EXPECT_GE(memory.next_job, 21u);
  EXPECT_TRUE(memory.asks_numbers);
  std::set<std::uint64_t> jobs;
  for (const Handoff& handoff : memory.handoffs) jobs.insert(handoff.job.id.value);
  EXPECT_THAT(jobs, IsSupersetOf({1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 20}));
  EXPECT_EQ(jobs.size(), 19u);
}

TEST_F(StoreSalvage, keeps_the_cost_of_a_lost_job_in_its_users_sum_whatever_version_noted_it) {
  const TempStore folder;
  {
    const auto store = folder.open();
    keep_numbers(*store);
    StoreBatch batch;
    for (const std::uint64_t job : {7U, 8U}) {
      // Earlier versions kept less than all of the entry.
      const HistoryEntry entry{JobId{job}, "ada", "sweep", Money{2}};
      batch.put(Family::place, key_of(job), encode_place({job, entry, job == 8}));
    }
    EXPECT_FALSE(store->write(batch, Durability::process));
  }
  order_.from = folder.path();
  EXPECT_EQ(salvaged(order_).lost.size(), 3U) << "the store, and each of the jobs";
  Money sum;
  opened<Store>(to_, TempStore().options())
      ->scan(Family::spent, {}, [&](std::string_view user, std::string_view value) {
        EXPECT_EQ(user, "ada");
        sum += decode_money(value).value();
        return true;
      });
  EXPECT_EQ(sum, Money{4});
}

TEST_F(StoreSalvage, of_a_store_that_does_not_say_whose_it_is_asks_for_another_one) {
  const TempStore young;
  keep_numbers(*young.open());
  const Files files = files_of(young.path());
  put_files(flipped(files, ".log", 300), from_);
  EXPECT_EQ(refusal(order_), StoreError::corrupt);
  EXPECT_FALSE(fs::exists(to_));
  put_files(files, place_.folder() / "like");
  order_.like = place_.folder() / "like";
  EXPECT_EQ(salvaged(order_).meta.kind, "master m0");
}

TEST_F(StoreSalvage, is_refused_where_it_could_do_harm) {
  const TempStore used;
  const auto store = used.open();
  order_.from = used.path();
  EXPECT_EQ(refusal(order_), StoreError::locked);
  put_files(site_store(), from_);
  order_.from = from_;
  order_.to = from_ / "new";
  EXPECT_EQ(refusal(order_), StoreError::unwritable);
  put_files({{"something", "else"}}, to_);
  order_.to = to_;
  EXPECT_EQ(refusal(order_), StoreError::unwritable);
  order_.from = place_.folder() / "nothing";
  EXPECT_EQ(refusal(order_), StoreError::unreadable);
}

}  // namespace
}  // namespace muster
