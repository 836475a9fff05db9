#pragma once

#include <caf/all.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include "actors/messages/interfaces.hpp"
#include "config/classify_config.hpp"
#include "masters/actor/master_actor.hpp"
#include "model/expected.hpp"
#include "model/time.hpp"
#include "schedulers/policy_module.hpp"
#include "schedulers/site/actor/site_actor.hpp"

namespace muster {

/// Which of how many masters one is, as its cluster's roster has it.
struct MasterNumber {
  std::uint32_t number = 0;
  std::uint32_t masters = 1;  ///< of the cluster
};

/// The actors of a group that others speak to.
struct Group {
  std::vector<SiteActor> sites;
  std::vector<MasterActor> masters;
};

/// Settings that the config leaves open follow the policy's intake.
SiteSettings site_settings(const SiteSettings& configured, const Intake& intake);

enum class GroupError : std::uint8_t { bad_model };

/// Classifier of short and long jobs at a site; nothing where jobs are not classified. `learnt` is
/// what the site itself has kept, and comes before the config's model.
Expected<std::optional<JobClassifierService>, GroupError> make_classifier_service(
    const ClassifyConfig& config, const Intake& intake, std::string_view learnt = {});

/// Starts a master; live nodes and replay start theirs here, with different clouds, journals and
/// epochs. Which instance numbers are its own, and its name unless it has one, go by its number.
MasterActor spawn_master(caf::actor_system& system, MasterSetup setup, const MasterNumber& which);

/// Parts that the sites of a group share.
struct IntakeSetup {
  std::vector<SitePlace> sites{SitePlace{}};  ///< their names and positions
  SiteSettings settings;
  std::optional<JobClassifierService> classifier;  ///< each site begins with a copy
  Duration accept_timeout{};
  ClockOrigin origin;
  std::uint64_t seed = 1;
  std::vector<SiteStore*> site_stores;  ///< one a site; they outlive the actors
};

/// Starts the actors of a group: a master for each setup, numbered in their order, and the sites
/// that hand jobs to them.
Group spawn_group(caf::actor_system& system, std::vector<MasterSetup> masters,
                  const IntakeSetup& intake);

}  // namespace muster
