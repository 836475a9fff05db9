#include "serve/hosts/join_places.hpp"

namespace muster::hosts {

void JoinPlaces::enter(std::uint64_t connection, const std::string& whose) {
  leave(connection);
  all_[connection] = whose;
  by_owner_[whose].insert(connection);
}

void JoinPlaces::leave(std::uint64_t connection) {
  const auto found = all_.find(connection);
  if (found == all_.end()) return;
  const auto owner = by_owner_.find(found->second);
  owner->second.erase(connection);
  if (owner->second.empty()) by_owner_.erase(owner);
  all_.erase(found);
}

std::size_t JoinPlaces::count_of(const std::string& whose) const {
  const auto owner = by_owner_.find(whose);
  return owner == by_owner_.end() ? 0 : owner->second.size();
}

std::optional<std::uint64_t> JoinPlaces::oldest() const {
  if (all_.empty()) return std::nullopt;
  return all_.begin()->first;
}

std::optional<std::uint64_t> JoinPlaces::oldest_of(const std::string& whose) const {
  const auto owner = by_owner_.find(whose);
  if (owner == by_owner_.end()) return std::nullopt;
  return *owner->second.begin();
}

}  // namespace muster::hosts
