#include "workers/process/files/disk_watch.hpp"

#include <unistd.h>

#include <algorithm>
#include <utility>

#include "workers/process/progress.hpp"
#include "workers/process/quiet_thread.hpp"

// Ends one attempt at a time, the one that takes most of a full disk, and looks whether that was
// enough. Workers that share a disk agree by DiskClaims on whose it is.

namespace muster::process {
namespace {

using std::chrono::seconds;

// 1 GiB, or 5% of smaller disks.
constexpr std::uint64_t kLeastFreeBytes = std::uint64_t{1} << 30;
constexpr std::uint64_t kLeastFreeShare = 20;
/// An attempt that takes less than this part of the room that should be free is not what fills the
/// disk: it is let be.
constexpr std::uint64_t kHarmlessPart = 16;
/// Of one attempt, in one look.
constexpr std::size_t kMostEntries = 200'000;
/// Of one attempt, where somebody only wants to know.
constexpr std::size_t kMostMeasured = 20'000;
constexpr Duration kMeasureAtLeast = seconds{1};
/// An attempt that has not ended by then will not: the next one is ended.
constexpr Duration kEndsWithin = seconds{60};
// In looks: an attempt that was ended has given its room back by then, and a claim of a worker that
// is gone counts no longer.
constexpr int kRestLooks = 2;
constexpr int kFreshLooks = 4;
constexpr Duration kFreshBesides = seconds{1};

std::string computer_name() {
  char name[256] = {};
  if (gethostname(name, sizeof name - 1) != 0) return "computer";
  std::string text = name;
  std::replace(text.begin(), text.end(), '/', '-');
  return text;
}

}  // namespace

DiskWatch::DiskWatch(DiskWatchOptions options, Listener listener)
    : options_(std::move(options)), listener_(std::move(listener)) {
  thread_ = quiet_thread([this] { work(); });
}

DiskWatch::~DiskWatch() {
  {
    const std::lock_guard lock(mutex_);
    quit_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void DiskWatch::add(const AttemptKey& key, std::filesystem::path checkpoints) {
  const std::lock_guard lock(mutex_);
  attempts_[key] = std::move(checkpoints);
}

void DiskWatch::remove(const AttemptKey& key) {
  const std::lock_guard lock(mutex_);
  attempts_.erase(key);
  measured_.erase(key);
}

void DiskWatch::measure() {
  {
    const std::lock_guard lock(mutex_);
    if (measured_at_ && boot_time() - *measured_at_ < kMeasureEvery) return;
    measured_at_ = boot_time();
    wanted_ = true;
  }
  changed_.notify_all();
}

std::uint64_t DiskWatch::bytes_of(const AttemptKey& key) const {
  const std::lock_guard lock(mutex_);
  const auto found = measured_.find(key);
  return found == measured_.end() ? 0 : found->second;
}

/// Ends with the watch, and before the next look where there are very many files.
void DiskWatch::measure_all() {
  const auto room = options_.look(options_.attempts);
  if (!room) return;
  std::unique_lock lock(mutex_);
  const auto attempts = attempts_;
  const Duration until = boot_time() + std::max(options_.every, kMeasureAtLeast);
  for (const auto& [key, checkpoints] : attempts) {
    if (quit_ || boot_time() > until) return;
    lock.unlock();
    const std::uint64_t bytes =
        bytes_below(options_.attempts / name_of(key), room->device, kMostMeasured);
    lock.lock();
    if (attempts_.contains(key)) measured_[key] = bytes;
  }
}

std::string DiskWatch::full() const {
  const std::lock_guard lock(mutex_);
  return full_;
}

void DiskWatch::work() {
  for (const auto& place : {options_.attempts, options_.checkpoints}) {
    if (const auto room = options_.look(place)) claims_on(room->device).prepare();
  }
  std::unique_lock lock(mutex_);
  while (!quit_) {
    lock.unlock();
    look();
    lock.lock();
    changed_.wait_for(lock, options_.every, [this] { return quit_ || wanted_; });
    if (!std::exchange(wanted_, false)) continue;
    lock.unlock();
    measure_all();
    lock.lock();
  }
}

void DiskWatch::look() {
  // Attempts and checkpoints may lie on one disk, which is looked at once.
  std::set<std::uint64_t> seen;
  std::string full;
  for (const auto& place : {options_.attempts, options_.checkpoints}) {
    const auto room = options_.look(place);
    if (!room || !seen.insert(room->device).second) continue;
    if (!lacks_space(*room)) {
      if (claimed_.erase(room->device) > 0) claims_on(room->device).withdraw();
      continue;
    }
    if (full.empty()) {
      full = "the disk is full: " + in_words(room->free_bytes) + " left of " +
             in_words(room->total_bytes) + " on " + place.string();
    }
    act(place, *room);
  }
  bool tells = !full.empty();
  {
    const std::lock_guard lock(mutex_);
    tells |= !full_.empty();
    full_ = full;
  }
  if (tells) listener_.looked(full);
}

std::uint64_t DiskWatch::least_free(const DiskSpace& room) const {
  return options_.least_free_bytes.value_or(
      std::min(kLeastFreeBytes, room.total_bytes / kLeastFreeShare));
}

bool DiskWatch::lacks_space(const DiskSpace& room) const {
  return room.free_bytes < least_free(room);
}

// The file lies with the checkpoints, which the workers of a computer share.
DiskClaims DiskWatch::claims_on(std::uint64_t device) const {
  // Computers that share the folder have disks of the same numbers.
  const std::string name = ".disk-" + computer_name() + "-" + std::to_string(device);
  return {options_.checkpoints / name, options_.who, kFreshLooks * options_.every + kFreshBesides};
}

/// At the first look every worker says what it has, at the next one the largest attempt is ended.
void DiskWatch::act(const std::filesystem::path& place, const DiskSpace& room) {
  const DiskClaims claims = claims_on(room.device);
  if (still_ends(claims)) return;
  const auto use = largest(room.device);
  const bool first = claimed_.insert(room.device).second;
  const bool is_largest = claims.claim(use ? use->bytes() : 0, kRestLooks * options_.every);
  // At the first look others have had no time to claim.
  if (first || !is_largest || !use || use->bytes() < least_free(room) / kHarmlessPart) return;
  // Measuring takes its time.
  const auto now = options_.look(place);
  if (!now || !lacks_space(*now)) return;
  claims.ending();
  ending_ = Ending{use->key, boot_time()};
  DiskVerdict verdict{use->key, {}, use->checkpoint_bytes > use->folder_bytes};
  verdict.reason = "the disk is full: " + in_words(now->free_bytes) + " left of " +
                   in_words(now->total_bytes) + " on " + place.string() + "; ";
  verdict.reason += verdict.drop_checkpoint
                        ? "its checkpoints, now removed, took " + in_words(use->checkpoint_bytes)
                        : "the attempt's folder held " + in_words(use->folder_bytes);
  listener_.end(std::move(verdict));
}

std::optional<DiskWatch::Use> DiskWatch::largest(std::uint64_t device) const {
  std::map<AttemptKey, std::filesystem::path> attempts;
  {
    const std::lock_guard lock(mutex_);
    // A copy: measuring takes long, and add() must not wait for it.
    attempts = attempts_;
  }
  std::optional<Use> most;
  for (const auto& [key, checkpoints] : attempts) {
    if (given_up_.contains(key)) continue;
    Use use{key};
    use.folder_bytes = bytes_below(options_.attempts / name_of(key), device, kMostEntries);
    use.checkpoint_bytes = bytes_below(checkpoints, device, kMostEntries);
    if (!most || use.bytes() > most->bytes()) most = use;
  }
  return most;
}

/// Whether the attempt that was told to end has not done so yet: no worker ends another meanwhile.
bool DiskWatch::still_ends(const DiskClaims& claims) {
  if (!ending_) return false;
  {
    const std::lock_guard lock(mutex_);
    if (!attempts_.contains(ending_->key)) ending_.reset();
  }
  if (ending_ && boot_time() - ending_->since > kEndsWithin) {
    // It does not end, whatever was said to it: the next largest has its turn.
    given_up_.insert(ending_->key);
    ending_.reset();
  }
  if (ending_) claims.ending();
  return ending_.has_value();
}

}  // namespace muster::process
