#pragma once

#include <string>
#include <string_view>

namespace muster::config {

/// The new name of a key of an earlier version; empty when there was no key of that name.
std::string_view new_name_of(std::string_view key);

/// Keys of earlier versions stood in that section, which does not exist any more.
bool was_section(std::string_view name);

/// The error about an old key.
std::string renamed_text(std::string_view key);

}  // namespace muster::config
