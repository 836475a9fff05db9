#pragma once

#include <cstdint>
#include <filesystem>
#include <iosfwd>
#include <memory>
#include <string>
#include <vector>

#include "storage/events/event_json.hpp"

namespace muster {

/// Streams an event log as text, and takes its SHA-256 on the way.
class EventLogWriter {
 public:
  /// Writes the header. `out` may be null, when only the digest is wanted; it and the header's
  /// catalog have to outlive the writer.
  EventLogWriter(std::ostream* out, const LogHeader& header);
  ~EventLogWriter();
  EventLogWriter(const EventLogWriter&) = delete;
  EventLogWriter& operator=(const EventLogWriter&) = delete;

  void write(const Event& event);
  std::uint64_t count() const { return count_; }

  /// Writes what is still buffered and gives the digest of all that was written, in lower-case
  /// hexadecimal; an error when the stream did not take everything. Nothing may be written after.
  Expected<std::string, EventLogError> finish();

 private:
  struct Digest;
  void drain();

  std::ostream* out_;
  const Catalog* catalog_;
  std::unique_ptr<Digest> digest_;
  std::string buffer_;
  std::uint64_t count_ = 0;
};

/// A log as it stands in a file.
struct EventLog {
  LogHeader header;
  std::vector<Event> events;
};

/// Reads a log that EventLogWriter wrote. Errors name file, line and field.
Expected<EventLog, EventLogError> read_event_log(const std::filesystem::path& file);
Expected<EventLog, EventLogError> read_event_log(std::istream& in, const std::string& name);

}  // namespace muster
