#include "masters/view/cell_services.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "actors/messages/byte_cut.hpp"
#include "masters/services/autoscaler.hpp"
#include "model/shown_states.hpp"

// Services and their replicas. Only these are looked at, however large the master's queue is.

namespace muster {
namespace {

ReplicaView replica_of(const ClusterState& state, const TaskRow& task) {
  ReplicaView view;
  view.index = state.spec(task).array_index;
  view.phase = std::string(name_of(shown(task.phase)));
  view.attempt = task.attempt;
  view.leaves = !task.wanted;
  if (task.at != kNoSlot) {
    view.instance = state.instance(task.at).id;
    view.cpus = task.held.amount[Resource::cpu];
    view.memory_gib = task.held.amount[Resource::memory];
  }
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

/// `last`: no later revision of the service has come and is not given up.
std::string standing_of(const JobRow& job, std::uint32_t ready, bool last) {
  if (job.replicas == 0) return "given up";
  if (!last) return "leaving";
  const bool is_whole = job.settled && job.wanted == job.replicas && job.leaving == 0;
  return is_whole && ready >= job.replicas ? "steady" : "coming";
}

ServiceView service_of(const ClusterState& state, const JobRow& job, const std::string& master) {
  ServiceView view;
  view.name = job.job.name;
  view.user = job.job.user;
  view.job = job.job.id;
  view.master = master;
  const ServiceSpec& spec = *job.job.service();
  const auto tasks = static_cast<std::uint32_t>(job.tasks.size());
  view.revision = spec.revision;
  view.most = tasks - std::min(tasks, std::max(1U, spec.surge));
  view.failed_update = job.failed_update;
  view.last_revision = job.last_revision;
  view.least = spec.least;
  view.metric = spec.goal.metric;
  view.sized = spec.size.is_there();
  if (spec.goal.is_there()) {
    (spec.goal.at_least ? view.at_least : view.at_most) = spec.goal.bound;
    if (const auto measured = served_figure(state, job)) view.measured = measured->mean;
  }
  view.running = job.running;
  view.token = job.job.token;
  for (const Slot slot : job.tasks) {
    const TaskRow& task = state.task(slot);
    if (!task.wanted && task.at == kNoSlot) continue;
    view.replicas.push_back(replica_of(state, task));
    view.ready += view.replicas.back().ready;
  }
  return view;
}

/// Jobs of services that have been replaced by one that is not given up.
std::set<JobId> replaced(const MasterFacts& facts) {
  std::set<JobId> all;
  for (const JobId id : facts.services) {
    const JobRow& job = *facts.state.find(id);
    if (job.replicas == 0 || job.terminal_outcome) continue;
    // Each earlier one as well: one between them may have ended.
    JobId earlier = job.job.service()->replaces;
    while (all.insert(earlier).second) {
      const JobRow* row = facts.state.find(earlier);
      if (row == nullptr || row->job.service() == nullptr) break;
      earlier = row->job.service()->replaces;
    }
  }
  return all;
}

}  // namespace

ServicesView services_of(const Master& master, const ServicesQuestion& wanted) {
  const MasterFacts& facts = master.facts();
  ServicesView view;
  ByteCut cut;
  const std::set<JobId> earlier = replaced(facts);
  for (const JobId id : facts.services) {
    const JobRow& job = *facts.state.find(id);
    const bool meant = (wanted.name.empty() || job.job.name == wanted.name) &&
                       (wanted.user.empty() || job.job.user == wanted.user);
    if (!meant) continue;
    ServiceView one = service_of(facts.state, job, master.name());
    const bool last = !earlier.contains(id);
    one.standing = standing_of(job, one.ready, last);
    one.wanted = last ? job.replicas : job.wanted;
    const std::size_t all = one.replicas.size();
    // Those that go beyond a message are counted and not shown: replicas, then services.
    std::vector<ReplicaView> replicas = std::exchange(one.replicas, {});
    if (view.more > 0 || !cut.takes(one)) {
      ++view.more;
      continue;
    }
    for (ReplicaView& each : replicas) {
      if (wanted.brief || !cut.takes(each)) break;
      one.replicas.push_back(std::move(each));
    }
    one.more_replicas = static_cast<std::uint32_t>(all - one.replicas.size());
    view.services.push_back(std::move(one));
  }
  return view;
}

}  // namespace muster
