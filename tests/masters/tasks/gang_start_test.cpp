#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <map>
#include <random>

#include "masters/master.hpp"
#include "tests/support/builders.hpp"
#include "tests/support/plain_settings.hpp"

// What starts when, held against the rules without any index: whatever happens, after a round no
// task waits that could start, each one that waits says why, and no empty instance is kept.

namespace muster {
namespace {

using test::JobBuilder;

/// Places, moves, stops and releases at random.
class RestlessPolicy : public Policy {
 public:
  explicit RestlessPolicy(std::uint64_t seed) : dice_(seed) {}
  Cadence cadence() const override { return {.period = std::chrono::seconds{300}}; }
  void observe(const Event&, const ClusterView&) override {}
  std::unique_ptr<Policy> clone() const override { return std::make_unique<RestlessPolicy>(*this); }

  Plan decide(const ClusterView& view, Rng&, Budget&) override {
    Plan plan;
    std::vector<InstanceId> there;
    for (const InstanceRow& row : view.state.instances()) {
      if (!row.released) there.push_back(row.id);
    }
    for (std::uint64_t i = draw(3); i > 0; --i) plan.launches.push_back({TypeId{2}, {}, {}});
    for (const JobRow& job : view.state.jobs()) {
      if (draw(3) == 0) continue;
      if (job.width > 0 && draw(2) == 0) {
        plan.resizes.push_back({job.job.id, static_cast<std::uint32_t>(draw(6)), {}});
      }
      for (Slot slot : job.tasks) {
        const TaskRow& task = view.state.task(slot);
        const bool runs = task.phase == TaskPhase::running;
        if (runs && draw(4) > 0) continue;
        const std::uint64_t to = draw(there.size() + plan.launches.size() + 1);
        if (to < there.size()) {
          plan.places.push_back({task.id, there[to], {}});
        } else if (to < there.size() + plan.launches.size()) {
          plan.places.push_back(
              {task.id, LaunchIndex{static_cast<std::uint32_t>(to - there.size())}, {}});
        } else if (runs) {
          plan.stops.push_back({task.id, {}});
        }
      }
    }
    for (InstanceId id : there) {
      if (draw(6) == 0) plan.releases.push_back({id, {}});
    }
    return plan;
  }

 private:
  std::uint64_t draw(std::uint64_t below) { return dice_() % below; }
  std::mt19937_64 dice_;
};

/// Follows which workers of elastic jobs run, and of how many each was told to be one.
struct WidthWatch {
  struct Worker {
    InstanceId on;
    std::uint32_t of = 0;
  };
  std::map<JobId, std::uint32_t> widths;
  std::map<TaskId, JobId> jobs;
  std::map<JobId, std::map<TaskId, Worker>> running;
  std::string problem;

  void operator()(const JobAccepted& e) {
    const auto* elastic = std::get_if<ElasticSpec>(&e.job.kind);
    if (elastic == nullptr) return;
    widths[e.job.id] = elastic->min_width;
    for (const TaskSpec& task : e.job.tasks) jobs[task.id] = e.job.id;
  }
  void operator()(const JobResized& e) { widths[e.job] = e.width; }
  void operator()(const StartIssued& e) {
    const auto job = jobs.find(e.task);
    if (job == jobs.end()) return;
    const std::uint32_t width = widths[job->second];
    for (const auto& [peer, worker] : running[job->second]) {
      if (worker.of == width) continue;
      problem = "task " + std::to_string(e.task.value) + " is one of " + std::to_string(width) +
                " and its peer one of " + std::to_string(worker.of);
    }
    running[job->second][e.task] = {e.instance, width};
  }
  void left(TaskId task) {
    if (jobs.contains(task)) running[jobs[task]].erase(task);
  }
  void operator()(const TaskCheckpointed& e) { left(e.task); }
  void operator()(const TaskFinished& e) { left(e.task); }
  void operator()(const TaskFailed& e) { left(e.task); }
  void operator()(const InstanceGone& e) {
    for (auto& [job, workers] : running) {
      std::erase_if(workers, [&](const auto& entry) { return entry.second.on == e.instance; });
    }
  }
  template <class Other>
  void operator()(const Other&) {}
};

/// A master to whose jobs, tasks and instances possible things happen at random.
class RestlessCell {
 public:
  explicit RestlessCell(std::uint64_t seed)
      : dice_(seed), seed_(seed), master_(settings(), parts()) {}

  void step() {
    clock_ += std::chrono::seconds{1};
    const std::uint64_t what = draw(12);
    if (what == 0) return accept();
    if (what == 1) return round();
    if (what == 2 && draw(4) == 0) return end_some_job();
    if (what <= 6) return of_instance();
    of_task();
  }

  /// What the rules say against the state after a round; empty when nothing.
  std::string broken_rule() {
    clock_ += std::chrono::seconds{1};
    round();
    const ClusterState& state = master_.state();
    const auto problems = state.inconsistencies();
    if (!problems.empty()) return problems.front();
    for (const Event& event : master_.commit().events) std::visit(widths_, event.body);
    if (!widths_.problem.empty()) return widths_.problem;
    for (const TaskRow& task : state.assigned()) {
      const JobRow& job = state.job(task.job);
      if (job.job.gang && job.pending > 0) return "a gang with a place for some stays";
      const auto code = start_blocker(task);
      if (!code) return "task " + std::to_string(task.id.value) + " could start";
      if (*code != task.reason.code) {
        return "task " + std::to_string(task.id.value) + " says " +
               std::string(name_of(task.reason.code)) + ", not " + std::string(name_of(*code));
      }
    }
    for (const InstanceRow& row : state.instances()) {
      if (row.released && row.occupants.empty() && row.phase != InstancePhase::terminating) {
        return "an empty instance is kept";
      }
    }
    return {};
  }

 private:
  static MasterSettings settings() {
    MasterSettings settings = test::plain_settings();
    settings.max_attempts = 3;
    return settings;
  }
  MasterDependencies parts() {
    MasterDependencies parts;
    parts.catalog = &catalog_;
    parts.policy = std::make_unique<RestlessPolicy>(seed_);
    return parts;
  }
  std::uint64_t draw(std::uint64_t below) { return dice_() % below; }
  template <class Range>
  auto pick(const Range& rows) -> decltype(&*rows.begin()) {
    if (rows.size() == 0) return nullptr;
    auto it = rows.begin();
    for (std::uint64_t i = draw(rows.size()); i > 0; --i) ++it;
    return &*it;
  }

  void round() { master_.round({}, clock_); }
  void accept() {
    const std::uint64_t id = next_job_++;
    const Resources demand = Resources::of(0, static_cast<double>(1 + draw(6)), 1);
    JobBuilder job(id);
    job.tasks(1 + draw(4)).demand(demand).gang(draw(3) > 0);
    if (draw(3) == 0) job.elastic(static_cast<std::uint32_t>(1 + draw(2)), 4);
    master_.submit(job.build(), clock_);
  }
  void end_some_job() {
    const JobRow* job = pick(master_.state().jobs());
    if (job == nullptr) return;
    const JobId id = job->job.id;
    if (draw(2) == 0) return master_.cancel(id, clock_);
    master_.hold(id, !job->held_by_user, clock_);
  }
  void of_instance() {
    const InstanceRow* row = pick(master_.state().instances());
    if (row == nullptr) return;
    const InstanceId id = row->id;
    if (row->phase == InstancePhase::requested) {
      return draw(4) == 0 ? master_.instance_refused(id, clock_)
                          : master_.instance_up(id, {}, clock_);
    }
    if (row->phase == InstancePhase::booting) return master_.instance_ready(id, clock_);
    if (row->phase == InstancePhase::terminating || draw(10) == 0) {
      return master_.instance_gone(id, {}, clock_);
    }
    if (draw(12) == 0) master_.evict(id, CauseCode::drained, clock_);
  }
  void of_task() {
    const JobRow* job = pick(master_.state().jobs());
    if (job == nullptr) return;
    const TaskRow& task = master_.state().task(job->tasks[draw(job->tasks.size())]);
    if (task.phase == TaskPhase::starting) {
      return master_.task_started({task.id, task.attempt, {}, {}}, clock_);
    }
    if (task.phase == TaskPhase::stopping)
      return master_.task_checkpointed({task.id, task.attempt}, clock_);
    if (task.phase != TaskPhase::running) return;
    if (draw(4) == 0) return master_.task_failed({task.id, task.attempt, "broke", {}}, clock_);
    if (draw(4) == 0) master_.task_finished({task.id, task.attempt, {}}, clock_);
  }

  /// Why an assigned task of a whole gang cannot start, from the rows alone.
  std::optional<RefusalCode> start_blocker(const TaskRow& task) const {
    const ClusterState& state = master_.state();
    const JobRow& job = state.job(task.job);
    for (Slot slot : job.tasks) {
      const TaskRow& peer = state.task(slot);
      if (!job.job.gang) break;
      if (peer.phase == TaskPhase::stopping) return RefusalCode::awaiting_peers;
      if (peer.phase == TaskPhase::assigned && !state.instance(peer.target).up) {
        return RefusalCode::awaiting_instance;
      }
    }
    const InstanceRow& place = state.instance(task.target);
    if (place.phase != InstancePhase::ready) return RefusalCode::awaiting_instance;
    const Resources together = place.used + state.demand(task, place.type)->amount;
    if (!together.fits_in(state.catalog()[place.type].capacity))
      return RefusalCode::awaiting_capacity;
    return std::nullopt;
  }

  std::mt19937_64 dice_;
  std::uint64_t seed_;
  Catalog catalog_ = test::table3_catalog();
  Master master_;
  Instant clock_{};
  std::uint64_t next_job_ = 1000;
  WidthWatch widths_;
};

RC_GTEST_PROP(GangStart, NothingThatCouldStartWaitsAndAllSayWhy, ()) {
  RestlessCell cell(*rc::gen::arbitrary<std::uint64_t>());
  for (int i = 0; i < 300; ++i) {
    cell.step();
    if (i % 10 == 0) RC_ASSERT(cell.broken_rule() == "");
  }
}

class GangStartAgain : public ::testing::Test {
 protected:
  Master master() {
    MasterSettings settings = test::plain_settings();
    MasterDependencies parts;
    parts.catalog = &catalog_;
    parts.policy = std::make_unique<RestlessPolicy>(1);
    return Master(settings, std::move(parts));
  }
  Catalog catalog_ = test::table3_catalog();
};

TEST_F(GangStartAgain, AMasterThatIsStartedAgainStartsWhatTheOneBeforeItCouldHave) {
  const TypeId it3 = test::type_named(catalog_, "it3");
  const Instant at{};
  const std::vector<Event> tail = {{at, JobAccepted{JobBuilder(1).tasks(2).build()}},
                                   {at, LaunchRequested{InstanceId{0}, it3, {}, {}, {}}},
                                   {at, TaskAssigned{TaskId{1}, InstanceId{0}, {}}},
                                   {at, TaskAssigned{TaskId{101}, InstanceId{0}, {}}},
                                   {at, InstanceUp{InstanceId{0}}},
                                   {at, InstanceReady{InstanceId{0}}}};
  Master first = master();
  first.restore(std::nullopt, tail);
  Master second = master();
  second.restore(first.snapshot(), {});
  for (Master* each : {&first, &second}) {
    each->round({}, at);
    EXPECT_EQ(each->state().find(TaskId{1})->phase, TaskPhase::starting);
    EXPECT_EQ(each->state().find(TaskId{101})->phase, TaskPhase::starting);
  }
}

}  // namespace
}  // namespace muster
