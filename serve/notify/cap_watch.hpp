#pragma once

#include <filesystem>
#include <functional>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "model/letter.hpp"
#include "model/time.hpp"

namespace muster::notify {

/// The share of the day's cap from which on admins are told.
inline constexpr double kToldShare = 0.8;

/// Tells admins once a day (UTC) that most of the day's cap is spent, over restarts: the addresses
/// that were told stand in a file. May be called from any thread.
class CapWatch {
 public:
  using Send = std::function<void(Letter, std::function<void()> settled)>;
  /// Reads the file. `send` has to end before this object does.
  CapWatch(std::vector<std::string> to, std::filesystem::path file, Send send);

  /// Masters have spent that since midnight, of caps that are as high together; 0: no cap.
  void note(double spent_usd, double cap_usd, Instant now);

 private:
  void settled(const std::string& day, const std::string& address);

  const std::vector<std::string> to_;
  const std::filesystem::path file_;
  const Send send_;
  std::mutex mutex_;
  std::string day_;             ///< on which letters were sent by this process; may be empty
  std::string told_day_;        ///< as the file has it
  std::set<std::string> told_;  ///< addresses that were told on that day
};

}  // namespace muster::notify
