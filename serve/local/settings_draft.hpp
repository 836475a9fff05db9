#pragma once

#include <sys/types.h>

#include <filesystem>
#include <string>

#include "serve/local/local_settings.hpp"

namespace muster::local {

/// Writes a file as a whole, with the given mode; empty, or why not.
std::string write_file(const std::filesystem::path& file, const std::string& text, mode_t mode);
/// Makes a rename or a new file durable that was made beside it. Empty, or why not.
std::string sync_folder_of(const std::filesystem::path& file);
/// All of a file; nothing of one that is not there.
std::string text_of(const std::filesystem::path& file);

/// The settings with what the request changes, checked as a whole in a draft beside the cluster's
/// file, which stays as it is.
Expected<Prepared, LocalError> settle(const std::filesystem::path& file,
                                      const ClusterConfig& before, const LocalRequest& request);

}  // namespace muster::local
