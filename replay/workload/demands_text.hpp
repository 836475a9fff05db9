#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/job.hpp"

namespace muster::replay {

/// Demands by family as one text: "p3:1/10/8;c7i:0/4/8@1.2" is gpu/cpu/memory_gib[/storage_gib
/// [/network_gbit_s[/spare]]] and, after the @, the speed (1 when left out). The family "any"
/// stands for all that are not named.
std::string demands_text(const std::vector<FamilyDemand>& entries);

/// The demands that the text stands for, in its order; nothing when it is no such text, a family
/// appears twice or a number is out of range.
std::optional<std::vector<FamilyDemand>> parse_demands(std::string_view text);

/// Form that parse_demands() takes, for error messages.
inline constexpr std::string_view kWantedDemands =
    "FAMILY:gpu/cpu/memory_gib[/storage_gib[/network_gbit_s[/spare]]][@speed], more of them after "
    "semicolons, each family once, no number negative and every speed above 0";

/// The parts of the text between separators; at least one.
std::vector<std::string_view> split(std::string_view text, char separator);

/// A name that demands_text() can write down: letters, digits, '-', '_' and '.'.
bool is_family_name(std::string_view name);

}  // namespace muster::replay
