#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <fstream>

#include "tests/support/golden.hpp"
#include "tests/support/process_host.hpp"

namespace muster {
namespace {

using process::DiskClaims;
using process::DiskSpace;
using std::chrono::milliseconds;
using test::IsGolden;
using test::ProcessHost;
using test::script;
using testing::AllOf;
using testing::HasSubstr;

constexpr std::uint64_t kMiB = std::uint64_t{1} << 20;

/// Workers on one computer, whose disk is as full as the test says.
class ProcessDiskTest : public ::testing::Test {
 protected:
  /// The disk is full as long as `full` says so.
  ProcessOptions options(const std::string& worker, std::function<bool()> full) {
    ProcessOptions made = test::process_options(files_.folder());
    made.state_dir = files_.folder() / worker;
    made.disk_check = milliseconds{20};
    made.disk_free_bytes = kMiB;
    made.disk_space = [this, full = std::move(full)](const std::filesystem::path&) {
      ++looks_;
      return std::optional(DiskSpace{device(), full() ? kMiB / 2 : 2 * kMiB, 1024 * kMiB});
    };
    return made;
  }
  std::unique_ptr<ProcessExecutor> make(std::uint64_t number, ProcessHost& host,
                                        const ProcessOptions& options) {
    return std::make_unique<ProcessExecutor>(InstanceId{number}, options, host.host());
  }
  std::uint64_t device() const { return process::space_on(files_.folder())->device; }
  bool there(const std::string& name) const {
    return std::filesystem::exists(files_.folder() / name);
  }
  /// The worker has looked so often again.
  bool looked_again(ProcessHost& host, unsigned times) {
    const unsigned until = looks_ + times;
    return host.run_until([&] { return looks_ >= until; });
  }

  test::TempFile files_{"kept", ""};
  std::atomic<unsigned> looks_{0};
  ProcessHost host_;
};

/// Takes so much of the disk, of which nothing is a hole, and stays.
std::string takes(unsigned kib, const std::string& file = "big") {
  return "head -c " + std::to_string(kib * 1024) + " /dev/zero >" + file + "; touch \"" + file +
         "\".made; sleep 600";
}

TEST_F(ProcessDiskTest, AFullDiskEndsTheAttemptThatTakesTheMost) {
  const auto worker =
      make(3, host_, options("w", [this] { return there("w/attempts/1.1/work/big.made"); }));
  worker->start(script(2, takes(200)));
  ASSERT_TRUE(host_.run_until([&] { return there("w/attempts/2.1/work/big.made"); }));
  worker->start(script(1, takes(3000)));
  const auto end = host_.end_of(TaskId{1}, 1);
  EXPECT_EQ(end.what, "failed");
  EXPECT_EQ(end.end.failure, FailureKind::disk_full);
  EXPECT_THAT(end.reason, AllOf(HasSubstr("512 KiB"), HasSubstr("1.0 GiB"),
                                HasSubstr((files_.folder() / "w/attempts").string()),
                                HasSubstr("3 MiB"), IsGolden()));
  EXPECT_FALSE(there("w/attempts/1.1/work")) << "its room has come back";
  EXPECT_FALSE(host_.heard("failed", TaskId{2}));
}

TEST_F(ProcessDiskTest, CheckpointsThatFillADiskGoAndAFolderThatTheJobNamedStays) {
  const std::filesystem::path own = files_.folder() / "own";
  std::filesystem::create_directory(own);
  const auto worker =
      make(3, host_, options("w", [this] { return there("checkpoints/7/0/big.made"); }));
  TaskOrder execution = script(1, "touch mine; " + takes(3000, "$MUSTER_CHECKPOINT_DIR/big"));
  execution.program.work_dir = own.string();
  worker->start(execution);
  const auto end = host_.end_of(TaskId{1}, 1);
  EXPECT_EQ(end.end.failure, FailureKind::disk_full);
  EXPECT_THAT(end.reason, AllOf(HasSubstr("3 MiB"), IsGolden()));
  EXPECT_FALSE(there("checkpoints/7/0"));
  EXPECT_TRUE(there("own/mine"));
}

TEST_F(ProcessDiskTest, ASmallCheckpointOutlivesTheAttempt) {
  const auto worker =
      make(3, host_, options("w", [this] { return there("w/attempts/1.1/work/big.made"); }));
  worker->start(script(1, "echo 5 >$MUSTER_CHECKPOINT_DIR/epoch; " + takes(3000)));
  EXPECT_EQ(host_.end_of(TaskId{1}, 1).end.failure, FailureKind::disk_full);
  EXPECT_TRUE(there("checkpoints/7/0/epoch"));
}

TEST_F(ProcessDiskTest, NobodyIsEndedForWhatOthersTake) {
  std::atomic<bool> full{false};
  const auto worker = make(3, host_, options("w", [&] { return full.load(); }));
  worker->start(script(1, takes(8)));
  ASSERT_TRUE(host_.run_until([&] { return there("w/attempts/1.1/work/big.made"); }));
  full = true;
  ASSERT_TRUE(looked_again(host_, 20));
  EXPECT_FALSE(host_.heard("failed", TaskId{1}));
}

TEST_F(ProcessDiskTest, OfSeveralWorkersOnlyTheOneWithTheLargestAttemptEndsIt) {
  ProcessHost other_host;
  const auto full = [this] { return there("w4/attempts/2.1/work/big.made"); };
  const auto worker = make(3, host_, options("w3", full));
  const auto other = make(4, other_host, options("w4", full));
  worker->start(script(1, takes(1500)));
  ASSERT_TRUE(host_.run_until([&] { return there("w3/attempts/1.1/work/big.made"); }));
  other->start(script(2, takes(4000)));
  EXPECT_EQ(other_host.end_of(TaskId{2}, 1).end.failure, FailureKind::disk_full);
  ASSERT_TRUE(looked_again(host_, 20));
  EXPECT_FALSE(host_.heard("failed", TaskId{1}));
}

TEST_F(ProcessDiskTest, ANewAttemptWaitsForRoom) {
  std::atomic<bool> full{true};
  const auto worker = make(3, host_, options("w", [&] { return full.load(); }));
  ASSERT_TRUE(looked_again(host_, 4));
  worker->start(script(1, "echo ran"));
  ASSERT_TRUE(looked_again(host_, 4));
  EXPECT_FALSE(there("w/attempts/1.1"));
  full = false;
  EXPECT_EQ(host_.end_of(TaskId{1}, 1).end.out_tail, "ran\n");
}

TEST_F(ProcessDiskTest, AnAttemptForWhichNoRoomComesIsRejected) {
  ProcessOptions made = options("w", [] { return true; });
  made.disk_check = milliseconds{1};
  const auto worker = make(3, host_, made);
  ASSERT_TRUE(looked_again(host_, 4));
  worker->start(script(1, "true"));
  const auto end = host_.end_of(TaskId{1}, 1);
  EXPECT_EQ(end.what, "rejected");
  EXPECT_THAT(end.reason, AllOf(HasSubstr("512 KiB"), IsGolden()));
}

TEST_F(ProcessDiskTest, AnAttemptThatWaitsForRoomCanBeStopped) {
  const auto worker = make(3, host_, options("w", [] { return true; }));
  ASSERT_TRUE(looked_again(host_, 4));
  worker->start(script(1, "true"));
  worker->stop(TaskId{1}, 1);
  EXPECT_EQ(host_.end_of(TaskId{1}, 1).what, "left");
}

TEST_F(ProcessDiskTest, WhatSettledAttemptsWorkedWithGoesFirst) {
  std::atomic<bool> full{false};
  const auto worker = make(3, host_, options("w", [&] { return full.load(); }));
  worker->start(script(1, "echo said; echo made >result"));
  ASSERT_EQ(host_.end_of(TaskId{1}, 1).what, "finished");
  worker->acknowledged(TaskId{1}, 1);
  EXPECT_TRUE(there("w/attempts/1.1/work/result"));
  full = true;
  EXPECT_TRUE(host_.run_until([&] { return !there("w/attempts/1.1/work"); }));
  LogPlace place;
  place.task = TaskId{1};
  place.attempt = 1;
  place.max_bytes = 100;
  EXPECT_EQ(worker->read_log(place).text, "said\n") << "what it wrote stays a while";
}

TEST_F(ProcessDiskTest, AFolderTakesItsBlocksAndNothingBehindLinks) {
  const auto folder = files_.folder() / "tree";
  std::filesystem::create_directories(folder / "below");
  std::ofstream(folder / "below/file") << std::string(100'000, 'x');
  std::ofstream(files_.folder() / "elsewhere") << std::string(900'000, 'x');
  std::filesystem::create_symlink(files_.folder(), folder / "link");
  std::ofstream(folder / "hole").put('x');
  std::filesystem::resize_file(folder / "hole", 50'000'000);
  sync();
  const std::uint64_t bytes = process::bytes_below(folder, device(), 1000);
  EXPECT_GE(bytes, 100'000U);
  EXPECT_LT(bytes, 200'000U);
  EXPECT_EQ(process::bytes_below(folder, device() + 1, 1000), 0U) << "another file system";
  EXPECT_EQ(process::bytes_below(folder / "nowhere", device(), 1000), 0U);
}

TEST(DiskClaims, OnlyTheGreatestMayEndAnAttemptAndOneAtATime) {
  const test::TempFile files("kept", "");
  const auto file = files.folder() / "claims";
  constexpr Duration kLong = std::chrono::hours{1};
  const DiskClaims one(file, 1, kLong);
  const DiskClaims two(file, 2, kLong);
  EXPECT_TRUE(one.claim(10, kLong));
  EXPECT_TRUE(two.claim(20, kLong));
  EXPECT_FALSE(one.claim(10, kLong));
  EXPECT_FALSE(one.claim(20, kLong) && two.claim(20, kLong)) << "of two alike only one";
  two.ending();
  EXPECT_FALSE(one.claim(30, kLong)) << "what the other ends is to have its effect first";
  EXPECT_TRUE(one.claim(30, Duration::zero()));
  two.claim(40, kLong);
  two.withdraw();
  EXPECT_TRUE(one.claim(30, Duration::zero()));
}

TEST(DiskClaims, AWorkerThatIsGoneCountsNoMore) {
  const test::TempFile files("kept", "");
  const auto file = files.folder() / "claims";
  const DiskClaims gone(file, 1, Duration::zero());
  const DiskClaims here(file, 2, Duration::zero());
  gone.claim(100, Duration::zero());
  EXPECT_TRUE(here.claim(1, Duration::zero()));
}

TEST(DiskClaims, WhereNothingCanBeWrittenAWorkerGoesByItself) {
  const DiskClaims alone("/nowhere/claims", 1, std::chrono::hours{1});
  EXPECT_TRUE(alone.claim(1, std::chrono::hours{1}));
}

TEST(DiskUse, SaysSizesInWords) {
  EXPECT_EQ(process::in_words(0), "0 MiB");
  EXPECT_EQ(process::in_words(2048), "2 KiB");
  EXPECT_EQ(process::in_words(812 * kMiB), "812 MiB");
  EXPECT_EQ(process::in_words(9318 * kMiB), "9.1 GiB");
  EXPECT_EQ(process::in_words(20 * 1024 * kMiB), "20 GiB");
}

}  // namespace
}  // namespace muster
