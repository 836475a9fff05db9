#pragma once

#include "actors/messages/interfaces.hpp"
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

/// The master as the cloud sees it.
inline MasterForCloud spawn_master_link(caf::actor_system& system, EchoPlan& plan,
                                        MasterForCloud master) {
  return system.spawn(
      [&plan, master](MasterForCloud::pointer self) -> MasterForCloud::behavior_type {
        return {[self, &plan, master](const CloudReport& report) {
          send_with_echo(self, plan, master, report);
        }};
      });
}

/// The cloud as the master sees it.
class CloudLink : public CloudForMasters::base {
 public:
  CloudLink(caf::actor_config& config, EchoPlan& plan, CloudForMasters cloud)
      : CloudForMasters::base(config), plan_(plan), cloud_(std::move(cloud)) {}
  void on_exit() override {
    cloud_ = nullptr;
    if (master_link_) anon_send_exit(master_link_, caf::exit_reason::kill);
    master_link_ = nullptr;
  }

 protected:
  behavior_type make_behavior() override {
    return {
        [this](launch_atom, const LaunchOrder& order, const MasterForCloud& master) {
          if (!master_link_) master_link_ = spawn_master_link(system(), plan_, master);
          send_with_echo(this, plan_, cloud_, launch_atom_v, order, master_link_);
        },
        [this](end_atom, InstanceId id, const MasterForCloud& master) {
          if (!master_link_) master_link_ = spawn_master_link(system(), plan_, master);
          send_with_echo(this, plan_, cloud_, end_atom_v, id, master_link_);
        },
        [this](greet_atom, const MasterForCloud& master) {
          if (!master_link_) master_link_ = spawn_master_link(system(), plan_, master);
          send_with_echo(this, plan_, cloud_, greet_atom_v, master_link_);
        },
    };
  }

 private:
  EchoPlan& plan_;
  CloudForMasters cloud_;
  MasterForCloud master_link_;
};

}  // namespace muster::test
