#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "model/expected.hpp"
#include "model/time.hpp"

namespace muster::hosts {

/// The longest time for which a change that may be late is not in the file.
inline constexpr Duration kLateWrite = std::chrono::seconds{10};

/// Writes a book's file. Its owner's lock is held at each call, and let go while the disk is
/// waited for.
class BookWriter {
 public:
  BookWriter(std::filesystem::path file, std::function<void(const std::string&)> note)
      : file_(std::move(file)), note_(std::move(note)) {}

  /// One change more; its number.
  std::uint64_t change() { return ++changes_; }
  /// One that may be late: it is in the file with the next one, or after kLateWrite.
  void change_late(Duration now) {
    change();
    if (!late_) late_ = now + kLateWrite;
  }
  bool has(std::uint64_t change) const { return change <= saved_; }
  /// A change has been late for long enough.
  bool is_due(Duration now) const { return late_ && now >= *late_; }

  /// Writes what has changed, with that of others who wait meanwhile. `content` is called with the
  /// lock. After a failure, whose code is a HostRefusal, it is due again after kLateWrite.
  std::optional<Failure<int>> save(std::unique_lock<std::mutex>& lock, Duration now,
                                   const std::function<std::string()>& content);
  /// Why the last write has failed; empty: it has not.
  const std::string& fault() const { return fault_; }

 private:
  const std::filesystem::path file_;
  const std::function<void(const std::string&)> note_;
  std::mutex writing_;         ///< held while the file is written; taken before the owner's lock
  std::uint64_t changes_ = 0;  ///< so far
  std::uint64_t saved_ = 0;    ///< of these, those that are in the file
  std::optional<Duration> late_{};  ///< when a late change is due
  std::string fault_;
};

}  // namespace muster::hosts
