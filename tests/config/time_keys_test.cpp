#include "config/time_keys.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <string>
#include <vector>

#include "config/time_text.hpp"
#include "model/submission_digest.hpp"
#include "model/time_text.hpp"
#include "tests/support/zone_clock.hpp"

namespace muster {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

Instant date_of(const std::string& text) {
  return Instant{parse_moment(text).value().at};
}

const config::LocalClock& berlin() {
  static const config::LocalClock kClock = test::zone_clock("Europe/Berlin");
  return kClock;
}

/// In Berlin, on a Sunday at half past ten.
std::string meant(const std::string& text) {
  const auto found = config::parse_time_of_request(text, date_of("2026-11-29T09:30:00Z"), berlin());
  return found ? utc_text(*found).substr(0, 19) : "none";
}

JobRequest request_with(const std::string& keys) {
  const auto read = job_request_from_json(R"({"command": ["true"], )" + keys + "}", "body");
  EXPECT_TRUE(read.has_value()) << (read ? "" : read.error().message);
  return read ? read.value() : JobRequest{};
}

std::string refusal_of(const std::string& keys) {
  const auto read = job_requests_from_json(R"({"command": ["true"], )" + keys + "}", "body");
  return read ? "" : read.error().message;
}

TEST(TimeKeys, ATimeIsADateOrCountsFromNow) {
  const std::array<std::array<const char*, 2>, 15> cases = {
      {{"2026-12-01T08:00", "2026-12-01 07:00:00"},
       {"2026-07-01 08:00:30", "2026-07-01 06:00:30"},
       {"2026-12-01T08:00Z", "2026-12-01 08:00:00"},
       {"2026-12-01T08:00:00+05:30", "2026-12-01 02:30:00"},
       {"2026-12-01", "2026-11-30 23:00:00"},
       {"now", "2026-11-29 09:30:00"},
       {"now+2h", "2026-11-29 11:30:00"},
       {"now+90", "2026-11-29 09:31:30"},
       {"16:30", "2026-11-29 15:30:00"},
       {"10:30", "2026-11-30 09:30:00"},
       {"8:15:07", "2026-11-30 07:15:07"},
       {"noon", "2026-11-29 11:00:00"},
       {"midnight", "2026-11-29 23:00:00"},
       {"tomorrow", "2026-11-29 23:00:00"},
       {"2026-03-29T02:30", "2026-03-29 01:00:00"}}};
  for (const auto& [text, wanted] : cases) EXPECT_EQ(meant(text), wanted) << text;
  for (const char* text : {"", "soon", "now-2h", "now+", "now+h", "now+4000d", "25:00", "16:61",
                           "16", "16:3:1:1", "2026-02-30T08:00", "1764408600"}) {
    EXPECT_EQ(meant(text), "none") << text;
  }
}

TEST(TimeKeys, SettledTimesMeanTheSameToEveryReader) {
  JobRequest request = request_with(R"("begin": "now+2h", "deadline": "2026-12-01T08:00")");
  EXPECT_FALSE(make_job(request).begin) << "the time from which it counts is not known";
  config::settle_times(request, date_of("2026-11-29T09:30:00Z"), berlin(), "Europe/Berlin");
  const Job job = make_job(request);
  EXPECT_EQ(job.begin, date_of("2026-11-29T11:30:00Z"));
  EXPECT_EQ(job.deadline, date_of("2026-12-01T07:00:00Z"));
  EXPECT_EQ(config::unsettled_time(request).fault, "");
  const auto again = job_requests_from_json(to_json(request), "body");
  ASSERT_TRUE(again.has_value());
  EXPECT_EQ(make_job(again.value().front()), job);
}

TEST(TimeKeys, ThroughTheApiATimeHasItsOffset) {
  EXPECT_THAT(refusal_of(R"("begin": "now+2h")"), AllOf(HasSubstr("/begin"), HasSubstr("offset")));
  EXPECT_THAT(refusal_of(R"("deadline": "2026-12-01T08:00")"), HasSubstr("/deadline"));
  EXPECT_EQ(refusal_of(R"("begin": "2026-12-01T08:00:00+01:00")"), "");
  EXPECT_THAT(refusal_of(R"("begin": "2026-12-01T08:00Z", "deadline": "2026-12-01T08:00Z")"),
              HasSubstr("/deadline"));
}

TEST(TimeKeys, TheCommandSaysItsOwnZone) {
  JobRequest request = request_with(R"("every": "@daily")");
  config::settle_times(request, Instant{}, berlin(), "Europe/Berlin");
  EXPECT_EQ(make_job(request).zone, "Europe/Berlin");
  JobRequest theirs = request_with(R"("every": "@daily", "zone": "Asia/Tokyo")");
  config::settle_times(theirs, Instant{}, berlin(), "Europe/Berlin");
  EXPECT_EQ(make_job(theirs).zone, "Asia/Tokyo");
  EXPECT_EQ(make_job(theirs).every, "0 0 * * *");
}

TEST(TimeKeys, WrongValuesAreRefusedByTheirKeys) {
  const std::array<std::array<const char*, 2>, 9> cases = {
      {{R"("begin": "soon")", "begin"},
       {R"("deadline": 7)", "deadline"},
       {R"("every": "61 * * * *")", "every"},
       {R"("every": "@daily", "zone": "Mars")", "zone"},
       {R"("every": "@daily", "after": "12")", "after"},
       {R"("every": "@daily", "deadline": "2026-12-01T08:00Z")", "deadline"},
       {R"("zone": "UTC")", "zone"},
       {R"("overlap": true)", "overlap"},
       {R"("on_fail": "keep")", "on_fail"}}};
  for (const auto& [keys, key] : cases) {
    EXPECT_THAT(refusal_of(keys), HasSubstr(std::string("/") + key)) << keys;
  }
  EXPECT_THAT(refusal_of(R"("on_fail": "wait", "after": "12")"), HasSubstr("/on_fail"));
}

TEST(TimeKeys, AreOfTheJobAndOfItsSubmission) {
  const Job plain = make_job(request_with(R"("after": "12")"));
  for (const char* keys : {R"("begin": "2026-12-01T08:00Z")", R"("deadline": "2026-12-01T08:00Z")",
                           R"("hold": true)", R"("on_fail": "keep")"}) {
    const JobRequest request = request_with(std::string(R"("after": "12", )") + keys);
    const Job job = make_job(request);
    EXPECT_NE(submission_digest(job), submission_digest(plain)) << keys;
    EXPECT_EQ(make_job(request_of(job)), job) << keys;
  }
  EXPECT_TRUE(make_job(request_with(R"("hold": true)")).held);
  EXPECT_TRUE(make_job(request_with(R"("after": "12", "on_fail": "keep")")).keeps_waiting);
  EXPECT_FALSE(make_job(request_with(R"("after": "12", "on_fail": "skip")")).keeps_waiting);
}

}  // namespace
}  // namespace muster
