#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <mutex>
#include <string>

namespace muster {

/// Room on the disk that a store has for the time when nobody else leaves any: a file of allocated
/// blocks beside its tables, which goes when the disk is full and comes back when it is not. All
/// members may be called from any thread.
class StoreReserve {
 public:
  static constexpr const char* kFile = "reserve";

  /// Makes the file where there is room for it. `bytes` 0: none; never more than 1/32 of the file
  /// system.
  void begin(const std::filesystem::path& folder, std::uint64_t bytes);

  /// Removes the file; false when there was none.
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
