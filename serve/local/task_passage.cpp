// Tasks of another user (worker.task_uid, worker.task_uids) reach their files only where that user
// may pass through every folder above. passage_fault() finds the one that bars the way;
// open_passage() opens those that are the cluster's own.

#include "serve/local/task_passage.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <system_error>
#include <vector>

#include "serve/machines/task_user.hpp"

namespace muster::local {
namespace {

namespace fs = std::filesystem;

bool has_other_user(const ClusterConfig& config) {
  return machines::other_task_user(config.worker).has_value();
}

bool is_inside(const fs::path& place, const fs::path& dir) {
  // With the slash: /a/bc is not inside /a/b.
  return place == dir || place.string().starts_with(dir.string() + "/");
}

}  // namespace

std::string passage_fault(const fs::path& dir, const std::vector<fs::path>& own,
                          const ClusterConfig& config) {
  const auto user = machines::other_task_user(config.worker);
  if (!user) return {};
  fs::path top = dir;
  for (const fs::path& folder : own) {
    if (is_inside(top, folder)) top = folder;
  }
  std::vector<fs::path> places{top.parent_path()};
  for (const fs::path& place : {config.state, config.worker.checkpoints, config.worker.attempts}) {
    if (!place.empty() && !is_inside(place, dir)) places.push_back(place.parent_path());
  }
  for (const fs::path& place : places) {
    const auto barred = machines::barred_on_way(place, *user);
    if (!barred) continue;
    std::string given = machines::task_user_setting(config.worker);
    const std::string said = given;
    given.erase(std::remove(given.begin(), given.end(), ' '), given.end());
    return fmt::format("worker.{}: {}; make a cluster elsewhere: {}", said,
                       machines::barred_text(*barred, *user), elsewhere(*user, given));
  }
  return {};
}

std::string open_passage(const fs::path& dir, const std::vector<fs::path>& own,
                         const ClusterConfig& config) {
  constexpr auto kThrough = fs::perms::group_exec | fs::perms::others_exec;
  const bool other_user = has_other_user(config);
  std::error_code bad;
  fs::permissions(dir, fs::perms::owner_all | (other_user ? kThrough : fs::perms::none), bad);
  if (bad) return dir.string() + ": " + bad.message();
  for (const fs::path& folder : own) {
    if (!other_user || !fs::exists(folder, bad)) continue;
    fs::permissions(folder, kThrough, fs::perm_options::add, bad);
    if (bad) return folder.string() + ": " + bad.message();
  }
  return {};
}

std::string elsewhere(std::uint32_t user, const std::string& setting) {
  const std::string set = " --set worker." + setting;
  for (const char* folder : {"/var/lib", "/srv", "/opt"}) {
    std::error_code none;
    if (!fs::is_directory(folder, none) || machines::barred_on_way(folder, user)) continue;
    return fmt::format("muster up --dir {}/muster-local{}", folder, set);
  }
  return "muster up --dir FOLDER" + set;
}

}  // namespace muster::local
