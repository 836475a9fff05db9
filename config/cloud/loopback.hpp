#pragma once

#include "config/cloud/cloud_module.hpp"

namespace muster::config {

/// Rents out parts of what it runs on: processes of its computer, or of a replay.
template <class C>
CloudModule<C> loopback_cloud() {
  return {"loopback"};
}

}  // namespace muster::config
