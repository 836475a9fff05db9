#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/service.hpp"
#include "workers/process/descriptor.hpp"

namespace muster::process {

/// Ports of one replica. While this is there no other keeper of the computer, or rather of its
/// network namespace, is given one of the numbers: each goes with an abstract socket's name.
class PortClaims {
 public:
  /// A number from `first` to `last` for each name, searched from `begin` on. Nothing when too few
  /// are left that neither a keeper nor a socket has.
  static std::optional<PortClaims> make(const std::vector<std::string>& names, std::uint32_t first,
                                        std::uint32_t last, std::uint32_t begin);

  const std::vector<ReplicaPort>& ports() const { return ports_; }

 private:
  std::vector<ReplicaPort> ports_;
  std::vector<Descriptor> held_;
};

}  // namespace muster::process
