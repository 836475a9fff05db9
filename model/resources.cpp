#include "model/resources.hpp"

namespace muster {

std::optional<Resource> Resources::first_exceeding(const Resources& room) const {
  for (Resource kind : kAllResources) {
    if ((*this)[kind] > room[kind] + kResourceEpsilon) return kind;
  }
  return std::nullopt;
}

double Resources::dominant_share(const Resources& capacity) const {
  double share = 0;
  for (Resource kind : kAllResources) {
    // Without capacity a share means nothing.
    if (capacity[kind] > kResourceEpsilon) {
      share = std::max(share, (*this)[kind] / capacity[kind]);
    }
  }
  return share;
}

Resource Resources::dominant(const Resources& capacity) const {
  Resource best = Resource::gpu;
  double best_share = -1;
  for (Resource kind : kAllResources) {
    if (capacity[kind] <= kResourceEpsilon) continue;
    const double share = (*this)[kind] / capacity[kind];
    // Strictly more: of equals the first kind.
    if (share > best_share) {
      best = kind;
      best_share = share;
    }
  }
  return best;
}

}  // namespace muster
