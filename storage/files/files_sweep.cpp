#include "storage/files/files_sweep.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <limits>
#include <set>
#include <utility>

#include "storage/files/content_parts.hpp"
#include "storage/files/user_files.hpp"

// First the names of what stays, then a look at all contents. A tree that is named in between has
// contents that were put, or counted as put, within kContentGrace: they are younger than the sweep
// takes.

namespace muster::files {
namespace {

constexpr std::size_t kMostUsers = 1'000'000;
constexpr std::size_t kMostTrees = 10'000'000;
/// Ids that are gathered before equal ones are looked for.
constexpr std::size_t kIdsAtOnce = 1'000'000;
constexpr std::string_view kGoingSuffix = ".going";

/// A part of a sweep of one user.
class UserSweep {
 public:
  UserSweep(UserFiles& files, const SweepRules& rules) : files_(files), rules_(rules) {}

  Expected<SweepResult, FileError> run() {
    for (const auto& step : {&UserSweep::look_at_jobs, &UserSweep::look_at_stages,
                             &UserSweep::look_at_outputs, &UserSweep::name_contents}) {
      if (auto trouble = (this->*step)()) return *trouble;
      if (auto trouble = stopped()) return *trouble;
    }
    auto result = remove_contents();
    if (!result) return result;
    const std::int64_t old_s = (rules_.now - kContentGrace).time_since_epoch().count();
    for (const int folder : {files_.stages(), files_.jobs()}) {
      remove_leftovers(folder, kNewSuffix, old_s);
      remove_leftovers(folder, kGoingSuffix, old_s);
    }
    if (auto trouble = drop_old_parts(files_, old_s)) return *trouble;
    return result;
  }

 private:
  FileTrouble stopped() const {
    if (!rules_.goes_on || rules_.goes_on()) return std::nullopt;
    return Failure<FileError>{FileError::stopped, "the sweep was told to end"};
  }
  bool is_older(std::int64_t time_s, std::chrono::days keep) const {
    return time_s < (rules_.now - keep).time_since_epoch().count();
  }

  /// The trees of jobs that are not over stay; the others' notes go when they are old.
  FileTrouble look_at_jobs() {
    const auto names = names_in(files_.jobs(), kMostTrees, "jobs");
    if (!names) return names.error();
    for (const std::string& name : names.value()) {
      if (auto trouble = stopped()) return trouble;
      std::uint64_t job = 0;
      const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), job);
      if (error != std::errc{} || end != name.data() + name.size()) continue;
      const auto tree = files_.pinned(job);
      // A damaged note names nothing that could stay.
      if (!tree || !tree.value()) continue;
      struct stat status {};
      if (fstatat(files_.jobs(), name.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0) continue;
      // Most are young, and the cluster need not be asked for them.
      if (!is_older(status.st_mtim.tv_sec, rules_.stage_keep)) {
        needed_.insert(*tree.value());
        continue;
      }
      const bool is_very_old = is_older(status.st_mtim.tv_sec, kForgottenTimes * rules_.stage_keep);
      const auto needs = rules_.needs_files(job);
      if (needs.value_or(!is_very_old)) needed_.insert(*tree.value());
      // Until then a job that is taken as this one was knows its tree by the note.
      if (is_very_old && !needs.value_or(false)) unlinkat(files_.jobs(), name.c_str(), 0);
    }
    return std::nullopt;
  }

  /// Takes the name away, and looks again whether the tree was used meanwhile: a client that asks
  /// for it in between hears that it is missing, and sends it again.
  bool drop_stage(const std::string& name) {
    const std::string going = name + std::string(kGoingSuffix);
    if (renameat(files_.stages(), name.c_str(), files_.stages(), going.c_str()) != 0) return false;
    struct stat status {};
    const bool is_there =
        fstatat(files_.stages(), going.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0;
    if (is_there && !is_older(status.st_mtim.tv_sec, rules_.stage_keep)) {
      renameat(files_.stages(), going.c_str(), files_.stages(), name.c_str());
      return false;
    }
    unlinkat(files_.stages(), going.c_str(), 0);
    return true;
  }

  FileTrouble look_at_stages() {
    const auto names = names_in(files_.stages(), kMostTrees, "stages");
    if (!names) return names.error();
    for (const std::string& name : names.value()) {
      const auto id = ContentId::parse(name);
      if (!id) continue;
      struct stat status {};
      if (fstatat(files_.stages(), name.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0) continue;
      const bool is_old = is_older(status.st_mtim.tv_sec, rules_.stage_keep);
      const bool goes = is_old && !needed_.contains(id.value()) && drop_stage(name);
      if (!goes) trees_.insert(id.value());
    }
    trees_.insert(needed_.begin(), needed_.end());
    return std::nullopt;
  }

  FileTrouble look_at_outputs() {
    const auto jobs = files_.outputs().jobs();
    if (!jobs) return jobs.error();
    const std::int64_t before_s = (rules_.now - rules_.outputs_keep).time_since_epoch().count();
    for (const std::uint64_t job : jobs.value()) {
      if (auto trouble = stopped()) return trouble;
      const auto keep = [this](const Outputs& outputs) { trees_.insert(outputs.tree); };
      if (auto trouble = files_.outputs().drop(job, before_s, keep)) return trouble;
    }
    return std::nullopt;
  }

  FileTrouble name_contents() {
    std::size_t unique = 0;
    for (const ContentId& tree : trees_) {
      if (auto trouble = stopped()) return trouble;
      contents_.push_back(tree);
      const auto read = files_.read_tree(tree);
      // Nothing of it can be had without its text, or with one that is damaged.
      if (!read &&
          (read.error().code == FileError::missing || read.error().code == FileError::damaged ||
           read.error().code == FileError::invalid)) {
        continue;
      }
      if (!read) return read.error();
      const auto of_tree = read->contents();
      contents_.insert(contents_.end(), of_tree.begin(), of_tree.end());
      // Trees that have contents in common must not take memory for each of them.
      if (contents_.size() < 2 * unique + kIdsAtOnce) continue;
      make_unique();
      unique = contents_.size();
    }
    make_unique();
    return std::nullopt;
  }

  void make_unique() {
    std::sort(contents_.begin(), contents_.end());
    contents_.erase(std::unique(contents_.begin(), contents_.end()), contents_.end());
  }

  /// In one step: each would list the folder anew in which it begins.
  Expected<SweepResult, FileError> remove_contents() {
    SweepOrder order;
    order.most = std::numeric_limits<std::size_t>::max();
    order.older_than = rules_.now - kContentGrace;
    order.keep = [this](const ContentId& id) {
      // From then on all that is left stays.
      return stopped() || std::binary_search(contents_.begin(), contents_.end(), id);
    };
    const auto step = files_.contents().sweep(order);
    if (!step) return step.error();
    if (auto trouble = stopped()) return *trouble;
    SweepResult result;
    result.removed = step->removed;
    result.left = {step->seen.objects - step->removed.objects,
                   step->seen.bytes - step->removed.bytes,
                   step->seen.counted_bytes - step->removed.counted_bytes};
    return result;
  }

  UserFiles& files_;
  const SweepRules& rules_;
  std::set<ContentId> needed_;  ///< trees of jobs that are not over
  std::set<ContentId> trees_;   ///< that stay
  std::vector<ContentId> contents_;
};

}  // namespace

Expected<std::vector<std::string>, FileError> users_in(const std::filesystem::path& store) {
  const auto top = open_folder(store);
  if (!top && top.error().code == FileError::missing) return std::vector<std::string>{};
  if (!top) return top.error();
  const Descriptor users = open_entry(top->get(), kUsersFolder, O_RDONLY | O_DIRECTORY);
  if (!users && errno == ENOENT) return std::vector<std::string>{};
  if (!users) return system_failure(kUsersFolder, "opened", errno);
  return names_in(users.get(), kMostUsers, kUsersFolder);
}

Expected<SweepResult, FileError> sweep_user(const std::filesystem::path& store,
                                            const std::string& folder, const SweepRules& rules) {
  const auto files = UserFiles::open_folder_of(store, folder);
  if (!files) return files.error();
  return UserSweep(*files.value(), rules).run();
}

}  // namespace muster::files
