#include "workers/process/shim/lease.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/golden.hpp"
#include "tests/support/process_host.hpp"
#include "workers/process/progress.hpp"

// The lease of a joined machine: supervisors end what runs when it is over.

namespace muster {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using test::ProcessHost;
using test::script;

class LeaseTest : public ::testing::Test {
 protected:
  LeaseTest() : options_(test::process_options(files_.folder())) {
    std::filesystem::create_directories(options_.state_dir);
  }
  void lease_until(Duration end) {
    EXPECT_EQ(process::write_lease(options_.state_dir / process::kLeaseFile, end), "");
  }
  ProcessHost::News run(const std::string& text) {
    executor_ = std::make_unique<ProcessExecutor>(InstanceId{3}, options_, host_.host());
    const TaskOrder order = script(1, text);
    executor_->start(order);
    return host_.end_of(order.task.id, order.attempt);
  }

  test::TempFile files_{"unused", ""};
  ProcessOptions options_;
  ProcessHost host_;
  std::unique_ptr<ProcessExecutor> executor_;
};

TEST_F(LeaseTest, a_task_is_killed_when_the_lease_ends) {
  lease_until(process::boot_time() + milliseconds{300});
  const ProcessHost::News end = run("trap '' TERM; sleep 600");
  EXPECT_EQ(end.what, "failed");
  EXPECT_EQ(end.end.failure, FailureKind::lost) << "that is no fault of the program";
  EXPECT_THAT(end.reason, test::IsGolden());
}

TEST_F(LeaseTest, no_task_starts_when_the_lease_has_ended) {
  lease_until(process::boot_time() - milliseconds{1});
  const ProcessHost::News end = run("exit 0");
  EXPECT_EQ(end.what, "failed");
  EXPECT_EQ(end.end.failure, FailureKind::lost);
}

TEST_F(LeaseTest, a_task_runs_while_the_lease_holds) {
  lease_until(process::boot_time() + hours{1});
  EXPECT_EQ(run("exit 0").what, "finished");
}

TEST_F(LeaseTest, a_lease_is_read_as_it_is_written) {
  const auto file = options_.state_dir / "some";
  EXPECT_EQ(process::read_lease(file), std::nullopt);
  EXPECT_EQ(process::write_lease(file, hours{24 * 365 * 100}), "");
  EXPECT_EQ(process::read_lease(file), hours{24 * 365 * 100});
  EXPECT_EQ(process::write_lease(file, milliseconds{1}), "");
  EXPECT_EQ(process::read_lease(file), milliseconds{1}) << "as long as the one before";
}

}  // namespace
}  // namespace muster
