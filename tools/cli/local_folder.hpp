#pragma once

#include <filesystem>
#include <string>

namespace muster::cli {

/// The folder that `--dir DIR` of `up` and `down` names, as an absolute path without a slash at its
/// end; without DIR that of MUSTER_CLUSTER, else the user's own. Empty: the user has no home.
std::filesystem::path local_folder(const std::string& dir);

}  // namespace muster::cli
