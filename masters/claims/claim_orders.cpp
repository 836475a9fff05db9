#include "masters/claims/claim_orders.hpp"

#include <utility>
#include <vector>

#include "masters/claims/claim_choice.hpp"
#include "model/feasible.hpp"

namespace muster {
namespace {

/// Jobs that may claim room in one round, each but the last in vain.
constexpr std::size_t kClaimsOfRound = 16;

}  // namespace

ClaimOrders::ClaimOrders(const MasterCommands& commands, const SpendGuard& guard,
                         const MasterSettings& settings)
    : commands_(commands), guard_(guard), settings_(settings) {}

bool ClaimOrders::serve(Instant now, Duration cloud_ahead) {
  const MasterFacts& facts = commands_.recorder.facts();
  const std::uint64_t before = facts.events;
  // No other job starts in the gang's turn.
  if (facts.gangs.turn(now)) return false;
  if (facts.claims.is_not_taken(facts.rounds)) {
    const RoomClaim& claim = *facts.claims.claim();
    commands_.recorder.record(
        RoomClaimed{claim.room.place.job, claim.room.task, claim.short_of, 0, {}, {}}, now);
  }
  claim_for_the_first(now, cloud_ahead);
  give_room(now);
  return facts.events != before;
}

/// A job that claims a day's money in vain rests with this, and the next one has its turn at once:
/// the first round of a day may spend all of its money. Other claims look at all instances, and
/// are one a round.
void ClaimOrders::claim_for_the_first(Instant now, Duration cloud_ahead) {
  const Claims& claims = commands_.recorder.facts().claims;
  const std::vector<JobId> due = claims.due(state(), {now, cloud_ahead}, kClaimsOfRound);
  for (const JobId id : due) {
    const bool for_money = claims.wait_of(id)->short_of.code == RefusalCode::day_cap;
    if (claim(*state().find(id), now) || !for_money) return;
  }
  if (!due.empty() || !claims.is_late(now)) return;
  const JobRow* late = state().find(claims.kept()->place.job);
  if (late != nullptr) claim(*late, now);
}

/// Whether anything is kept for it.
bool ClaimOrders::claim(const JobRow& job, Instant now) {
  const MasterMemory& memory = commands_.recorder.memory();
  const Claims& claims = memory.facts().claims;
  const KeptRoom* present = claims.kept();
  if (present != nullptr && present->place.job != job.job.id) present = nullptr;
  const ClaimChoiceInput in{state(), settings_, memory.owns_fleet(), now, guard_.affordable_time()};
  RoomClaimed claimed = choose_room(in, job, *claims.wait_of(job.job.id), present);
  const bool keeps = claimed.instances > 0 || !claimed.closed.empty();
  commands_.recorder.record(std::move(claimed), now);
  return keeps;
}

/// The claim may be over with any of the steps, so that what is closed is looked at in a copy.
void ClaimOrders::give_room(Instant now) {
  const KeptRoom* kept = commands_.recorder.facts().claims.kept();
  if (kept == nullptr) return;
  const JobRow* job = state().find(kept->place.job);
  const TaskRow* task = job == nullptr ? nullptr : waiting_task(state(), *job, kept->task);
  if (task == nullptr) return;
  const std::vector<ClosedInstance> closed = kept->closed;
  const bool alone = !job->job.gang || job->tasks.size() == 1;
  for (const ClosedInstance& one : closed) {
    const InstanceRow* row = state().find(one.instance);
    if (row == nullptr || row->released) continue;
    if (alone && place(*task, *row, now)) return;
    commands_.releases.release_if_unused(one.instance, now);
  }
  commands_.releases.end_empty(now);
}

bool ClaimOrders::place(const TaskRow& task, const InstanceRow& row, Instant now) {
  const Placing placing{&task, row.type, row.market};
  if (why_infeasible(state(), placing)) return false;
  if (is_full_of_peers(state(), task, row)) return false;
  const Grant grant = grant_of(state(), placing);
  const Resources& capacity = state().catalog()[row.type].capacity;
  if (!(row.committed + grant.amount).fits_in(capacity)) return false;
  commands_.tasks.assign({task.id, row.id, {CauseCode::kept_room, 0}, grant}, now);
  return true;
}

}  // namespace muster
