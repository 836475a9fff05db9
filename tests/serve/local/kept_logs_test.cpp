// The output of tasks that end with their cluster.

#include "serve/local/kept_logs.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>
#include <future>

#include "config/worker_config.hpp"
#include "tests/support/temp_file.hpp"

namespace muster::local {
namespace {

namespace fs = std::filesystem;

const LogName kAttempt{TaskId{7}, 2};

/// One node with a master, and the folder of an instance that it has rented.
class LogsOfAnEnd : public testing::Test {
 protected:
  LogsOfAnEnd() {
    config_.state = place_.folder() / "state";
    NodeConfig node;
    node.name = "n0";
    node.master = "m0";
    config_.nodes.push_back(node);
    WorkerConfig worker;
    worker.instance = 1;
    worker.capacity = Resources::of(0, 1, 1);
    worker.master_texts = {"127.0.0.1:1"};
    worker.master_name = "n0";
    worker.insecure_loopback = true;
    worker.state_dir = machine() / "state";
    worker.checkpoint_root = place_.folder() / "checkpoints";
    fs::create_directories(machine());
    std::ofstream(machine() / "worker.toml") << worker_config_text(worker);
  }
  fs::path machine() const { return place_.folder() / "instance-1"; }
  void write(const std::string& file, const std::string& text) const {
    const fs::path folder = machine() / "state/attempts/7.2";
    fs::create_directories(folder);
    std::ofstream(folder / file, std::ios::app) << text;
  }
  KeptLogs bring() const {
    LogsOfEnd logs(config_);
    logs.bring(machine());
    return logs.done();
  }
  /// As the master's node opens it when it starts again.
  std::unique_ptr<LogStore> store() const {
    LogStoreOptions options;
    options.clock = [] { return Duration{}; };
    return std::move(LogStore::open(config_.state / "n0/logs", std::move(options))).value();
  }
  static KeptLog kept(LogStore& store, bool error_stream = false) {
    std::promise<std::optional<KeptLog>> told;
    store.read({kAttempt, error_stream, 0, 1000}, [&](auto log) { told.set_value(log); });
    return told.get_future().get().value_or(KeptLog{0, {}, 0, "it is not known", true});
  }
  static void deliver(LogStore& store, LogDelivery delivery) {
    std::promise<bool> told;
    store.take(std::move(delivery), [&](bool written) { told.set_value(written); });
    ASSERT_TRUE(told.get_future().get());
  }

  test::TempFile place_{"x", ""};
  ClusterConfig config_;
};

TEST_F(LogsOfAnEnd, AreWholeAndStayThoughTheInstanceIsGone) {
  write("out.0", "one\n");
  write("out.4", "two\n");
  write("err.0", "e");
  EXPECT_EQ(bring().kept, 1U);
  const auto after = store();
  deliver(*after, {kAttempt, {}, true, "spot instance 1 was gone before it was across"});
  EXPECT_EQ(kept(*after).text, "one\ntwo\n");
  EXPECT_EQ(kept(*after, true).text, "e");
  EXPECT_EQ(kept(*after).lost, "");
  EXPECT_FALSE(kept(*after).open);
}

TEST_F(LogsOfAnEnd, GoOnBehindThePartsThatWereAcross) {
  deliver(*store(), {kAttempt, {{false, 0, "one\n"}}, false, {}, true});
  write("out.0", "one\n");
  write("out.4", "two\n");
  EXPECT_EQ(bring().kept, 1U);
  EXPECT_EQ(bring().kept, 1U) << "as when it is killed before the instance's folder is gone";
  EXPECT_EQ(kept(*store()).text, "one\ntwo\n");
}

TEST_F(LogsOfAnEnd, ReplaceNoneThatIsWhole) {
  deliver(*store(), {kAttempt, {{false, 0, "all\n"}}, true});
  write("out.0", "other");
  EXPECT_EQ(bring().kept, 1U);
  EXPECT_EQ(kept(*store()).text, "all\n");
}

TEST_F(LogsOfAnEnd, SayWhatThereWasNoTimeFor) {
  config_.logs.handover_s = 0;
  write("out.0", "one\n");
  EXPECT_EQ(bring().lost, 1U);
  EXPECT_THAT(kept(*store()).lost, testing::HasSubstr("logs.handover_s"));
}

TEST_F(LogsOfAnEnd, ReadNoPipeOfATask) {
  write("out.0", "one\n");
  ASSERT_EQ(mkfifo((machine() / "state/attempts/7.2/out.4").c_str(), 0600), 0);
  EXPECT_EQ(bring().kept, 1U) << "and does not wait for it";
  EXPECT_EQ(kept(*store()).text, "one\n");
}

}  // namespace
}  // namespace muster::local
