#pragma once

#include <optional>
#include <string>

#include "config/endpoint.hpp"

namespace muster::cli {

/// Nothing: it is no address at which others reach this computer.
std::optional<Endpoint> join_place(const std::string& text);

}  // namespace muster::cli
