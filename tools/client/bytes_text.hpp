#pragma once

#include <cstdint>
#include <string>

namespace muster::client {

/// An amount for people: "0 B", "812 B", "1.2 MiB", "340 GiB".
std::string bytes_text(std::uint64_t bytes);

}  // namespace muster::client
