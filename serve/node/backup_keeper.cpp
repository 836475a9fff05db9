#include "serve/node/backup_keeper.hpp"

#include <fmt/format.h>

#include <utility>

#include "storage/stores/backup_owner.hpp"

namespace muster {

BackupKeeper::BackupKeeper(BackupPlan plan, Host host)
    : plan_(std::move(plan)), host_(std::move(host)), thread_([this] { run(); }) {}

BackupKeeper::~BackupKeeper() {
  {
    const std::lock_guard lock(mutex_);
    stops_ = true;
  }
  ends_.notify_one();
  thread_.join();
}

std::string BackupKeeper::trouble() const {
  const std::lock_guard lock(mutex_);
  return trouble_;
}

/// Waits by the steady clock: a wall's clock that is set makes no backup late.
void BackupKeeper::run() {
  Duration wait = until_first_backup(backups_in(plan_.folder()), host_.clock(), plan_.every);
  // Backups of another cluster say nothing of when this one's is due: that is said at once.
  std::error_code bad;
  if (std::filesystem::is_directory(plan_.folder(), bad) && own_folder(plan_)) wait = {};
  for (;;) {
    {
      std::unique_lock lock(mutex_);
      if (ends_.wait_for(lock, wait, [this] { return stops_.load(); })) return;
    }
    wait = make();
  }
}

Duration BackupKeeper::make() {
  const StoreTrouble failed = make_backup(plan_, host_.clock(), stops_);
  // It was given up: the node's end is no trouble.
  if (stops_) return {};
  {
    const std::lock_guard lock(mutex_);
    trouble_ = failed ? "backup of the stores: " + failed->message : std::string{};
  }
  if (failed) {
    host_.warn("backup of the stores: " + failed->message);
    return until_backup_again(plan_.every);
  }
  host_.note("the stores have a backup in " + plan_.folder().string());
  return plan_.every;
}

}  // namespace muster
