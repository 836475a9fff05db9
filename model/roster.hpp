#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace muster {

/// The names of a cluster's sites and masters, in the order of its file.
struct ClusterNames {
  std::vector<std::string> sites;
  std::vector<std::string> masters;
};

/// The numbers that sites and masters have in ids. A name keeps its number for as long as the
/// cluster has a state, also when the file has it no longer, and no number is given twice.
struct ClusterRoster {
  std::map<std::string, std::uint32_t> sites;
  std::map<std::string, std::uint32_t> masters;

  bool empty() const { return sites.empty() && masters.empty(); }
  friend bool operator==(const ClusterRoster&, const ClusterRoster&) = default;
};

/// The roster with a number for each of the names: those that it has keep theirs, the others get,
/// in their order, those after the highest.
ClusterRoster with_names(ClusterRoster roster, const ClusterNames& names);

/// Where two rosters contradict each other, as "master m2 is number 1 in FIRST and number 2 in
/// SECOND"; empty when they do not. A name that only one of them has contradicts nothing, unless
/// the other has given its number to somebody else.
std::string contradiction(const ClusterRoster& a, const std::string& name_of_a,
                          const ClusterRoster& b, const std::string& name_of_b);

/// Everything that one of two rosters has that do not contradict each other.
ClusterRoster joined(ClusterRoster a, const ClusterRoster& b);

}  // namespace muster
