#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "model/time.hpp"

// When a recurring job runs: five fields as cron has them, in a time zone.

namespace muster {

/// Form of a text that recurrence_fault() finds right, for messages.
inline constexpr std::string_view kRecurrenceForm =
    "five fields as cron has them, MINUTE HOUR DAY MONTH WEEKDAY, like \"0 3 * * *\" or "
    "\"*/15 8-18 * * mon-fri\", or @hourly, @daily, @weekly, @monthly or @yearly";

/// The fault of the text; empty: it is right. A day that never comes (30 February) is a fault.
std::string recurrence_fault(std::string_view every);

/// The text in the form that equal ones share: fields by one blank, an @word as its fields.
std::string plain_recurrence(std::string_view every);

/// The system knows the zone, like "Europe/Berlin". The empty name is UTC.
bool is_time_zone(const std::string& zone);
/// Zone of this computer; "UTC" when it does not say. Nothing: the variable TZ has no zone's name.
std::optional<std::string> local_time_zone();

/// The first time after that one; nothing: the text or the zone is wrong, or none comes within 30
/// years. Where the day and the weekday are both restricted one of them has to be right. A time
/// that clocks pass over when they are put forward is the moment at which they are; one that they
/// show twice counts once, the first time. Where the hour is `*`, each real hour counts.
std::optional<Instant> next_recurrence(std::string_view every, const std::string& zone,
                                       Instant after);

}  // namespace muster
