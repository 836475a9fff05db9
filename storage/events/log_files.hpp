#pragma once

#include <compare>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "model/time.hpp"
#include "storage/events/log_sink.hpp"

namespace muster {

/// A part of one of an attempt's streams, which is a file of its own.
struct LogPart {
  bool error_stream = false;
  std::uint64_t begin = 0;  ///< in the stream
  std::uint64_t end = 0;
  friend auto operator<=>(const LogPart&, const LogPart&) = default;
};

/// A file of an attempt's output: one of its parts, or the rest, with which it is whole. Its name
/// is TASK.ATTEMPT of the rest, and TASK.ATTEMPT.STREAM.BEGIN-END of a part.
struct LogFileId {
  LogName log;
  std::optional<LogPart> part{};  ///< nothing: it is the rest

  std::string file_name() const;
  /// Nothing: files have no such name.
  static std::optional<LogFileId> from(std::string_view file_name);
  friend auto operator<=>(const LogFileId&, const LogFileId&) = default;
};

/// The files of logs in a folder, by attempt and by age. Sizes are counted in blocks of the disk,
/// for most logs are smaller than one.
class LogFiles {
 public:
  explicit LogFiles(std::filesystem::path folder);

  const std::filesystem::path& folder() const { return folder_; }
  std::filesystem::path path_of(const LogFileId& id) const;

  /// Lists what is in the folder; drafts of an earlier process are removed.
  void scan();
  /// The file is there from now on, in place of one of that name.
  void add(const LogFileId& id, Duration at);
  /// The file is there no longer.
  void remove(const LogFileId& id);
  /// The file that is there for the longest time; nothing: there is no file.
  std::optional<LogFileId> oldest() const;
  /// Of the parts of one attempt; nothing: it has no more than one.
  std::optional<LogFileId> oldest_part_of(const LogName& log) const;
  /// Since when oldest() is there.
  std::optional<Duration> oldest_at() const;

  /// All files together; those of one attempt.
  std::uint64_t bytes() const { return bytes_; }
  std::uint64_t bytes_of(const LogName& log) const;
  /// The attempt's output is whole.
  bool has_rest(const LogName& log) const { return files_.contains({log, {}}); }
  /// Up to where a stream is kept in parts.
  std::uint64_t end_of_parts(const LogName& log, bool error_stream) const;

  /// Reads parts and the rest as one stream; nothing when there is no file of the attempt.
  std::optional<KeptLog> read(const LogSink::Place& place) const;

  /// Of what is yet to be finished.
  std::filesystem::path draft_of(const LogName& log) const;

 private:
  struct File {
    std::uint64_t bytes = 0;
    Duration at{};
  };
  using Files = std::map<LogFileId, File>;

  bool has(const LogName& log) const;
  KeptLog read_parts(const LogSink::Place& place) const;

  std::filesystem::path folder_;
  Files files_;
  std::multimap<Duration, LogFileId> by_age_;
  std::map<LogName, std::uint64_t> bytes_of_;
  std::uint64_t bytes_ = 0;
};

}  // namespace muster
