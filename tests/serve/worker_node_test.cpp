#include "serve/worker_node.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "tests/actors/link/worker_link_world.hpp"
#include "tests/support/places.hpp"
#include "tests/support/temp_file.hpp"

namespace muster {
namespace {

using test::comes_true;

const std::filesystem::path kShim = test::built_program("muster-shim");

/// A worker's process without the process: its node, under a master that the test plays.
class WorkerNodeTest : public ::testing::Test {
 protected:
  WorkerNodeTest() : folder_("worker", ""), master_(system_.actors()) {
    WorkerListenerSetup setup;
    setup.tls = pki_.node("m0");
    setup.tls->trusted = pki_.authority(PkiRole::worker);
    setup.master = master_.actor();
    auto listener = WorkerListener::start(system_.actors(), std::move(setup));
    MUSTER_CHECK(listener.has_value(), "a test without a listener");
    listener_ = std::move(listener).value();
    const TlsFiles files = pki_.worker("instance-7");
    config_.instance = 7;
    config_.capacity = Resources::of(0, 4, 16);
    config_.masters = {{"127.0.0.1", listener_->port()}};
    config_.master_name = "m0";
    config_.certificate = files.certificate;
    config_.key = files.key;
    config_.trusted = files.trusted;
    config_.state_dir = folder_.folder() / "state";
    config_.checkpoint_root = folder_.folder() / "checkpoints";
    config_.shim_program = kShim;
    config_.log = folder_.folder() / "worker.log";
    config_.tasks.stop_grace = std::chrono::seconds{1};
  }
  ~WorkerNodeTest() override {
    node_.reset();
    listener_.reset();
  }

  void begin() {
    node_.reset();
    auto node = WorkerNode::start(config_, kShim);
    ASSERT_TRUE(node) << node.error().message;
    node_ = std::move(node).value();
  }
  void order(std::uint64_t task, const std::string& script) {
    TaskOrder order;
    order.job = JobId{task};
    order.task.id = TaskId{task};
    order.task.demands = Demands(Resources::of(0, 1, 1));
    order.attempt = 1;
    order.granted = Resources::of(0, 1, 1);
    order.program.argv = {"/bin/sh", "-c", script};
    caf::anon_send(master_.worker(), start_atom_v, order);
  }
  bool has_hellos(std::size_t count) {
    return comes_true([&] { return master_.notes().hellos.size() >= count; });
  }
  bool has_reports(std::size_t count) {
    return comes_true([&] { return master_.notes().reports.size() >= count; });
  }
  std::string log_text() const {
    std::ifstream in(config_.log);
    return {std::istreambuf_iterator<char>(in), {}};
  }

  test::TempFile folder_;
  test::ClusterPki pki_;
  test::LiveSystem system_;
  test::ScriptedMaster master_;
  WorkerConfig config_;
  std::unique_ptr<WorkerListener> listener_;
  std::unique_ptr<WorkerNode> node_;
};

TEST_F(WorkerNodeTest, RunsWhatItsMasterOrdersAndReportsIt) {
  begin();
  ASSERT_TRUE(has_hellos(1)) << log_text();
  EXPECT_EQ(master_.notes().hellos[0].capacity, Resources::of(0, 4, 16));
  EXPECT_FALSE(master_.notes().hellos[0].limits.empty());
  EXPECT_FALSE(master_.notes().hellos[0].isolation.empty());
  order(3, "echo hi; exit 4");
  ASSERT_TRUE(has_reports(2)) << log_text();
  const WorkerReport report = master_.notes().reports[1];
  EXPECT_EQ(report.kind, WorkerReportKind::failed);
  EXPECT_EQ(report.exit_code, 4);
  EXPECT_EQ(report.out_tail, "hi\n");
  EXPECT_NE(log_text().find("task=3 attempt=1 failed exit_code=4"), std::string::npos);
}

TEST_F(WorkerNodeTest, TheNextOneTakesOverWhatRuns) {
  begin();
  ASSERT_TRUE(has_hellos(1));
  order(3, "while [ ! -e " + (folder_.folder() / "go").string() + " ]; do sleep 0.05; done");
  ASSERT_TRUE(has_reports(1));
  // A link that was lost at its beginning has said hello once more, before the order.
  const std::size_t hellos = master_.notes().hellos.size();
  begin();
  ASSERT_TRUE(has_hellos(hellos + 1)) << log_text();
  const WorkerHello hello = master_.notes().hellos.back();
  ASSERT_EQ(hello.known.size(), 1u);
  EXPECT_EQ(hello.known[0].task, TaskId{3});
  std::ofstream(folder_.folder() / "go") << "now";
  ASSERT_TRUE(comes_true([&] {
    const auto reports = master_.notes().reports;
    return !reports.empty() && reports.back().kind == WorkerReportKind::finished;
  })) << log_text();
}

TEST_F(WorkerNodeTest, SaysWhatIsWrongWithItsFiles) {
  config_.certificate = folder_.folder() / "none.pem";
  const auto node = WorkerNode::start(config_, kShim);
  ASSERT_FALSE(node);
  EXPECT_EQ(node.error().code, WorkerNodeError::tls);
  EXPECT_NE(node.error().message.find("none.pem"), std::string::npos);
}

TEST_F(WorkerNodeTest, SaysWhichFolderCannotBeMade) {
  config_.state_dir = folder_.path() / "below-a-file";
  const auto node = WorkerNode::start(config_, kShim);
  ASSERT_FALSE(node);
  EXPECT_EQ(node.error().code, WorkerNodeError::folder);
  EXPECT_NE(node.error().message.find("below-a-file"), std::string::npos);
}

}  // namespace
}  // namespace muster
