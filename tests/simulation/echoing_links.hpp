#pragma once

#include "actors/messages.hpp"
#include "actors/no_views.hpp"
#include "model/rng.hpp"

// Stand-ins for links between nodes that repeat themselves: every message gets through once and in
// order, and any of them may come again, up to ten minutes late.

namespace muster::test {

/// What all links of a cluster share.
struct EchoPlan {
  explicit EchoPlan(std::uint64_t seed) : rng(seed) {}
  Rng rng;
  std::size_t echoes = 0;
};

/// Sends now and, in four of ten cases, once more later.
template <class Self, class Target, class... Content>
void send_with_echo(Self* self, EchoPlan& plan, const Target& to, const Content&... content) {
  self->send(to, content...);
  if (plan.rng.uniform() > 0.4) return;
  ++plan.echoes;
  self->delayed_send(to, from_seconds(plan.rng.uniform(0, 600)), content...);
}

inline WorkerActor spawn_worker_link(caf::actor_system& system, EchoPlan& plan,
                                     WorkerActor worker) {
  return system.spawn([&plan, worker](WorkerActor::pointer self) -> WorkerActor::behavior_type {
    self->monitor(worker);
    self->set_down_handler([self](const caf::down_msg&) { self->quit(); });
    return {
        [self, &plan, worker](start_atom, const StartOrder& order) {
          send_with_echo(self, plan, worker, start_atom_v, order);
        },
        [self, &plan, worker](stop_atom, TaskId task, Attempt attempt) {
          send_with_echo(self, plan, worker, stop_atom_v, task, attempt);
        },
        [self, &plan, worker](ack_atom, TaskId task, Attempt attempt) {
          send_with_echo(self, plan, worker, ack_atom_v, task, attempt);
        },
        [self, &plan, worker](greet_atom) { send_with_echo(self, plan, worker, greet_atom_v); },
        [](const LogRequest&) {},
        [self, &plan, worker](sample_atom, std::uint64_t asking) {
          send_with_echo(self, plan, worker, sample_atom_v, asking);
        },
        [](const Wakeup&) {},
    };
  });
}

/// The master as the cloud and the workers see it.
inline MasterActor spawn_master_link(caf::actor_system& system, EchoPlan& plan,
                                     MasterActor master) {
  return system.spawn([&plan, master](MasterActor::pointer self) -> MasterActor::behavior_type {
    return master_without_views(
        [](hand_atom, const std::vector<Job>&) { return std::vector<SubmitVerdict>{}; },
        [](watch_atom, const JobListener&, const std::vector<JobId>&) {
          return std::vector<JobEnd>{};
        },
        [](unwatch_atom, const JobListener&, const std::vector<JobId>&) {},
        [](cancel_atom, const std::vector<JobId>&) { return std::vector<CancelVerdict>{}; },
        [](hold_atom, JobId id, bool) { return id; }, [](drain_atom, InstanceId id) { return id; },
        [self, &plan, master](hello_atom, const WorkerHello& hello, const WorkerActor& worker) {
          const WorkerActor link = spawn_worker_link(self->system(), plan, worker);
          send_with_echo(self, plan, master, hello_atom_v, hello, link);
        },
        [self, &plan, master](const WorkerReport& report) {
          send_with_echo(self, plan, master, report);
        },
        [self, &plan, master](const SampleAnswer& answer) {
          send_with_echo(self, plan, master, answer);
        },
        [self, &plan, master](const CloudReport& report) {
          send_with_echo(self, plan, master, report);
        },
        [](const LogAnswer&) {}, [](greet_atom) {},
        [](const LoadQuestion&) { return LoadReport{}; },
        [](const LogRequest&) { return LogAnswer{}; }, [](const Wakeup&) {});
  });
}

/// The cloud as the master sees it.
class CloudLink : public CloudActor::base {
 public:
  CloudLink(caf::actor_config& config, EchoPlan& plan, CloudActor cloud)
      : CloudActor::base(config), plan_(plan), cloud_(std::move(cloud)) {}
  void on_exit() override {
    cloud_ = nullptr;
    if (master_link_) anon_send_exit(master_link_, caf::exit_reason::kill);
    master_link_ = nullptr;
  }

 protected:
  behavior_type make_behavior() override {
    return cloud_without_views(
        [this](launch_atom, const LaunchOrder& order, const MasterActor& master) {
          if (!master_link_) master_link_ = spawn_master_link(system(), plan_, master);
          send_with_echo(this, plan_, cloud_, launch_atom_v, order, master_link_);
        },
        [this](end_atom, InstanceId id, const MasterActor& master) {
          if (!master_link_) master_link_ = spawn_master_link(system(), plan_, master);
          send_with_echo(this, plan_, cloud_, end_atom_v, id, master_link_);
        },
        [this](greet_atom, const MasterActor& master) {
          if (!master_link_) master_link_ = spawn_master_link(system(), plan_, master);
          send_with_echo(this, plan_, cloud_, greet_atom_v, master_link_);
        },
        [](interrupt_atom, InstanceId id) { return id; }, [](const Wakeup&) {});
  }

 private:
  EchoPlan& plan_;
  CloudActor cloud_;
  MasterActor master_link_;
};

}  // namespace muster::test
