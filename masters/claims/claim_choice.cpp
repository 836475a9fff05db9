#include "masters/claims/claim_choice.hpp"

#include <algorithm>
#include <optional>
#include <vector>

#include "masters/instances/capped.hpp"
#include "model/feasible.hpp"
#include "model/room_lack.hpp"

namespace muster {
namespace {

/// A task without a known run time is expected to run on for as long as it has run, and for this
/// time at least.
constexpr Duration kLeastLeft = std::chrono::minutes{1};

/// When a task is expected to leave; `said`: by its user's word.
struct Leaving {
  Instant at;
  bool said = false;
};

/// An instance that may be closed.
struct Candidate {
  const InstanceRow* row = nullptr;
  Instant at;         ///< when it is expected to have the room
  bool said = false;  ///< by users' word alone
  bool fits = false;  ///< the task comes there; else the instance is to go
};

class RoomChoice {
 public:
  RoomChoice(const ClaimChoiceInput& in, const JobRow& job, const RoomWait& wait,
             const KeptRoom* present)
      : in_(in), s_(in.state), job_(job), wait_(wait), present_(present) {}

  RoomClaimed choose() {
    claim_.job = job_.job.id;
    claim_.task = wait_.task;
    claim_.short_of = wait_.short_of;
    task_ = waiting_task(s_, job_, wait_.task);
    if (task_ == nullptr) return claim_;
    claim_.task = task_->id;
    find_need();
    if (present_ != nullptr) claim_.closed = present_->closed;
    if (wait_.short_of.code == RefusalCode::day_cap) return claim_;
    list_candidates();
    close_some();
    std::ranges::sort(claim_.closed, {}, &ClosedInstance::instance);
    // A cloud that is full stays so where there is nothing whose end could change that.
    const bool useless = is_cloud_full() && claim_.closed.empty();
    if (useless) claim_.instances = 0;
    return claim_;
  }

 private:
  bool is_gang() const { return job_.job.gang && job_.tasks.size() > 1; }
  bool is_cloud_full() const { return is_full_cloud(wait_.short_of.code); }

  /// The part of the caps and of a day's money that its start takes. Nothing, where that is more
  /// than the whole: then it needs an instance that is there.
  void find_need() {
    const MasterCaps& caps = in_.settings.caps;
    claim_.instances = 1;
    const Refusal& by = wait_.short_of;
    double day_usd = 0;
    if (is_gang()) {
      if (by.code == RefusalCode::instance_cap) {
        claim_.instances = static_cast<std::uint32_t>(std::max(1.0, by.asked));
      }
      if (by.code == RefusalCode::spend_cap) claim_.price = Price::from_usd_h(by.asked);
      if (by.code == RefusalCode::day_cap) {
        // On how many instances a policy puts it is not known: a round that keeps too few gives the
        // others the money of another day.
        const std::size_t most = caps.max_instances > 0 ? caps.max_instances : job_.pending;
        claim_.instances = static_cast<std::uint32_t>(std::min<std::size_t>(job_.pending, most));
        day_usd = by.asked;
        // A day has to pay a launch for that time. Where that is zero it keeps nothing for it.
        const double hours = to_hours(in_.affordable);
        if (hours > 0) claim_.price = Price::from_usd_h(by.asked / hours);
      }
    } else {
      const std::optional<Price> least = least_price(s_, *task_);
      if (!least) claim_.instances = 0;
      claim_.price = least.value_or(Price{});
      day_usd = claim_.price.usd_h() * to_hours(in_.affordable);
    }
    const bool over = (caps.max_instances > 0 && claim_.instances > caps.max_instances) ||
                      (caps.max_usd_h > 0 && claim_.price > Price::from_usd_h(caps.max_usd_h)) ||
                      (caps.max_usd_day > 0 && day_usd > caps.max_usd_day);
    if (!over) return;
    claim_.instances = 0;
    claim_.price = {};
  }

  Leaving leaving(const TaskRow& task) const {
    const auto run = said_run_time(s_, task);
    const bool runs = task.phase == TaskPhase::running || task.phase == TaskPhase::stopping;
    const Duration ran = runs ? std::max(Duration{}, in_.now - task.started_at) : Duration{};
    if (run && *run > ran) return {in_.now + (*run - ran), true};
    return {in_.now + std::max(ran, kLeastLeft), false};
  }

  std::optional<Candidate> candidate(const InstanceRow& row) const {
    // It would wait for itself there, and others with it.
    if (is_full_of_peers(s_, *task_, row)) return std::nullopt;
    const bool may_go = !(in_.owns_fleet && row.owned);
    Candidate one{&row, in_.now, true, false};
    one.fits = !is_gang() && !why_infeasible(s_, {task_, row.type, row.market});
    if (!one.fits && !may_go) return std::nullopt;
    std::vector<std::pair<Leaving, Resources>> there;
    for (Slot slot : row.planned) {
      there.push_back({leaving(s_.task(slot)), s_.task(slot).planned.amount});
    }
    std::ranges::stable_sort(there, {}, [](const auto& each) { return each.first.at; });
    Resources free = s_.catalog()[row.type].capacity - row.committed;
    const Resources asked = one.fits ? s_.demand(*task_, row.type)->amount : Resources{};
    for (const auto& [leaves, amount] : there) {
      if (one.fits && asked.fits_in(free)) break;
      one.at = leaves.at;
      one.said = one.said && leaves.said;
      free += amount;
    }
    return one;
  }

  void list_candidates() {
    for (const InstanceRow& row : s_.instances()) {
      if (row.released || row.phase == InstancePhase::terminating) continue;
      if (present_ != nullptr && present_->is_closed(row.id)) continue;
      if (const auto one = candidate(row)) candidates_.push_back(*one);
    }
    std::ranges::stable_sort(candidates_, {}, &Candidate::at);
  }

  void close(const Candidate& one) {
    claim_.closed.push_back({one.row->id, one.said ? std::optional(one.at) : std::nullopt});
  }

  /// Closes the set of instances that has room first: one instance that holds the task, and others
  /// that have to go.
  void close_some() {
    const auto fit = std::ranges::find_if(candidates_, &Candidate::fits);
    const std::optional<std::vector<Candidate>> going = those_to_go();
    const bool fits_first =
        fit != candidates_.end() && (!going || (!going->empty() && fit->at <= going->back().at));
    if (fits_first) {
      close(*fit);
    } else if (going) {
      for (const Candidate& one : *going) close(one);
    } else if (claim_.closed.empty()) {
      claim_.instances = 0;
    }
  }

  /// Those whose end leaves room for what is rented for it, the first to empty first. Nothing: no
  /// number of them does. None: there is room without.
  std::optional<std::vector<Candidate>> those_to_go() const {
    const MasterCaps& caps = in_.settings.caps;
    std::vector<Candidate> going;
    if (claim_.instances == 0) return std::nullopt;
    Capped stay = capped(s_, in_.owns_fleet);
    for (const InstanceRow& row : s_.instances()) {
      const bool owned = in_.owns_fleet && row.owned;
      const bool leaves = row.released || (present_ != nullptr && present_->is_closed(row.id));
      if (!leaves || owned) continue;
      --stay.instances;
      stay.nano_usd_h -= row.price.nano_usd_h();
    }
    // An instance that a full cloud gets back makes room for one, or it was not that; and one that
    // is late is replaced by the next.
    std::size_t more = is_cloud_full() || present_ != nullptr ? 1 : 0;
    const auto has_room = [&] {
      if (caps.max_instances > 0 && stay.instances + claim_.instances > caps.max_instances) {
        return false;
      }
      const Price all = Price::from_nano_usd_h(stay.nano_usd_h + claim_.price.nano_usd_h());
      return caps.max_usd_h == 0 || all <= Price::from_usd_h(caps.max_usd_h);
    };
    for (const Candidate& one : candidates_) {
      if (more == 0 && has_room()) return going;
      if (in_.owns_fleet && one.row->owned) continue;
      going.push_back(one);
      --stay.instances;
      stay.nano_usd_h -= one.row->price.nano_usd_h();
      more -= more > 0 ? 1 : 0;
    }
    return has_room() ? std::optional(going) : std::nullopt;
  }

  const ClaimChoiceInput& in_;
  const ClusterState& s_;
  const JobRow& job_;
  const RoomWait& wait_;
  const KeptRoom* present_;
  const TaskRow* task_ = nullptr;
  RoomClaimed claim_;
  std::vector<Candidate> candidates_;
};

}  // namespace

const TaskRow* waiting_task(const ClusterState& state, const JobRow& job, TaskId last) {
  const auto count = static_cast<std::uint32_t>(job.tasks.size());
  const TaskRow* from = state.find(last);
  const std::uint32_t first = from != nullptr && from->job == job.slot ? from->index : 0;
  for (std::uint32_t i = 0; i < count; ++i) {
    const TaskRow& task = state.task(job.tasks[(first + i) % count]);
    if (task.phase == TaskPhase::pending) return &task;
  }
  return nullptr;
}

RoomClaimed choose_room(const ClaimChoiceInput& in, const JobRow& job, const RoomWait& wait,
                        const KeptRoom* present) {
  return RoomChoice(in, job, wait, present).choose();
}

}  // namespace muster
