#include <gtest/gtest.h>

#include "tests/actors/link/worker_link_world.hpp"
#include "tests/support/golden.hpp"

namespace muster {
namespace {

using namespace std::chrono_literals;
using test::comes_true;
using test::NewsBook;
using test::RawWorker;

/// A master with its listener and, when wanted, a worker with its link, in two actor systems.
class WorkerLinkTest : public ::testing::Test {
 protected:
  WorkerLinkTest() : master_(master_system_.actors()) {
    options_.heartbeat = 100ms;
    options_.dead_after = 20s;
    options_.handshake = 20s;
    options_.first_delay = 20ms;
    options_.max_delay = 100ms;
  }
  ~WorkerLinkTest() override {
    if (worker_) caf::anon_send_exit(worker_, caf::exit_reason::user_shutdown);
    worker_ = nullptr;
    link_.reset();
    listener_.reset();
  }

  void listen(std::uint16_t port = 0) {
    WorkerListenerSetup setup;
    setup.port = port;
    setup.tls = pki_.node("m0");
    setup.tls->trusted = pki_.authority(PkiRole::worker);
    setup.options = options_;
    setup.master = master_.actor();
    setup.news = master_news_.listener();
    auto listener = WorkerListener::start(master_system_.actors(), std::move(setup));
    ASSERT_TRUE(listener) << listener.error().message;
    listener_ = std::move(listener).value();
  }
  MasterLinkSetup link_setup(std::uint64_t instance) {
    MasterLinkSetup setup;
    setup.instance = InstanceId{instance};
    setup.masters = {{"127.0.0.1", listener_->port()}};
    setup.master_name = "m0";
    setup.tls = files_of(instance);
    setup.options = options_;
    setup.news = worker_news_.listener();
    return setup;
  }
  void begin_worker(MasterLinkSetup setup) {
    const InstanceId instance = setup.instance;
    auto link = MasterLink::start(worker_system_.actors(), std::move(setup));
    ASSERT_TRUE(link) << link.error().message;
    link_ = std::move(link).value();
    WorkerSetup worker;
    worker.instance = instance;
    worker.capacity = Resources::of(1, 4, 16);
    worker.master = link_->master();
    worker.make_executor = [](InstanceId, TypeId, ExecutorHost host) {
      return std::make_unique<test::ScriptedExecutor>(std::move(host));
    };
    worker_ = worker_system_.actors().spawn<Worker>(std::move(worker));
  }
  TlsFiles files_of(std::uint64_t instance) {
    return pki_.worker("instance-" + std::to_string(instance));
  }
  RawWorker raw(std::uint64_t instance) { return RawWorker(listener_->port(), files_of(instance)); }

  bool has_hellos(std::size_t count) {
    return comes_true([&] { return master_.notes().hellos.size() >= count; });
  }
  bool has_reports(std::size_t count) {
    return comes_true([&] { return master_.notes().reports.size() >= count; });
  }
  static TaskOrder order(std::uint64_t task, const std::string& argument) {
    TaskOrder order;
    order.job = JobId{task};
    order.task.id = TaskId{task};
    order.task.demands = Demands(Resources::of(0, 1, 1));
    order.attempt = 1;
    order.granted = Resources::of(0, 1, 1);
    order.program.argv = {argument};
    return order;
  }
  static FrameBytes started(std::uint64_t instance, std::uint64_t task) {
    WorkerReport report;
    report.instance = InstanceId{instance};
    report.task = TaskId{task};
    report.attempt = 1;
    return report_frame(report, 1 << 20);
  }

  test::ClusterPki pki_;
  WorkerLinkOptions options_;
  NewsBook master_news_;
  NewsBook worker_news_;
  test::LiveSystem master_system_;
  test::LiveSystem worker_system_;
  test::ScriptedMaster master_;
  std::unique_ptr<WorkerListener> listener_;
  std::unique_ptr<MasterLink> link_;
  WorkerActor worker_;
};

TEST_F(WorkerLinkTest, CarriesAHelloOrdersAndReports) {
  listen();
  begin_worker(link_setup(7));
  ASSERT_TRUE(has_hellos(1)) << worker_news_.all();
  const WorkerHello hello = master_.notes().hellos.front();
  EXPECT_EQ(hello.instance, InstanceId{7});
  EXPECT_EQ(hello.capacity, Resources::of(1, 4, 16));
  EXPECT_EQ(hello.limits, "scripted");
  EXPECT_TRUE(hello.known.empty());
  caf::anon_send(master_.worker(), start_atom_v, order(3, "finish"));
  ASSERT_TRUE(has_reports(2));
  const WorkerReport first = master_.notes().reports[0];
  EXPECT_EQ(first.kind, WorkerReportKind::started);
  EXPECT_EQ(first.fetch, from_seconds(1));
  EXPECT_EQ(first.build, from_seconds(2));
  const WorkerReport last = master_.notes().reports[1];
  EXPECT_EQ(last.kind, WorkerReportKind::finished);
  EXPECT_EQ(last.task, TaskId{3});
  EXPECT_EQ(last.out_tail, "out");
  EXPECT_EQ(last.err_tail, "err");
}

TEST_F(WorkerLinkTest, CarriesStopsSamplesLogsAndHowFarFilesAreFull) {
  listen();
  begin_worker(link_setup(7));
  ASSERT_TRUE(has_hellos(1));
  const WorkerActor worker = master_.worker();
  caf::anon_send(worker, start_atom_v, order(3, "fill"));
  caf::anon_send(worker, sample_atom_v, std::uint64_t{9});
  caf::anon_send(worker, LogRequest{5, TaskId{3}, 1, true, 40, 10});
  caf::anon_send(worker, stop_atom_v, TaskId{3}, Attempt{1});
  ASSERT_TRUE(has_reports(2));
  const test::MasterNotes notes = master_.notes();
  EXPECT_EQ(notes.reports[1].kind, WorkerReportKind::checkpointed);
  EXPECT_EQ(notes.reports[1].exit_code, 85);
  ASSERT_EQ(notes.samples.size(), 1u);
  EXPECT_EQ(notes.samples[0].sample_round, 9u);
  EXPECT_EQ(notes.samples[0].samples.at(0).scaled, std::uint64_t{1} << 31);
  EXPECT_EQ(notes.filled.at(0).logs.at(0).out_bytes, 100u);
  EXPECT_EQ(notes.logs.at(0).offset, 40u);
  EXPECT_EQ(notes.logs[0].text, std::string(10, 'x'));
}

TEST_F(WorkerLinkTest, AHelloIsRepeatedWhenTheMasterGreets) {
  listen();
  begin_worker(link_setup(7));
  ASSERT_TRUE(has_hellos(1));
  caf::anon_send(master_.worker(), greet_atom_v);
  EXPECT_TRUE(has_hellos(2));
}

TEST_F(WorkerLinkTest, WhatIsNotSettledComesAgainWithTheNextHelloAndWhatIsDoesNot) {
  listen();
  begin_worker(link_setup(7));
  ASSERT_TRUE(has_hellos(1));
  caf::anon_send(master_.worker(), start_atom_v, order(3, "finish"));
  caf::anon_send(master_.worker(), start_atom_v, order(4, "finish"));
  ASSERT_TRUE(has_reports(4));
  caf::anon_send(master_.worker(), ack_atom_v, TaskId{3}, Attempt{1});
  caf::anon_send(master_.worker(), greet_atom_v);
  ASSERT_TRUE(comes_true([&] { return master_.notes().hellos.back().known.size() == 1; }));
  const WorkerHello hello = master_.notes().hellos.back();
  EXPECT_EQ(hello.known[0].task, TaskId{4});
  EXPECT_EQ(hello.known[0].kind, WorkerReportKind::finished);
  EXPECT_EQ(hello.known[0].out_tail, "out");
}

TEST_F(WorkerLinkTest, TheMasterSeesALostWorkerGoDownAndTheWorkerComesBack) {
  listen();
  const std::uint16_t port = listener_->port();
  begin_worker(link_setup(7));
  ASSERT_TRUE(worker_news_.hears(LinkNewsKind::up, "") && has_hellos(1));
  const caf::actor_addr first = master_.worker().address();
  listener_.reset();
  ASSERT_TRUE(comes_true([&] { return !master_.notes().downs.empty(); }));
  EXPECT_EQ(master_.notes().downs.front(), first);
  ASSERT_TRUE(worker_news_.hears(LinkNewsKind::down, ""));
  listen(port);
  // A worker may say hello twice over one link: when it is made, and when the link is up.
  ASSERT_TRUE(comes_true([&] { return master_.worker().address() != first; }));
  caf::anon_send(master_.worker(), start_atom_v, order(3, "finish"));
  EXPECT_TRUE(has_reports(2));
}

TEST_F(WorkerLinkTest, AWorkerWaitsForAMasterThatIsNotThereYet) {
  listen();
  MasterLinkSetup setup = link_setup(7);
  listener_.reset();
  const std::uint16_t port = setup.masters.front().port;
  begin_worker(std::move(setup));
  ASSERT_TRUE(worker_news_.hears(LinkNewsKind::failed, "cannot be connected"));
  listen(port);
  EXPECT_TRUE(has_hellos(1));
}

TEST_F(WorkerLinkTest, AWorkerTriesTheNextPlaceWhenOneDoesNotAnswer) {
  listen();
  MasterLinkSetup setup = link_setup(7);
  setup.masters.insert(setup.masters.begin(), Endpoint{"127.0.0.1", 1});
  begin_worker(std::move(setup));
  EXPECT_TRUE(has_hellos(1)) << worker_news_.all();
}

TEST_F(WorkerLinkTest, AWorkerOfAnotherVersionIsRefusedWithTheReason) {
  listen();
  RawWorker worker = raw(7);
  ASSERT_TRUE(worker.send_hello(InstanceId{7}, kLinkMajor + 1));
  EXPECT_THAT(worker.refusal(), test::IsGolden());
  EXPECT_TRUE(worker.is_closed());
  EXPECT_TRUE(master_.notes().hellos.empty());
}

TEST_F(WorkerLinkTest, ACertificateOfAnotherInstanceIsRefused) {
  listen();
  MasterLinkSetup setup = link_setup(7);
  setup.tls = files_of(8);
  begin_worker(std::move(setup));
  EXPECT_TRUE(worker_news_.hears(LinkNewsKind::refused,
                                 "the certificate of 'instance-8' does not speak for instance 7"));
  EXPECT_TRUE(master_.notes().hellos.empty());
}

TEST_F(WorkerLinkTest, ACertificateOfTheNodeAuthorityIsNoWorkers) {
  listen();
  MasterLinkSetup setup = link_setup(7);
  setup.tls = pki_.node("instance-7");
  begin_worker(std::move(setup));
  EXPECT_TRUE(worker_news_.hears(LinkNewsKind::failed, ""));
  EXPECT_TRUE(master_news_.hears(LinkNewsKind::refused, "handshake"));
  EXPECT_TRUE(master_.notes().hellos.empty());
}

TEST_F(WorkerLinkTest, AWorkerTurnsAwayFromAMasterOfAnotherName) {
  listen();
  MasterLinkSetup setup = link_setup(7);
  setup.master_name = "m1";
  begin_worker(std::move(setup));
  EXPECT_TRUE(worker_news_.hears(LinkNewsKind::failed, "that of 'm0', not of 'm1'"));
  EXPECT_TRUE(master_.notes().hellos.empty());
}

TEST_F(WorkerLinkTest, AReportInTheNameOfAnotherInstanceEndsTheLink) {
  listen();
  RawWorker worker = raw(7);
  ASSERT_TRUE(worker.send_hello(InstanceId{7}));
  ASSERT_TRUE(worker.welcomed());
  ASSERT_TRUE(worker.send(started(8, 1)));
  EXPECT_THAT(worker.refusal(), test::IsGolden());
  EXPECT_TRUE(worker.is_closed());
  ASSERT_TRUE(comes_true([&] { return !master_.notes().downs.empty(); }));
  EXPECT_TRUE(master_.notes().reports.empty());
}

TEST_F(WorkerLinkTest, AReportBeforeTheHelloEndsTheLink) {
  listen();
  RawWorker worker = raw(7);
  ASSERT_TRUE(worker.send(started(7, 1)));
  EXPECT_THAT(worker.refusal(), test::IsGolden());
}

TEST_F(WorkerLinkTest, AnOversizeFrameEndsTheLinkBeforeItIsRead) {
  listen();
  RawWorker worker = raw(7);
  ASSERT_TRUE(worker.send(std::string("\x08\x00\x10\x00", 4)));
  EXPECT_EQ(worker.refusal(), "a frame of 1048584 bytes; at most 1048576 are taken");
}

TEST_F(WorkerLinkTest, GarbageEndsTheLinkAndOthersLiveOn) {
  listen();
  begin_worker(link_setup(3));
  ASSERT_TRUE(has_hellos(1));
  RawWorker worker = raw(7);
  ASSERT_TRUE(worker.send_hello(InstanceId{7}));
  ASSERT_TRUE(worker.welcomed());
  ASSERT_TRUE(worker.send(std::string("\x10\x00\x00\x00", 4) + std::string(16, '\xff')));
  EXPECT_EQ(worker.refusal().substr(0, 12), "not a frame:");
  caf::anon_send(master_.notes().workers.front(), start_atom_v, order(3, "finish"));
  EXPECT_TRUE(has_reports(2));
}

TEST_F(WorkerLinkTest, FramesOfUnknownKindsArePassedOverAndCounted) {
  listen();
  RawWorker worker = raw(7);
  ASSERT_TRUE(worker.send_hello(InstanceId{7}));
  ASSERT_TRUE(worker.welcomed());
  // Where the kind lies is the schema compiler's business, so it is looked for.
  FrameBytes unknown = heartbeat_frame();
  bool changed = false;
  for (std::size_t at = kFrameHeaderBytes; at + 2 <= unknown.size() && !changed; at += 2) {
    FrameBytes tried = unknown;
    tried[at] = '\xe7';
    tried[at + 1] = '\x03';
    std::vector<std::uint64_t> words((tried.size() - kFrameHeaderBytes) / 8);
    std::memcpy(words.data(), tried.data() + kFrameHeaderBytes, words.size() * 8);
    read_frame(words, [&](link_wire::Frame::Reader frame) -> std::optional<std::string> {
      changed = static_cast<int>(frame.which()) == 999;
      return std::nullopt;
    });
    if (changed) unknown = tried;
  }
  ASSERT_TRUE(changed);
  ASSERT_TRUE(worker.send(unknown));
  ASSERT_TRUE(worker.send(started(7, 1)));
  EXPECT_TRUE(has_reports(1));
  EXPECT_EQ(listener_->counts().unknown, 1u);
}

TEST_F(WorkerLinkTest, AnswersThatNobodyAskedForAreDropped) {
  listen();
  RawWorker worker = raw(7);
  ASSERT_TRUE(worker.send_hello(InstanceId{7}));
  ASSERT_TRUE(worker.welcomed());
  ASSERT_TRUE(worker.send(log_frame({InstanceId{7}, 1, 0, "text", false}, 1 << 20)));
  ASSERT_TRUE(worker.send(samples_frame({InstanceId{7}, 1, {}}, 1 << 20)));
  ASSERT_TRUE(worker.send(started(7, 1)));
  EXPECT_TRUE(has_reports(1));
  EXPECT_EQ(listener_->counts().unasked, 2u);
  EXPECT_TRUE(master_.notes().logs.empty());
  EXPECT_TRUE(master_.notes().samples.empty());
}

TEST_F(WorkerLinkTest, AWorkerThatHeedsNoCreditsIsEnded) {
  options_.credits = 8;
  listen();
  master_.hold();
  RawWorker worker = raw(7);
  ASSERT_TRUE(worker.send_hello(InstanceId{7}));
  ASSERT_TRUE(worker.welcomed());
  for (std::uint64_t task = 1; task <= 9; ++task) ASSERT_TRUE(worker.send(started(7, task)));
  EXPECT_THAT(worker.refusal(), test::IsGolden());
  master_.release();
  ASSERT_TRUE(has_reports(8));
}

TEST_F(WorkerLinkTest, AMasterThatIsBusyHoldsItsWorkersBackAndLosesNothing) {
  options_.credits = 8;
  listen();
  begin_worker(link_setup(7));
  ASSERT_TRUE(has_hellos(1));
  master_.hold();
  for (std::uint64_t task = 1; task <= 100; ++task) {
    TaskOrder wanted = order(task, "finish");
    wanted.granted = Resources::of(0, 0.01, 0.01);
    caf::anon_send(master_.worker(), start_atom_v, wanted);
  }
  // Nothing of what waits for credits is lost when the master comes to it.
  master_.release();
  ASSERT_TRUE(has_reports(200)) << worker_news_.all() << master_news_.all();
  EXPECT_EQ(master_.notes().reports.back().task, TaskId{100});
  for (const WorkerActor& link : master_.notes().workers) EXPECT_EQ(link, master_.worker());
}

TEST_F(WorkerLinkTest, AQueueThatGrowsBeyondItsBoundEndsTheLinkAndTheWorkerComesBack) {
  options_.credits = 4;
  options_.max_queued_frames = 16;
  listen();
  begin_worker(link_setup(7));
  ASSERT_TRUE(worker_news_.hears(LinkNewsKind::up, "")) << "else it fails, and goes not down";
  // The worker says more than the master, which is held, has room for.
  for (std::uint64_t task = 1; task <= 100; ++task) {
    TaskOrder wanted = order(task, "finish");
    wanted.granted = Resources::of(0, 0.01, 0.01);
    caf::anon_send(worker_, start_atom_v, wanted);
    if (task == 1) master_.hold();
  }
  ASSERT_TRUE(worker_news_.hears(LinkNewsKind::down, "takes too little")) << worker_news_.all();
  master_.release();
  // The hello after it tells of all that the worker had taken by then, and the rest is reported.
  ASSERT_TRUE(comes_true([&] {
    const auto notes = master_.notes();
    const std::size_t before = notes.hellos.back().known.size();
    return notes.hellos.size() > 1 && before + notes.reports.size() >= 100;
  }));
}

TEST_F(WorkerLinkTest, AWorkerThatFallsSilentIsGivenUp) {
  options_.dead_after = 300ms;
  listen();
  RawWorker worker = raw(7);
  ASSERT_TRUE(worker.send_hello(InstanceId{7}));
  ASSERT_TRUE(worker.welcomed());
  EXPECT_TRUE(master_news_.hears(LinkNewsKind::down, "nothing heard for 300 ms"));
  EXPECT_TRUE(comes_true([&] { return !master_.notes().downs.empty(); }));
}

TEST_F(WorkerLinkTest, AConnectionThatNeverSaysHelloIsGivenUp) {
  options_.handshake = 200ms;
  listen();
  asio::io_context io;
  asio::ip::tcp::socket silent(io);
  silent.connect({asio::ip::address_v4::loopback(), listener_->port()});
  EXPECT_TRUE(master_news_.hears(LinkNewsKind::refused, "no proper first frame within 200 ms"));
  EXPECT_TRUE(comes_true([&] { return listener_->counts().open == 0; }));
}

TEST_F(WorkerLinkTest, ASecondConnectionOfAnInstanceReplacesTheFirst) {
  listen();
  RawWorker first = raw(7);
  ASSERT_TRUE(first.send_hello(InstanceId{7}));
  ASSERT_TRUE(first.welcomed());
  ASSERT_TRUE(has_hellos(1));
  const caf::actor_addr old = master_.worker().address();
  RawWorker second = raw(7);
  ASSERT_TRUE(second.send_hello(InstanceId{7}));
  ASSERT_TRUE(second.welcomed());
  ASSERT_TRUE(has_hellos(2));
  EXPECT_THAT(first.refusal(), test::IsGolden());
  EXPECT_TRUE(first.is_closed());
  ASSERT_TRUE(comes_true([&] { return !master_.notes().downs.empty(); }));
  EXPECT_EQ(master_.notes().downs.front(), old);
  ASSERT_TRUE(second.send(started(7, 1)));
  EXPECT_TRUE(has_reports(1));
}

TEST_F(WorkerLinkTest, AnOrderTooLongForAFrameFailsWithAReason) {
  listen();
  begin_worker(link_setup(7));
  ASSERT_TRUE(has_hellos(1));
  caf::anon_send(master_.worker(), start_atom_v, order(3, std::string(2 << 20, 'x')));
  ASSERT_TRUE(has_reports(1));
  const WorkerReport report = master_.notes().reports.front();
  EXPECT_EQ(report.kind, WorkerReportKind::failed);
  EXPECT_EQ(report.task, TaskId{3});
  EXPECT_NE(report.reason.find("shorten its command"), std::string::npos);
}

TEST_F(WorkerLinkTest, TheEndOfTheMasterEndsItsLinks) {
  listen();
  begin_worker(link_setup(7));
  ASSERT_TRUE(worker_news_.hears(LinkNewsKind::up, "")) << "else it fails, and goes not down";
  caf::anon_send_exit(master_.actor(), caf::exit_reason::user_shutdown);
  EXPECT_TRUE(worker_news_.hears(LinkNewsKind::down, ""));
}

TEST_F(WorkerLinkTest, WithoutTlsOnlyTheLoopbackIsServedAndDialed) {
  options_.insecure_loopback = true;
  WorkerListenerSetup open_to_all;
  open_to_all.address = "0.0.0.0";
  open_to_all.options = options_;
  open_to_all.master = master_.actor();
  const auto refused = WorkerListener::start(master_system_.actors(), open_to_all);
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("only a loopback address"), std::string::npos);

  MasterLinkSetup far;
  far.instance = InstanceId{7};
  far.masters = {{"192.0.2.1", 4000}};
  far.options = options_;
  far.news = worker_news_.listener();
  begin_worker(far);
  EXPECT_TRUE(worker_news_.hears(LinkNewsKind::failed, "only a loopback address is dialed"));
}

TEST_F(WorkerLinkTest, WithoutTlsTheSameIsSaidOnTheLoopback) {
  options_.insecure_loopback = true;
  WorkerListenerSetup setup;
  setup.options = options_;
  setup.master = master_.actor();
  auto listener = WorkerListener::start(master_system_.actors(), setup);
  ASSERT_TRUE(listener) << listener.error().message;
  listener_ = std::move(listener).value();
  MasterLinkSetup link = link_setup(7);
  link.tls = std::nullopt;
  begin_worker(std::move(link));
  EXPECT_TRUE(has_hellos(1));
}

TEST_F(WorkerLinkTest, WithoutCertificatesNothingStarts) {
  WorkerListenerSetup setup;
  setup.master = master_.actor();
  EXPECT_FALSE(WorkerListener::start(master_system_.actors(), setup));
  MasterLinkSetup link;
  link.instance = InstanceId{7};
  link.masters = {{"127.0.0.1", 1}};
  EXPECT_FALSE(MasterLink::start(worker_system_.actors(), link));
}

TEST_F(WorkerLinkTest, TheMastersProxyHearsWhatWorkersSayAndRefusesTheRest) {
  listen();
  auto link = MasterLink::start(worker_system_.actors(), link_setup(7));
  ASSERT_TRUE(link);
  caf::scoped_actor self(worker_system_.actors());
  // The typed handle has no such message; without its type the message is refused at once.
  const auto untyped = caf::actor_cast<caf::actor>((*link.operator->())->master());
  bool refused = false;
  self->request(untyped, 30s, LoadQuestion{})
      .receive([](const LoadReport&) {},
               [&](const caf::error& error) { refused = error == caf::sec::unexpected_message; });
  EXPECT_TRUE(refused);
}

}  // namespace
}  // namespace muster
