#pragma once

#include <filesystem>
#include <string>

namespace muster::local {

/// A file that comes with Muster, such as "cluster/local-types.csv": beside the installed command,
/// or in the source tree it was built from. Empty: it is not there.
std::filesystem::path shipped_file(const std::filesystem::path& program, const std::string& name);

/// Whether it is such a file by its place.
bool is_shipped(const std::filesystem::path& program, const std::filesystem::path& file);

}  // namespace muster::local
