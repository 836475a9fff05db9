#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <mutex>
#include <string>

namespace muster {

/// Disk space that a store keeps for the time when others leave no space: a file of allocated
/// blocks beside its tables, which is removed when the disk is full and made again when it is not.
/// All members may be called from any thread.
class StoreReserve {
 public:
  static constexpr const char* kFile = "reserve";

  /// Makes the file where there is room for it. `bytes` 0: no reserve; never more than 1/32 of the
  /// file system.
  void begin(const std::filesystem::path& folder, std::uint64_t bytes);

  /// Removes the file; false when there was no file.
  bool give_up();
  /// Makes the file again when the disk is not full any more. Looks once in a while.
  void mend();
  /// Why nothing new should be begun; empty: the room is there, or none is wanted.
  std::string strain() const;

 private:
  void look();

  mutable std::mutex mutex_;
  std::filesystem::path folder_;
  std::uint64_t bytes_ = 0;
  std::uint64_t wanted_ = 0;  ///< free, before anything new is begun; 0: enough is
  bool there_ = false;
  bool used_ = false;  ///< it was there, and has been given up
  std::chrono::steady_clock::time_point next_look_{};
};

}  // namespace muster
