#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "model/time.hpp"
#include "workers/process/files/log_file.hpp"

namespace muster::process {

/// How much of each stream of an attempt is in full files.
struct FilledBytes {
  std::uint64_t out = 0;
  std::uint64_t err = 0;
  friend bool operator==(const FilledBytes&, const FilledBytes&) = default;
};

/// How that is told to the executor, and read by it.
std::string filled_line(const FilledBytes& filled);
std::optional<FilledBytes> filled_from(std::string_view line);

/// An attempt's streams as its shim writes them to files. It tells the executor how far files are
/// full, at most once an interval. Times are since boot.
class ShimLogs {
 public:
  static constexpr Duration kInterval = std::chrono::milliseconds{200};

  ShimLogs(int folder, LogWriter::Bounds bounds);

  LogWriter& out() { return out_; }
  LogWriter& err() { return err_; }
  const LogWriter& out() const { return out_; }
  const LogWriter& err() const { return err_; }

  /// The line for the executor that is due.
  std::optional<std::string> take_due(Duration now);
  /// When the next line is due; nothing when all is told.
  std::optional<Duration> next_due() const;
  /// The line that was passed on last, for an executor that connects later.
  std::string told() const { return told_at_ ? filled_line(told_) : ""; }

 private:
  FilledBytes filled() const { return {out_.filled(), err_.filled()}; }

  LogWriter out_;
  LogWriter err_;
  FilledBytes told_;
  std::optional<Duration> told_at_;
};

}  // namespace muster::process
