#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "masters/view/cell_view.hpp"
#include "tests/masters/scripted_master.hpp"
#include "tests/support/builders.hpp"
#include "tests/support/plain_settings.hpp"

// A master that plans nothing, with a history that counts how often it is read.

namespace muster::test {

/// Plans nothing.
class IdlePolicy final : public Policy {
 public:
  Cadence cadence() const override { return {.period = std::chrono::seconds{300}}; }
  void observe(const Event&, const ClusterView&) override {}
  std::unique_ptr<Policy> clone() const override { return std::make_unique<IdlePolicy>(*this); }
  Plan decide(const ClusterView&, Rng&, Budget&) override { return {}; }
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

inline JobQuestion tasks_wanted(std::uint64_t job, std::optional<std::uint32_t> after,
                                const std::string& phase = {}, std::uint32_t most = 1'000) {
  JobQuestion wanted;
  wanted.job = JobId{job};
  wanted.after = after;
  wanted.phase = phase;
  wanted.most = most;
  return wanted;
}
inline JobQuestion explained(JobQuestion wanted) {
  wanted.explained = true;
  return wanted;
}

template <class View>
View whole(const CellAnswer<View>& answer) {
  return answer.read ? answer.read() : answer.view;
}

inline std::map<std::string, double> by_name(const std::vector<CostPart>& parts) {
  std::map<std::string, double> all;
  for (const CostPart& part : parts) all[part.name] = part.usd;
  return all;
}

class CellViewTest : public ::testing::Test {
 protected:
  CellViewTest() {
    MasterSettings settings = plain_settings();
    MasterDependencies parts;
    parts.catalog = &catalog_;
    parts.policy = std::make_unique<IdlePolicy>();
    master_.emplace(settings, std::move(parts));
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
  CellView view() { return {*master_, &history_, {}, "m0", at_s(10)}; }
  JobsView jobs(const JobsQuestion& wanted) { return whole(view().jobs(wanted)); }
  JobDetails job(const JobQuestion& wanted) { return whole(view().job(wanted)); }
  JobDetails job(std::uint64_t id) { return job(tasks_wanted(id, {})); }

  Catalog catalog_ = table3_catalog();
  std::optional<Master> master_;
  CountedHistory history_;
};

}  // namespace muster::test
