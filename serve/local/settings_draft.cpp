#include "serve/local/settings_draft.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <utility>

#include "actors/time/clock_wall.hpp"

namespace muster::local {

namespace fs = std::filesystem;

std::string write_file(const fs::path& file, const std::string& text, mode_t mode) {
  const fs::path fresh = file.string() + ".new";
  const int fd = open(fresh.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode);
  if (fd < 0) return fresh.string() + ": " + std::strerror(errno);
  const bool written = write(fd, text.data(), text.size()) == static_cast<ssize_t>(text.size());
  const bool kept = fsync(fd) == 0;
  close(fd);
  if (!written || !kept || rename(fresh.c_str(), file.c_str()) != 0) {
    return file.string() + ": " + std::strerror(errno);
  }
  return sync_folder_of(file);
}

std::string sync_folder_of(const fs::path& file) {
  const fs::path folder = file.parent_path();
  const int fd = open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  // Without it a power cut could bring back what a rename has replaced.
  const bool kept = fd >= 0 && fsync(fd) == 0;
  const int error = errno;
  if (fd >= 0) close(fd);
  return kept ? std::string{} : folder.string() + ": " + std::strerror(error);
}

std::string text_of(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

Expected<Prepared, LocalError> settle(const fs::path& file, const ClusterConfig& before,
                                      const LocalRequest& request) {
  Prepared wanted{before};
  auto changes = apply_flags(request, wall_now(), wanted.config);
  if (!changes) return changes.error();
  wanted.changes = std::move(changes).value();
  const std::string draft = file.string() + ".next";
  std::string trouble = write_file(draft, cluster_config_text(wanted.config), 0600);
  auto checked = load_cluster_config(draft, request.overrides);
  std::error_code none;
  fs::remove(draft, none);
  if (!trouble.empty()) return Failure<LocalError>{LocalError::failed, std::move(trouble)};
  if (!checked) {
    std::string text = checked.error().message;
    for (auto at = text.find(draft); at != std::string::npos; at = text.find(draft)) {
      text.replace(at, draft.size(), file.string());
    }
    return Failure<LocalError>{LocalError::bad_request, std::move(text)};
  }
  for (SettingChange& each : changes_by(request.overrides, wanted.config, checked.value())) {
    wanted.changes.push_back(std::move(each));
  }
  wanted.config = std::move(checked).value();
  wanted.config.file = file;
  return wanted;
}

}  // namespace muster::local
