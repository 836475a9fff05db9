// Memory of a fixed fleet, in words: only facts that do not follow from the state. Tasks, jobs and
// instances go by their numbers, types by name.

#include <map>
#include <string>
#include <vector>

#include "model/fields.hpp"
#include "schedulers/muster/fleet_memory.hpp"
#include "schedulers/saved_lines.hpp"

namespace muster::own {

using saved::Json;
using saved::list, saved::loaded, saved::member, saved::want;

void line(auto& a, Like<FleetQueue::Job> auto& job) {
  a(job.key.is_long, job.key.patient, job.key.rank, job.since, job.passes, job.done, job.done_for,
    job.doubted);
}

void line(auto& a, Like<FleetQueue::Class> auto& one) {
  a(one.last_start, one.done, one.done_for);
}

std::string FleetMemory::save() const {
  return Json{
      {"jobs", saved::saved(queue_.jobs())},
      {"classes", {saved::saved(queue_.of_class(false)), saved::saved(queue_.of_class(true))}},
      {"fresh", saved::saved(fresh_)},
      {"kept", saved::saved(room_.kept())},
      {"types", room_.type_names()}}
      .dump(-1, ' ', false, Json::error_handler_t::replace);
}

bool FleetMemory::load(std::string_view text, const ClusterView& view) {
  try {
    const Json all = Json::parse(text, nullptr, false);
    want(all.is_object());
    rebuild(view);
    room_.restore_types(loaded<std::vector<std::string>>(member(all, "types")), view);
    for (const auto& [id, job] : loaded<std::map<JobId, FleetQueue::Job>>(member(all, "jobs"))) {
      want(queue_.find(id) != nullptr);
      queue_.restore(id, job);
      // Tasks count as long by the job's class, which is known only here.
      for (Slot slot : queue_.find(id)->tasks) follow_task(slot, view);
      queue_.restore(id, job);
    }
    const Json& classes = list(member(all, "classes"), 2);
    for (const bool is_long : {false, true}) {
      queue_.restore(is_long, loaded<FleetQueue::Class>(classes[is_long ? 1 : 0]));
    }
    saved::Reader::get(member(all, "fresh"), fresh_);
    for (const auto& [instance, task] : loaded<std::map<InstanceId, TaskId>>(member(all, "kept"))) {
      room_.keep(instance, task);
    }
    return true;
  } catch (const saved::NotUnderstood&) {
    return false;
  }
}

}  // namespace muster::own
