#pragma once

#include <string>

#include "config/replay_config.hpp"
#include "model/catalog.hpp"
#include "model/job.hpp"

namespace muster::replay {

/// How long nothing may run before what waits is given up: world.max_idle, or longer where an
/// instance or a task takes long to start, in which time nothing runs either.
class IdleLimit {
 public:
  IdleLimit(const WorldConfig& world, const Catalog& catalog);

  /// A job that may start now.
  void accept(const Job& job);
  Duration limit() const;
  /// Time after all jobs are over in which unused instances are given back.
  Duration giving_back() const;
  /// Why a job was given up.
  std::string reason() const;

 private:
  Duration max_idle_;
  Duration longest_launch_{};  ///< of an instance of the catalog
  Duration longest_start_{};   ///< of a task
};

}  // namespace muster::replay
