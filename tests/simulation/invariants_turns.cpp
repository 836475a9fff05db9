// That no job waits for ever whatever others come: each one has its turn within a bound.

#include <fmt/format.h>

#include <algorithm>

#include "masters/claims/claims.hpp"
#include "model/live_ids.hpp"
#include "tests/simulation/invariants.hpp"

namespace muster::ring {
namespace {

/// Rounds of policies without a period come with what happens; so far apart they are at the most.
constexpr Duration kLeastPeriod = std::chrono::minutes{1};

/// Fetching, stopping, saving, and the time of words on the way.
constexpr Duration kTurnSlack = std::chrono::minutes{3};

/// Days are those of the cloud's clock, which is set by up to an hour at each of its starts.
constexpr Duration kLongestDay = std::chrono::hours{28};

bool is_limited(const Scenario& scenario) {
  return scenario.cloud_instances > 0 || scenario.cloud_spot > 0;
}

/// What the turn of one job may take: what runs on what is to empty for it, a start, the rounds
/// that find the room; the rest of who was refused by the cloud, or a day's money that is spent.
Duration turn_of_one(const Scenario& scenario, Duration period) {
  Duration start{};
  for (TypeId type{0}; type.value < scenario.catalog.size(); ++type.value) {
    const InstanceType& one = scenario.catalog[type];
    start = std::max(start, one.acquire + one.setup + one.terminate);
  }
  const auto rounds = static_cast<int>(kRoundsOfClaim) + 1;
  Duration turn =
      scenario.longest_work + start + rounds * std::max(period, kLeastPeriod) + kTurnSlack;
  if (is_limited(scenario)) turn += scenario.master.gangs.longest;
  if (scenario.master.caps.max_usd_day > 0) turn += kLongestDay;
  return turn;
}

}  // namespace

/// After the state has taken the event in.
void Invariants::note_turn(Cell& cell, const Event& event) {
  const Instant now = cluster_.now();
  if (const auto* e = std::get_if<JobAccepted>(&event.body)) {
    if (const JobRow* row = cell.state.find(e->job.id)) {
      cell.turns[e->job.id] = {queue_place_of(*row), now};
    }
  }
  if (const auto* e = std::get_if<StartIssued>(&event.body)) {
    cell.turns[job_of(e->task)].waits_since = now;
  }
  // The job had its turn, and the cloud took the room back.
  const auto* left = std::get_if<TaskUnassigned>(&event.body);
  if (left != nullptr && left->cause.code == CauseCode::interrupted) {
    cell.turns[job_of(left->task)].waits_since = now;
  }
  if (const auto* e = std::get_if<JobReleased>(&event.body)) {
    cell.turns[e->job].waits_since = now;
  }
  if (const auto* e = std::get_if<JobFinished>(&event.body)) {
    cell.turns[e->job].over = now;
  }
}

bool Invariants::is_hopeless(JobId job) const {
  return std::ranges::any_of(users_.submissions(), [&](const Submission& submission) {
    return submission.job == job && submission.wish->hopeless;
  });
}

/// Jobs that may have had their turn before, since the job waits. What the cloud gives is shared
/// by masters, none of which knows of the others' queues.
std::size_t Invariants::ahead_of(std::uint32_t master, const Turn& turn) const {
  std::size_t ahead = 0;
  for (std::uint32_t i = 0; i < cells_.size(); ++i) {
    const bool shared = i != master && is_limited(cluster_.scenario());
    if (i != master && !shared) continue;
    for (const auto& [id, other] : cells_[i].turns) {
      const bool before = shared || other.place.is_before(turn.place);
      ahead += before && other.over.value_or(cluster_.now()) >= turn.waits_since;
    }
  }
  return ahead;
}

Instant Invariants::able_since(std::uint32_t master) const {
  Instant since{};
  if (const auto spans = unable_.find(master); spans != unable_.end()) {
    for (const auto& [from, until] : spans->second) since = std::max(since, until);
  }
  return cluster_.runs(NodeKind::master, master) ? since : Instant::max();
}

/// When nothing goes wrong any more, each job starts in its turn.
void Invariants::check_turns() {
  if (cluster_.now() < cluster_.scenario().faults_end) return;
  for (std::uint32_t i = 0; i < cells_.size(); ++i) {
    for (const JobRow& row : cells_[i].state.jobs()) {
      const auto turn = cells_[i].turns.find(row.job.id);
      if (turn != cells_[i].turns.end()) check_turn(i, row, turn->second);
    }
  }
}

void Invariants::check_turn(std::uint32_t master, const JobRow& row, Turn& turn) {
  const Scenario& scenario = cluster_.scenario();
  const Instant now = cluster_.now();
  const bool waits = row.starting + row.running + row.stopping == 0 && !row.terminal_outcome;
  if (!waits || row.held_by_user || !cluster_.runs(NodeKind::master, master)) {
    turn.waits_since = now;
    return;
  }
  Instant since = std::max({turn.waits_since, scenario.faults_end, able_since(master)});
  // A service that does not end keeps its room for as long as its user wants it.
  if (scenario.is_limited()) since = std::max(since, services_.room_since());
  const Duration one = turn_of_one(scenario, period_);
  const Duration passed = now - since;
  if (passed <= scenario.master.starve_after + one || is_hopeless(row.job.id)) return;
  const auto turns = static_cast<std::int64_t>(1 + ahead_of(master, turn));
  const Duration bound = scenario.master.starve_after + turns * one;
  if (passed <= bound) return;
  broken(
      fmt::format("job {} waits at master {} for {:.0f} s, {:.0f} s at the most with {} before it",
                  row.job.id.value, master, to_seconds(passed), to_seconds(bound), turns - 1));
}

}  // namespace muster::ring
