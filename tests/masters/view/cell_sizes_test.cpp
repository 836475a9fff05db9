// All that a master shows goes into messages that any link carries, and nothing is lost between two
// of them.

#include <gtest/gtest.h>

#include "actors/messages/byte_cut.hpp"
#include "masters/view/cell_view.hpp"
#include "tests/masters/scripted_master.hpp"
#include "tests/masters/view/cell_view_fixture.hpp"
#include "tests/support/builders.hpp"
#include "tests/support/plain_settings.hpp"

namespace muster {
namespace {

using test::at_s;
using test::IdlePolicy;
using test::JobBuilder;

/// Room for what CAF puts around a message.
constexpr std::size_t kEnvelope = 4096;

class PlainHistory final : public History {
 public:
  void add(JobHistory job) override { jobs.push_back(std::move(job)); }
  std::size_t size() const override { return jobs.size(); }
  std::optional<JobHistory> find(JobId id) const override {
    for (const JobHistory& job : jobs) {
      if (job.job.id == id) return job;
    }
    return std::nullopt;
  }
  void newest(std::size_t limit, const Use& use) const override {
    for (auto it = jobs.rbegin(); it != jobs.rend() && limit > 0; ++it, --limit) {
      if (!use(*it)) return;
    }
  }

  std::vector<JobHistory> jobs;
};

template <class View>
View carried(const CellAnswer<View>& answer) {
  View view = answer.read ? answer.read() : answer.view;
  EXPECT_LT(encoded_bytes(view) + kEnvelope, kLeastMessageBytes);
  return view;
}

class CellSizesTest : public ::testing::Test {
 protected:
  CellSizesTest() {
    MasterDependencies parts;
    parts.catalog = &catalog_;
    parts.policy = std::make_unique<IdlePolicy>();
    parts.name = "m0";
    parts.keep_history = true;
    master_.emplace(test::plain_settings(), std::move(parts));
  }
  static Job long_job(std::uint64_t id, std::size_t bytes) {
    Job job = JobBuilder(id).build();
    job.program.argv = {std::string(bytes, 'a')};
    return job;
  }
  void submit(const Job& job) { ASSERT_EQ(master_->submit(job, at_s(1)), SubmitResult::accepted); }
  void over(const Job& job, std::size_t reason_bytes = 0) {
    JobHistory history;
    history.job = job;
    history.outcome = JobOutcome::failed;
    history.tasks.resize(job.tasks.size());
    for (TaskHistory& task : history.tasks) {
      task.failed = true;
      task.reason = std::string(reason_bytes, 'r');
      task.cost = Money::of(Price::from_usd_h(1), std::chrono::hours{1});
    }
    history_.add(std::move(history));
  }
  CellView view() { return {*master_, &history_, {}, "m0", at_s(10)}; }
  /// All that is listed, message after message.
  std::vector<std::uint64_t> listed(JobsQuestion wanted) {
    std::vector<std::uint64_t> all;
    for (int messages = 0; messages < 100; ++messages) {
      const JobsView piece = carried(view().jobs(wanted));
      EXPECT_FALSE(piece.jobs.empty());
      for (const JobView& job : piece.jobs) all.push_back(job.job.value);
      if (!piece.cut) return all;
      if (wanted.only) {
        wanted.only = piece.rest;
      } else {
        wanted.begin_behind({piece.jobs.back().over.has_value(), piece.jobs.back().place});
      }
    }
    ADD_FAILURE() << "it never ends";
    return all;
  }

  Catalog catalog_ = test::table3_catalog();
  std::optional<Master> master_;
  PlainHistory history_;
};

TEST_F(CellSizesTest, AListOfJobsWithLongCommandsComesInSeveralMessages) {
  for (std::uint64_t id = 1; id <= 20; ++id) over(long_job(id, 119'000));
  for (std::uint64_t id = 30; id <= 40; ++id) submit(long_job(id, 119'000));
  const std::vector<std::uint64_t> all = listed({.most = 100});
  ASSERT_EQ(all.size(), 31U);
  EXPECT_EQ(all.front(), 40U);
  EXPECT_EQ(all.back(), 1U);
  std::vector<JobId> some;
  for (std::uint64_t id = 1; id <= 40; ++id) some.push_back(JobId{id});
  EXPECT_EQ(listed(JobsQuestion::parts_of(some)).size(), 31U);
}

TEST_F(CellSizesTest, TheLargestJobIsShownByItself) {
  const std::size_t bytes = kElementBytes - encoded_bytes(JobBuilder(1).build());
  ASSERT_FALSE(why_too_large(long_job(1, bytes - 64)));
  over(long_job(1, bytes - 64), 4096);
  submit(long_job(2, bytes - 64));
  EXPECT_EQ(listed({.most = 10}).size(), 2U);
  for (const std::uint64_t id : {1, 2}) {
    JobQuestion wanted;
    wanted.job = JobId{id};
    EXPECT_EQ(carried(view().job(wanted)).tasks.size(), 1U);
  }
}

TEST_F(CellSizesTest, TheTasksOfAJobThatIsOverComeInSeveralMessages) {
  over(JobBuilder(1).tasks(1'000).gang(false).build(), 4096);
  std::vector<TaskSpec>& tasks = history_.jobs.back().job.tasks;
  for (std::uint32_t i = 0; i < tasks.size(); ++i) tasks[i].array_index = i;
  JobQuestion wanted;
  wanted.job = JobId{1};
  wanted.most = JobQuestion::kMost;
  wanted.explained = true;
  std::size_t seen = 0;
  for (int messages = 0; messages < 500 && seen < 1'000; ++messages) {
    const JobDetails piece = carried(view().job(wanted));
    ASSERT_FALSE(piece.tasks.empty());
    EXPECT_EQ(piece.tasks.front().index, seen);
    seen += piece.tasks.size();
    EXPECT_EQ(piece.behind, 1'000 - seen);
    wanted.after = piece.tasks.back().index;
  }
  EXPECT_EQ(seen, 1'000U);
}

TEST_F(CellSizesTest, CostsThatDoNotGoIntoOneMessageAreSummedUp) {
  for (std::uint64_t id = 1; id <= 20; ++id) {
    Job job = JobBuilder(id).build();
    job.name = std::string(100'000, 'n');
    job.user = std::to_string(id) + std::string(100'000, 'u');
    over(job);
  }
  for (const CostSplit by : {CostSplit::user, CostSplit::job}) {
    const CostView cost = carried(view().cost({by}));
    double sum = 0;
    for (const CostPart& part : cost.by) sum += part.usd;
    EXPECT_NEAR(sum, cost.tasks_usd, 1e-9);
    EXPECT_LT(cost.by.size(), 20U);
  }
}

}  // namespace
}  // namespace muster
