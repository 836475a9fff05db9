#pragma once

#include <utility>
#include <vector>

#include "model/service_views.hpp"

namespace muster {

/// The revision that has the service: the newest that is not given up. Null: the service is over.
inline const ServiceView* newest_revision(const std::vector<ServiceView>& revisions) {
  const ServiceView* newest = nullptr;
  for (const ServiceView& each : revisions) {
    const bool counts = each.standing != "given up";
    const auto rank = [](const ServiceView& one) { return std::pair(one.revision, one.job); };
    if (counts && (newest == nullptr || rank(each) > rank(*newest))) newest = &each;
  }
  return newest;
}

}  // namespace muster
