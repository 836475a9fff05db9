#include "tools/experiment/result_folder.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>
#include <string_view>
#include <system_error>
#include <utility>

// Results as files. Written beside their place, synced, renamed, and the folder synced: a process
// that is killed at any instruction, or a power cut, leaves either the whole result or none.

namespace muster::experiment {
namespace {

namespace fs = std::filesystem;

constexpr const char* kResults = "runs";
constexpr const char* kBegun = "begun";

bool write_all(int file, std::string_view text) {
  while (!text.empty()) {
    const ssize_t done = write(file, text.data(), text.size());
    if (done < 0 && errno == EINTR) continue;
    if (done <= 0) return false;
    text.remove_prefix(static_cast<std::size_t>(done));
  }
  return fsync(file) == 0;
}

bool sync_folder(const fs::path& folder) {
  const int file = open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (file < 0) return false;
  const bool synced = fsync(file) == 0;
  close(file);
  return synced;
}

fs::path result_file(const fs::path& folder, const std::string& key) {
  return folder / kResults / (key + ".json");
}

}  // namespace

bool write_durably(const fs::path& file, const std::string& text) {
  fs::path part = file;
  part += ".part";
  const int out = open(part.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  bool written = out >= 0 && write_all(out, text);
  if (out >= 0) written = close(out) == 0 && written;
  std::error_code bad;
  if (written) fs::rename(part, file, bad);
  if (written && !bad) return sync_folder(file.has_parent_path() ? file.parent_path() : ".");
  std::error_code ignored;
  fs::remove(part, ignored);
  return false;
}

Expected<ResultFolder, FolderError> ResultFolder::open(const fs::path& folder) {
  std::error_code bad;
  fs::create_directories(folder / kResults, bad);
  if (!bad) fs::create_directories(folder / kBegun, bad);
  const fs::path file = folder / "lock";
  const int lock = bad ? -1 : ::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
  if (lock < 0) {
    const std::string why = bad ? bad.message() : std::strerror(errno);
    return Failure<FolderError>{FolderError::unusable,
                                fmt::format("cannot write to {}: {}", folder.string(), why)};
  }
  if (flock(lock, LOCK_EX | LOCK_NB) != 0) {
    close(lock);
    return Failure<FolderError>{
        FolderError::locked,
        fmt::format("another muster experiment works in {}; wait for it, or choose another folder "
                    "with --out",
                    folder.string())};
  }
  // Under the lock: files there were begun by a process that is gone.
  for (const char* below : {kBegun, kResults}) {
    for (const auto& entry : fs::directory_iterator(folder / below, bad)) {
      if (below == kBegun || entry.path().extension() == ".part") fs::remove(entry.path(), bad);
    }
  }
  return ResultFolder(folder, lock);
}

ResultFolder::ResultFolder(ResultFolder&& other) noexcept
    : folder_(std::move(other.folder_)), lock_(std::exchange(other.lock_, -1)) {}

ResultFolder::~ResultFolder() {
  if (lock_ >= 0) close(lock_);
}

fs::path ResultFolder::begun(const std::string& key, const std::string& ending) const {
  return folder_ / kBegun / (key + ending);
}

bool ResultFolder::keep(const std::string& key, const std::string& text) const {
  return write_durably(result_file(folder_, key), text);
}

void ResultFolder::forget(const std::string& key) const {
  std::error_code ignored;
  fs::remove(result_file(folder_, key), ignored);
}

std::optional<std::string> kept_result(const fs::path& folder, const std::string& key) {
  std::ifstream in(result_file(folder, key), std::ios::binary);
  std::ostringstream text;
  if (in) text << in.rdbuf();
  if (!in) return std::nullopt;
  return std::move(text).str();
}

}  // namespace muster::experiment
