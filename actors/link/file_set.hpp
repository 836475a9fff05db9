#pragma once

#include <sys/types.h>

#include <filesystem>
#include <string>
#include <vector>

#include "actors/link/pki.hpp"

namespace muster {

/// A file to be written whole.
struct NewFile {
  std::filesystem::path path;
  std::string content;
  mode_t mode = 0644;
};

/// Writes all files or none of them: each is written and synced under another name first. Missing
/// directories are made with mode 0700. Without `replace` a file that is there is left alone and
/// fails the whole; with it, files that are replaced come back when a later one cannot be put in
/// place.
Expected<bool, PkiError> write_files(const std::vector<NewFile>& files, bool replace);

}  // namespace muster
