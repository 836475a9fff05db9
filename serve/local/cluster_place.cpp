#include "serve/local/cluster_place.hpp"

#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>
#include <optional>
#include <system_error>

#include "config/cluster_folder.hpp"
#include "config/shipped_file.hpp"
#include "serve/local/local_cluster.hpp"
#include "serve/local/settings_draft.hpp"

namespace muster::local {
namespace {

namespace fs = std::filesystem;

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

std::string words_of(pid_t process) {
  std::ifstream in(fmt::format("/proc/{}/cmdline", process), std::ios::binary);
  std::string words{std::istreambuf_iterator<char>(in), {}};
  while (!words.empty() && words.back() == '\0') words.pop_back();
  return words;
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
  const TwinLock twin(place->id);
  return twin.holder().empty() ? std::string{}
                               : "a copy of this cluster runs already: " + twin.holder();
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

TwinLock::TwinLock(const std::string& id)
    : socket_(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  // In the kernel's own name space: no file is left behind, and the name goes with its process.
  const std::string name = "muster-cluster-" + id;
  const std::size_t size = std::min(name.size(), sizeof address.sun_path - 1);
  std::memcpy(address.sun_path + 1, name.data(), size);
  const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + size);
  const auto* where = reinterpret_cast<const sockaddr*>(&address);
  if (bind(socket_, where, length) == 0) {
    listen(socket_, 1);
    return;
  }
  if (errno != EADDRINUSE) return;  // no lock is no reason against a start
  holder_ = "another keeper";
  ucred peer{};
  socklen_t peer_size = sizeof peer;
  if (connect(socket_, where, length) != 0 ||
      getsockopt(socket_, SOL_SOCKET, SO_PEERCRED, &peer, &peer_size) != 0) {
    return;
  }
  // muster-full keeper DIR
  const std::string words = words_of(peer.pid);
  holder_ = fmt::format("in {} (process {})", words.substr(words.rfind('\0') + 1), peer.pid);
}

TwinLock::~TwinLock() {
  if (socket_ >= 0) close(socket_);
}

}  // namespace muster::local
