#include "schedulers/muster/plan_groups.hpp"

#include <map>
#include <numeric>
#include <unordered_map>
#include <utility>
#include <vector>

// Instances are joined by the tasks that go from one to the other (union and find). Parts that end
// up in one set are refused or carried out as one. The sets are as small as that allows: a larger
// group is more easily refused for a part that has nothing to do with the rest.

namespace muster::own {
namespace {

/// Which instances belong together: those of the round by number, then the plan's launches.
class Bundles {
 public:
  explicit Bundles(std::size_t nodes) : parent_(nodes), moves_(nodes, 0) {
    std::iota(parent_.begin(), parent_.end(), std::size_t{0});
  }
  std::size_t of(std::size_t node) {
    while (parent_[node] != node) node = parent_[node] = parent_[parent_[node]];
    return node;
  }
  void join(std::size_t a, std::size_t b) {
    a = of(a), b = of(b);
    if (a == b) return;
    parent_[b] = a;
    moves_[a] |= moves_[b];
  }
  void move(std::size_t node) { moves_[of(node)] = 1; }
  bool any_move(std::size_t node) { return moves_[of(node)] != 0; }

 private:
  std::vector<std::size_t> parent_;
  std::vector<char> moves_;  ///< of each root: a task that has a place loses it
};

}  // namespace

void group_moves(const RoundInput& input, Plan& plan) {
  const std::size_t instances = input.instances().size();
  std::map<InstanceId, std::size_t> number;
  for (std::size_t i = 0; i < instances; ++i) number.emplace(input.instances()[i].id, i);
  // Few of the tasks are in the plan: the others are passed by with one look each.
  std::unordered_map<TaskId, const RoundInput::Task*> tasks;
  for (const Place& place : plan.places) tasks.emplace(place.task, nullptr);
  for (const Stop& stop : plan.stops) tasks.emplace(stop.task, nullptr);
  for (const RoundInput::Task& task : input.tasks()) {
    const auto known = tasks.find(task.id);
    if (known != tasks.end()) known->second = &task;
  }
  const auto target = [&](const Place& place) {
    if (const auto* launch = std::get_if<LaunchIndex>(&place.to)) return instances + launch->value;
    return number.at(std::get<InstanceId>(place.to));
  };
  Bundles bundles(instances + plan.launches.size());
  std::map<std::uint32_t, std::size_t> of_gang;  // where one of its tasks goes or was
  const auto leave = [&](const RoundInput::Task& task, std::size_t to) {
    if (task.home != kUnassigned) {
      bundles.join(to, task.home);
      bundles.move(task.home);
    }
    if (!input.jobs()[task.job].gang) return;
    const auto known = of_gang.emplace(task.job, to).first;
    bundles.join(known->second, to);
  };
  for (const Place& place : plan.places) leave(*tasks.at(place.task), target(place));
  for (const Stop& stop : plan.stops) leave(*tasks.at(stop.task), tasks.at(stop.task)->home);
  std::map<std::size_t, std::uint32_t> groups;
  const auto group = [&](std::size_t node) {
    if (!bundles.any_move(node)) return std::uint32_t{0};
    const auto next = static_cast<std::uint32_t>(groups.size() + 1);
    return groups.emplace(bundles.of(node), next).first->second;
  };
  for (std::size_t i = 0; i < plan.launches.size(); ++i)
    plan.launches[i].group = group(instances + i);
  for (Place& place : plan.places) place.group = group(target(place));
  for (Stop& stop : plan.stops) stop.group = group(tasks.at(stop.task)->home);
  for (Release& release : plan.releases) release.group = group(number.at(release.instance));
}

}  // namespace muster::own
