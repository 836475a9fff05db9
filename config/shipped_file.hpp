#pragma once

#include <filesystem>
#include <string>
#include <vector>

// Files that come with Muster: beside the installed command, in share/muster, or in the folder
// config of the source tree that it was built from.

namespace muster {

/// Such a file, like "cluster/local-types.csv". Empty: it is not there.
std::filesystem::path shipped_file(const std::string& name);

/// Whether it is such a file by its place.
bool is_shipped(const std::filesystem::path& file);

/// The shipped catalog of that name, where the path ends in a plain name like "ec2-eva" and there
/// is no such file; else the path.
std::filesystem::path catalog_path(const std::filesystem::path& file);

/// The shipped series of prices of that name, likewise.
std::filesystem::path prices_path(const std::filesystem::path& file);

/// The names of shipped catalogs.
std::vector<std::string> shipped_catalogs();

}  // namespace muster
