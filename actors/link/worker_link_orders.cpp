#include <cmath>
#include <utility>

#include "actors/link/worker_link_codec.hpp"
#include "actors/link/worker_link_values.hpp"

// What a master says.

namespace muster {
namespace {

using link_values::malformed;

constexpr std::size_t kSmallFrameBytes = 8192;
/// Of Linux.
constexpr std::int32_t kMostSignal = 64;

template <class Fill>
FrameBytes small_frame(Fill fill) {
  return make_frame(fill, kSmallFrameBytes);
}

void put(link_wire::TaskSpec::Builder wire, const TaskSpec& task) {
  wire.setId(task.id.value);
  wire.setImage(link_values::text(task.image));
  wire.setFetchNs(task.delays.fetch.count());
  wire.setBuildNs(task.delays.build.count());
  wire.setInitNs(task.delays.init.count());
  wire.setStopNs(task.delays.stop.count());
  wire.setUploadNs(task.delays.upload.count());
  wire.setArrayIndex(task.array_index);
  const auto& entries = task.demands.entries();
  auto demands = wire.initDemands(static_cast<unsigned>(entries.size()));
  for (unsigned i = 0; i < demands.size(); ++i) {
    demands[i].setFamily(link_values::text(entries[i].family));
    link_values::put(demands[i].initAmount(kResourceKinds), entries[i].amount);
    demands[i].setSpeed(entries[i].speed);
  }
}

void put(link_wire::Program::Builder wire, const Program& program) {
  auto argv = wire.initArgv(static_cast<unsigned>(program.argv.size()));
  for (unsigned i = 0; i < argv.size(); ++i) argv.set(i, link_values::data(program.argv[i]));
  auto env = wire.initEnv(static_cast<unsigned>(program.env.size()));
  for (unsigned i = 0; i < env.size(); ++i) {
    env[i].setName(link_values::text(program.env[i].first));
    env[i].setValue(link_values::data(program.env[i].second));
  }
  wire.setWorkDir(link_values::text(program.work_dir));
  wire.setTimeLimitNs(program.time_limit.count());
  wire.setStopGraceNs(program.stop_grace.count());
  wire.setBaselineRatePerS(program.baseline_rate_per_s);
  wire.setWarnSignal(program.warn_signal);
  wire.setWarnBeforeNs(program.warn_before.count());
  wire.setWarnProgramOnly(program.warn_program_only);
  wire.setScript(link_values::text(program.script));
  wire.setMakeWorkDir(program.make_work_dir);
}

/// Reads several spans; the first that is out of range is the error.
class SpanReader {
 public:
  Duration read(std::int64_t ns, const char* what) {
    const auto span = link_values::read_span(ns, what);
    // The first problem is kept: one reason is enough to end the link.
    if (!span && problem_.empty()) problem_ = span.error().message;
    return span ? span.value() : Duration{};
  }
  const std::string& problem() const { return problem_; }

 private:
  std::string problem_;
};

Expected<TaskSpec, LinkError> read_task(link_wire::TaskSpec::Reader wire) {
  TaskSpec task;
  task.id = TaskId{wire.getId()};
  task.image = link_values::view(wire.getImage());
  task.array_index = wire.getArrayIndex();
  SpanReader spans;
  task.delays.fetch = spans.read(wire.getFetchNs(), "a fetch delay");
  task.delays.build = spans.read(wire.getBuildNs(), "a build delay");
  task.delays.init = spans.read(wire.getInitNs(), "an init delay");
  task.delays.stop = spans.read(wire.getStopNs(), "a stop delay");
  task.delays.upload = spans.read(wire.getUploadNs(), "an upload delay");
  if (!spans.problem().empty()) return malformed(spans.problem());
  std::vector<FamilyDemand> demands;
  for (const auto entry : wire.getDemands()) {
    const auto amount = link_values::read_resources(entry.getAmount(), "a demand");
    if (!amount) return amount.error();
    // Prices an iteration are divided by it.
    if (!std::isfinite(entry.getSpeed()) || entry.getSpeed() <= 0) {
      return malformed("a speed that is not a positive number");
    }
    demands.push_back(
        {std::string(link_values::view(entry.getFamily())), amount.value(), entry.getSpeed()});
  }
  task.demands = Demands(std::move(demands));
  return task;
}

Expected<Program, LinkError> read_program(link_wire::Program::Reader wire) {
  Program program;
  for (const auto argument : wire.getArgv()) program.argv.push_back(link_values::bytes(argument));
  for (const auto variable : wire.getEnv()) {
    program.env.emplace_back(link_values::view(variable.getName()),
                             link_values::bytes(variable.getValue()));
  }
  program.work_dir = link_values::view(wire.getWorkDir());
  program.script = link_values::view(wire.getScript());
  program.make_work_dir = wire.getMakeWorkDir();
  SpanReader spans;
  program.time_limit = spans.read(wire.getTimeLimitNs(), "a time limit");
  program.stop_grace = spans.read(wire.getStopGraceNs(), "a stop grace");
  program.warn_before = spans.read(wire.getWarnBeforeNs(), "a warning before the time limit");
  if (!spans.problem().empty()) return malformed(spans.problem());
  program.warn_signal = wire.getWarnSignal();
  program.warn_program_only = wire.getWarnProgramOnly();
  if (program.warn_signal < 0 || program.warn_signal > kMostSignal) {
    return malformed("a signal that there is not");
  }
  program.baseline_rate_per_s = wire.getBaselineRatePerS();
  if (!std::isfinite(program.baseline_rate_per_s) || program.baseline_rate_per_s < 0) {
    return malformed("a pace that is not a number from 0");
  }
  return program;
}

}  // namespace

FrameBytes start_frame(const StartOrder& order, std::size_t max_bytes) {
  return make_frame(
      [&](link_wire::Frame::Builder frame) {
        auto wire = frame.initStart();
        wire.setJob(order.job.value);
        put(wire.initTask(), order.task);
        wire.setAttempt(order.attempt);
        link_values::put(wire.initGranted(kResourceKinds), order.granted);
        put(wire.initProgram(), order.program);
        wire.setTaskCount(order.task_count);
        wire.setWorkloadClass(link_values::text(order.workload_class));
        wire.setUser(link_values::text(order.user));
      },
      max_bytes);
}

FrameBytes stop_frame(TaskId task, Attempt attempt) {
  return small_frame([&](link_wire::Frame::Builder frame) {
    auto wire = frame.initStop();
    wire.setTask(task.value);
    wire.setAttempt(attempt);
  });
}

FrameBytes ack_frame(TaskId task, Attempt attempt) {
  return small_frame([&](link_wire::Frame::Builder frame) {
    auto wire = frame.initSettled();
    wire.setTask(task.value);
    wire.setAttempt(attempt);
  });
}

FrameBytes greet_frame() {
  return small_frame([](link_wire::Frame::Builder frame) { frame.setGreet(); });
}

FrameBytes sample_frame(std::uint64_t sample_round) {
  return small_frame(
      [sample_round](link_wire::Frame::Builder frame) { frame.setSample(sample_round); });
}

FrameBytes log_request_frame(const LogRequest& request) {
  return small_frame([&](link_wire::Frame::Builder frame) {
    auto wire = frame.initLogRequest();
    wire.setNumber(request.number);
    wire.setTask(request.task.value);
    wire.setAttempt(request.attempt);
    wire.setErrorStream(request.error_stream);
    wire.setOffset(request.offset);
    wire.setMaxBytes(request.max_bytes);
  });
}

Expected<StartOrder, LinkError> read_start(link_wire::StartOrder::Reader frame) {
  StartOrder order;
  order.job = JobId{frame.getJob()};
  auto task = read_task(frame.getTask());
  if (!task) return task.error();
  order.task = std::move(task).value();
  order.attempt = frame.getAttempt();
  if (auto problem = link_values::attempt_problem(order.task.id.value, order.attempt);
      !problem.empty()) {
    return malformed("an order for " + problem);
  }
  const auto granted = link_values::read_resources(frame.getGranted(), "a grant");
  if (!granted) return granted.error();
  order.granted = granted.value();
  auto program = read_program(frame.getProgram());
  if (!program) return program.error();
  order.program = std::move(program).value();
  order.task_count = frame.getTaskCount();
  order.workload_class = link_values::view(frame.getWorkloadClass());
  order.user = link_values::view(frame.getUser());
  return order;
}

Expected<LogRequest, LinkError> read_log_request(link_wire::LogRequest::Reader frame) {
  if (auto problem = link_values::attempt_problem(frame.getTask(), frame.getAttempt());
      !problem.empty()) {
    return malformed("a log request for " + problem);
  }
  LogRequest request;
  request.number = frame.getNumber();
  request.task = TaskId{frame.getTask()};
  request.attempt = frame.getAttempt();
  request.error_stream = frame.getErrorStream();
  request.offset = frame.getOffset();
  request.max_bytes = frame.getMaxBytes();
  return request;
}

Expected<AttemptName, LinkError> read_attempt(link_wire::AttemptName::Reader frame) {
  if (auto problem = link_values::attempt_problem(frame.getTask(), frame.getAttempt());
      !problem.empty()) {
    return malformed("an order about " + problem);
  }
  return AttemptName{TaskId{frame.getTask()}, frame.getAttempt()};
}

}  // namespace muster
