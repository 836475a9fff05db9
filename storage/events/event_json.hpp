#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "model/catalog.hpp"
#include "model/event.hpp"
#include "model/expected.hpp"

// The event log as text: one JSON object a line. Times, durations and prices are decimal numbers
// with up to nine places and therefore exact; other numbers have as many digits as it takes to read
// the same number again. Instance types stand by name. Bytes that are not UTF-8 become U+FFFD.

namespace muster {

/// First line of an event log: whose log it is, and its instance types.
struct LogHeader {
  std::string policy;
  std::uint64_t seed = 0;
  Catalog catalog;
};

enum class EventLogError : std::uint8_t { unreadable, unwritable, malformed };

/// Appends the header as a line, line end included.
void append_json(const LogHeader& header, std::string& text);

/// Appends the event as a line, line end included. Demands and speeds have to be finite; the
/// figures of a policy need not be.
void append_json(const Event& event, const Catalog& catalog, std::string& text);

/// Reads what append_json wrote. The message of an error names the field, not the line.
Expected<LogHeader, EventLogError> header_from_json(std::string_view line);
Expected<Event, EventLogError> event_from_json(std::string_view line, const Catalog& catalog);

}  // namespace muster
