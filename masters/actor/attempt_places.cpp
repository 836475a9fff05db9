#include "masters/actor/attempt_places.hpp"

#include <utility>

namespace muster {

std::optional<InstanceId> MasterPlaces::runs_on(TaskId task, Attempt attempt) const {
  const ClusterState& state = master_.state();
  const TaskRow* row = state.find(task);
  if (row == nullptr || row->attempt != attempt || row->at == kNoSlot) return std::nullopt;
  return state.instance(row->at).id;
}

std::optional<AttemptPlace> MasterPlaces::known(TaskId task) const {
  const History* history = reads_.history();
  if (history != nullptr && master_.state().find(task) == nullptr) return std::nullopt;
  return CellView{master_, history, {}, master_.name(), {}}.place_of(task, 0);
}

bool MasterPlaces::read(TaskId task, std::function<void(const AttemptPlace&)> then) const {
  return reads_.read<AttemptPlace>(
      [history = reads_.history(), task] { return place_of(task, 0, *history); },
      [then = std::move(then)](AttemptPlace&& place) { then(place); });
}

}  // namespace muster
