#pragma once

#include <rapidcheck.h>

#include <cmath>
#include <cstring>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "model/event.hpp"

/// Arbitrary values for the properties of what is written down.
namespace muster::test::arbitrary {

inline std::string text() {
  return *rc::gen::container<std::string>(rc::gen::inRange<char>(0, 127));
}
/// Any finite double, of any size.
inline double number() {
  const auto bits = *rc::gen::arbitrary<std::uint64_t>();
  double value = 0;
  static_assert(sizeof bits == sizeof value);
  std::memcpy(&value, &bits, sizeof value);
  return std::isfinite(value) ? value : static_cast<double>(bits);
}
inline Duration duration() {
  return Duration{*rc::gen::arbitrary<std::int64_t>()};
}
template <class Enum>
Enum any(Enum last) {
  return static_cast<Enum>(*rc::gen::inRange(0, static_cast<int>(last) + 1));
}
template <class SomeId>
SomeId id() {
  return SomeId{*rc::gen::arbitrary<std::uint64_t>() >> 1};
}
inline Price price() {
  return Price::from_nano_usd_h(*rc::gen::arbitrary<std::int64_t>());
}
inline Attempt attempt() {
  return *rc::gen::arbitrary<std::uint32_t>();
}
inline Cause cause() {
  return {any(CauseCode::first_free), number()};
}
inline Resources resources() {
  Resources amounts;
  for (Resource kind : kAllResources) {
    if (*rc::gen::arbitrary<bool>()) amounts[kind] = number();
  }
  return amounts;
}
/// None, as in records of earlier versions, or one of something.
inline std::optional<Grant> grant() {
  if (*rc::gen::arbitrary<bool>()) return std::nullopt;
  return Grant{resources(), *rc::gen::inRange(1u, 9u)};
}
inline Refusal refusal() {
  Refusal made{any(RefusalKind::broken), any(RefusalCode::cloud_failed), {}, number(), number()};
  if (*rc::gen::arbitrary<bool>()) made.binding = any(Resource::spare);
  return made;
}
inline TaskSpec task() {
  std::vector<FamilyDemand> entries;
  for (int i = *rc::gen::inRange(0, 3); i > 0; --i)
    entries.push_back({text(), resources(), number()});
  return {id<TaskId>(),
          Demands{entries},
          text(),
          {duration(), duration(), duration(), duration(), duration()},
          *rc::gen::inRange(0u, 5u)};
}
inline Program program() {
  Program made;
  for (int i = *rc::gen::inRange(0, 4); i > 0; --i) made.argv.push_back(text());
  for (int i = *rc::gen::inRange(0, 3); i > 0; --i) made.env.emplace_back(text(), text());
  made.work_dir = text();
  made.time_limit = duration();
  made.stop_grace = duration();
  made.alone_progress_s = number();
  return made;
}
inline ProcessEnd process_end() {
  if (*rc::gen::arbitrary<bool>()) return {};
  return {*rc::gen::arbitrary<std::int32_t>(), text(), text()};
}
inline std::optional<Instant> maybe_instant() {
  if (*rc::gen::arbitrary<bool>()) return std::nullopt;
  return Instant{duration()};
}
inline JobKind kind() {
  const int which = *rc::gen::inRange(0, 3);
  if (which == 0) return BatchSpec{};
  if (which == 1) {
    ElasticSpec elastic{*rc::gen::inRange(0u, 9u), *rc::gen::inRange(0u, 9u), {}};
    for (int i = *rc::gen::inRange(0, 3); i > 0; --i) elastic.speedup.push_back(number());
    return elastic;
  }
  ServiceSpec service{*rc::gen::inRange(0u, 9u), number(), {}};
  for (int i = *rc::gen::inRange(0, 3); i > 0; --i) service.constraints.push_back(text());
  return service;
}
inline Job job() {
  Job made;
  made.id = id<JobId>();
  made.name = text();
  made.user = text();
  made.workload_class = text();
  made.priority = *rc::gen::arbitrary<int>();
  made.gang = *rc::gen::arbitrary<bool>();
  if (*rc::gen::arbitrary<bool>()) made.runtime_hint = duration();
  for (int i = *rc::gen::inRange(0, 4); i > 0; --i) made.tasks.push_back(task());
  if (*rc::gen::arbitrary<bool>()) made.program = program();
  made.markets = any(MarketChoice::spot);
  made.max_running = *rc::gen::inRange(0u, 9u);
  if (*rc::gen::arbitrary<bool>()) made.retries = *rc::gen::inRange(0u, 9u);
  if (*rc::gen::arbitrary<bool>()) made.token = text();
  made.kind = kind();
  made.prediction.length = any(JobLength::long_run);
  made.prediction.spot_safe = *rc::gen::arbitrary<bool>();
  if (*rc::gen::arbitrary<bool>()) made.prediction.runtime = duration();
  if (*rc::gen::arbitrary<bool>()) made.prediction.confidence = number();
  made.whole_tasks = *rc::gen::inRange(0u, 9u);
  if (*rc::gen::arbitrary<bool>()) made.origin = GeoPoint{number(), number()};
  made.movable = *rc::gen::arbitrary<bool>();
  made.checkpoints = *rc::gen::arbitrary<bool>();
  if (*rc::gen::arbitrary<bool>()) made.max_fails = *rc::gen::inRange(0u, 9u);
  return made;
}
inline RoundNote note() {
  RoundNote made{text(), {}};
  for (int i = *rc::gen::inRange(0, 5); i > 0; --i) made.figures.emplace_back(text(), number());
  return made;
}
inline PlanPartRefused plan_part() {
  if (*rc::gen::arbitrary<bool>()) return {id<TaskId>(), {}, refusal()};
  return {{}, id<InstanceId>(), refusal()};
}

inline Measured measured() {
  std::map<TaskId, double> by_task;
  for (int i = *rc::gen::inRange(0, 4); i >= 0; --i) by_task[id<TaskId>()] = number();
  Measured made;
  for (const auto& [task, normalized] : by_task) made.samples.push_back({task, normalized});
  made.quiet = *rc::gen::inRange<std::uint64_t>(0, 3);
  return made;
}

inline OfferingChange offering_change() {
  const Offering offering{text(),  any(Market::spot),           text(),
                          price(), *rc::gen::arbitrary<bool>(), number()};
  return {*rc::gen::arbitrary<std::uint64_t>(), Instant{duration()}, offering};
}

/// An event of the kind, which counts into EventBody; its instance type is one of the first two.
inline EventBody body(std::size_t kind) {
  const auto task = id<TaskId>();
  const auto instance = id<InstanceId>();
  switch (kind) {
    case 0:
      return JobAccepted{job()};
    case 1:
      return TaskRefused{task, refusal()};
    case 2:
      return RoundDecided{*rc::gen::arbitrary<std::uint64_t>(), note(),
                          *rc::gen::arbitrary<std::uint64_t>(), *rc::gen::arbitrary<bool>()};
    case 3:
      return plan_part();
    case 4:
      return LaunchRequested{
          instance, TypeId{*rc::gen::inRange(0u, 2u)}, any(Market::spot), price(), cause(), text(),
          price()};
    case 5:
      return LaunchRefused{instance, refusal(), any(CloudReason::ended)};
    case 6:
      return InstanceUp{instance, maybe_instant(), duration()};
    case 7:
      return InstanceReady{instance};
    case 8:
      return ReleaseDecided{instance, cause(), *rc::gen::arbitrary<std::int32_t>()};
    case 9:
      return TerminateIssued{instance};
    case 10:
      return InstanceGone{instance, maybe_instant(), any(CloudReason::ended)};
    case 11:
      return TaskAssigned{task, instance, cause(), grant()};
    case 12:
      return TaskUnassigned{task, cause()};
    case 13:
      return StartIssued{task, instance, attempt(), grant()};
    case 14:
      return TaskStarted{task, attempt(), duration(), duration()};
    case 15:
      return StopIssued{task, attempt()};
    case 16:
      return TaskLeft{task, attempt(), duration(), process_end()};
    case 17:
      return TaskFinished{task, attempt(), process_end()};
    case 18:
      return TaskFailed{task,
                        attempt(),
                        text(),
                        process_end(),
                        *rc::gen::arbitrary<bool>(),
                        any(FailureKind::disk_full),
                        *rc::gen::arbitrary<bool>()};
    case 19:
      return JobFinished{id<JobId>(), any(JobOutcome::cancelled), number(),
                         *rc::gen::arbitrary<std::uint64_t>()};
    case 20:
      return TaskReleased{task};
    case 21:
      return JobHeld{id<JobId>()};
    case 22:
      return JobReleased{id<JobId>()};
    case 23:
      return JobGivenUp{id<JobId>(), any(JobOutcome::cancelled)};
    case 24:
      return measured();
    case 25:
      return GangTurn{id<JobId>(), Instant{duration()}};
    default:
      return OfferingChanged{offering_change()};
  }
}

}  // namespace muster::test::arbitrary
