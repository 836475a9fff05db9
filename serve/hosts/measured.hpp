#pragma once

#include <filesystem>

#include "serve/hosts/join_protocol.hpp"

namespace muster::hosts {

/// Disk of the folder's file system and, where `nvidia-smi` says so, GPUs. Cores and memory are
/// left as they are.
void measure_rest(const std::filesystem::path& folder, Measured& has);

}  // namespace muster::hosts
