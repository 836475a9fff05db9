#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

// A recurrence, taken apart: for recurrence.cpp and recurrence_times.cpp.

namespace muster {

/// Numbers that one field allows, as bits.
struct AllowedNumbers {
  std::uint64_t bits = 0;
  bool any = false;  ///< it began with `*`

  bool has(unsigned number) const { return (bits >> number & 1) != 0; }
};

/// The five fields.
struct RecurrenceFields {
  AllowedNumbers minute, hour, day, month;
  AllowedNumbers weekday;  ///< Sunday is 0

  bool has(const std::chrono::year_month_day& date) const;
};

/// Nothing, and the fault, when the text is no recurrence.
std::optional<RecurrenceFields> parse_recurrence(std::string_view every, std::string& fault);

/// The first day from that one on; nothing within 30 years.
std::optional<std::chrono::sys_days> next_day(const RecurrenceFields& every,
                                              std::chrono::sys_days day);

}  // namespace muster
