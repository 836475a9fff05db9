#include "serve/local/cluster_place.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <chrono>
#include <fstream>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>

#include "config/cluster_folder.hpp"
#include "config/shipped_file.hpp"
#include "serve/local/local_cluster.hpp"
#include "serve/local/settings_draft.hpp"

namespace muster::local {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kLongestId = 100;
constexpr int kTries = 10;
constexpr auto kNextTry = std::chrono::milliseconds{20};

/// A number that no other cluster has.
std::string new_id() {
  std::string id;
  std::ifstream("/proc/sys/kernel/random/uuid") >> id;
  return id;
}

/// Where a cluster of an earlier version was made, whose settings name its folder; empty: this
/// folder's settings do not.
fs::path folder_in_settings(const fs::path& dir) {
  const auto config = load_cluster_config(LocalCluster(dir).config_file(), {});
  if (!config) return {};
  const fs::path folder = config->state.parent_path();
  const bool as_made = config->state == folder / "state" && config->api_token == folder / "token" &&
                       fs::exists(dir / "state") && fs::exists(dir / "token");
  return as_made ? folder : fs::path();
}

/// Where the cluster was at home; empty: that is not known, or it is a new one.
fs::path former_folder(const fs::path& dir) {
  const auto place = place_of(dir);
  return place ? place->folder : folder_in_settings(dir);
}

void replace_all(std::string& text, const std::string& old, const std::string& by) {
  for (auto at = text.find(old); at != std::string::npos; at = text.find(old, at + by.size())) {
    text.replace(at, old.size(), by);
  }
}

/// Changes a file in place, whose comments stay; empty, or why not.
std::string change_file(const fs::path& file,
                        const std::vector<std::pair<std::string, std::string>>& by) {
  const std::string before = text_of(file);
  std::string text = before;
  for (const auto& [old, now] : by) replace_all(text, old, now);
  return text == before ? std::string{} : write_file(file, text, 0600);
}

/// A catalog whose file is gone, with a build or a checkout, is found again by its name.
std::string find_catalog(const fs::path& dir) {
  const fs::path file = LocalCluster(dir).config_file();
  auto config = load_cluster_config(file, {});
  if (!config || fs::exists(config->catalog)) return {};
  const fs::path before = config->catalog;
  // One that is beside the settings is taken as it is: somebody may have changed it.
  if (fs::exists(dir / before.filename())) {
    return change_file(file, {{before.string(), before.filename().string()}});
  }
  for (const char* folder : {"cluster", "catalogs"}) {
    const std::string name = (fs::path(folder) / before.filename()).string();
    config->catalog = shipped_file(name);
    if (config->catalog.empty()) continue;
    const std::string trouble = keep_catalog(dir, config.value());
    if (!trouble.empty() || config->catalog.parent_path() != dir) return trouble;
    return change_file(file, {{before.string(), before.filename().string()}});
  }
  return {};
}

/// One file for a cluster and its copies, wherever they are.
std::string twin_file(const std::string& id) {
  std::string name = id.substr(0, kLongestId);
  for (char& c : name) {
    if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '-';
  }
  return fmt::format("/tmp/muster-{}-{}.keeper", geteuid(), name);
}

/// This user's own, or -1. Another user may have made one of that name, which says nothing.
int open_twin_file(const std::string& id, int how) {
  const int fd = open(twin_file(id).c_str(), how | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600);
  if (fd < 0) return -1;
  struct stat found {};
  if (fstat(fd, &found) == 0 && S_ISREG(found.st_mode) && found.st_uid == geteuid()) return fd;
  close(fd);
  return -1;
}

bool is_linked(int fd) {
  struct stat found {};
  return fstat(fd, &found) == 0 && found.st_nlink > 0;
}

/// The text of the keeper that holds the file.
std::string holder_in(int fd) {
  std::array<char, 4096> text{};
  const ssize_t got = pread(fd, text.data(), text.size(), 0);
  const std::string all(text.data(), static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
  const std::string line = all.substr(0, all.find('\n'));
  return line.empty() ? "another keeper" : line;
}

}  // namespace

std::string copy_fault(const fs::path& dir) {
  auto original = original_of(dir);
  const fs::path former = former_folder(dir);
  // One of an earlier version has no number to compare: its folder is known by its settings.
  const bool unnumbered = !former.empty() && !place_of(dir) && !is_one_folder(former, dir);
  if (unnumbered && LocalCluster(former).exists()) original = former;
  if (original) return "this folder is " + copy_text(*original);
  const auto place = place_of(dir);
  if (!place) return {};
  const std::string twin = twin_of(place->id);
  return twin.empty() ? twin : "a copy of this cluster runs already: " + twin;
}

std::string left_fault(const fs::path& dir) {
  const auto place = place_of(dir);
  if (!place || is_one_folder(place->folder, dir)) return {};
  return fmt::format(
      "it was moved here from {} while it ran, and its processes write there: `muster down` first, "
      "then `muster up`",
      place->folder.string());
}

bool is_moved(const fs::path& dir) {
  const fs::path former = former_folder(dir);
  return !former.empty() && !is_one_folder(former, dir);
}

std::string settle_place(const fs::path& dir) {
  if (!is_moved(dir)) return find_catalog(dir);
  const std::string former = former_folder(dir).string();
  std::string trouble;
  // Before the settings, from which the former folder would not be known any more.
  if (!place_of(dir)) {
    trouble = write_file(dir / kPlaceFile, place_text({new_id(), former}), 0600);
  }
  for (const char* file : {"cluster.toml", "cluster.toml.before", "client.json"}) {
    if (!trouble.empty()) return trouble;
    // From the file's folder on where a value begins, and as it is now where one goes on.
    trouble = change_file(dir / file, {{"\"" + former + "/", "\""},
                                       {"'" + former + "/", "'"},
                                       {"=" + former + "/", "=" + dir.string() + "/"}});
  }
  return trouble.empty() ? find_catalog(dir) : trouble;
}

std::string take_place(const fs::path& dir) {
  auto place = place_of(dir);
  if (place && is_one_folder(place->folder, dir)) return {};
  if (std::string trouble = mark_keeper(dir, false); !trouble.empty()) return trouble;
  std::error_code none;
  const fs::path direct = fs::weakly_canonical(dir, none);
  return write_file(dir / kPlaceFile,
                    place_text({place ? place->id : new_id(), none ? dir : direct}), 0600);
}

std::string keep_catalog(const fs::path& dir, ClusterConfig& config) {
  const fs::path shipped = catalog_path(config.catalog);
  if (!is_shipped(shipped)) return {};
  const fs::path own = dir / shipped.filename();
  const std::string text = text_of(shipped);
  // One that somebody has changed is theirs.
  if (fs::exists(own) && text_of(own) != text) return {};
  if (std::string trouble = write_file(own, text, 0600); !trouble.empty()) return trouble;
  config.catalog = own;
  return {};
}

std::string twin_of(const std::string& id) {
  const int fd = open_twin_file(id, O_RDONLY);
  if (fd < 0) return {};
  const std::string holder = flock(fd, LOCK_SH | LOCK_NB) == 0 ? std::string{} : holder_in(fd);
  close(fd);
  return holder;
}

TwinLock::TwinLock(const std::string& id, const fs::path& dir) {
  for (int tries = kTries; tries > 0; --tries) {
    file_ = open_twin_file(id, O_RDWR | O_CREAT);
    if (file_ < 0) return;  // no lock is no reason against a start
    if (flock(file_, LOCK_EX | LOCK_NB) == 0 && is_linked(file_)) {
      const std::string text = fmt::format("in {} (process {})\n", dir.string(), getpid());
      name_ = twin_file(id);
      holder_.clear();
      // The lock counts, and the text only names who has it.
      const bool is_empty = ftruncate(file_, 0) == 0;
      static_cast<void>(is_empty && write(file_, text.data(), text.size()) > 0);
      return;
    }
    // Somebody may just be looking whether it is held, or have ended.
    holder_ = holder_in(file_);
    close(std::exchange(file_, -1));
    std::this_thread::sleep_for(kNextTry);
  }
}

TwinLock::~TwinLock() {
  if (file_ < 0) return;
  // Before the lock goes: a process that has opened the file sees that it is gone.
  unlink(name_.c_str());
  close(file_);
}

}  // namespace muster::local
