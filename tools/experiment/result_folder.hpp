#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "model/expected.hpp"

namespace muster::experiment {

enum class FolderError : std::uint8_t { unusable, locked };

/// Where an experiment keeps what its runs gave: a file a run, called by the run's key, whole or
/// not there. One process has the folder at a time; the lock goes with the process, however it
/// ends, and with it the right to what was begun.
class ResultFolder {
 public:
  /// Makes the folder where it is missing, takes the lock and removes what an interrupted process
  /// has begun and not finished.
  static Expected<ResultFolder, FolderError> open(const std::filesystem::path& folder);
  ResultFolder(ResultFolder&& other) noexcept;
  ResultFolder& operator=(ResultFolder&&) = delete;
  ~ResultFolder();

  const std::filesystem::path& path() const { return folder_; }
  /// For the output of the run; it never counts as a result.
  std::filesystem::path begun(const std::string& key, const std::string& ending) const;

  /// Keeps the result: once this says true it is on the disk, whatever happens.
  bool keep(const std::string& key, const std::string& text) const;
  /// Forgets a result, so that the run is done anew.
  void forget(const std::string& key) const;

 private:
  ResultFolder(std::filesystem::path folder, int lock) : folder_(std::move(folder)), lock_(lock) {}

  std::filesystem::path folder_;
  int lock_;
};

/// The result under the key below the folder, for which no lock is needed; nothing when there is no
/// result.
std::optional<std::string> kept_result(const std::filesystem::path& folder, const std::string& key);

/// Writes a file that is there whole or not at all, and on the disk when this says true.
bool write_durably(const std::filesystem::path& file, const std::string& text);

}  // namespace muster::experiment
