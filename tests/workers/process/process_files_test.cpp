#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <string>
#include <vector>

#include "storage/files/folder_scan.hpp"
#include "storage/files/object_batch.hpp"
#include "storage/files/user_files.hpp"
#include "tests/support/golden.hpp"
#include "tests/support/process_host.hpp"

// Files that attempts begin with, and those that they leave: through executor, shim and the program
// that moves them.

namespace muster {
namespace {

namespace fs = std::filesystem;
using test::IsGolden;
using test::ProcessHost;
using test::script;
using testing::ElementsAre;
using testing::IsEmpty;

class TaskFiles : public ::testing::Test {
 protected:
  TaskFiles() : options_(test::process_options(files_.folder())) {
    options_.files.store = store().string();
    EXPECT_FALSE(files::make_store(store()));
  }

  fs::path store() const { return files_.folder() / "store"; }
  std::unique_ptr<files::UserFiles> open() const {
    auto opened = files::UserFiles::open_in(store(), "ann");
    EXPECT_TRUE(opened) << (opened ? "" : opened.error().message);
    return std::move(opened).value();
  }
  /// The folder `from` as a tree in ann's part of the store.
  files::ContentId stage(const fs::path& from) const {
    const auto user = open();
    files::ObjectBatch batch(user->contents());
    const auto folder = files::open_folder(from);
    const auto found = files::scan_folder(folder->get(), batch, {});
    EXPECT_TRUE(found) << (found ? "" : found.error().message);
    const auto id = batch.put_text(found->tree.encode());
    EXPECT_FALSE(batch.finish());
    EXPECT_TRUE(user->stage(id.value(), {}, 10)->complete);
    return id.value();
  }
  fs::path source() const {
    const fs::path from = files_.folder() / "from";
    fs::create_directories(from / "data");
    std::ofstream(from / "data" / "in.txt") << "hello";
    std::ofstream(from / "run.sh") << "#!/bin/sh\ntr a-z A-Z < data/in.txt > out.txt\n";
    chmod((from / "run.sh").c_str(), 0755);
    return from;
  }
  TaskOrder order(const std::string& text) {
    TaskOrder told = script(++tasks_, text);
    told.user = "ann";
    return told;
  }
  ProcessHost::News run(const TaskOrder& told) {
    if (!executor_) {
      executor_ = std::make_unique<ProcessExecutor>(InstanceId{3}, options_, host_.host());
    }
    executor_->start(told);
    return host_.end_of(told.task.id, told.attempt);
  }
  /// While the executor goes on.
  void wait_a_moment() {
    int looks = 100;  // 5 ms each
    host_.run_until([&] { return --looks == 0; });
  }
  std::vector<files::Outputs> kept() const { return open()->outputs().list(7, {}, 100).value(); }
  /// The paths of a kept tree.
  std::vector<std::string> paths(const files::ContentId& tree) const {
    std::vector<std::string> found;
    const auto read = open()->read_tree(tree);
    for (const auto& entry : read->entries()) found.push_back(entry.path);
    return found;
  }

  test::TempFile files_{"kept", ""};
  ProcessOptions options_;
  ProcessHost host_;
  std::unique_ptr<ProcessExecutor> executor_;
  std::uint64_t tasks_ = 0;
};

TEST_F(TaskFiles, ATaskFindsItsFilesAndLeavesOthers) {
  TaskOrder told = order("./run.sh && mkdir logs && echo done > logs/a.log && echo x > rest");
  told.program.stage = stage(source()).text();
  told.program.outputs = {"logs/**", "out.txt"};
  const auto end = run(told);
  EXPECT_EQ(end.what, "finished") << end.reason;
  ASSERT_EQ(kept().size(), 1u);
  EXPECT_EQ(kept()[0].files, 2u);
  EXPECT_EQ(kept()[0].bytes, 10u);
  EXPECT_THAT(paths(kept()[0].tree), ElementsAre("logs", "logs/a.log", "out.txt"));
}

TEST_F(TaskFiles, ATaskThatFailsLeavesItsOutputsAsWell) {
  TaskOrder told = order("echo part > out.txt; exit 3");
  told.program.outputs = {"missing", "out.txt"};
  const auto end = run(told);
  EXPECT_EQ(end.what, "failed");
  EXPECT_EQ(end.reason, "exit code 3");
  ASSERT_EQ(kept().size(), 1u);
  EXPECT_THAT(paths(kept()[0].tree), ElementsAre("out.txt"));
}

TEST_F(TaskFiles, AStoppedTaskLeavesThemAsWell) {
  TaskOrder told = order(
      "trap 'echo saved > out.txt; exit 0' TERM; echo up > up; "
      "while :; do sleep 0.05; done");
  told.program.outputs = {"out.txt", "up"};
  executor_ = std::make_unique<ProcessExecutor>(InstanceId{3}, options_, host_.host());
  executor_->start(told);
  const fs::path up = options_.state_dir / "attempts" / "1.1" / "work" / "up";
  ASSERT_TRUE(host_.run_until([&] { return fs::exists(up); }));
  executor_->stop(told.task.id, told.attempt);
  EXPECT_EQ(host_.end_of(told.task.id, told.attempt).what, "left");
  ASSERT_EQ(kept().size(), 1u);
  EXPECT_THAT(paths(kept()[0].tree), ElementsAre("out.txt", "up"));
}

TEST_F(TaskFiles, ATaskWithoutItsOutputsHasFailed) {
  TaskOrder told = order("echo x > out.txt");
  told.program.outputs = {"model.bin", "out.txt", "plots/*.png"};
  const auto end = run(told);
  EXPECT_EQ(end.what, "failed");
  EXPECT_EQ(end.end.failure, FailureKind::files);
  EXPECT_EQ(end.end.exit_code, 73);
  EXPECT_THAT(end.reason, IsGolden());
  // The one that is there is kept nevertheless.
  EXPECT_EQ(kept().size(), 1u);
  told = order("echo x > out.txt");
  told.program.outputs = {"model.bin"};
  told.program.optional_outputs = true;
  EXPECT_EQ(run(told).what, "finished");
  EXPECT_EQ(kept().size(), 1u);
}

TEST_F(TaskFiles, OutputsBeyondTheBoundAreRefused) {
  options_.files.outputs_max_bytes = 10;
  TaskOrder told = order("echo 0123456789 > out.txt");
  told.program.outputs = {"out.txt"};
  const auto end = run(told);
  EXPECT_EQ(end.what, "failed");
  EXPECT_EQ(end.end.failure, FailureKind::files);
  EXPECT_THAT(kept(), IsEmpty());
}

TEST_F(TaskFiles, LinksOutOfTheFolderAreNotFollowed) {
  std::ofstream(files_.folder() / "secret") << "secret";
  TaskOrder told = order(
      "ln -s ../../../../../secret out.txt; ln -s /etc logs; echo x > a; "
      "mkfifo pipe");
  told.program.outputs = {"*", "logs/**"};
  told.program.optional_outputs = true;
  const auto end = run(told);
  EXPECT_EQ(end.what, "finished") << end.reason;
  ASSERT_EQ(kept().size(), 1u);
  EXPECT_THAT(paths(kept()[0].tree), ElementsAre("a"));
  EXPECT_EQ(kept()[0].skipped, 3u);
}

TEST_F(TaskFiles, FilesThatAreGoneFailTheTask) {
  TaskOrder told = order("true");
  told.program.stage = std::string(64, 'a');
  auto end = run(told);
  EXPECT_EQ(end.what, "failed");
  EXPECT_EQ(end.end.failure, FailureKind::cannot_start);
  EXPECT_THAT(end.reason, IsGolden());
  open();
  told = order("true");
  told.program.stage = std::string(64, 'a');
  EXPECT_THAT(run(told).reason, IsGolden());
}

TEST_F(TaskFiles, AContentThatIsDamagedFailsTheTask) {
  const std::string id = stage(source()).text();
  const std::string name = files::ContentId::of("hello").text();
  const fs::path object =
      store() / "users/ann/contents/objects" / name.substr(0, 2) / name.substr(2);
  std::ofstream(object) << "hellO";
  TaskOrder told = order("true");
  told.program.stage = id;
  const auto end = run(told);
  EXPECT_EQ(end.end.failure, FailureKind::cannot_start);
  EXPECT_THAT(end.reason, IsGolden());
  // It is sent again before another job begins with it.
  EXPECT_FALSE(open()->use_stage(files::ContentId::parse(id).value()).value());
}

TEST_F(TaskFiles, AStoreThatIsAwayIsWaitedFor) {
  const std::string id = stage(source()).text();
  fs::rename(store(), files_.folder() / "away");
  // A folder on which nothing is mounted.
  fs::create_directory(store());
  TaskOrder told = order("./run.sh");
  told.program.stage = id;
  told.program.outputs = {"out.txt"};
  executor_ = std::make_unique<ProcessExecutor>(InstanceId{3}, options_, host_.host());
  executor_->start(told);
  wait_a_moment();
  EXPECT_EQ(host_.count("started"), 0u);
  EXPECT_TRUE(fs::is_empty(store()));
  fs::remove(store());
  fs::rename(files_.folder() / "away", store());
  const auto end = host_.end_of(told.task.id, told.attempt);
  EXPECT_EQ(end.what, "finished") << end.reason;
  EXPECT_EQ(kept().size(), 1u);
}

TEST_F(TaskFiles, FilesThatTakeTooLongFailTheTask) {
  options_.files.patience = std::chrono::milliseconds{200};
  fs::remove_all(store());
  TaskOrder told = order("true");
  told.program.stage = std::string(64, 'a');
  const auto end = run(told);
  EXPECT_EQ(end.what, "failed");
  EXPECT_EQ(end.end.failure, FailureKind::files);
  EXPECT_THAT(end.reason, IsGolden());
}

TEST_F(TaskFiles, OutputsThatTakeTooLongFailTheTask) {
  options_.files.patience = std::chrono::milliseconds{500};
  TaskOrder told =
      order("echo x > out.txt; mv " + store().string() + " " + (files_.folder() / "away").string());
  told.program.outputs = {"out.txt"};
  const auto end = run(told);
  EXPECT_EQ(end.what, "failed");
  EXPECT_EQ(end.end.failure, FailureKind::files);
  fs::rename(files_.folder() / "away", store());
}

TEST_F(TaskFiles, AStopIsHeardWhileFilesCome) {
  fs::remove_all(store());
  TaskOrder told = order("true");
  told.program.stage = std::string(64, 'a');
  executor_ = std::make_unique<ProcessExecutor>(InstanceId{3}, options_, host_.host());
  executor_->start(told);
  wait_a_moment();
  executor_->stop(told.task.id, told.attempt);
  const auto end = host_.end_of(told.task.id, told.attempt);
  EXPECT_EQ(end.what, "left");
  EXPECT_EQ(end.end.exit_code, 143);
}

TEST_F(TaskFiles, AWorkerThatBeginsAnewFollowsWhileFilesCome) {
  const std::string id = stage(source()).text();
  fs::rename(store(), files_.folder() / "away");
  TaskOrder told = order("./run.sh");
  told.program.stage = id;
  told.program.outputs = {"out.txt"};
  executor_ = std::make_unique<ProcessExecutor>(InstanceId{3}, options_, host_.host());
  executor_->start(told);
  const fs::path order_file = options_.state_dir / "attempts" / "1.1" / "order";
  ASSERT_TRUE(host_.run_until([&] { return fs::exists(order_file); }));
  executor_ = std::make_unique<ProcessExecutor>(InstanceId{3}, options_, host_.host());
  EXPECT_EQ(executor_->adopt().size(), 1u);
  fs::rename(files_.folder() / "away", store());
  const auto end = host_.end_of(told.task.id, told.attempt);
  EXPECT_EQ(end.what, "finished") << end.reason;
  EXPECT_EQ(kept().size(), 1u);
}

TEST_F(TaskFiles, OutputsOfAUserWithoutRoomAreRefused) {
  options_.files.user_max_bytes = 10'000;
  TaskOrder told = order("for i in 1 2 3; do echo $i > $i.out; done");
  told.program.outputs = {"*.out"};
  const auto end = run(told);
  EXPECT_EQ(end.end.failure, FailureKind::files);
  EXPECT_THAT(end.reason, IsGolden());
  EXPECT_THAT(kept(), IsEmpty());
  EXPECT_EQ(open()->contents().usage()->objects, 0u);
}

TEST_F(TaskFiles, AMachineWithoutAStoreLosesTheTask) {
  options_.files.store.clear();
  TaskOrder told = order("true");
  told.program.outputs = {"a"};
  const auto end = run(told);
  EXPECT_EQ(end.end.failure, FailureKind::lost);
  EXPECT_THAT(end.reason, IsGolden());
}

TEST_F(TaskFiles, FilesAreTheTasksUsersAlone) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can run tasks as another user";
  options_.task_uid = 65534;
  // Its folders have to let that user through.
  fs::permissions(files_.folder(), fs::perms::others_exec, fs::perm_options::add);
  TaskOrder told = order(
      "test -O run.sh && test -O data/in.txt && ./run.sh && cat out.txt && "
      "! cat ../../../../store/users/ann/stages/* ");
  told.program.stage = stage(source()).text();
  told.program.outputs = {"out.txt"};
  const auto end = run(told);
  EXPECT_EQ(end.what, "finished") << end.reason << end.end.err_tail;
  EXPECT_EQ(end.end.out_tail, "HELLO");
  EXPECT_EQ(kept().size(), 1u);
}

}  // namespace
}  // namespace muster
