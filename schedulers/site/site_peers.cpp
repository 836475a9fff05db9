#include "schedulers/site/site_peers.hpp"

#include <utility>

#include "model/check.hpp"

namespace muster {

SitePeers::SitePeers(std::vector<SitePeer> masters, std::vector<SitePeer> sites,
                     std::uint32_t number)
    : masters_(std::move(masters)), sites_(std::move(sites)), number_(number) {
  for (std::size_t i = 0; i < masters_.size(); ++i) places_[masters_[i].to] = i;
  for (std::size_t i = 0; i < sites_.size(); ++i) {
    if (sites_[i].to.index == number) own_ = i;
    places_[sites_[i].to] = i;
  }
  for (const std::vector<SitePeer>* peers : {&masters_, &sites_}) {
    for (const SitePeer& each : *peers) all_.push_back(each.to);
  }
}

std::size_t SitePeers::place_of(const HandoffTarget& to) const {
  const auto place = places_.find(to);
  MUSTER_CHECK(place != places_.end(), "a site hands nothing to whom it does not know");
  return place->second;
}

const std::string& SitePeers::name_of(const HandoffTarget& to) const {
  return (to.site ? sites_ : masters_)[place_of(to)].name;
}

}  // namespace muster
