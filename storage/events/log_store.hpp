#pragma once

#include <atomic>
#include <condition_variable>
#include <deque>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <thread>

#include "model/expected.hpp"
#include "model/time.hpp"
#include "storage/events/log_block_file.hpp"
#include "storage/events/log_files.hpp"
#include "storage/events/log_sink.hpp"
#include "storage/stores/store_error.hpp"

namespace muster {

/// How much of what tasks wrote is kept.
struct LogStoreOptions {
  /// Of files. Past it the oldest go; where one attempt has more than half of it, its own oldest.
  std::uint64_t max_bytes = std::uint64_t{1} << 30;
  Duration max_age = std::chrono::hours{24 * 14};
  std::size_t max_reads = 1000;         ///< that wait
  std::size_t max_deliveries = 20'000;  ///< that wait
  /// Attempts of which it is known, until the next start, that the disk did not take their output.
  std::size_t max_refused = 10'000;
  /// Since 1970.
  std::function<Duration()> clock;
  std::function<void(const std::string&)> note;  ///< is told when the disk takes nothing
};

/// Logs as files in a folder (LogFileId), written and read by a thread of its own. Files that a
/// crash left half written are removed at the next start. Files are not forced to the disk: a loss
/// of power may take those of the last seconds, and a file that is not whole then counts as absent.
class LogStore final : public LogSink {
 public:
  /// Makes the folder; tells what is in it.
  static Expected<std::unique_ptr<LogStore>, StoreError> open(const std::filesystem::path& folder,
                                                              LogStoreOptions options);
  ~LogStore() override;
  LogStore(const LogStore&) = delete;
  LogStore& operator=(const LogStore&) = delete;

  bool take(LogDelivery delivery, Done done) override;
  bool read(const Place& place, Use use) override;
  bool has_removed() const override { return has_removed_; }
  /// Bytes of all files together.
  std::uint64_t bytes() const { return bytes_; }

 private:
  struct Delivery {
    LogDelivery what;
    Done done;
  };
  struct Read {
    Place place;
    Use use;
  };
  LogStore(std::filesystem::path folder, LogStoreOptions options);
  void work();
  void answer(const Read& read) const;
  bool commit(const LogDelivery& delivery);
  bool finish(const LogDelivery& delivery);
  bool refuse(const LogName& name);
  void remove(const LogFileId& id);
  void remove_old(const std::optional<LogName>& newest);
  /// Until when nothing becomes too old.
  Duration until_next() const;

  LogStoreOptions options_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Delivery> deliveries_;  ///< guarded by mutex_
  std::deque<Read> reads_;           ///< guarded by mutex_
  bool quit_ = false;                ///< guarded by mutex_
  std::atomic<bool> has_removed_{false};
  std::atomic<std::uint64_t> bytes_{0};
  bool complained_ = false;
  // Of the thread alone.
  std::map<LogName, std::unique_ptr<LogBlockWriter>> drafts_;
  LogFiles files_;
  std::set<LogName> refused_;  ///< the disk did not take what came of them last
  std::thread thread_;
};

}  // namespace muster
