#include "config/time_keys.hpp"

#include <fmt/format.h>

#include <array>
#include <chrono>
#include <utility>
#include <vector>

#include "config/numbers.hpp"
#include "config/recurrence.hpp"
#include "config/text_pieces.hpp"
#include "config/time_text.hpp"
#include "model/time_text.hpp"

namespace muster::config {
namespace {

using R = JobRequest;
using namespace std::chrono_literals;

constexpr std::string_view kWantedTime =
    "a text: a date such as \"2026-12-01T08:00\", until the year 2199, with an offset such as Z or "
    "+01:00 if it is not of the local time; or from the command \"now+2h\", a time of the day like "
    "\"16:30\", \"noon\", \"midnight\" or \"tomorrow\"";
constexpr std::string_view kKeep = "keep";
constexpr std::string_view kSkip = "skip";
/// As long as other times of a request.
constexpr Duration kLatest = std::chrono::hours{24 * 3650};

constexpr std::chrono::hours kDay{24};

/// In UTC.
const LocalClock& plain_clock() {
  using std::chrono::floor;
  using std::chrono::seconds;
  static const LocalClock kClock{
      [](Instant at) { return std::chrono::local_seconds{floor<seconds>(at.time_since_epoch())}; },
      [](std::chrono::local_seconds shown) { return Instant{shown.time_since_epoch()}; }};
  return kClock;
}

bool has_offset(std::string_view date) {
  const std::size_t time = date.find_first_of("T ");
  return time != std::string_view::npos &&
         date.find_first_of("Z+-", time) != std::string_view::npos;
}

/// A date of the form that files have, by the clock where it says no offset.
std::optional<Instant> parse_date(std::string_view text, const LocalClock& clock) {
  const auto moment = parse_moment(text);
  // Years beyond 2200 are mistakes, and near the end of what instants can say.
  constexpr Duration kLastDate = std::chrono::hours{24 * 365 * 230};
  if (!moment || !moment->calendar || moment->at > kLastDate) return std::nullopt;
  if (has_offset(text)) return Instant{moment->at};
  const auto shown = std::chrono::floor<std::chrono::seconds>(moment->at);
  return clock.moment(std::chrono::local_seconds{shown});
}

/// "16:30", "16:30:15", "noon" or "midnight": since the day began.
std::optional<std::chrono::seconds> parse_time_of_day(std::string_view text) {
  using std::chrono::hours;
  if (text == "noon") return hours{12};
  if (text == "midnight") return hours{0};
  constexpr std::array<std::chrono::seconds, 3> kUnits{3'600s, 60s, 1s};
  const std::vector<std::string_view> parts = pieces_of(text, ':');
  if (parts.size() < 2 || parts.size() > kUnits.size()) return std::nullopt;
  std::chrono::seconds time{0};
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const auto number = parse_whole(parts[i]);
    if (!number || *number >= (i == 0 ? 24U : 60U)) return std::nullopt;
    time += static_cast<int>(*number) * kUnits.at(i);
  }
  return time;
}

std::optional<Instant> parse_from_now(std::string_view text, Instant now, const LocalClock& clock) {
  constexpr std::string_view kNow = "now";
  if (text.starts_with(kNow)) {
    text.remove_prefix(kNow.size());
    if (text.empty()) return now;
    if (!text.starts_with('+')) return std::nullopt;
    const auto wait = parse_duration(text.substr(1));
    if (!wait || *wait < Duration{} || *wait > kLatest) return std::nullopt;
    return now + *wait;
  }
  const std::chrono::local_days today = std::chrono::floor<std::chrono::days>(clock.shown(now));
  if (text == "tomorrow") return clock.moment(today + kDay);
  const auto time = parse_time_of_day(text);
  if (!time) return std::nullopt;
  // The next one.
  const Instant first = clock.moment(today + *time);
  return first > now ? first : clock.moment(today + kDay + *time);
}

std::string date_text(Instant at) {
  std::string text = utc_text(at);
  text.at(text.find(' ')) = 'T';
  text.resize(text.find(' '));
  return text + 'Z';
}

bool is_time(std::string_view text) {
  return parse_time_of_request(text, Instant{}, plain_clock()).has_value();
}

template <std::string R::*kAt>
bool read_time(JobRequest& request, const RequestValue& value) {
  const auto* text = std::get_if<std::string>(&value.data);
  if (text == nullptr || !is_time(*text)) return false;
  request.*kAt = *text;
  return true;
}

void check_time(std::string_view key, const std::string& text, const Report& report) {
  if (text.empty() || is_time(text)) return;
  report(key, fmt::format("has to be {}; it is \"{:.60}\"", kWantedTime, text));
}

void check_begin(const JobRequest& request, const Report& report) {
  check_time("begin", request.begin, report);
}

void check_deadline(const JobRequest& request, const Report& report) {
  check_time("deadline", request.deadline, report);
}

bool read_on_fail(JobRequest& request, const RequestValue& value) {
  const auto* text = std::get_if<std::string>(&value.data);
  if (text == nullptr || (*text != kKeep && *text != kSkip)) return false;
  request.on_fail = *text == kKeep ? *text : "";
  return true;
}

bool read_every(JobRequest& request, const RequestValue& value) {
  const auto* text = std::get_if<std::string>(&value.data);
  if (text == nullptr || text->size() > kMaxRequestText) return false;
  request.every = plain_recurrence(*text);
  return !request.every.empty();
}

void check_every(const JobRequest& request, const Report& report) {
  if (request.every.empty()) return;
  const std::string fault = recurrence_fault(request.every);
  if (!fault.empty()) report("every", fault);
}

bool read_zone(JobRequest& request, const RequestValue& value) {
  const auto* text = std::get_if<std::string>(&value.data);
  if (text == nullptr || text->empty() || !is_time_zone(*text)) return false;
  request.zone = *text;
  return true;
}

void check_zone(const JobRequest& request, const Report& report) {
  if (is_time_zone(request.zone)) return;
  report("zone", fmt::format("has to be a time zone that this computer knows, like "
                             "\"Europe/Berlin\"; it is \"{:.60}\"",
                             request.zone));
}

RequestOther time_kind(std::string R::*at, bool (*read)(JobRequest&, const RequestValue&),
                       void (*check)(const JobRequest&, const Report&)) {
  return {.at = at, .wanted = std::string(kWantedTime), .read = read, .check = check};
}

std::vector<RequestKey> once_keys() {
  return {
      {"begin", "a time", "at once",
       "not before this time: a date like `2026-12-01T08:00`, `now+2h`, `16:30`, `tomorrow`. The "
       "command takes a date without an offset as its local time; the API wants one with an offset",
       time_kind(&R::begin, read_time<&R::begin>, check_begin),
       RequestFlag{"--begin",
                   "not before this time: a date like 2026-12-01T08:00, now+2h, 16:30, tomorrow"}},
      {"deadline", "a time, as begin", "none",
       "when the job is not over by this time it is ended, as expired",
       time_kind(&R::deadline, read_time<&R::deadline>, check_deadline),
       RequestFlag{"--deadline", "ends the job, as expired, when it is not over by this time"}},
      {"hold", "true or false", "false", "the job waits until `muster release` lets it go",
       RequestSwitch{&R::hold}, RequestFlag{"--hold", "wait until muster release lets it go"}},
      {"on_fail", "`skip` or `keep`", "skip",
       "when a job of `after` ends otherwise than it has to: `skip` skips this one; with `keep` it "
       "waits until that job has been resubmitted and is well",
       RequestOther{.at = &R::on_fail,
                    .wanted = "\"skip\" or \"keep\"",
                    .read = read_on_fail,
                    .check = [](const JobRequest&, const Report&) {}},
       RequestFlag{
           "--on-fail",
           "skip (default), or keep: wait until the job that failed has been resubmitted"}}};
}

std::vector<RequestKey> recurring_keys() {
  return {
      {"every", "text like \"0 3 * * *\"", "once",
       "when it recurs: minute, hour, day, month and day of the week as cron has them, or "
       "`@hourly`, `@daily`, `@weekly`, `@monthly`, `@yearly`. The job itself waits until it is "
       "cancelled; each run is a job of its own",
       RequestOther{.at = &R::every,
                    .wanted = std::string(kRecurrenceForm),
                    .read = read_every,
                    .check = check_every,
                    .longest = kMaxRequestText},
       RequestFlag{"--every", "recur, as cron has it, like \"0 3 * * *\", or @daily"}},
      {"zone", "a time zone like \"Europe/Berlin\"", "UTC",
       "the time zone of `every`; the command says its own",
       RequestOther{.at = &R::zone,
                    .wanted = "a time zone that this computer knows, like \"Europe/Berlin\"",
                    .read = read_zone,
                    .check = check_zone,
                    .longest = kMaxRequestText},
       RequestFlag{"--zone", "the time zone of --every; default: this computer's"}},
      {"overlap", "true or false", "false",
       "a run begins though the one before is not over; else its time is passed over",
       RequestSwitch{&R::overlap},
       RequestFlag{"--overlap", "a run of --every begins though the one before is not over"}}};
}

}  // namespace

std::vector<RequestKey> time_keys() {
  std::vector<RequestKey> keys = once_keys();
  for (RequestKey& key : recurring_keys()) keys.push_back(std::move(key));
  return keys;
}

void check_times(const JobRequest& request, const Report& report) {
  const auto no_service = [&](std::string_view key) {
    if (request.service) report(key, "is for jobs that end, and a service has no end");
  };
  if (!request.deadline.empty()) no_service("deadline");
  if (!request.on_fail.empty() && request.after.empty()) {
    report("on_fail", "needs after, which says for which jobs it waits");
  }
  if (request.every.empty()) {
    if (!request.zone.empty()) report("zone", "needs every, which says when the job recurs");
    if (request.overlap) report("overlap", "needs every, which says when the job recurs");
    return;
  }
  no_service("every");
  if (!request.after.empty())
    report("after", "does not go with every: each run begins by the time");
  if (!request.deadline.empty()) {
    report("deadline", "does not go with every: say time_limit_s, which holds for each run");
  }
}

std::optional<Instant> parse_time_of_request(std::string_view text, Instant now,
                                             const LocalClock& clock) {
  const auto date = parse_date(text, clock);
  return date ? date : parse_from_now(text, now, clock);
}

void settle_times(JobRequest& request, Instant now, const LocalClock& clock,
                  const std::string& zone) {
  for (std::string* text : {&request.begin, &request.deadline}) {
    if (text->empty()) continue;
    if (const auto at = parse_time_of_request(*text, now, clock)) *text = date_text(*at);
  }
  if (!request.every.empty() && request.zone.empty()) request.zone = zone;
}

UnsettledTime unsettled_time(const JobRequest& request) {
  for (const auto& [key, text] :
       {std::pair{"begin", &request.begin}, std::pair{"deadline", &request.deadline}}) {
    if (text->empty() || (has_offset(*text) && parse_date(*text, plain_clock()))) continue;
    return {key, fmt::format("has to be a date with its offset, like 2026-12-01T08:00:00Z; it is "
                             "\"{:.60}\"",
                             *text)};
  }
  const auto at = [](const std::string& text) {
    return parse_date(text, plain_clock()).value_or(Instant{});
  };
  if (!request.begin.empty() && !request.deadline.empty() &&
      at(request.deadline) <= at(request.begin)) {
    return {"deadline", "has to be later than begin"};
  }
  return {};
}

void make_times(const JobRequest& request, Job& job) {
  const auto read = [](const std::string& text) {
    return has_offset(text) ? parse_date(text, plain_clock()) : std::nullopt;
  };
  job.begin = read(request.begin);
  job.deadline = read(request.deadline);
  job.held = request.hold;
  job.keeps_waiting = request.on_fail == kKeep;
  job.every = request.every;
  job.zone = request.zone;
  job.overlaps = request.overlap;
}

void ask_times(const Job& job, JobRequest& request) {
  // Of a recurring job that has run it is the time of its newest run.
  if (job.begin && !job.recurs.valid()) request.begin = date_text(*job.begin);
  if (job.deadline) request.deadline = date_text(*job.deadline);
  request.hold = job.held;
  if (job.keeps_waiting) request.on_fail = kKeep;
  request.every = job.every;
  request.zone = job.zone;
  request.overlap = job.overlaps;
}

}  // namespace muster::config
