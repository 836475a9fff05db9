#include "storage/stores/backup_folder.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <utility>

#include "storage/stores/backup_owner.hpp"
#include "storage/stores/store_backup.hpp"
#include "storage/stores/store_folder.hpp"

// A backup is made under the name of one that is not complete, and gets its own when the disk has
// all of it; one that is removed gets the other name first. So a folder with the name of a backup
// is a complete one, whenever a crash comes.

namespace muster {
namespace {

namespace fs = std::filesystem;
using std::chrono::sys_seconds;

constexpr const char* kPartial = ".partial";
/// After a failure: a disk that was full for a moment shall not cost a day's backup.
constexpr Duration kTryAgain = std::chrono::minutes{10};
/// Of the years that a backup's name may have: a clock that was far off once must not make names
/// that no later one can follow.
constexpr int kFirstYear = 2000;
constexpr int kLastYear = 2199;

Failure<StoreError> unwritable(const fs::path& path, const std::string& why) {
  return {StoreError::unwritable, path.string() + ": " + why};
}

bool is_partial(const fs::path& entry) {
  return entry.extension() == kPartial && time_of_backup(entry.stem().string()).has_value();
}

fs::path partial_of(const fs::path& backup) {
  return backup.string() + kPartial;
}

/// Those that a crash or a failure has left.
StoreTrouble remove_partials(const fs::path& folder) {
  std::error_code bad;
  std::vector<fs::path> partials;
  for (fs::directory_iterator entry(folder, bad), end; !bad && entry != end; entry.increment(bad)) {
    if (is_partial(entry->path())) partials.push_back(entry->path());
  }
  for (const fs::path& partial : partials) {
    if (!bad) fs::remove_all(partial, bad);
  }
  if (bad) return unwritable(folder, bad.message());
  return std::nullopt;
}

/// The folder, with its name on the disk. Stores have what users put into their jobs' environment:
/// no other user may look.
StoreTrouble make_folder(const fs::path& folder) {
  std::error_code bad;
  fs::create_directory(folder, bad);
  if (!bad) fs::permissions(folder, fs::perms::owner_all, bad);
  if (bad) return unwritable(folder, bad.message());
  if (!sync_folder(folder.parent_path())) return unwritable(folder.parent_path(), "not synced");
  return std::nullopt;
}

StoreTrouble make_folders(const BackupPlan& plan) {
  std::error_code bad;
  if (!fs::is_directory(plan.to, bad)) {
    return unwritable(plan.to, "backup.to has to be a folder that is there" +
                                   (bad ? ": " + bad.message() : std::string{}));
  }
  fs::path folder = plan.to;
  for (const fs::path& part : plan.own) {
    folder /= part;
    if (auto trouble = make_folder(folder)) return trouble;
  }
  return std::nullopt;
}

StoreTrouble copy_all(const BackupPlan& plan, const fs::path& to, const std::atomic<bool>& stop) {
  StoreOptions options;
  options.read_only = true;
  for (const fs::path& store : plan.stores) {
    const auto source = Store::open(store, options);
    if (!source) return source.error();
    const fs::path copy = to / store.filename();
    if (auto trouble = copy_store(*source.value(), copy, CopyFor::keeping, &stop)) return trouble;
  }
  return std::nullopt;
}

/// The oldest first, so that a crash leaves the newest.
StoreTrouble remove_oldest(const BackupPlan& plan) {
  std::vector<sys_seconds> made = backups_in(plan.folder());
  const std::size_t keep = std::max(plan.keep, 1U);
  if (made.size() <= keep) return std::nullopt;
  made.resize(made.size() - keep);
  std::error_code bad;
  for (const sys_seconds at : made) {
    const fs::path backup = plan.folder() / backup_name(at);
    fs::rename(backup, partial_of(backup), bad);
    if (!bad) fs::remove_all(partial_of(backup), bad);
    if (bad) return unwritable(backup, "cannot be removed: " + bad.message());
  }
  return std::nullopt;
}

}  // namespace

std::string backup_name(sys_seconds at) {
  return fmt::format("{:%Y-%m-%dT%H-%M-%SZ}",
                     fmt::gmtime(std::chrono::system_clock::to_time_t(at)));
}

std::optional<sys_seconds> time_of_backup(const std::string& name) {
  using namespace std::chrono;
  int y = 0, hour = 0, minute = 0, second = 0;
  unsigned mon = 0, d = 0;
  if (std::sscanf(name.c_str(), "%4d-%2u-%2uT%2d-%2d-%2dZ", &y, &mon, &d, &hour, &minute,
                  &second) != 6) {
    return std::nullopt;
  }
  const year_month_day date{year{y}, month{mon}, day{d}};
  if (!date.ok() || y < kFirstYear || y > kLastYear) return std::nullopt;
  const sys_seconds at = sys_days{date} + hours{hour} + minutes{minute} + seconds{second};
  // Only a name that was made by this program, which removes no folder but its own.
  if (backup_name(at) != name) return std::nullopt;
  return at;
}

std::vector<sys_seconds> backups_in(const fs::path& folder) {
  std::vector<sys_seconds> made;
  std::error_code bad;
  for (fs::directory_iterator entry(folder, bad), end; !bad && entry != end; entry.increment(bad)) {
    if (const auto at = time_of_backup(entry->path().filename().string())) made.push_back(*at);
  }
  std::sort(made.begin(), made.end());
  return made;
}

Duration until_first_backup(const std::vector<sys_seconds>& made, sys_seconds now, Duration every) {
  if (made.empty()) return Duration{};
  // In seconds: a clock may be further off than nanoseconds count.
  const std::chrono::seconds age = now - made.back();
  if (age.count() <= 0) return every;
  return age >= std::chrono::ceil<std::chrono::seconds>(every) ? Duration{} : every - age;
}

Duration until_backup_again(Duration every) {
  return std::min(every, kTryAgain);
}

StoreTrouble make_backup(const BackupPlan& plan, sys_seconds now, const std::atomic<bool>& stop) {
  if (auto trouble = make_folders(plan)) return trouble;
  if (auto trouble = own_folder(plan)) return trouble;
  const fs::path folder = plan.folder();
  // A folder that cannot be removed keeps no newer backup from being made.
  const StoreTrouble left = remove_partials(folder);
  // A clock that was put back must not make the newest backup the first to be removed.
  const std::vector<sys_seconds> made = backups_in(folder);
  if (!made.empty()) now = std::max(now, made.back() + std::chrono::seconds{1});
  const fs::path backup = folder / backup_name(now);
  const fs::path partial = partial_of(backup);
  StoreTrouble trouble = make_folder(partial);
  if (!trouble) trouble = copy_all(plan, partial, stop);
  std::error_code bad;
  if (!trouble && !sync_folder(partial)) trouble = unwritable(partial, "not synced");
  if (!trouble) {
    fs::rename(partial, backup, bad);
    if (bad) trouble = unwritable(partial, bad.message());
  }
  if (trouble) {
    fs::remove_all(partial, bad);
    return trouble;
  }
  // Before an older one goes: a power cut must not leave neither.
  if (!sync_folder(folder)) return unwritable(folder, "not synced");
  return left ? left : remove_oldest(plan);
}

}  // namespace muster
