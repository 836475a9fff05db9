// A store that an earlier version has left behind (tests/data/store-1): it opens, is well, and has
// everything.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>

#include "storage/stores/recovery.hpp"
#include "storage/stores/rocks_cloud_store.hpp"
#include "storage/stores/rocks_site_store.hpp"
#include "storage/stores/store_check.hpp"
#include "storage/stores/store_history.hpp"
#include "tests/support/places.hpp"
#include "tests/support/temp_file.hpp"

namespace muster {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using testing::IsEmpty;

const fs::path kData = fs::path(test::source_dir()) / "tests" / "data" / "store-1";

/// A copy of the stores that may be written.
class EarlierStore : public testing::Test {
 protected:
  EarlierStore() {
    fs::copy(kData, copy_, fs::copy_options::recursive | fs::copy_options::overwrite_existing);
    std::ifstream(kData / "expected.json") >> said_;
  }

  std::unique_ptr<Store> open(const std::string& folder, const std::string& kind,
                              bool read_only = false) const {
    StoreOptions options;
    options.meta = {kind, "local", {}};
    options.read_only = read_only;
    if (!kind.starts_with("site")) options.meta.catalog = catalog();
    auto store = Store::open(copy_ / folder, options);
    if (!store) {
      ADD_FAILURE() << store.error().message;
      std::abort();
    }
    return std::move(store).value();
  }
  /// As the stores have it.
  Catalog catalog() const {
    StoreOptions options;
    options.read_only = true;
    return Store::open(copy_ / "n2" / "master", options).value()->meta().catalog;
  }
  std::set<std::uint64_t> jobs_said(bool over) const {
    static const std::set<std::string> kOver{"completed", "failed", "cancelled", "refused"};
    std::set<std::uint64_t> jobs;
    for (const json& job : said_["jobs"]) {
      if (kOver.contains(job["state"]) == over) jobs.insert(job["job"].get<std::uint64_t>());
    }
    return jobs;
  }

  test::TempFile folder_{"beside", ""};
  fs::path copy_ = folder_.folder() / "copy";
  json said_;
};

TEST_F(EarlierStore, is_well) {
  for (const auto& [folder, kind] : std::map<std::string, std::string>{{"n0/site", "site tokyo"},
                                                                       {"n1/site", "site oslo"},
                                                                       {"n2/master", "master m0"},
                                                                       {"n3/master", "master m1"},
                                                                       {"n4/cloud", "cloud"}}) {
    EXPECT_THAT(check_store(*open(folder, kind, true)).problems, IsEmpty()) << folder;
  }
}

TEST_F(EarlierStore, has_every_job_of_its_masters) {
  std::set<std::uint64_t> open_jobs, over_jobs;
  std::size_t instances = 0, snapshots = 0;
  Money spent, booked;  // for jobs that are over
  const Catalog types = catalog();
  for (const auto& [folder, kind] :
       std::map<std::string, std::string>{{"n2/master", "master m0"}, {"n3/master", "master m1"}}) {
    const auto store = open(folder, kind);
    auto found = recover_master(*store, types);
    ASSERT_TRUE(found) << found.error().message;
    snapshots += found->snapshot.has_value();
    ClusterState state = found->snapshot ? found->snapshot->state : ClusterState(types);
    Ledger ledger = found->snapshot ? found->snapshot->ledger : Ledger{};
    for (const Event& event : found->tail) {
      ledger.observe(event, state);
      state.apply(event);
    }
    booked += ledger.tasks();
    for (const JobRow& row : state.jobs()) {
      open_jobs.insert(row.job.id.value);
      for (const Slot slot : row.tasks) booked -= ledger.task(state.task(slot).id);
    }
    instances += state.instances().size();
    StoreJournal journal(*store, types, found.value());
    const auto history = StoreHistory::open(*store, journal, types);
    ASSERT_TRUE(history) << history.error().message;
    history.value()->newest(1'000'000, [&](const JobHistory& job) {
      over_jobs.insert(job.job.id.value);
      return true;
    });
    for (const auto& [user, money] : history.value()->spent_by_user()) {
      EXPECT_TRUE(user == "ada" || user == "bob") << user;
      spent += money;
    }
  }
  EXPECT_EQ(over_jobs, jobs_said(true));
  EXPECT_EQ(open_jobs, jobs_said(false));
  EXPECT_GT(instances, 0u);
  EXPECT_GT(snapshots, 0u);
  EXPECT_GT(spent.usd(), 0);
  EXPECT_TRUE(spent == booked) << "the sums by user are those of the ledger";
}

TEST_F(EarlierStore, has_every_hand_off_and_token_of_its_sites) {
  std::set<std::uint64_t> handed;
  std::map<std::string, std::uint64_t> tokens;
  for (const auto& [folder, kind] :
       std::map<std::string, std::string>{{"n0/site", "site tokyo"}, {"n1/site", "site oslo"}}) {
    const auto store = open(folder, kind);
    const auto records = RocksSiteStore::open(*store);
    ASSERT_TRUE(records) << records.error().message;
    const SiteMemory memory = records.value()->recall();
    for (const Handoff& handoff : memory.handoffs) handed.insert(handoff.job.id.value);
    for (const KnownToken& token : memory.tokens) tokens[token.token] = token.job.value;
    for (const KnownToken& token : memory.tokens) {
      EXPECT_FALSE(token.user || token.forwarded || token.digest)
          << "what was not written is not made up";
    }
    EXPECT_GT(memory.next_job, 1u);
  }
  EXPECT_EQ(handed, said_["handed"].get<std::set<std::uint64_t>>());
  for (const auto& [token, said] : said_["tokens"].items()) {
    EXPECT_EQ(tokens[token], said["job"].get<std::uint64_t>()) << token;
  }
}

TEST_F(EarlierStore, has_what_is_rented) {
  const auto store = open("n4/cloud", "cloud");
  const auto records = RocksCloudStore::open(*store);
  ASSERT_TRUE(records) << records.error().message;
  std::size_t rented = 0, gone = 0;
  for (const RentedRecord& record : records.value()->recall()) {
    ++(record.gone_at || record.refused ? gone : rented);
    EXPECT_TRUE(catalog().find(record.type)) << record.type;
  }
  EXPECT_GT(rented, 0u);
  EXPECT_GT(gone, 0u);
}

}  // namespace
}  // namespace muster
