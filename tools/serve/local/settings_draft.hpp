#pragma once

#include <sys/types.h>

#include <filesystem>
#include <string>
#include <vector>

#include "tools/serve/local/local_settings.hpp"

namespace muster::local {

/// Writes a file as a whole, with the given mode; empty, or why not.
std::string write_file(const std::filesystem::path& file, const std::string& text, mode_t mode);
/// Makes a rename or a new file durable that was made beside it. Empty, or why not.
std::string sync_folder_of(const std::filesystem::path& file);
/// All of a file; nothing of one that is not there.
std::string text_of(const std::filesystem::path& file);

/// A cluster file that is checked as a whole before it replaces another one. What it leaves in the
/// folder, and folders that were made for it and are still empty, go with it.
class SettingsDraft {
 public:
  /// `file`: that it is to replace.
  SettingsDraft(std::filesystem::path dir, std::filesystem::path file);
  SettingsDraft(const SettingsDraft&) = delete;
  SettingsDraft& operator=(const SettingsDraft&) = delete;
  ~SettingsDraft();

  /// Why there is no folder for it; empty: there is one.
  const std::string& trouble() const { return trouble_; }
  /// The folder and those above it, from the top on, as far as they were made for it.
  const std::vector<std::filesystem::path>& made() const { return made_; }
  /// The settings with what the request changes.
  Expected<Prepared, LocalError> settle(const ClusterConfig& before,
                                        const LocalRequest& request) const;

 private:
  std::filesystem::path path() const { return file_.string() + ".next"; }

  std::filesystem::path dir_;
  std::filesystem::path file_;
  std::vector<std::filesystem::path> made_;
  std::string trouble_;
};

}  // namespace muster::local
