#include "tools/pareto/rented_gpus.hpp"

namespace muster::pareto {

RentedGpus::RentedGpus(const Catalog& catalog) : catalog_(catalog) {
  if (catalog.largest()[Resource::gpu] > 0) counted_ = Resource::gpu;
}

void RentedGpus::apply(const Event& event) {
  if (const auto* launch = std::get_if<LaunchRequested>(&event.body)) {
    rented_[launch->instance] = {event.at, catalog_[launch->type].capacity[counted_]};
  } else if (const auto* refused = std::get_if<LaunchRefused>(&event.body)) {
    rented_.erase(refused->instance);
  } else if (const auto* release = std::get_if<ReleaseDecided>(&event.body)) {
    end(release->instance, event.at);
  } else if (const auto* gone = std::get_if<InstanceGone>(&event.body)) {
    end(gone->instance, event.at);
  }
}

void RentedGpus::end(InstanceId id, Instant at) {
  const auto found = rented_.find(id);
  if (found == rented_.end()) return;
  gpu_h_ += found->second.gpus * to_seconds(at - found->second.since) / 3600;
  rented_.erase(found);
}

}  // namespace muster::pareto
