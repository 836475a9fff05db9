#include "masters/plan/plan_slices.hpp"

#include <algorithm>
#include <numeric>
#include <tuple>
#include <unordered_map>
#include <utility>

namespace muster {
namespace {

constexpr std::uint32_t kNone = ~std::uint32_t{0};

/// The kinds of a plan's parts, in the order in which groups of them come.
enum class PartKind : std::uint8_t { refusal, place, resize, launch, stop, release };

/// One part of the plan: its kind, and its position among those of the kind.
struct Part {
  PartKind kind = PartKind::place;
  std::uint32_t at = 0;

  auto operator<=>(const Part&) const = default;
};

/// Finds out which parts depend on each other (union-find), and deals the groups out.
class Cutter {
 public:
  Cutter(Plan& plan, const ClusterState& state) : plan_(plan), state_(state) {
    add(PartKind::refusal, plan.refusals.size());
    add(PartKind::place, plan.places.size());
    add(PartKind::resize, plan.resizes.size());
    add(PartKind::launch, plan.launches.size());
    add(PartKind::stop, plan.stops.size());
    add(PartKind::release, plan.releases.size());
    above_.resize(parts_.size());
    std::iota(above_.begin(), above_.end(), 0U);
    for (std::uint32_t i = 0; i < parts_.size(); ++i) join_part(i);
  }

  std::vector<Plan> run(std::size_t most) {
    std::vector<Plan> slices;
    std::vector<Part> slice;
    for (std::vector<Part>& group : groups()) {
      if (!slice.empty() && slice.size() + group.size() > most) {
        slices.push_back(plan_of(std::exchange(slice, {})));
      }
      slice.insert(slice.end(), group.begin(), group.end());
    }
    if (!slice.empty() || slices.empty()) slices.push_back(plan_of(std::move(slice)));
    return slices;
  }

 private:
  void add(PartKind kind, std::size_t count) {
    first_[static_cast<std::size_t>(kind)] = static_cast<std::uint32_t>(parts_.size());
    for (std::uint32_t i = 0; i < count; ++i) parts_.push_back({kind, i});
  }

  std::uint32_t root(std::uint32_t part) {
    while (above_[part] != part) part = above_[part] = above_[above_[part]];
    return part;
  }
  /// The root of a group is its first part.
  void join(std::uint32_t a, std::uint32_t b) {
    a = root(a);
    b = root(b);
    above_[std::max(a, b)] = std::min(a, b);
  }
  template <class Key>
  void join_by(std::unordered_map<Key, std::uint32_t>& firsts, Key key, std::uint32_t part) {
    join(firsts.try_emplace(key, part).first->second, part);
  }

  /// The instance that the task leaves, if any, and its gang.
  void join_task(TaskId id, std::uint32_t part) {
    const TaskRow* task = state_.find(id);
    if (task == nullptr) return;
    if (task->target != kNoSlot) join_by(instances_, state_.instance(task->target).id, part);
    if (state_.job(task->job).job.gang) join_by(gangs_, task->job, part);
  }

  /// Instances that the job leaves may be those that others come to.
  void join_resize(const Resize& resize, std::uint32_t part) {
    const JobRow* job = state_.find(resize.job);
    if (job == nullptr) return;
    for (Slot slot : job->tasks) join_task(state_.task(slot).id, part);
  }

  void join_group(std::uint32_t group, std::uint32_t part) {
    if (group != 0) join_by(groups_, group, part);
  }

  void join_part(std::uint32_t i) {
    const std::uint32_t at = parts_[i].at;
    switch (parts_[i].kind) {
      case PartKind::refusal:
        join_task(plan_.refusals[at].task, i);
        break;
      case PartKind::place: {
        const Place& place = plan_.places[at];
        join_task(place.task, i);
        join_group(place.group, i);
        if (const auto* id = std::get_if<InstanceId>(&place.to)) {
          join_by(instances_, *id, i);
        } else if (std::get<LaunchIndex>(place.to).value < plan_.launches.size()) {
          join(i, first_[static_cast<std::size_t>(PartKind::launch)] +
                      std::get<LaunchIndex>(place.to).value);
        }
        break;
      }
      case PartKind::resize:
        join_resize(plan_.resizes[at], i);
        break;
      case PartKind::launch:
        join_group(plan_.launches[at].group, i);
        break;
      case PartKind::stop:
        join_task(plan_.stops[at].task, i);
        join_group(plan_.stops[at].group, i);
        break;
      case PartKind::release:
        join_by(instances_, plan_.releases[at].instance, i);
        join_group(plan_.releases[at].group, i);
        break;
    }
  }

  /// In the order of their first parts; the parts of each in their order.
  std::vector<std::vector<Part>> groups() {
    std::vector<std::vector<Part>> groups;
    std::vector<std::uint32_t> group_of(parts_.size(), kNone);
    for (std::uint32_t i = 0; i < parts_.size(); ++i) {
      std::uint32_t& group = group_of[root(i)];
      if (group == kNone) {
        group = static_cast<std::uint32_t>(groups.size());
        groups.emplace_back();
      }
      groups[group].push_back(parts_[i]);
    }
    return groups;
  }

  Plan plan_of(std::vector<Part> parts) {
    std::sort(parts.begin(), parts.end());
    Plan out;
    out.based_on = plan_.based_on;
    std::unordered_map<std::uint32_t, std::uint32_t> launched;  // looked up only
    for (const Part& part : parts) {
      if (part.kind != PartKind::launch) continue;
      launched[part.at] = static_cast<std::uint32_t>(out.launches.size());
      out.launches.push_back(plan_.launches[part.at]);
    }
    for (const Part& part : parts) {
      if (part.kind == PartKind::refusal) out.refusals.push_back(plan_.refusals[part.at]);
      if (part.kind == PartKind::resize) out.resizes.push_back(plan_.resizes[part.at]);
      if (part.kind == PartKind::stop) out.stops.push_back(plan_.stops[part.at]);
      if (part.kind == PartKind::release) out.releases.push_back(plan_.releases[part.at]);
      if (part.kind != PartKind::place) continue;
      Place place = plan_.places[part.at];
      if (auto* launch = std::get_if<LaunchIndex>(&place.to)) {
        const auto found = launched.find(launch->value);
        launch->value = found == launched.end() ? kNone : found->second;
      }
      out.places.push_back(std::move(place));
    }
    return out;
  }

  Plan& plan_;
  const ClusterState& state_;
  std::vector<Part> parts_;
  std::uint32_t first_[6] = {};
  std::vector<std::uint32_t> above_;  ///< of each part another one of its group, or itself
  // Looked up only.
  std::unordered_map<InstanceId, std::uint32_t> instances_;
  std::unordered_map<Slot, std::uint32_t> gangs_;
  std::unordered_map<std::uint32_t, std::uint32_t> groups_;  // of the plan
};

}  // namespace

std::size_t parts_of(const Plan& plan) {
  return plan.launches.size() + plan.places.size() + plan.stops.size() + plan.releases.size() +
         plan.refusals.size() + plan.resizes.size();
}

std::vector<Plan> slices_of(Plan&& plan, const ClusterState& state, std::size_t most) {
  plan.note = {};
  std::vector<Plan> whole;
  if (most > 0 && parts_of(plan) > most) return Cutter(plan, state).run(most);
  whole.push_back(std::move(plan));
  return whole;
}

}  // namespace muster
