#include "workers/process/files/attempt_sweeper.hpp"

#include <algorithm>
#include <cstdio>
#include <system_error>
#include <utility>

#include "workers/process/progress.hpp"
#include "workers/process/quiet_thread.hpp"

namespace muster::process {
namespace {

/// Long enough for what was written to be fetched by the master's node.
constexpr Duration kKeepInHurry = std::chrono::minutes{1};

}  // namespace

AttemptSweeper::AttemptSweeper(std::filesystem::path attempts, Bounds bounds)
    : attempts_(std::move(attempts)), bounds_(bounds) {
  thread_ = quiet_thread([this] { work(); });
}

AttemptSweeper::~AttemptSweeper() {
  {
    const std::lock_guard lock(mutex_);
    quit_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void AttemptSweeper::acknowledge(const AttemptKey& key) {
  const Descriptor folder = open_folder(attempts_ / name_of(key));
  if (!folder) return;
  // A mark that cannot be made only means that a next process of this worker reports once more.
  renameat(folder.get(), kResultFile, folder.get(), kAcknowledgedFile);
  {
    const std::lock_guard lock(mutex_);
    acknowledged_.push_back({key, boot_time() + bounds_.keep});
  }
  changed_.notify_all();
}

void AttemptSweeper::hurry() {
  {
    const std::lock_guard lock(mutex_);
    // Moves each time forward as if `keep` had been a minute; order by age stays.
    const Duration sooner = std::max(bounds_.keep - kKeepInHurry, Duration::zero());
    const Duration soon = boot_time() + std::min(bounds_.keep, kKeepInHurry);
    for (Acknowledged& each : acknowledged_) {
      if (each.due > soon) each.due -= sooner;
    }
    hurries_ = true;
  }
  changed_.notify_all();
}

/// Removes one at a time; false when all are gone.
bool AttemptSweeper::remove_work_folders(std::unique_lock<std::mutex>& lock) {
  for (Acknowledged& each : acknowledged_) {
    if (!std::exchange(each.has_work, false)) continue;
    const std::filesystem::path folder = attempts_ / name_of(each.key) / kWorkFolder;
    // Unlocked while files are removed, which may take long; the list may change meanwhile, so the
    // caller begins again from its front.
    lock.unlock();
    std::error_code ignored;
    std::filesystem::remove_all(folder, ignored);
    lock.lock();
    return true;
  }
  return false;
}

void AttemptSweeper::work() {
  std::unique_lock lock(mutex_);
  while (!quit_) {
    if (hurries_) {
      hurries_ = remove_work_folders(lock);
      continue;
    }
    if (acknowledged_.empty()) {
      changed_.wait(lock);
      continue;
    }
    const Duration left = acknowledged_.front().due - boot_time();
    if (acknowledged_.size() <= bounds_.most && left > Duration::zero()) {
      changed_.wait_for(lock, left);
      continue;
    }
    const std::filesystem::path folder = attempts_ / name_of(acknowledged_.front().key);
    acknowledged_.pop_front();
    lock.unlock();
    std::error_code ignored;
    std::filesystem::remove_all(folder, ignored);
    lock.lock();
  }
}

}  // namespace muster::process
