#include "actors/link/worker_link_codec.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <limits>

#include "tests/actors/link/read_back.hpp"

namespace muster {
namespace {

using test::kMaxBytes;
using test::read_back;
using testing::StartsWith;

using ReportResult = Expected<WorkerReport, LinkError>;
ReportResult through(const WorkerReport& report, std::size_t max_bytes = kMaxBytes) {
  return read_back<ReportResult>(
      report_frame(report, max_bytes),
      [](link_wire::Frame::Reader frame) { return read_report(frame.getReport()); });
}
using HelloResult = Expected<WorkerHello, LinkError>;
HelloResult through(const WorkerHello& hello, std::size_t max_bytes = kMaxBytes) {
  return read_back<HelloResult>(
      hello_frame(hello, 1, max_bytes),
      [](link_wire::Frame::Reader frame) { return read_hello(frame.getHello()); });
}
using SamplesResult = Expected<SampleAnswer, LinkError>;
SamplesResult through(const SampleAnswer& answer) {
  return read_back<SamplesResult>(
      samples_frame(answer, kMaxBytes),
      [](link_wire::Frame::Reader frame) { return read_samples(frame.getSamples()); });
}
using StartResult = Expected<TaskOrder, LinkError>;
StartResult through(const TaskOrder& order) {
  return read_back<StartResult>(start_frame(order, kMaxBytes), [](link_wire::Frame::Reader frame) {
    return read_start(frame.getStart());
  });
}

WorkerReport report() {
  WorkerReport made;
  made.instance = InstanceId{7};
  made.task = TaskId{3};
  made.attempt = 2;
  made.kind = WorkerReportKind::failed;
  made.fetch = from_seconds(1);
  made.build = from_seconds(2);
  made.upload = from_seconds(3);
  made.reason = "out of memory";
  made.exit_code = 137;
  made.out_tail = std::string("o\0\xff", 3);
  made.err_tail = "e";
  made.failure = FailureKind::out_of_memory;
  return made;
}

TaskOrder order() {
  TaskOrder made;
  made.job = JobId{1};
  made.task.id = TaskId{2};
  made.task.demands = Demands({{"gpu", Resources::of(1, 2, 3), 1.5}, {"", Resources::of(0, 4, 5)}});
  made.task.image = "image";
  made.task.delays = {from_seconds(1), from_seconds(2), from_seconds(3), from_seconds(4),
                      from_seconds(5)};
  made.task.array_index = 9;
  made.attempt = 4;
  made.granted = Resources::of(1, 2.5, 3);
  made.granted[Resource::network] = 10;
  made.program.argv = {"sh", "-c", std::string("a\0b", 3)};
  made.program.env = {{"NAME", "value"}, {"EMPTY", ""}};
  made.program.work_dir = "/tmp";
  made.program.script = "#!/bin/sh\n";
  made.program.make_work_dir = true;
  made.program.time_limit = from_seconds(60);
  made.program.stop_grace = from_seconds(7);
  made.program.baseline_rate_per_s = 0.25;
  made.program.warn_signal = 10;
  made.program.warn_before = from_seconds(5);
  made.program.warn_program_only = true;
  made.task_count = 11;
  made.workload_class = "sweep";
  made.user = "ann";
  return made;
}

TEST(WorkerLinkCodecTest, AReportComesBackAsItWas) {
  const ReportResult back = through(report());
  ASSERT_TRUE(back);
  EXPECT_EQ(back->instance, InstanceId{7});
  EXPECT_EQ(back->task, TaskId{3});
  EXPECT_EQ(back->attempt, 2u);
  EXPECT_EQ(back->kind, WorkerReportKind::failed);
  EXPECT_EQ(back->fetch, from_seconds(1));
  EXPECT_EQ(back->build, from_seconds(2));
  EXPECT_EQ(back->upload, from_seconds(3));
  EXPECT_EQ(back->reason, "out of memory");
  EXPECT_EQ(back->exit_code, 137);
  EXPECT_EQ(back->out_tail, report().out_tail);
  EXPECT_EQ(back->err_tail, "e");
  EXPECT_EQ(back->failure, FailureKind::out_of_memory);
}

TEST(WorkerLinkCodecTest, ALongTailKeepsItsEnd) {
  WorkerReport made = report();
  made.out_tail = std::string(2 * kMaxTailBytes, 'a') + "the end";
  const ReportResult back = through(made);
  ASSERT_TRUE(back);
  EXPECT_EQ(back->out_tail.size(), kMaxTailBytes);
  EXPECT_EQ(back->out_tail.substr(kMaxTailBytes - 7), "the end");
  const ReportResult tight = through(made, 8192);
  ASSERT_TRUE(tight);
  EXPECT_EQ(tight->out_tail.size(), 4096u);
}

TEST(WorkerLinkCodecTest, AReasonBecomesOneLineOfText) {
  WorkerReport made = report();
  made.reason = "two\nlines \xff";
  EXPECT_EQ(through(made)->reason, "two lines ?");
  made.reason = std::string(2 * kMaxReasonBytes, 'x');
  EXPECT_EQ(through(made)->reason.size(), kMaxReasonBytes);
}

TEST(WorkerLinkCodecTest, ReportsOutOfRangeAreMalformed) {
  const auto with = [](const std::function<void(WorkerReport&)>& change) {
    WorkerReport made = report();
    change(made);
    return through(made).has_value();
  };
  EXPECT_TRUE(with([](WorkerReport&) {}));
  EXPECT_FALSE(with([](WorkerReport& r) { r.attempt = 0; }));
  EXPECT_FALSE(with([](WorkerReport& r) { r.task = TaskId{}; }));
  EXPECT_FALSE(with([](WorkerReport& r) { r.kind = static_cast<WorkerReportKind>(6); }));
  EXPECT_FALSE(with([](WorkerReport& r) { r.fetch = Duration{-1}; }));
  EXPECT_FALSE(with([](WorkerReport& r) { r.build = kMaxSpan + Duration{1}; }));
  EXPECT_FALSE(with([](WorkerReport& r) { r.upload = Duration::min(); }));
}

TEST(WorkerLinkCodecTest, AHelloComesBackAsItWas) {
  WorkerHello made{InstanceId{7}, 5, Resources::of(1, 4, 16), "cgroup2", {report()}, "uid", true};
  made.capacity[Resource::spare] = 0.5;
  const HelloResult back = through(made);
  ASSERT_TRUE(back);
  EXPECT_EQ(back->instance, InstanceId{7});
  EXPECT_EQ(back->number, 5u);
  EXPECT_EQ(back->capacity, made.capacity);
  EXPECT_EQ(back->limits, "cgroup2");
  EXPECT_EQ(back->isolation, "uid");
  EXPECT_TRUE(back->own_checkpoints);
  ASSERT_EQ(back->known.size(), 1u);
  EXPECT_EQ(back->known[0].exit_code, 137);
}

TEST(WorkerLinkCodecTest, AHelloCutsTailsUntilEveryReportFits) {
  WorkerHello made{InstanceId{7}, 1, {}, "", {}};
  made.known.assign(1000, report());
  for (WorkerReport& known : made.known) known.out_tail = std::string(kMaxTailBytes, 'x');
  const HelloResult back = through(made);
  ASSERT_TRUE(back);
  EXPECT_EQ(back->known.size(), 1000u);
  EXPECT_EQ(back->known[999].out_tail.size(), 512u);
  made.known.assign(20'000, report());
  EXPECT_TRUE(hello_frame(made, 1, kMaxBytes).empty());
}

TEST(WorkerLinkCodecTest, AHelloOfManyAttemptsGoesIntoSeveralFramesAndLosesNone) {
  WorkerHello made{InstanceId{7}, 5, {}, "", {}};
  made.known.assign(kMaxKnownReports, report());
  for (std::size_t i = 0; i < made.known.size(); ++i) made.known[i].task = TaskId{i};
  const std::vector<FrameBytes> frames = hello_frames(made, 1, kMaxBytes);
  ASSERT_GT(frames.size(), 1U);
  std::uint64_t next = 0;
  for (std::size_t i = 0; i < frames.size(); ++i) {
    const auto part = read_back<HelloResult>(frames[i], [&](link_wire::Frame::Reader frame) {
      EXPECT_EQ(frame.getHello().getMore(), i + 1 < frames.size());
      return read_hello(frame.getHello());
    });
    ASSERT_TRUE(part);
    EXPECT_EQ(part->number, 5U);
    for (const WorkerReport& known : part->known) EXPECT_EQ(known.task, TaskId{next++});
  }
  EXPECT_EQ(next, kMaxKnownReports);
  made.known.push_back(report());
  EXPECT_TRUE(hello_frames(made, 1, kMaxBytes).empty());
}

TEST(WorkerLinkCodecTest, SamplesOfManyTasksGoIntoSeveralFramesAndLoseNone) {
  SampleAnswer made{InstanceId{7}, 3, {}, {}};
  for (std::uint64_t i = 0; i < kMaxSamples; ++i) made.samples.push_back({TaskId{i}, 1, i});
  std::uint64_t next = 0;
  for (const FrameBytes& bytes : samples_frames(made, kMaxBytes)) {
    const auto part = read_back<SamplesResult>(
        bytes, [](link_wire::Frame::Reader frame) { return read_samples(frame.getSamples()); });
    ASSERT_TRUE(part);
    for (const TaskThroughput& sample : part->samples) EXPECT_EQ(sample.scaled, next++);
  }
  EXPECT_EQ(next, kMaxSamples);
}

TEST(WorkerLinkCodecTest, HellosOutOfRangeAreMalformed) {
  const auto with = [](const std::function<void(WorkerHello&)>& change) {
    WorkerHello made{InstanceId{7}, 1, Resources::of(1, 4, 16), "", {report()}};
    change(made);
    return through(made).has_value();
  };
  const auto capacity = [&](double cpu) {
    return with([cpu](WorkerHello& h) { h.capacity[Resource::cpu] = cpu; });
  };
  EXPECT_TRUE(with([](WorkerHello&) {}));
  EXPECT_FALSE(with([](WorkerHello& h) { h.instance = InstanceId{}; }));
  EXPECT_FALSE(with([](WorkerHello& h) { h.known[0].instance = InstanceId{8}; }));
  EXPECT_FALSE(with([](WorkerHello& h) { h.known[0].attempt = 0; }));
  EXPECT_FALSE(capacity(-1));
  EXPECT_FALSE(capacity(std::numeric_limits<double>::infinity()));
  EXPECT_FALSE(capacity(std::numeric_limits<double>::quiet_NaN()));
  EXPECT_FALSE(capacity(1e300));
}

TEST(WorkerLinkCodecTest, SamplesComeBackAndThroughputAboveOneDoesNot) {
  const SampleAnswer made{InstanceId{7}, 9, {{TaskId{1}, 1, std::uint64_t{1} << 32}}};
  const SamplesResult back = through(made);
  ASSERT_TRUE(back);
  EXPECT_EQ(back->sample_round, 9u);
  ASSERT_EQ(back->samples.size(), 1u);
  EXPECT_EQ(back->samples[0].scaled, std::uint64_t{1} << 32);
  SampleAnswer above = made;
  above.samples[0].scaled = (std::uint64_t{1} << 32) + 1;
  EXPECT_FALSE(through(above));
  SampleAnswer nobodys = made;
  nobodys.samples[0].task = TaskId{};
  EXPECT_FALSE(through(nobodys));
}

TEST(WorkerLinkCodecTest, ProgressComesBackUnlessNoJobCanHaveSaidIt) {
  SampleAnswer made{InstanceId{7}, kUnasked, {}};
  made.progress.push_back({{TaskId{1}, 12.5, TrainingSample{2, 8, 32, 1, 0.5, 0.1, 3, 4}}, 2});
  made.progress.push_back({{TaskId{2}, 0, {}}, 1});
  const SamplesResult back = through(made);
  ASSERT_TRUE(back);
  ASSERT_EQ(back->progress.size(), 2u);
  EXPECT_EQ(back->progress[0].said, made.progress[0].said);
  EXPECT_EQ(back->progress[0].attempt, 2u);
  EXPECT_EQ(back->progress[1].said, made.progress[1].said);
  const auto with = [&](auto spoil) {
    SampleAnswer spoilt = made;
    spoil(spoilt.progress[0]);
    return through(spoilt).has_value();
  };
  constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
  EXPECT_TRUE(with([](TaskProgress&) {}));
  EXPECT_FALSE(with([](TaskProgress& p) { p.said.done = -1; }));
  EXPECT_FALSE(with([](TaskProgress& p) { p.said.done = kNone; }));
  EXPECT_FALSE(with([](TaskProgress& p) { p.attempt = 0; }));
  EXPECT_FALSE(with([](TaskProgress& p) { p.said.training->step_s = 0; }));
  EXPECT_FALSE(with([](TaskProgress& p) { p.said.training->sync_s = 0.6; }));
  EXPECT_FALSE(with([](TaskProgress& p) { p.said.training->nodes = 9; }));
  EXPECT_FALSE(with([](TaskProgress& p) { p.said.training->grad_var = kNone; }));
}

TEST(WorkerLinkCodecTest, MetricsComeBackUnlessNoTaskCanReportThem) {
  const auto back = [](const MetricsReport& report) {
    return read_back<Expected<MetricsReport, LinkError>>(
        metrics_frames(report, kMaxBytes).at(0),
        [](link_wire::Frame::Reader frame) { return read_metrics(frame.getMetrics()); });
  };
  MetricsReport made{InstanceId{7}, {}};
  made.attempts.push_back({{TaskId{1}, {{"loss", -0.5}, {"p99_ms", 12.5}}}, 2});
  made.attempts.push_back({{TaskId{2}, {}}, 1});
  const auto same = back(made);
  ASSERT_TRUE(same);
  EXPECT_EQ(same->instance, InstanceId{7});
  ASSERT_EQ(same->attempts.size(), 2u);
  EXPECT_EQ(same->attempts[0].said, made.attempts[0].said);
  EXPECT_EQ(same->attempts[0].attempt, 2u);
  const auto with = [&](auto spoil) {
    MetricsReport spoilt = made;
    spoil(spoilt.attempts[0]);
    return back(spoilt).has_value();
  };
  EXPECT_TRUE(with([](AttemptMetrics&) {}));
  EXPECT_FALSE(with([](AttemptMetrics& m) { m.attempt = 0; }));
  EXPECT_FALSE(with([](AttemptMetrics& m) { m.said.task = TaskId{}; }));
  EXPECT_FALSE(with([](AttemptMetrics& m) { m.said.values[0].second = 1e300; }));
  EXPECT_FALSE(with([](AttemptMetrics& m) { m.said.values[0].first = "Loss"; }));
  EXPECT_FALSE(with([](AttemptMetrics& m) { m.said.values[1].first = "loss"; })) << "twice";
  EXPECT_FALSE(with([](AttemptMetrics& m) {
    for (int i = 0; i < 65; ++i) m.said.values.emplace_back("q" + std::to_string(100 + i), 0);
  }));
}

TEST(WorkerLinkCodecTest, MetricsOfManyAttemptsComeInFramesThatAreWholeByThemselves) {
  MetricsReport made{InstanceId{7}, {}};
  for (std::uint64_t i = 1; i <= 300; ++i) made.attempts.push_back({{TaskId{i}, {{"a", 1}}}, 1});
  std::uint64_t next = 1;
  const std::vector<FrameBytes> frames = metrics_frames(made, 4096);
  EXPECT_GT(frames.size(), 2u);
  for (const FrameBytes& frame : frames) {
    EXPECT_LE(frame.size(), 4096u);
    const auto part = read_back<Expected<MetricsReport, LinkError>>(
        frame, [](link_wire::Frame::Reader read) { return read_metrics(read.getMetrics()); });
    ASSERT_TRUE(part);
    for (const AttemptMetrics& each : part->attempts) EXPECT_EQ(each.said.task, TaskId{next++});
  }
  EXPECT_EQ(next, 301u);
}

TEST(WorkerLinkCodecTest, FullFilesOfManyAttemptsComeInFramesThatAreWholeByThemselves) {
  FilledLogs made{InstanceId{7}, {}};
  for (std::uint64_t i = 1; i <= 300; ++i) made.logs.push_back({TaskId{i}, 2, i * 10, i});
  std::uint64_t next = 1;
  const std::vector<FrameBytes> frames = filled_frames(made, 4096);
  EXPECT_GT(frames.size(), 2u);
  for (const FrameBytes& frame : frames) {
    EXPECT_LE(frame.size(), 4096u);
    const auto part = read_back<Expected<FilledLogs, LinkError>>(
        frame, [](link_wire::Frame::Reader read) { return read_filled(read.getFilled()); });
    ASSERT_TRUE(part);
    EXPECT_EQ(part->instance, InstanceId{7});
    for (const FilledLog& each : part->logs) {
      EXPECT_EQ(each.task, TaskId{next});
      EXPECT_EQ(each.attempt, 2u);
      EXPECT_EQ(each.out_bytes, next * 10);
      EXPECT_EQ(each.err_bytes, next++);
    }
  }
  EXPECT_EQ(next, 301u);
}

TEST(WorkerLinkCodecTest, FullFilesOfNoAttemptAreNoFrame) {
  for (const FilledLog& wrong : {FilledLog{TaskId{1}, 0, 1, 1}, FilledLog{TaskId{}, 1, 1, 1}}) {
    const FilledLogs made{InstanceId{7}, {wrong}};
    EXPECT_FALSE((read_back<Expected<FilledLogs, LinkError>>(
        filled_frames(made, kMaxBytes).at(0),
        [](link_wire::Frame::Reader read) { return read_filled(read.getFilled()); })));
  }
}

TEST(WorkerLinkCodecTest, ALogAnswerIsCutToFitAndSaysSo) {
  const auto back = [](const LogAnswer& answer, std::size_t max_bytes) {
    return read_back<Expected<LogAnswer, LinkError>>(
        log_frame(answer, max_bytes),
        [](link_wire::Frame::Reader frame) { return read_log(frame.getLog()); });
  };
  LogAnswer whole{InstanceId{7}, 3, 40, "text", false};
  whole.unknown = true;
  whole.end = 44;
  const auto same = back(whole, kMaxBytes);
  ASSERT_TRUE(same);
  EXPECT_EQ(same->number, 3u);
  EXPECT_EQ(same->offset, 40u);
  EXPECT_EQ(same->text, "text");
  EXPECT_FALSE(same->more_may_come);
  EXPECT_TRUE(same->unknown);
  EXPECT_EQ(same->end, 44u);
  const auto cut = back({InstanceId{7}, 3, 0, std::string(kMaxBytes, 'x'), false}, 8192);
  ASSERT_TRUE(cut);
  EXPECT_GT(cut->text.size(), 7000u);
  EXPECT_TRUE(cut->more_may_come);
}

TEST(WorkerLinkCodecTest, AnOrderComesBackAsItWas) {
  const TaskOrder made = order();
  const StartResult back = through(made);
  ASSERT_TRUE(back);
  EXPECT_EQ(back->job, made.job);
  EXPECT_EQ(back->task.id, made.task.id);
  EXPECT_EQ(back->task.demands, made.task.demands);
  EXPECT_EQ(back->task.image, "image");
  EXPECT_EQ(back->task.delays, made.task.delays);
  EXPECT_EQ(back->task.array_index, 9u);
  EXPECT_EQ(back->attempt, 4u);
  EXPECT_EQ(back->granted, made.granted);
  EXPECT_EQ(back->program, made.program);
  EXPECT_EQ(back->task_count, 11u);
  EXPECT_EQ(back->workload_class, "sweep");
  EXPECT_EQ(back->user, "ann");
}

TEST(WorkerLinkCodecTest, OrdersOutOfRangeAreMalformed) {
  const auto with = [](const std::function<void(TaskOrder&)>& change) {
    TaskOrder made = order();
    change(made);
    return through(made).has_value();
  };
  EXPECT_TRUE(with([](TaskOrder&) {}));
  EXPECT_FALSE(with([](TaskOrder& o) { o.attempt = 0; }));
  EXPECT_FALSE(with([](TaskOrder& o) { o.granted[Resource::gpu] = -1; }));
  EXPECT_FALSE(with([](TaskOrder& o) { o.program.time_limit = Duration{-1}; }));
  EXPECT_FALSE(with([](TaskOrder& o) {
    o.program.baseline_rate_per_s = std::numeric_limits<double>::quiet_NaN();
  }));
  EXPECT_FALSE(with([](TaskOrder& o) {
    o.task.demands = Demands({{"", Resources::of(0, 1, 1), 0}});
  }));
}

TEST(WorkerLinkCodecTest, TheReasonNamesWhatIsOutOfRange) {
  const auto reason = [](const std::function<void(TaskOrder&)>& change) {
    TaskOrder made = order();
    change(made);
    const StartResult back = through(made);
    return back ? std::string() : back.error().message;
  };
  const auto with_speed = [&](double speed) {
    return reason([speed](TaskOrder& o) {
      o.task.demands = Demands({{"", Resources::of(0, 1, 1), speed}});
    });
  };
  static constexpr Duration kBefore{-1};
  static constexpr Duration kBeyond = kMaxSpan + Duration{1};
  EXPECT_THAT(reason([](TaskOrder& o) { o.program.time_limit = kBefore; }),
              StartsWith("a time limit"));
  EXPECT_THAT(reason([](TaskOrder& o) { o.program.stop_grace = kBeyond; }),
              StartsWith("a stop grace"));
  EXPECT_THAT(reason([](TaskOrder& o) { o.program.warn_before = kBefore; }),
              StartsWith("a warning before"));
  EXPECT_THAT(reason([](TaskOrder& o) { o.task.delays.fetch = kBefore; }),
              StartsWith("a fetch delay"));
  EXPECT_THAT(reason([](TaskOrder& o) { o.task.delays.init = kBefore; }),
              StartsWith("an init delay"));
  EXPECT_THAT(reason([](TaskOrder& o) { o.task.runtime_hint = kBefore; }),
              StartsWith("a runtime hint"));
  EXPECT_THAT(reason([](TaskOrder& o) { o.granted[Resource::gpu] = -1; }), StartsWith("a grant"));
  EXPECT_THAT(reason([](TaskOrder& o) {
                o.task.demands = Demands({{"", Resources::of(-1, 1, 1), 1}});
              }),
              StartsWith("a demand"));
  EXPECT_THAT(reason([](TaskOrder& o) { o.program.baseline_rate_per_s = -1; }),
              StartsWith("a pace"));
  EXPECT_THAT(with_speed(0), StartsWith("a speed"));
  EXPECT_THAT(with_speed(std::numeric_limits<double>::quiet_NaN()), StartsWith("a speed"));
  EXPECT_THAT(reason([](TaskOrder& o) { o.program.warn_signal = 65; }), StartsWith("a signal"));
  EXPECT_THAT(reason([](TaskOrder& o) { o.task.id = {}; }), StartsWith("an order"));
}

TEST(WorkerLinkCodecTest, AnOrderOfAnEarlierMasterHasDefaultsForWhatItDoesNotSay) {
  const FrameBytes bytes = make_frame(
      [](link_wire::Frame::Builder frame) {
        auto wire = frame.initStart();
        wire.setJob(1);
        wire.initTask().setId(2);
        wire.getTask().setFetchNs(3);
        wire.setAttempt(4);
        wire.initProgram().initEnv(1)[0].setName("NAME");
        wire.getProgram().setStopGraceNs(5);
      },
      kMaxBytes);
  const auto back = read_back<StartResult>(
      bytes, [](link_wire::Frame::Reader frame) { return read_start(frame.getStart()); });
  ASSERT_TRUE(back);
  TaskOrder expected;
  expected.job = JobId{1};
  expected.task.id = TaskId{2};
  expected.task.demands = Demands(std::vector<FamilyDemand>{});
  expected.task.delays.fetch = Duration{3};
  expected.attempt = 4;
  expected.program.env = {{"NAME", ""}};
  expected.program.stop_grace = Duration{5};
  expected.task_count = 0;  // masters of every version say it
  EXPECT_EQ(back.value(), expected);
}

TEST(WorkerLinkCodecTest, AnOrderTooLongForAFrameIsGivenUp) {
  TaskOrder made = order();
  made.program.argv.push_back(std::string(kMaxBytes, 'x'));
  EXPECT_TRUE(start_frame(made, kMaxBytes).empty());
}

TEST(WorkerLinkCodecTest, ALogRequestComesBackAsItWas) {
  const LogRequest made{5, TaskId{3}, 2, true, 40, 100};
  const auto back = read_back<Expected<LogRequest, LinkError>>(
      log_request_frame(made),
      [](link_wire::Frame::Reader frame) { return read_log_request(frame.getLogRequest()); });
  ASSERT_TRUE(back);
  EXPECT_EQ(back->number, 5u);
  EXPECT_EQ(back->task, TaskId{3});
  EXPECT_EQ(back->attempt, 2u);
  EXPECT_TRUE(back->error_stream);
  EXPECT_EQ(back->offset, 40u);
  EXPECT_EQ(back->max_bytes, 100u);
}

}  // namespace
}  // namespace muster
