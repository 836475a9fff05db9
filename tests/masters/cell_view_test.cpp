#include "masters/cell_view.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/support/builders.hpp"

namespace muster {
namespace {

using nlohmann::json;
using test::at_s;
using test::JobBuilder;

/// Plans nothing.
class IdlePolicy final : public Policy {
 public:
  Cadence cadence() const override { return {.period = std::chrono::seconds{300}}; }
  void observe(const Event&, const ClusterView&) override {}
  std::unique_ptr<Policy> clone() const override { return std::make_unique<IdlePolicy>(*this); }
  Plan decide(const ClusterView&, Rng&) override { return {}; }
};

/// Keeps what it is given, and counts how often it is read.
class CountedHistory final : public History {
 public:
  void add(JobHistory job) override { jobs.push_back(std::move(job)); }
  std::size_t size() const override { return jobs.size(); }
  std::optional<JobHistory> find(JobId id) const override {
    ++reads;
    for (const JobHistory& job : jobs) {
      if (job.job.id == id) return job;
    }
    return std::nullopt;
  }
  void newest(std::size_t limit, const Use& use) const override {
    for (auto it = jobs.rbegin(); it != jobs.rend() && limit > 0; ++it, --limit) {
      ++reads;
      if (!use(*it)) return;
    }
  }
  bool contains(JobId id) const override {
    return std::any_of(jobs.begin(), jobs.end(),
                       [&](const JobHistory& job) { return job.job.id == id; });
  }
  std::map<std::string, Money> spent_by_user() const override { return spent; }
  void newest_entries(std::size_t limit,
                      const std::function<void(const HistoryEntry&)>& use) const override {
    for (auto it = jobs.rbegin(); it != jobs.rend() && limit > 0; ++it, --limit) use(entry_of(*it));
  }

  std::vector<JobHistory> jobs;
  std::map<std::string, Money> spent;
  mutable int reads = 0;
};

class CellViewTest : public ::testing::Test {
 protected:
  CellViewTest() {
    MasterParts parts;
    parts.catalog = &catalog_;
    parts.policy = std::make_unique<IdlePolicy>();
    master_.emplace(std::move(parts));
  }

  void over(std::uint64_t id, const std::string& user, double usd) {
    JobHistory job;
    job.job = JobBuilder(id).build();
    job.job.user = user;
    job.tasks.resize(1);
    job.tasks[0].cost = dollars(usd);
    history_.add(std::move(job));
    history_.spent[user] += dollars(usd);
  }
  static Money dollars(double usd) {
    return Money::of(Price::from_usd_h(usd), std::chrono::hours{1});
  }
  CellAnswer ask(const std::string& what, std::uint64_t id = 0, const std::string& text = {},
                 std::uint32_t limit = 0) {
    CellView view{*master_, &history_, {}, "m0", at_s(10)};
    return view.answer(what, id, text, limit);
  }
  static json whole(const CellAnswer& answer) {
    return json::parse(answer.read ? answer.read() : answer.text);
  }

  Catalog catalog_ = test::table3_catalog();
  std::optional<Master> master_;
  CountedHistory history_;
};

TEST_F(CellViewTest, AnAnswerAboutJobsThatAreOverReadsNothingByItself) {
  over(1, "ada", 2);
  for (const char* what : {"jobs", "job", "explain", "find", "cost", "load"}) ask(what, 1, "0");
  EXPECT_EQ(history_.reads, 0);
  EXPECT_EQ(whole(ask("job", 1))["master"], "m0");
  EXPECT_EQ(whole(ask("explain", 1))["job"]["job"], 1);
  EXPECT_EQ(whole(ask("find", 1, "0"))["over"], true);
  EXPECT_EQ(whole(ask("job", 2))["missing"], true);
}

TEST_F(CellViewTest, AListReadsNoMoreThanItShows) {
  for (std::uint64_t id = 1; id <= 50; ++id) over(id, id % 2 == 0 ? "ada" : "bob", 1);
  ASSERT_EQ(master_->accept(JobBuilder(99).build(), at_s(1)), AcceptResult::accepted);
  const json list = whole(ask("jobs", 0, {}, 3))["jobs"];
  ASSERT_EQ(list.size(), 3u);
  EXPECT_EQ(list[0]["job"], 99);
  EXPECT_EQ(list[1]["job"], 50);
  EXPECT_EQ(list[2]["master"], "m0");
  EXPECT_EQ(history_.reads, 2);
  const json of_bob = whole(ask("jobs", 0, R"({"state":"over","user":"bob"})", 2))["jobs"];
  ASSERT_EQ(of_bob.size(), 2u);
  EXPECT_EQ(of_bob[0]["job"], 49);
  EXPECT_TRUE(ask("jobs", 0, R"({"state":"active"})").read == nullptr);
}

TEST_F(CellViewTest, CostsByUserAreThoseOfAllJobsThatEverWere) {
  over(1, "ada", 2);
  history_.spent["ada"] += dollars(40);  // of jobs that are no longer kept
  const json cost = whole(ask("cost", 0, "user"));
  std::map<std::string, double> parts;
  for (const json& part : cost["by"]) parts[part["name"]] = part["usd"];
  EXPECT_DOUBLE_EQ(parts["ada"], 42);
}

TEST_F(CellViewTest, TheCostsPartsAddUpToTheTasksTotal) {
  over(1, "ada", 2);
  over(2, "bob", 1);
  for (const char* by : {"user", "job"}) {
    // The ledger knows of nothing that was spent, so what is named is too much by all of it.
    const json cost = whole(ask("cost", 0, by));
    double sum = 0;
    for (const json& part : cost["by"]) sum += part["usd"].get<double>();
    EXPECT_NEAR(sum, cost["tasks_usd"].get<double>(), 1e-12) << by;
    EXPECT_EQ(cost["by"][0]["name"], "(earlier jobs)");
  }
  EXPECT_EQ(history_.reads, 0);
}

}  // namespace
}  // namespace muster
