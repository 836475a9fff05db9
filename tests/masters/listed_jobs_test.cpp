// Jobs that are not over, in the order of lists.

#include <gmock/gmock.h>

#include <span>
#include <vector>

#include "tests/masters/scripted_master.hpp"

namespace muster {
namespace {

using test::JobBuilder;
using testing::ElementsAre;

class ListedJobsTest : public test::MasterTest {
 protected:
  void submit(std::uint64_t id, std::optional<Instant> submitted) {
    Job job = JobBuilder(id).build();
    job.submitted = submitted;
    ASSERT_EQ(master_->submit(std::move(job), now()), SubmitResult::accepted);
  }

  /// The jobs in their order.
  std::vector<std::uint64_t> open() const {
    std::vector<std::uint64_t> jobs;
    for (const JobPlace& place : master_->facts().listed) jobs.push_back(place.job.value);
    return jobs;
  }
};

TEST_F(ListedJobsTest, StandInTheOrderOfSubmissionUntilTheyAreOver) {
  submit(5, test::at_s(20));
  submit(7, std::nullopt);
  submit(9, test::at_s(10));
  EXPECT_THAT(open(), ElementsAre(5, 9, 7)) << "the one of an earlier version comes last";
  master_->cancel(JobId{9}, now());
  EXPECT_THAT(open(), ElementsAre(5, 7));
  submit(3, test::at_s(10));
  EXPECT_THAT(open(), ElementsAre(5, 3, 7));
}

TEST_F(ListedJobsTest, AreThoseOfTheSnapshotAndTheEventsAfterIt) {
  submit(5, test::at_s(20));
  submit(9, test::at_s(10));
  commit();
  MasterSnapshot snapshot = master_->snapshot();
  const std::size_t seen = events_.size();
  master_->cancel(JobId{5}, now());
  submit(6, test::at_s(30));
  commit();
  make_master({});
  const std::span<const Event> tail = std::span(events_).subspan(seen);
  EXPECT_EQ(master_->restore(std::move(snapshot), tail), "");
  EXPECT_THAT(open(), ElementsAre(6, 9));
}

}  // namespace
}  // namespace muster
