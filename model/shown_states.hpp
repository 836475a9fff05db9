#pragma once

#include <array>
#include <cstdint>

#include "model/cluster_state.hpp"
#include "model/enum_words.hpp"
#include "model/event.hpp"

// How jobs and tasks stand in the eyes of a user, whatever part of the cluster knows of them. The
// words are part of the API.

namespace muster {

/// How a job, or a part of one, stands. Of several parts the first that one of them is in is what
/// the job is.
enum class ShownState : std::uint8_t {
  stopping,
  running,
  starting,
  waiting,
  handing_over,  ///< on its way to a master
  held,
  refused,
  cancelled,
  skipped,  ///< a job that it waited for did not end as it should have
  expired,  ///< it was not over at its deadline
  failed,
  replaced,  ///< a later revision of the service has its place
  completed,
  unknown  ///< those who may have the rest of it do not answer
};
constexpr auto words_of(ShownState) {
  using E = ShownState;
  return std::to_array<EnumWord<E>>({{E::stopping, "stopping"},
                                     {E::running, "running"},
                                     {E::starting, "starting"},
                                     {E::waiting, "waiting"},
                                     {E::handing_over, "handing over"},
                                     {E::held, "held"},
                                     {E::refused, "refused"},
                                     {E::cancelled, "cancelled"},
                                     {E::skipped, "skipped"},
                                     {E::expired, "expired"},
                                     {E::failed, "failed"},
                                     {E::replaced, "replaced"},
                                     {E::completed, "completed"},
                                     {E::unknown, "unknown"}});
}
ShownState shown(JobStanding standing);
ShownState shown(JobOutcome outcome);

/// How a task stands, in a job that is over too.
enum class ShownPhase : std::uint8_t {
  pending,
  held,    ///< by its user's will
  capped,  ///< as many tasks of its job have a place as may at once
  assigned,
  starting,
  running,
  stopping,
  finished,
  failed,
  stopped,  ///< its job was over before it had an end of its own
  not_run   ///< over, and it was never started
};
constexpr auto words_of(ShownPhase) {
  using E = ShownPhase;
  return std::to_array<EnumWord<E>>({{E::pending, "pending"},
                                     {E::held, "held"},
                                     {E::capped, "capped"},
                                     {E::assigned, "assigned"},
                                     {E::starting, "starting"},
                                     {E::running, "running"},
                                     {E::stopping, "stopping"},
                                     {E::finished, "finished"},
                                     {E::failed, "failed"},
                                     {E::stopped, "stopped"},
                                     {E::not_run, "not run"}});
}
ShownPhase shown(TaskPhase phase);

}  // namespace muster
