#include "model/roster.hpp"

#include <algorithm>

namespace muster {
namespace {

using Numbers = std::map<std::string, std::uint32_t>;

void add_names(Numbers& numbers, const std::vector<std::string>& names) {
  std::uint32_t next = 0;
  // Above all that were ever given: a number is never used for another name.
  for (const auto& [name, number] : numbers) next = std::max(next, number + 1);
  for (const std::string& name : names) {
    if (numbers.emplace(name, next).second) ++next;
  }
}

std::map<std::uint32_t, std::string> by_number(const Numbers& numbers) {
  std::map<std::uint32_t, std::string> names;
  for (const auto& [name, number] : numbers) names.emplace(number, name);
  return names;
}

std::string contradiction(const std::string& role, const Numbers& a, const std::string& name_of_a,
                          const Numbers& b, const std::string& name_of_b) {
  for (const auto& [name, number] : a) {
    const auto there = b.find(name);
    if (there == b.end() || there->second == number) continue;
    return role + " " + name + " is number " + std::to_string(number) + " in " + name_of_a +
           " and number " + std::to_string(there->second) + " in " + name_of_b;
  }
  const auto names_of_b = by_number(b);
  for (const auto& [name, number] : a) {
    const auto there = names_of_b.find(number);
    if (there == names_of_b.end() || there->second == name) continue;
    return role + " number " + std::to_string(number) + " is " + name + " in " + name_of_a +
           " and " + there->second + " in " + name_of_b;
  }
  return {};
}

}  // namespace

ClusterRoster with_names(ClusterRoster roster, const ClusterNames& names) {
  add_names(roster.sites, names.sites);
  add_names(roster.masters, names.masters);
  return roster;
}

std::string contradiction(const ClusterRoster& a, const std::string& name_of_a,
                          const ClusterRoster& b, const std::string& name_of_b) {
  std::string found = contradiction("site", a.sites, name_of_a, b.sites, name_of_b);
  if (found.empty()) found = contradiction("master", a.masters, name_of_a, b.masters, name_of_b);
  return found;
}

ClusterRoster joined(ClusterRoster a, const ClusterRoster& b) {
  a.sites.insert(b.sites.begin(), b.sites.end());
  a.masters.insert(b.masters.begin(), b.masters.end());
  return a;
}

}  // namespace muster
