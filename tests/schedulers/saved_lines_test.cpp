#include "schedulers/saved_lines.hpp"

#include <gtest/gtest.h>

#include <map>

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

using SeenJobs = std::map<JobId, Seen>;

TEST(SavedLines, HaveTheKeyBeforeTheMembers) {
  const SeenJobs jobs{{JobId{7}, {true, Instant{Duration{5}}, 2, InstanceId{3}}}, {JobId{9}, {}}};
  const Json text = saved(jobs);
  EXPECT_EQ(text.dump(), "[[7,true,5,2,3],[9,false,null,0,null]]");
  EXPECT_EQ(loaded<SeenJobs>(text), jobs);
}

TEST(SavedLines, AreRefusedWhereOneIsOfAnotherKind) {
  for (const char* text : {"7", "[7]", "[[7,true,5,2]]", "[[7,1,5,2,3]]", "[[7,true,5,-2,3]]",
                           "[[7,true,5,4294967296,3]]", "[[-7,true,5,2,3]]"}) {
    EXPECT_THROW(loaded<SeenJobs>(Json::parse(text)), NotUnderstood) << text;
  }
}

}  // namespace
}  // namespace muster::saved
