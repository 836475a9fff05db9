#include "tools/group.hpp"

#include <utility>

namespace muster {

Group spawn_group(caf::actor_system& system, GroupSetup setup) {
  MasterSetup master;
  master.parts.catalog = setup.catalog;
  master.parts.policy = std::move(setup.policy);
  master.parts.journal = setup.journal;
  master.parts.caps = {setup.master.max_instances, setup.master.max_usd_h};
  master.parts.max_attempts = setup.master.max_attempts;
  master.parts.refusal_rest = setup.master.refusal_rest;
  master.parts.seed = setup.seed;
  master.cloud = setup.cloud;
  master.epoch = setup.epoch;
  master.round_settle = setup.master.round_settle;
  master.sample_timeout = setup.master.sample_timeout;
  master.stopwatch = std::move(setup.stopwatch);
  master.times = setup.times;

  Group group;
  group.master = system.spawn<MasterNode>(std::move(master));
  group.site = system.spawn<SiteScheduler>(SiteSetup{group.master, setup.master.accept_timeout});
  return group;
}

}  // namespace muster
