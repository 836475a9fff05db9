#include "serve/node/merge_services.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "learning/fnv.hpp"
#include "serve/node/merge.hpp"

namespace muster::merge {
namespace {

/// Another text for another list: clients wait for one that they do not know.
std::string revision_of(const EndpointsView& view) {
  Fnv hash;
  hash.add(view.job.value);
  for (const EndpointView& each : view.endpoints) {
    hash.add(each.index).add(each.instance.value).add(each.address);
    for (const PortView& port : each.ports) hash.add(port.name).add(port.number);
  }
  return fmt::format("{:016x}", hash.value());
}

}  // namespace

ServicesView services(std::vector<ServicesView> masters) {
  std::uint32_t more = 0;
  for (const ServicesView& each : masters) more += each.more;
  ServicesView all{all_of(std::move(masters), &ServicesView::services), more};
  std::ranges::sort(all.services, [](const ServiceView& a, const ServiceView& b) {
    return std::tie(a.user, a.name, a.job) < std::tie(b.user, b.name, b.job);
  });
  return all;
}

std::optional<EndpointsView> endpoints(const ServicesView& services) {
  const auto& all = services.services;
  const auto first = std::ranges::min_element(all, {}, &ServiceView::job);
  if (first == all.end()) return std::nullopt;
  EndpointsView view{first->name, first->user, first->job, {}, {}};
  // Of all its revisions: clients go wherever a replica is ready.
  for (const ServiceView& each : all) {
    if (each.name != view.service || each.user != view.user) continue;
    view.job = each.job;
    for (const ReplicaView& one : each.replicas) {
      if (one.ready) view.endpoints.push_back({one.index, one.instance, one.address, one.ports});
    }
  }
  view.revision = revision_of(view);
  return view;
}

}  // namespace muster::merge
