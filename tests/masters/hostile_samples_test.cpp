// A task may say anything on its progress socket. Whatever of it passes the worker's parsing ends
// no master and spoils no policy's memory: what is saved is read back, and decides as before.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "learning/goodput_model.hpp"
#include "masters/master.hpp"
#include "schedulers/registry.hpp"
#include "storage/records/record_codec.hpp"
#include "tests/support/builders.hpp"
#include "tests/support/plain_settings.hpp"
#include "workers/process/progress.hpp"

namespace muster {
namespace {

using test::at_s;

/// Numbers at the ends of what is possible, beside plain ones; some differ in their last digit.
class HostileNumbers {
 public:
  explicit HostileNumbers(std::uint64_t seed) : rng_(seed) {}

  std::uint64_t below(std::uint64_t end) { return rng_.below(end); }
  std::string number() {
    static constexpr std::array<const char*, 18> kTexts = {"0",      "5e-324",
                                                           "1e-320", "2.2250738585072014e-308",
                                                           "1e-300", "1e-100",
                                                           "1e-13",  "1e-12",
                                                           "1e-9",   "0.1",
                                                           "1",      "3",
                                                           "1e6",    "1e12",
                                                           "999999", "9.99e14",
                                                           "1e15",   "0.18199449082523542"};
    return kTexts[rng_.below(kTexts.size())];
  }
  std::string step() {
    static constexpr std::array<const char*, 6> kBatches = {"1",    "2",        "64",
                                                            "4096", "16777216", "128"};
    std::string step_s = number(), sync_s = number();
    if (rng_.below(3) == 0) {
      // All but for the last digits the step waits for the others.
      const double whole = std::max(std::strtod(step_s.c_str(), nullptr), 1e-323);
      sync_s = nlohmann::json(std::nextafter(whole, 0.0)).dump();
      step_s = nlohmann::json(whole).dump();
    }
    return std::string("step ") + kBatches[rng_.below(kBatches.size())] + " " +
           (rng_.below(2) == 0 ? "0" : "3") + " " + step_s + " " + sync_s + " " + number() + " " +
           number();
  }
  /// A line that got through the worker.
  std::optional<TrainingSample> sample() { return process::step_from(step()); }
  double progress() { return process::progress_from("progress " + number()).value_or(0); }
  double throughput() {
    constexpr std::array<double, 6> kShares = {0, 5e-324, 1e-9, 0.3, 1, 1e6};
    return kShares[rng_.below(kShares.size())];
  }

 private:
  Rng rng_;
};

/// A master whose cloud and workers do at once what it wants.
class HostileWorld {
 public:
  HostileWorld(const std::string& policy, std::uint64_t seed)
      : policy_(policy), numbers_(seed), master_(fresh()) {}

  /// So many rounds of what tasks say; returns what is on record.
  const std::vector<Event>& run(int rounds) {
    submit();
    for (int i = 0; i < rounds; ++i) {
      hold_round();
      if (i % 5 == 4) submit();
      if (i % 7 == 6) finish_one();
    }
    return log_;
  }

  std::unique_ptr<Master> fresh() const {
    MasterDependencies parts;
    parts.catalog = &catalog_;
    parts.policy = std::move(make_policy(parse_policy(policy_).value(), catalog_)).value();
    parts.name = "m";
    return std::make_unique<Master>(test::plain_settings(), std::move(parts));
  }
  Master& master() { return *master_; }
  const Catalog& catalog() const { return catalog_; }
  Instant now() const { return at_s(time_s_); }

 private:
  void submit() {
    const std::uint64_t id = ++jobs_;
    test::JobBuilder training(10 * id);
    training.demand(Resources::of(1, 2, 4)).elastic(1, 4).workload_class("caf\xe9");
    Job job = training.build();
    std::get<ElasticSpec>(job.kind).batch = BatchLimits{64, 1U << 20, 8, 4096};
    master_->submit(std::move(job), now());
    master_->submit(test::JobBuilder(10 * id + 1)
                        .demand(Resources::of(1, 2, 4))
                        .elastic(1, 8)
                        .workload_class("told by \"progress\"")
                        .build(),
                    now());
    for (const std::uint64_t plain : {2, 3, 4}) {
      master_->submit(
          test::JobBuilder(10 * id + plain).workload_class("plain" + std::to_string(plain)).build(),
          now());
    }
    perform();
  }

  void hold_round() {
    time_s_ += 61;
    std::vector<ThroughputSample> samples;
    std::vector<JobProgress> progress;
    for (const JobRow& job : master_->state().jobs()) {
      for (Slot slot : job.tasks) {
        const TaskRow& task = master_->state().task(slot);
        if (task.phase != TaskPhase::running) continue;
        samples.push_back({task.id, numbers_.throughput()});
        JobProgress said{task.id, numbers_.progress(), numbers_.sample()};
        if (said.training) {
          said.training->nodes = 0;
          said.training->replicas = job.running_together();
        }
        progress.push_back(said);
      }
    }
    std::ranges::sort(samples, {}, &ThroughputSample::task);
    const auto heard = master_->of_elastic_jobs(progress);
    if (auto wish = master_->begin_round(samples, now(), heard)) {
      master_->take_plan(master_->planner().decide(*wish), now());
      while (master_->apply_slice(now())) continue;
    }
    perform();
  }

  void finish_one() {
    for (const TaskRow& task : running()) {
      master_->task_finished({task.id, task.attempt, {}}, now());
      return perform();
    }
  }
  std::vector<TaskRow> running() const {
    std::vector<TaskRow> all;
    for (const JobRow& job : master_->state().jobs()) {
      for (Slot slot : job.tasks) {
        const TaskRow& task = master_->state().task(slot);
        if (task.phase == TaskPhase::running) all.push_back(task);
      }
    }
    return all;
  }

  void perform() {
    for (Commit done = master_->commit(); !done.events.empty() || !done.effects.empty();
         done = master_->commit()) {
      log_.insert(log_.end(), done.events.begin(), done.events.end());
      for (const Effect& effect : done.effects)
        std::visit([this](const auto& e) { act(e); }, effect);
    }
  }
  void act(const LaunchInstance& e) {
    master_->instance_up(e.instance, now(), now());
    master_->instance_ready(e.instance, now());
  }
  void act(const EndInstance& e) { master_->instance_gone(e.instance, now(), now()); }
  void act(const StartTask& e) { master_->task_started({e.task, e.attempt, {}, {}}, now()); }
  void act(const StopTask& e) { master_->task_checkpointed({e.task, e.attempt, {}, {}}, now()); }
  template <class Other>
  void act(const Other&) {}

  std::string policy_;
  HostileNumbers numbers_;
  Catalog catalog_ = test::table3_catalog();
  double time_s_ = 1;
  std::uint64_t jobs_ = 0;
  std::vector<Event> log_;
  std::unique_ptr<Master> master_;
};

std::vector<std::string> policies() {
  std::vector<std::string> all;
  for (const PolicyModule& module : known_policies()) all.push_back(module.name);
  for (const char* more : {"boa,speedups=learned", "boa,plan=glue", "boa,plan=share",
                           "pollux,autoscale=true", "muster,run_times=learned"}) {
    const auto spec = parse_policy(more);
    const Catalog catalog = test::table3_catalog();
    if (spec && make_policy(spec.value(), catalog)) all.emplace_back(more);
  }
  return all;
}

TEST(HostileSamples, EndNoMasterUnderAnyPolicyAndItsMemoryIsReadBack) {
  for (const std::string& policy : policies()) {
    for (std::uint64_t seed = 1; seed <= 4; ++seed) {
      SCOPED_TRACE(policy + ", seed " + std::to_string(seed));
      HostileWorld world(policy, seed);
      const std::vector<Event> log = world.run(25);
      const MasterSnapshot was = world.master().snapshot();
      // From what is on disk: a snapshot alone, and the whole journal.
      auto snapshot = decode_snapshot(encode_snapshot(was), world.catalog());
      ASSERT_TRUE(snapshot) << snapshot.error().message;
      const auto restored = world.fresh();
      EXPECT_EQ(restored->restore(std::move(snapshot).value(), {}), "") << "the memory is read";
      EXPECT_EQ(restored->snapshot().policy_state, was.policy_state);
      auto events = decode_events(encode_events(log, world.catalog()), world.catalog());
      ASSERT_TRUE(events) << events.error().message;
      const auto folded = world.fresh();
      EXPECT_EQ(folded->restore(std::nullopt, events.value()), "");
      EXPECT_EQ(folded->snapshot().policy_state, was.policy_state);
      const RoundWish wish{.now = world.now() + std::chrono::seconds{61}, .rents = true};
      const PlannedRound live = world.master().planner().decide(wish);
      const PlannedRound again = restored->planner().decide(wish);
      EXPECT_EQ(live.note, again.note) << "it decides as before";
      EXPECT_EQ(live.slices.size(), again.slices.size());
    }
  }
}

/// What a journal of an earlier version has: two steps whose means come to their synchronisation.
TEST(HostileSamples, AJournalWithMeansThatMeetIsFolded) {
  for (const char* policy : {"pollux", "boa"}) {
    SCOPED_TRACE(policy);
    HostileWorld world(policy, 1);
    std::vector<Event> log = world.run(3);
    const auto jobs = world.master().state().jobs();
    const auto first = std::find_if(jobs.begin(), jobs.end(), [](const JobRow& job) {
      const auto* elastic = std::get_if<ElasticSpec>(&job.job.kind);
      return elastic != nullptr && elastic->batch.has_value();
    });
    const TaskId task = world.master().state().task((*first).tasks.front()).id;
    for (const auto& [step_s, sync_s] :
         {std::pair{1.8597381249936991, 1.8597381249936988},
          std::pair{0.18199449082523542, 0.18199449082523539}, std::pair{1e-320, 0.0}}) {
      const TrainingSample sample{1, 1, 64, 0, step_s, sync_s, 1, 1};
      log.push_back({world.now(), Measured{{}, 0, {{task, 5, sample}}}});
    }
    const auto folded = world.fresh();
    EXPECT_EQ(folded->restore(std::nullopt, log), "");
    auto snapshot = decode_snapshot(encode_snapshot(folded->snapshot()), world.catalog());
    ASSERT_TRUE(snapshot);
    EXPECT_EQ(world.fresh()->restore(std::move(snapshot).value(), {}), "");
  }
}

/// What a snapshot of an earlier version has: a step that takes less than any normal number.
TEST(HostileSamples, AMemoryWithADenormalNumberIsReadBack) {
  HostileWorld world("pollux", 1);
  world.run(3);
  MasterSnapshot snapshot = world.master().snapshot();
  const GoodputModel blank(BatchLimits{64, 1U << 20, 8, 4096});
  ModelWriter lines;
  blank.write(lines);
  std::string text = std::move(lines).text();
  text.replace(text.find("model 0 0 0 0"), 13, "model 1 1 0 1");
  text += "measured 1 1 64 1 1e-320 0 1e-320 0\n";
  const std::string sealed = seal_model("goodput", 1, text);
  auto all = nlohmann::json::parse(snapshot.policy_state);
  for (auto& job : all["jobs"]) {
    if (job[1][0] == "goodput") job[1][1] = sealed;
  }
  snapshot.policy_state = all.dump();
  const auto master = world.fresh();
  EXPECT_EQ(master->restore(std::move(snapshot), {}), "");
  master->round({}, world.now() + std::chrono::seconds{61});
}

}  // namespace
}  // namespace muster
