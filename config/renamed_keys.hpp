#pragma once

#include <string>
#include <string_view>

namespace muster::config {

/// What a key of an earlier version is called now; empty when there was none of that name.
std::string_view new_name_of(std::string_view key);

/// Keys of earlier versions stood in that section, which is none any more.
bool was_section(std::string_view name);

/// The error about an old key.
std::string renamed_text(std::string_view key);

}  // namespace muster::config
