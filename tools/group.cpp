#include "tools/group.hpp"

#include <utility>

#include "model/live_ids.hpp"

namespace muster {

MasterActor spawn_master(caf::actor_system& system, GroupSetup setup) {
  MasterSetup master;
  master.parts.catalog = setup.catalog;
  master.parts.policy = std::move(setup.policy);
  master.parts.caps.max_instances = setup.master.max_instances;
  master.parts.caps.max_usd_h = setup.master.max_usd_h;
  master.parts.caps.max_usd_day = setup.master.max_usd_day;
  master.parts.max_attempts = setup.master.max_attempts;
  master.parts.refusal_rest = setup.master.refusal_rest;
  master.parts.seed = setup.seed;
  master.parts.first_instance = setup.life.name.empty() ? 0 : first_instance_of(setup.master_index);
  master.parts.keep_history = setup.life.history != nullptr;
  master.parts.fleet = std::move(setup.fleet);
  master.journal = setup.journal;
  master.cloud = setup.cloud;
  master.epoch = setup.epoch;
  master.round_settle = setup.master.round_settle;
  master.sample_timeout = setup.master.sample_timeout;
  master.stopwatch = std::move(setup.stopwatch);
  master.times = setup.times;

  master.life = std::move(setup.life);
  return system.spawn<MasterNode>(std::move(master));
}

Group spawn_group(caf::actor_system& system, GroupSetup setup, SiteBook& book) {
  SiteSetup site;
  site.accept_timeout = setup.master.accept_timeout;
  site.epoch = setup.epoch;
  site.book = &book;
  Group group;
  group.master = spawn_master(system, std::move(setup));
  site.masters = {group.master};
  group.site = system.spawn<SiteScheduler>(std::move(site));
  return group;
}

}  // namespace muster
