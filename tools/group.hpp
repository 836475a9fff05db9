#pragma once

#include <caf/all.hpp>

#include "actors/messages.hpp"
#include "config/replay_config.hpp"
#include "masters/master_actor.hpp"
#include "schedulers/site/site_actor.hpp"

namespace muster {

/// What a group of actors is composed of. Replay and live nodes hand in different clouds, journals
/// and epochs, and nothing else.
struct GroupSetup {
  const Catalog* catalog = nullptr;
  std::unique_ptr<Policy> policy;
  Journal* journal = nullptr;
  MasterConfig master;
  Fleet fleet;  ///< what of master.fleet is this master's
  CloudActor cloud;
  ClusterEpoch epoch;
  std::uint64_t seed = 1;
  std::function<Duration()> stopwatch;
  DecisionTimes* times = nullptr;
  std::uint32_t master_index = 0;  ///< of the master in its cluster
  MasterLife life;                 ///< what only a live master has
};

/// The actors of a group that others speak to.
struct Group {
  SiteActor site;
  MasterActor master;
};

/// Starts a master; live nodes and replay start theirs here.
MasterActor spawn_master(caf::actor_system& system, GroupSetup setup);

/// Starts the actors of one group: a site scheduler that passes jobs through to one master. The
/// book has to outlive them.
Group spawn_group(caf::actor_system& system, GroupSetup setup, SiteBook& book);

}  // namespace muster
