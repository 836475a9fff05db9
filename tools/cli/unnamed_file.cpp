#include "tools/cli/unnamed_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstring>

namespace muster::cli {
namespace {

namespace fs = std::filesystem;

/// Names that a signal takes away; one that finds no room here stays.
class NamedParts {
 public:
  void add(const std::string& name) {
    for (Slot& slot : slots_) {
      bool free = false;
      if (name.size() >= slot.name.size() || !slot.used.compare_exchange_strong(free, true)) {
        continue;
      }
      std::memcpy(slot.name.data(), name.c_str(), name.size() + 1);
      slot.whole = true;
      return;
    }
  }
  void remove(const std::string& name) {
    for (Slot& slot : slots_) {
      if (!slot.whole || name != slot.name.data()) continue;
      slot.whole = false;
      slot.used = false;
    }
  }
  /// Calls nothing that a signal may not call.
  void unlink_all() {
    for (Slot& slot : slots_) {
      if (slot.whole) unlink(slot.name.data());
    }
  }

 private:
  struct Slot {
    std::array<char, 1024> name{};
    std::atomic<bool> used{false};
    std::atomic<bool> whole{false};
  };
  std::array<Slot, 64> slots_;
};

// Signals reach nothing but what lives as long as the process.
NamedParts& named_parts() {
  static NamedParts parts;
  return parts;
}

void take_away_and_end(int signal) {
  named_parts().unlink_all();
  std::signal(signal, SIG_DFL);
  raise(signal);
}

/// Only where the command does nothing else on these signals.
void watch_signals() {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction now {};
    sigaction(signal, nullptr, &now);
    if (now.sa_handler == SIG_DFL) std::signal(signal, take_away_and_end);
  }
}

/// Differs between all writers: of this process by the count, of others by its id.
fs::path part_of(const fs::path& target) {
  static std::atomic<std::uint64_t> count{0};
  fs::path part = target;
  part += fmt::format(".{}-{}.part", getpid(), count++);
  return part;
}

constexpr mode_t kMode = 0666;  ///< less what the user's mask takes off

}  // namespace

UnnamedFile::UnnamedFile(fs::path target) : target_(std::move(target)), part_(part_of(target_)) {
  const fs::path folder = target_.has_parent_path() ? target_.parent_path() : fs::path(".");
  file_ = open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, kMode);
  // Without /proc it could not be given a name.
  if (file_ >= 0 && access(path().c_str(), W_OK) == 0) return;
  if (file_ >= 0) close(file_);
  named_parts().add(part_.string());
  watch_signals();
  file_ = open(part_.c_str(), O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, kMode);
  named_ = file_ >= 0;
  if (!named_) named_parts().remove(part_.string());
}

UnnamedFile::~UnnamedFile() {
  if (named_) {
    unlink(part_.c_str());
    named_parts().remove(part_.string());
  }
  if (file_ >= 0) close(file_);
}

fs::path UnnamedFile::path() const {
  return named_ ? part_ : fs::path(fmt::format("/proc/self/fd/{}", file_));
}

std::error_code UnnamedFile::name() {
  // A link replaces no file, a new name does: the two steps are one for whoever looks on.
  if (!named_) {
    const std::string own = path().string();
    if (linkat(AT_FDCWD, own.c_str(), AT_FDCWD, part_.c_str(), AT_SYMLINK_FOLLOW) != 0) {
      return {errno, std::generic_category()};
    }
    named_ = true;
  }
  if (rename(part_.c_str(), target_.c_str()) != 0) return {errno, std::generic_category()};
  named_parts().remove(part_.string());
  named_ = false;
  return {};
}

}  // namespace muster::cli
