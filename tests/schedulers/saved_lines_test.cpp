#include "schedulers/saved_lines.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "model/fields.hpp"

namespace muster::saved {
namespace {

/// As a policy may remember a job.
struct Seen {
  bool is_long = false;
  std::optional<Instant> since{};
  std::uint32_t passes = 0;
  InstanceId on{};

  friend bool operator==(const Seen&, const Seen&) = default;
};

}  // namespace

void line(auto& a, Like<Seen> auto& seen) {
  a(seen.is_long, seen.since, seen.passes, seen.on);
}

namespace {

/// A line whose end has any number of pairs.
struct Room {
  std::uint32_t free = 0;
  std::map<InstanceId, std::uint16_t> of{};

  friend bool operator==(const Room&, const Room&) = default;
};

}  // namespace

void line(auto& a, Like<Room> auto& room) {
  a(room.free);
  a.rest(room.of);
}

namespace {

using SeenJobs = std::map<JobId, Seen>;

TEST(SavedLines, HaveTheKeyBeforeTheMembers) {
  const SeenJobs jobs{{JobId{7}, {true, Instant{Duration{5}}, 2, InstanceId{3}}}, {JobId{9}, {}}};
  const Json text = saved(jobs);
  EXPECT_EQ(text.dump(), "[[7,true,5,2,3],[9,false,null,0,null]]");
  EXPECT_EQ(loaded<SeenJobs>(text), jobs);
}

TEST(SavedLines, MayEndWithPairs) {
  using Rooms = std::map<JobId, Room>;
  const Rooms rooms{{JobId{1}, {2, {{InstanceId{7}, 3}, {InstanceId{9}, 1}}}}, {JobId{4}, {}}};
  const Json text = saved(rooms);
  EXPECT_EQ(text.dump(), "[[1,2,[7,3],[9,1]],[4,0]]");
  EXPECT_EQ(loaded<Rooms>(text), rooms);
  for (const char* other :
       {"[[1,2,7]]", "[[1,2,[7]]]", "[[1,2,[7,3,1]]]", "[[1,2,[null,3]]]", "[[1,2,[7,65536]]]"}) {
    EXPECT_THROW(loaded<Rooms>(Json::parse(other)), NotUnderstood) << other;
  }
}

TEST(SavedLines, AreRefusedWhereOneIsOfAnotherKind) {
  for (const char* text : {"7", "[7]", "[[7,true,5,2]]", "[[7,1,5,2,3]]", "[[7,true,5,-2,3]]",
                           "[[7,true,5,4294967296,3]]", "[[-7,true,5,2,3]]"}) {
    EXPECT_THROW(loaded<SeenJobs>(Json::parse(text)), NotUnderstood) << text;
  }
}

TEST(SavedLines, AreRefusedWhereANumberDoesNotFitItsMember) {
  // 2^64 - 1 is no time before 1970, and as an id stands for none, which is saved as null.
  for (const char* text :
       {"[[7,true,18446744073709551615,2,3]]", "[[7,true,5,2,18446744073709551615]]"}) {
    EXPECT_THROW(loaded<SeenJobs>(Json::parse(text)), NotUnderstood) << text;
  }
  EXPECT_THROW(loaded<std::int32_t>(Json::parse("2147483648")), NotUnderstood);
  EXPECT_THROW(loaded<std::int64_t>(Json::parse("9223372036854775808")), NotUnderstood);
  EXPECT_EQ(loaded<std::int64_t>(Json::parse("-9223372036854775808")),
            std::numeric_limits<std::int64_t>::min());
  EXPECT_EQ(loaded<std::uint64_t>(Json::parse("18446744073709551615")),
            std::numeric_limits<std::uint64_t>::max());
}

TEST(SavedLines, AreRefusedWhereAKeyOrAnElementIsNull) {
  using Kept = std::map<InstanceId, TaskId>;
  using Since = std::vector<std::pair<InstanceId, Instant>>;
  EXPECT_THROW(loaded<SeenJobs>(Json::parse("[[null,true,5,2,3]]")), NotUnderstood);
  EXPECT_THROW(loaded<Kept>(Json::parse("[[1,null]]")), NotUnderstood);
  EXPECT_THROW(loaded<Since>(Json::parse("[[null,5]]")), NotUnderstood);
  EXPECT_THROW(loaded<std::vector<TaskId>>(Json::parse("[1,null]")), NotUnderstood);
  EXPECT_THROW(loaded<std::set<TaskId>>(Json::parse("[1,null]")), NotUnderstood);
}

TEST(SavedLines, AreRefusedWhereTheyAreLongerThanTheirMembers) {
  using Since = std::vector<std::pair<InstanceId, Instant>>;
  EXPECT_THROW(loaded<SeenJobs>(Json::parse("[[7,true,5,2,3,4]]")), NotUnderstood);
  EXPECT_THROW(loaded<Seen>(Json::parse("[true,5,2,3,4]")), NotUnderstood);
  EXPECT_THROW(loaded<Since>(Json::parse("[[1,5,6]]")), NotUnderstood);
}

}  // namespace
}  // namespace muster::saved
