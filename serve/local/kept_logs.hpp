#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "config/cluster_config.hpp"
#include "storage/events/log_store.hpp"

namespace muster::local {

/// Attempts whose output an end of the cluster found on its instances.
struct KeptLogs {
  std::uint64_t kept = 0;  ///< now with the logs of their masters, as far as there was any
  std::uint64_t lost = 0;  ///< and those will say why
};

/// Brings the output of tasks that end with the cluster from the folders of their instances to the
/// logs of the masters, whose nodes do not run. Killed at any place it has brought what is there
/// whole, and what is brought twice is kept once. For one thread.
class LogsOfEnd {
 public:
  /// Takes `config.logs.handover_s` (20 s at the most), from the first output on. The rest
  /// is recorded as lost then.
  explicit LogsOfEnd(const ClusterConfig& config) : config_(config) {}

  /// Of an instance on which nothing runs any more, by the folder of its machine.
  void bring(const std::filesystem::path& machine);
  const KeptLogs& done() const { return done_; }

 private:
  using Clock = std::chrono::steady_clock;
  LogStore* store_of(const std::string& node);
  bool bring_attempt(LogStore& store, const std::filesystem::path& folder, const LogName& name);
  bool is_late();

  ClusterConfig config_;
  std::map<std::string, std::unique_ptr<LogStore>> stores_;  ///< by node; null: it does not open
  std::optional<Clock::time_point> until_;
  KeptLogs done_;
};

}  // namespace muster::local
