#pragma once

#include <optional>
#include <string>

#include "config/endpoint.hpp"

namespace muster::cli {

/// Nothing: it is no address at which others reach this computer.
std::optional<Endpoint> join_place(const std::string& text);

/// Fault of the option that says it; empty: no fault.
std::string check_join_place(const std::string& text);

/// Prints how machines join there; nothing where they do not.
void say_how_to_join(const std::optional<Endpoint>& join);

}  // namespace muster::cli
