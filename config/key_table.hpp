#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "config/classify_config.hpp"
#include "config/fleet.hpp"
#include "config/key_kinds.hpp"
#include "config/master_settings.hpp"
#include "config/site_settings.hpp"
#include "model/time.hpp"

namespace muster::config {

/// The keys of [master] that say how jobs wait, start and fail, wherever masters are configured: C
/// has MasterSettings `master` and a FleetConfig `fleet`. A template, as replay and cluster give
/// masters keys of equal names and ranges.
template <class C>
std::vector<KeySpecOf<C>> master_keys() {
  using Whole = WholeKeyOf<C>;
  using Time = TimeKeyOf<C>;
  constexpr Duration kHour = std::chrono::hours{1}, kNone{};
  constexpr Duration kShortest = std::chrono::milliseconds{1};
  return {
      {"master.round_settle", "from a round's tick to the decision",
       Time{[](C& c) -> Duration& { return c.master.round_settle; }, kNone, kHour}},
      {"master.sample_timeout", "how long workers may take to answer",
       Time{[](C& c) -> Duration& { return c.master.sample_timeout; }, kShortest, kHour}},
      {"master.accept_timeout", "how long a master may take to accept a job",
       Time{[](C& c) -> Duration& { return c.master.accept_timeout; }, kShortest, kHour}},
      {"master.launch_backoff",
       "how long an offering the cloud refused is not asked for again; not given: 10m, with the "
       "provider hosts 5s",
       Time{[](C& c) -> Duration& { return c.master.launch_backoff; }, kNone, 24 * kHour}},
      {"master.launch_backoff_longest",
       "longest time that an offering is not asked for again; launch_backoff doubles with each "
       "refusal in a row, up to this; not given: 1h, with the provider hosts 5s",
       Time{[](C& c) -> Duration& { return c.master.launch_backoff_longest; }, kNone, 168 * kHour}},
      {"master.gang_patience",
       "how long a gang waits for room that caps or the cloud did not have before it has a turn, "
       "in "
       "which no other job starts; doubled with each turn; 0: it never has one",
       Time{[](C& c) -> Duration& { return c.master.gangs.patience; }, kNone, 24 * kHour}},
      {"master.gang_turn", "how long a gang's first turn may last; doubled with each turn",
       Time{[](C& c) -> Duration& { return c.master.gangs.turn; }, kShortest, 24 * kHour}},
      {"master.gang_longest",
       "no wait or turn of a gang, nor its rest after the cloud refused it, grows longer than this",
       Time{[](C& c) -> Duration& { return c.master.gangs.longest; }, kShortest, 168 * kHour}},
      {"master.starve_after",
       "age from which a job that waits for caps, the cloud or full instances goes before all "
       "later jobs: capacity that becomes free is reserved for it, and for a job of higher "
       "priority at once; 0: nothing is reserved",
       Time{[](C& c) -> Duration& { return c.master.starve_after; }, kNone, 168 * kHour}},
      {"master.queue_capacity", "waiting tasks at which a master reports a load of 1",
       Whole{[](C& c) -> std::uint32_t& { return c.master.queue_capacity; }, 1, 10'000'000}},
      {"master.max_attempts",
       "failed attempts after which a task has failed for good, where its job states no retries; "
       "attempts that fail by no fault of the task do not count",
       Whole{[](C& c) -> std::uint32_t& { return c.master.max_attempts; }, 1, 1'000'000}},
      {"master.max_losses",
       "attempts that may end by a fault of their workers before their task has failed for good",
       Whole{[](C& c) -> std::uint32_t& { return c.master.max_losses; }, 1, 1'000'000}},
      {"master.max_interruptions",
       "attempts of a task, one after the other, that interruptions or moves end without progress "
       "before it is moved no more and placed on demand only; 0: any number",
       Whole{[](C& c) -> std::uint32_t& { return c.master.max_interruptions; }, 0, 1'000'000}},
      {"master.kept_attempts",
       "attempts of a task that are kept to be shown: its first ones, and as many of its last ones",
       Whole{[](C& c) -> std::uint32_t& { return c.master.kept_attempts; }, 1, 1'000}},
      {"master.kept_instances",
       "instances that are gone whose lives are kept to be shown, the last ones",
       Whole{[](C& c) -> std::uint32_t& { return c.master.kept_instances; }, 0, 10'000}}};
}

/// The keys of [master] that say what instances there may be and how they are watched, what is kept
/// of the state and how long a task stays where it is: C as above.
template <class C>
std::vector<KeySpecOf<C>> instance_keys() {
  using Whole = WholeKeyOf<C>;
  using Number = NumberKeyOf<C>;
  using Time = TimeKeyOf<C>;
  constexpr Duration kHour = std::chrono::hours{1}, kNone{};
  constexpr Duration kShortest = std::chrono::milliseconds{1};
  constexpr std::uint64_t kMostInstances = 10'000'000;
  return {
      {"master.max_instances", "hard cap on instances at once; 0: no cap",
       Whole{[](C& c) -> std::uint32_t& { return c.master.caps.max_instances; }, 0,
             kMostInstances}},
      {"master.max_usd_h", "hard cap on the rate of spending, in $/h; 0: no cap",
       Number{[](C& c) -> double& { return c.master.caps.max_usd_h; }, {0, 1e9}}},
      {"master.max_usd_day", "hard cap on the cost of a day (UTC), in $; 0: no cap",
       Number{[](C& c) -> double& { return c.master.caps.max_usd_day; }, {0, 1e9}}},
      {"master.cap_margin", "time for checkpoints before the day's cap would be reached",
       Time{[](C& c) -> Duration& { return c.master.caps.spend_margin; }, kNone, kHour}},
      {"master.end_time",
       "longest time that the cloud takes to end an instance, besides its type's terminate_s",
       Time{[](C& c) -> Duration& { return c.master.caps.end_time; }, kNone, kHour}},
      {"master.remind_every", "from one repetition of an unanswered order to the cloud to the next",
       Time{[](C& c) -> Duration& { return c.master.watch.remind_every; }, 10 * kShortest, kHour}},
      {"master.ask_pause",
       "longest pause between two questions to the cloud for the state of all instances",
       Time{[](C& c) -> Duration& { return c.master.watch.ask_pause; }, std::chrono::seconds{1},
            168 * kHour}},
      {"master.worker_lost_after", "silence of a worker that ends its instance",
       Time{[](C& c) -> Duration& { return c.master.watch.worker_lost_after; },
            std::chrono::seconds{1}, 168 * kHour}},
      {"master.replace_after",
       "silence of a worker after which other replicas stand in for its services'; 0: never",
       Time{[](C& c) -> Duration& { return c.master.watch.replace_after; }, kNone, 24 * kHour}},
      {"master.snapshot_every", "events from one snapshot of the state to the next",
       Whole{[](C& c) -> std::uint64_t& { return c.master.watch.snapshot_every; }, 100,
             1'000'000'000}},
      {"master.metrics_interval",
       "numbers that tasks report of themselves go on record together, at most once in this time",
       Time{[](C& c) -> Duration& { return c.master.metrics.interval; }, 10 * kShortest, kHour}},
      {"master.metric_values",
       "metric values of tasks of unfinished jobs that a master keeps, those that are still free "
       "open to any user; 0: no values are kept",
       Whole{[](C& c) -> std::uint32_t& { return c.master.metrics.most_values; }, 0, 1'000'000}},
      {"master.metric_series",
       "names that tasks report values under, counted for each user, of which /metrics has figures",
       Whole{[](C& c) -> std::uint32_t& { return c.master.metrics.most_series; }, 0, 10'000}},
      {"master.min_stay",
       "time that a task runs in its place before a policy may move it; 0: at any time",
       Time{[](C& c) -> Duration& { return c.master.min_stay; }, kNone, 168 * kHour}},
      {"master.fleet",
       "instances that are there from the start and stay, of all masters together: COUNT*TYPE or "
       "COUNT*TYPE:spot; not given: rented as the policy wants",
       ListKeyOf<C>{[](C& c) -> std::vector<std::string>& { return c.fleet.texts; }}}};
}

/// The keys of [master] that say how plans are made and carried out.
template <class C>
std::vector<KeySpecOf<C>> planning_keys() {
  using Whole = WholeKeyOf<C>;
  constexpr std::uint64_t kMostSteps = 1'000'000'000'000;
  return {
      {"master.move_when_ready",
       "a task that moves runs on where it is until its new instance is ready; else it is stopped "
       "at once, as those of gangs are",
       FlagKeyOf<C>{[](C& c) -> bool& { return c.master.move_when_ready; }}},
      {"master.rent_beyond_fleet",
       "instances are rented for tasks that do not fit on the fleet; the caps count these alone",
       FlagKeyOf<C>{[](C& c) -> bool& { return c.master.rent_beyond_fleet; }}},
      {"master.decision_budget",
       "steps that a policy's decision may take, counted in candidates that it looks at; 0: any "
       "number",
       Whole{[](C& c) -> std::uint64_t& { return c.master.decision_budget; }, 0, kMostSteps}},
      {"master.slice_parts",
       "parts of a plan that are carried out before other messages are heard; gangs and what "
       "depends on each other are never cut",
       Whole{[](C& c) -> std::uint32_t& { return c.master.slice_parts; }, 1, 10'000'000}}};
}

/// The keys of [site], wherever sites are configured: C has a SiteSettings `site`.
template <class C>
std::vector<KeySpecOf<C>> site_keys() {
  using Whole = WholeKeyOf<C>;
  using Number = NumberKeyOf<C>;
  using Time = TimeKeyOf<C>;
  constexpr Duration kMillisecond = std::chrono::milliseconds{1};
  constexpr Duration kHour = std::chrono::hours{1};
  constexpr NumberRange kLoads{.low = 0, .high = 100, .above_low = true};
  constexpr std::uint64_t kMostKept = 10'000'000;
  constexpr std::uint64_t kMostJobsAtOnce = 10'000;  // in one submission
  return {
      {"site.masters_per_job",
       "masters that share the tasks of a job; 0: as many as the policy says (muster policies)",
       Whole{[](C& c) -> std::uint32_t& { return c.site.masters_per_job; }, 0, 1000}},
      {"site.master_heavy", "a master of this load or more gets no jobs if it can be helped",
       Number{[](C& c) -> double& { return c.site.master_heavy; }, kLoads}},
      {"site.site_heavy", "a site of this load or more leaves new jobs to others",
       Number{[](C& c) -> double& { return c.site.site_heavy; }, kLoads}},
      {"site.capacity", "jobs without a master at which a site reports a load of 1",
       Whole{[](C& c) -> std::uint32_t& { return c.site.capacity; }, 1, 10'000'000}},
      {"site.load_every", "from one question for the load of masters and other sites to the next",
       Time{[](C& c) -> Duration& { return c.site.load_every; }, 10 * kMillisecond, kHour}},
      {"site.load_stale_after",
       "silence after which a master or a site counts as lost; at least twice load_every",
       Time{[](C& c) -> Duration& { return c.site.load_stale_after; }, 20 * kMillisecond,
            24 * kHour}},
      {"site.promise_wait",
       "time that an answer to a submission waits for masters to accept the jobs; after it the "
       "site's own acceptance is the answer",
       Time{[](C& c) -> Duration& { return c.site.promise_wait; }, Duration::zero(), kHour}},
      {"site.hand_retry", "from a refused handing over of a job to the next",
       Time{[](C& c) -> Duration& { return c.site.hand_retry; }, kMillisecond, kHour}},
      {"site.max_waiting", "jobs that no master has taken yet; more are refused",
       Whole{[](C& c) -> std::uint32_t& { return c.site.max_waiting; }, 1, kMostKept}},
      {"site.max_recurring", "jobs that recur, of one user; more are refused",
       Whole{[](C& c) -> std::uint32_t& { return c.site.max_recurring; }, 1, kMostKept}},
      {"site.max_dependent",
       "jobs that wait for other jobs to be over, for a time or to be released; more are refused",
       Whole{[](C& c) -> std::uint32_t& { return c.site.max_dependent; }, kMostJobsAtOnce,
             kMostKept}},
      {"site.max_unrouted",
       "jobs that wait for the loads to be heard, by which their masters are chosen; more are "
       "refused",
       Whole{[](C& c) -> std::uint32_t& { return c.site.max_unrouted; }, kMostJobsAtOnce,
             kMostKept}},
      {"site.tokens", "latest submissions whose repetition is recognised",
       Whole{[](C& c) -> std::uint32_t& { return c.site.tokens; }, 1, kMostKept}}};
}

/// The keys of [classify]: C has a ClassifyConfig `classify`.
template <class C>
std::vector<KeySpecOf<C>> classify_keys() {
  using Whole = WholeKeyOf<C>;
  using Number = NumberKeyOf<C>;
  constexpr Duration kMillisecond = std::chrono::milliseconds{1};
  constexpr Duration kHour = std::chrono::hours{1};
  return {{"classify.by",
           "the classifier of short and long jobs; not given: the one that the policy asks for "
           "(muster policies)",
           word_key<C>({"svm", "hint", "oracle", "none"},
                       [](C& c) -> std::string& { return c.classify.by; })},
          {"classify.model",
           "model file that `muster train` wrote; not given: sites begin without any history",
           PathKeyOf<C>{[](C& c) -> std::filesystem::path& { return c.classify.model; }}},
          {"classify.threshold", "T_th: a job whose tasks take longer is long",
           TimeKeyOf<C>{[](C& c) -> Duration& { return c.classify.threshold; }, kMillisecond,
                        8760 * kHour}},
          {"classify.eps", "SORS: share by which a run may stay below its predicted time",
           Number{[](C& c) -> double& { return c.classify.eps; },
                  {.low = 0, .high = 1, .above_low = true}}},
          {"classify.p_threshold", "SORS: least probability of that for spot instances (P_th)",
           Number{[](C& c) -> double& { return c.classify.p_threshold; }, {0, 1}}},
          {"classify.min_samples", "SORS: past errors of a class of jobs without which it says no",
           Whole{[](C& c) -> std::uint32_t& { return c.classify.min_samples; }, 1, 128}},
          {"classify.max_samples",
           "finished jobs that a training uses, drawn evenly from the history; its time is "
           "quadratic in them",
           Whole{[](C& c) -> std::uint32_t& { return c.classify.max_samples; }, 20, 100'000}},
          {"classify.max_history", "finished jobs that a training may look at",
           Whole{[](C& c) -> std::uint32_t& { return c.classify.max_history; }, 20, 1'000'000}},
          {"classify.retrain_after", "finished jobs from one training to the next",
           Whole{[](C& c) -> std::uint32_t& { return c.classify.retrain_after; }, 1, 1'000'000}}};
}

/// The keys of [predict], which belong to the classifier: C has a ClassifyConfig `classify`.
template <class C>
std::vector<KeySpecOf<C>> predict_keys() {
  using Whole = WholeKeyOf<C>;
  return {{"predict.by",
           "source of predicted run times: experts compared by ratio or by one of two NMAEs, or "
           "the user's hint",
           word_key<C>({"log-ratio", "nmae-mean", "nmae-median", "hint"},
                       [](C& c) -> std::string& { return c.classify.predict.by; })},
          {"predict.limits",
           "learn from the run times that users state; a replay does not where they are the truth",
           FlagKeyOf<C>{[](C& c) -> bool& { return c.classify.predict.limits; }}},
          {"predict.values", "values of each feature of a job that are remembered, those used last",
           Whole{[](C& c) -> std::uint32_t& { return c.classify.predict.values; }, 1, 1'000'000}},
          {"predict.history", "newest run times and errors that are kept with each value",
           Whole{[](C& c) -> std::uint32_t& { return c.classify.predict.history; }, 1, 1000}}};
}

}  // namespace muster::config
