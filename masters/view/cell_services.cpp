#include "masters/view/cell_services.hpp"

#include <utility>

#include "actors/messages/byte_cut.hpp"
#include "model/shown_states.hpp"

// Services and their replicas. Only these are looked at, however large the master's queue is.

namespace muster {
namespace {

ReplicaView replica_of(const ClusterState& state, const TaskRow& task) {
  ReplicaView view;
  view.index = state.spec(task).array_index;
  view.phase = std::string(name_of(shown(task.phase)));
  view.attempt = task.attempt;
  if (task.at != kNoSlot) view.instance = state.instance(task.at).id;
  if (task.replica == nullptr) return view;
  const ReplicaState& said = *task.replica;
  view.ready = is_endpoint(task);
  view.address = said.address;
  for (const ReplicaPort& port : said.ports) view.ports.push_back({port.name, port.number});
  view.restarts = said.restarts;
  view.exit_code = said.exit_code;
  view.pause_s = to_seconds(said.pause);
  view.trouble = said.trouble;
  return view;
}

ServiceView service_of(const ClusterState& state, const JobRow& job, const std::string& master) {
  ServiceView view;
  view.name = job.job.name;
  view.user = job.job.user;
  view.job = job.job.id;
  view.master = master;
  view.wanted = static_cast<std::uint32_t>(job.tasks.size());
  view.running = job.running;
  view.token = job.job.token;
  for (const Slot slot : job.tasks) {
    view.replicas.push_back(replica_of(state, state.task(slot)));
    view.ready += view.replicas.back().ready;
  }
  return view;
}

}  // namespace

ServicesView services_of(const Master& master, const ServicesQuestion& wanted) {
  const MasterFacts& facts = master.facts();
  ServicesView view;
  ByteCut cut;
  for (const JobId id : facts.services) {
    const JobRow& job = *facts.state.find(id);
    const bool meant = (wanted.name.empty() || job.job.name == wanted.name) &&
                       (wanted.user.empty() || job.job.user == wanted.user);
    if (!meant) continue;
    ServiceView one = service_of(facts.state, job, master.name());
    const std::size_t all = one.replicas.size();
    // Those of a list that is full are counted and not shown.
    std::vector<ReplicaView> replicas = std::exchange(one.replicas, {});
    if (!cut.takes(one)) break;
    for (ReplicaView& each : replicas) {
      if (!cut.takes(each)) break;
      one.replicas.push_back(std::move(each));
    }
    one.more_replicas = static_cast<std::uint32_t>(all - one.replicas.size());
    view.services.push_back(std::move(one));
  }
  return view;
}

}  // namespace muster
