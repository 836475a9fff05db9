#include "workers/process/files/disk_claims.hpp"

#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <ctime>
#include <optional>
#include <utility>

#include "workers/process/descriptor.hpp"
#include "workers/process/progress.hpp"

namespace muster::process {
namespace {

/// A file of one block. The first entry is the last end, of any worker; an unused claim has no
/// time. Times are since the computer's start: later ones than now are of an earlier start.
struct Entry {
  std::uint64_t who = 0;
  std::uint64_t bytes = 0;
  std::int64_t at_ns = 0;
};
constexpr std::size_t kEntries = 170;
using Entries = std::array<Entry, kEntries>;
static_assert(sizeof(Entries) <= 4096);

// A worker holds the lock for as long as a read and a write take: 0.2 s are enough, and a worker
// that was stopped in between must not stop the others.
constexpr int kLockTries = 20;
constexpr timespec kLockPause{0, 10'000'000};

bool within(const Entry& entry, Duration span) {
  const Duration at{entry.at_ns};
  const Duration now = boot_time();
  return entry.at_ns > 0 && at <= now && now - at < span;
}

/// The file, locked; nothing when another keeps it or it cannot be opened.
class Table {
 public:
  explicit Table(const std::filesystem::path& path)
      : file_(open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600)) {
    for (int i = 0; file_ && flock(file_.get(), LOCK_EX | LOCK_NB) != 0; ++i) {
      if (i == kLockTries) {
        file_.reset();
        return;
      }
      nanosleep(&kLockPause, nullptr);
    }
    if (!file_) return;
    // One that is new, or was cut, has nothing in it.
    // Read and written as a whole block, which is there already: it needs no room on a full disk.
    const ssize_t got = pread(file_.get(), entries_.data(), sizeof entries_, 0);
    if (got != static_cast<ssize_t>(sizeof entries_)) entries_ = {};
  }
  explicit operator bool() const { return static_cast<bool>(file_); }
  Entries& entries() { return entries_; }
  bool write() {
    const ssize_t put = pwrite(file_.get(), entries_.data(), sizeof entries_, 0);
    return put == static_cast<ssize_t>(sizeof entries_);
  }

 private:
  Descriptor file_;
  Entries entries_{};
};

/// The worker's own entry, else an unused one, else the oldest.
Entry& place_of(Entries& entries, std::uint64_t who, Duration fresh) {
  const auto claims = entries.begin() + 1;
  const auto own = std::find_if(
      claims, entries.end(), [&](const Entry& each) { return each.at_ns != 0 && each.who == who; });
  if (own != entries.end()) return *own;
  const auto unused =
      std::find_if(claims, entries.end(), [&](const Entry& each) { return !within(each, fresh); });
  if (unused != entries.end()) return *unused;
  return *std::min_element(claims, entries.end(),
                           [](const Entry& a, const Entry& b) { return a.at_ns < b.at_ns; });
}

}  // namespace

DiskClaims::DiskClaims(std::filesystem::path file, std::uint64_t who, Duration fresh)
    : file_(std::move(file)), who_(who), fresh_(fresh) {}

void DiskClaims::prepare() const {
  Table table(file_);
  if (table) table.write();
}

bool DiskClaims::claim(std::uint64_t bytes, Duration rest) const {
  Table table(file_);
  // Without the file this worker decides by itself: better two attempts ended than a full disk.
  if (!table) return true;
  Entries& entries = table.entries();
  place_of(entries, who_, fresh_) = {who_, bytes, boot_time().count()};
  if (!table.write()) return true;
  const bool others_end = entries[0].who != who_ && within(entries[0], rest);
  return !others_end && std::none_of(entries.begin() + 1, entries.end(), [&](const Entry& each) {
    if (each.who == who_ || !within(each, fresh_)) return false;
    // Equal claims: the lower number goes first.
    return each.bytes > bytes || (each.bytes == bytes && each.who < who_);
  });
}

void DiskClaims::ending() const {
  Table table(file_);
  if (!table) return;
  table.entries()[0] = {who_, 0, boot_time().count()};
  table.write();
}

void DiskClaims::withdraw() const {
  Table table(file_);
  if (!table) return;
  for (std::size_t i = 1; i < kEntries; ++i) {
    if (table.entries()[i].who == who_) table.entries()[i] = {};
  }
  table.write();
}

}  // namespace muster::process
