#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "model/geo.hpp"
#include "storage/stores/site_store.hpp"

namespace muster {

/// A master or a site of the cluster, as a site names it.
struct SitePeer {
  HandoffTarget to;
  std::string name;
  GeoPoint position{};  ///< of a site
};

/// The masters and sites of the cluster as one of the sites knows them, in the order in which they
/// are asked, handed jobs and listed. It never changes.
class SitePeers {
 public:
  /// `number`: of the site itself, which is one of the sites.
  SitePeers(std::vector<SitePeer> masters, std::vector<SitePeer> sites, std::uint32_t number);

  const std::vector<SitePeer>& masters() const { return masters_; }
  const std::vector<SitePeer>& sites() const { return sites_; }
  /// All masters and, behind them, all sites.
  const std::vector<HandoffTarget>& all() const { return all_; }
  const SitePeer& self() const { return sites_[own_]; }
  /// The place of the site itself among the sites.
  std::size_t own() const { return own_; }
  std::uint32_t number() const { return number_; }
  bool is_self(const HandoffTarget& to) const { return to.site && to.index == number_; }
  bool knows(const HandoffTarget& to) const { return places_.contains(to); }
  /// Among the masters or among the sites. The peer has to be known: the start of a site makes sure
  /// that all are there that its store names.
  std::size_t place_of(const HandoffTarget& to) const;
  const std::string& name_of(const HandoffTarget& to) const;

 private:
  std::vector<SitePeer> masters_;
  std::vector<SitePeer> sites_;
  std::uint32_t number_;
  std::size_t own_ = 0;
  std::vector<HandoffTarget> all_;
  std::map<HandoffTarget, std::size_t> places_;
};

/// One value for each master and each site, in the order of the peers.
template <class Value>
class PerPeer {
 public:
  explicit PerPeer(const SitePeers& peers)
      : peers_(peers), masters_(peers.masters().size()), sites_(peers.sites().size()) {}

  Value& at(const HandoffTarget& to) { return (to.site ? sites_ : masters_)[peers_.place_of(to)]; }
  const Value& at(const HandoffTarget& to) const {
    return (to.site ? sites_ : masters_)[peers_.place_of(to)];
  }
  std::vector<Value>& masters() { return masters_; }
  const std::vector<Value>& masters() const { return masters_; }
  const std::vector<Value>& sites() const { return sites_; }

 private:
  const SitePeers& peers_;
  std::vector<Value> masters_;
  std::vector<Value> sites_;
};

}  // namespace muster
