#pragma once

#include <utility>

#include "masters/master_commands.hpp"
#include "tests/masters/master_parts.hpp"

namespace muster::test {

/// With that by which a decision is carried out.
class MasterCommandsTest : public MasterPartsTest {
 protected:
  void begin_commands(Fleet fleet = {}) {
    begin(std::move(fleet));
    cloud_.emplace(*recorder_, 0);
    releases_.emplace(*recorder_, *cloud_);
    tasks_.emplace(*recorder_, *releases_);
  }
  MasterCommands commands() { return {*recorder_, *cloud_, *releases_, *tasks_}; }

  std::optional<CloudOrders> cloud_;
  std::optional<InstanceReleases> releases_;
  std::optional<TaskOrders> tasks_;
};

}  // namespace muster::test
