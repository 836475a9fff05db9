#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "actors/messages/interfaces.hpp"
#include "config/cluster_config.hpp"
#include "serve/api/backend.hpp"

namespace muster {

/// Where a job is.
struct FoundJob {
  std::vector<std::size_t> masters;       ///< that have the job or parts of it; none: no master has
  std::optional<std::size_t> of_task;     ///< the one that has the task that was asked for
  std::optional<std::size_t> waits_at{};  ///< the site at which it is on its way, if it is
  bool over_at_site = false;              ///< or has ended at one, if not waits_at
  bool over = false;                      ///< all of its parts
  bool all_answered = false;
  std::vector<std::size_t> silent{};  ///< masters that have not answered
  std::uint32_t position = 0;         ///< of that task
};

/// Those that are asked for jobs. All outlives the answers.
struct JobPlaces {
  caf::actor_system& system;
  const ClusterConfig& config;
  const std::vector<MasterForUsers>& masters;  ///< all, in the order of the config
  const std::vector<SiteForUsers>& sites;      ///< likewise
  Duration timeout{};                          ///< for an answer
};

/// Asks every master, then every site, whose the job is, and which master has the task of that
/// index.
void find_job(const JobPlaces& places, JobId job, std::uint32_t index,
              std::function<void(const FoundJob&)> done);

/// The answer about a job that no master has.
api::Answer not_found(const FoundJob& found, JobId job, const ClusterConfig& config);

/// Whether a job is to be held.
struct HoldWish {
  JobId job;
  bool held = false;
};
/// Asks those who have the job to hold it or to release it.
void hold_found(const JobPlaces& places, const FoundJob& found, const HoldWish& wish,
                const api::Reply& reply);

}  // namespace muster
