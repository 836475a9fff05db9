#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>

namespace muster::hosts {

/// Connections by whose they are: of one address, or of one key. Their numbers rise in the order in
/// which they came.
class JoinPlaces {
 public:
  void enter(std::uint64_t connection, const std::string& whose);
  void leave(std::uint64_t connection);
  std::size_t size() const { return all_.size(); }
  std::size_t count_of(const std::string& whose) const;
  /// Nothing: there are no connections.
  std::optional<std::uint64_t> oldest() const;
  std::optional<std::uint64_t> oldest_of(const std::string& whose) const;

 private:
  std::map<std::uint64_t, std::string> all_;
  std::map<std::string, std::set<std::uint64_t>> by_owner_;
};

}  // namespace muster::hosts
