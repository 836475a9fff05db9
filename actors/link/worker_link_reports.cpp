#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "actors/link/frame_fields.hpp"
#include "actors/link/worker_link_codec.hpp"
#include "actors/link/worker_link_values.hpp"

// Messages of a worker.

namespace muster {
namespace {

using link_values::malformed;

/// Sizes that tails are cut to, one after the other, until the frame fits.
constexpr std::array<std::size_t, 5> kTailSteps = {kMaxTailBytes, 16'384, 4096, 512, 0};
/// A log answer or report is this much longer than its text at most.
constexpr std::size_t kFrameRoomBytes = 512;
/// No report in a hello takes less.
constexpr std::size_t kLeastReportBytes = 64;

std::string_view last_of(std::string_view text, std::size_t bytes) {
  // The end of what a task wrote tells most: errors come last.
  return text.substr(text.size() - std::min(text.size(), bytes));
}

void put(link_wire::Report::Builder frame, const WorkerReport& report, std::size_t tail_bytes) {
  frame.setInstance(report.instance.value);
  frame.setTask(report.task.value);
  frame.setAttempt(report.attempt);
  frame.setKind(static_cast<std::uint8_t>(report.kind));
  frame.setExitCode(report.exit_code);
  frame.setFetchNs(report.fetch.count());
  frame.setBuildNs(report.build.count());
  frame.setUploadNs(report.upload.count());
  const std::size_t reason_bytes = std::min(kMaxReasonBytes, tail_bytes + kFrameRoomBytes / 2);
  frame.setReason(link_values::text(clean_text(report.reason, reason_bytes)));
  frame.setOutTail(link_values::data(last_of(report.out_tail, tail_bytes)));
  frame.setErrTail(link_values::data(last_of(report.err_tail, tail_bytes)));
  frame.setFailure(static_cast<std::uint8_t>(report.failure));
  frame.setOutBytes(report.out_bytes);
  frame.setErrBytes(report.err_bytes);
  frame.setCpuNs(report.used.cpu.count());
  frame.setPeakBytes(report.used.peak_bytes);
}

void put_progress(const std::vector<TaskProgress>& progress, link_wire::Samples::Builder frame) {
  if (progress.empty()) return;
  auto list = frame.initProgress(static_cast<unsigned>(progress.size()));
  for (unsigned i = 0; i < list.size(); ++i) {
    const JobProgress& said = progress[i].said;
    list[i].setTask(said.task.value);
    list[i].setAttempt(progress[i].attempt);
    list[i].setDone(said.done);
    if (!said.training) continue;
    const auto& [nodes, replicas, local_batch, accumulation, step_s, sync_s, grad_sqr, grad_var] =
        *said.training;
    auto training = list[i].initTraining();
    training.setNodes(nodes);
    training.setReplicas(replicas);
    training.setLocalBatch(local_batch);
    training.setAccumulation(accumulation);
    training.setStepS(step_s);
    training.setSyncS(sync_s);
    training.setGradSqr(grad_sqr);
    training.setGradVar(grad_var);
  }
}

/// Nothing for what no job can have said: a worker runs what its users like.
std::optional<TaskProgress> progress_of(link_wire::Samples::Progress::Reader wire) {
  const auto is_amount = [](double value) { return value >= 0 && value <= kMostProgress; };
  TaskProgress progress{{TaskId{wire.getTask()}, wire.getDone(), {}}, wire.getAttempt()};
  if (!is_amount(progress.said.done)) return std::nullopt;
  if (!wire.hasTraining()) return progress;
  const auto in = wire.getTraining();
  const TrainingSample sample{in.getNodes(),        in.getReplicas(), in.getLocalBatch(),
                              in.getAccumulation(), in.getStepS(),    in.getSyncS(),
                              in.getGradSqr(),      in.getGradVar()};
  const bool counts =
      sample.replicas > 0 && sample.replicas >= sample.nodes && sample.local_batch > 0;
  const bool amounts = is_amount(sample.step_s) && is_amount(sample.sync_s) &&
                       is_amount(sample.grad_sqr) && is_amount(sample.grad_var);
  if (!counts || !amounts || sample.step_s <= 0 || sample.sync_s > sample.step_s) {
    return std::nullopt;
  }
  progress.said.training = sample;
  return progress;
}

std::string kind_problem(const WorkerReport& report, std::uint8_t kind) {
  if (kind > static_cast<std::uint8_t>(WorkerReportKind::rejected)) {
    return "a report of kind " + std::to_string(kind);
  }
  if (report.reason.size() > kMaxReasonBytes) return "a reason that is too long";
  if (report.out_tail.size() > kMaxTailBytes || report.err_tail.size() > kMaxTailBytes) {
    return "a tail of more than " + std::to_string(kMaxTailBytes) + " bytes";
  }
  return {};
}

/// Of a hello, besides its reports.
struct HelloBounds {
  const WorkerHello& hello;
  std::uint32_t credits = 0;
  std::size_t max_bytes = 0;
};

FrameBytes hello_part(const HelloBounds& of, std::span<const WorkerReport> reports, bool more) {
  for (const std::size_t tail_bytes : kTailSteps) {
    // A hello that cannot fit is not built to see that it does not.
    std::size_t least = 0;
    for (const WorkerReport& report : reports) {
      least += kLeastReportBytes + std::min(report.out_tail.size(), tail_bytes) +
               std::min(report.err_tail.size(), tail_bytes);
    }
    if (least > of.max_bytes) continue;
    auto fill = [&](link_wire::Frame::Builder frame) {
      auto wire = frame.initHello();
      wire.initVersion().setMajor(kLinkMajor);
      wire.getVersion().setMinor(kLinkMinor);
      wire.setCredits(of.credits);
      wire.setInstance(of.hello.instance.value);
      wire.setNumber(of.hello.number);
      link_values::put(wire.initCapacity(kResourceKinds), of.hello.capacity);
      wire.setLimits(link_values::text(clean_text(of.hello.limits, kMaxLimitsBytes)));
      wire.setIsolation(link_values::text(clean_text(of.hello.isolation, kMaxLimitsBytes)));
      wire.setOwnCheckpoints(of.hello.own_checkpoints);
      wire.setMore(more);
      auto known = wire.initKnown(static_cast<unsigned>(reports.size()));
      for (unsigned i = 0; i < known.size(); ++i) put(known[i], reports[i], tail_bytes);
    };
    // Built anew for each size: at most five times, and nearly always once.
    if (FrameBytes bytes = make_frame(fill, of.max_bytes); !bytes.empty()) return bytes;
  }
  return {};
}

FrameBytes samples_part(const SampleAnswer& answer, std::size_t max_bytes, bool more) {
  return make_frame(
      [&](link_wire::Frame::Builder frame) {
        auto wire = frame.initSamples();
        wire.setInstance(answer.instance.value);
        wire.setAsking(answer.sample_round);
        wire.setMore(more);
        auto samples = wire.initSamples(static_cast<unsigned>(answer.samples.size()));
        for (unsigned i = 0; i < samples.size(); ++i) {
          samples[i].setTask(answer.samples[i].task.value);
          samples[i].setAttempt(answer.samples[i].attempt);
          samples[i].setScaled(answer.samples[i].scaled);
        }
        put_progress(answer.progress, wire);
      },
      max_bytes);
}

FrameBytes metrics_part(const MetricsReport& report, std::size_t from, std::size_t count,
                        std::size_t max_bytes) {
  return make_frame(
      [&](link_wire::Frame::Builder frame) {
        auto wire = frame.initMetrics();
        wire.setInstance(report.instance.value);
        auto attempts = wire.initAttempts(static_cast<unsigned>(count));
        for (unsigned i = 0; i < attempts.size(); ++i) {
          const AttemptMetrics& each = report.attempts[from + i];
          attempts[i].setTask(each.said.task.value);
          attempts[i].setAttempt(each.attempt);
          auto values = attempts[i].initValues(static_cast<unsigned>(each.said.values.size()));
          for (unsigned j = 0; j < values.size(); ++j) {
            values[j].setName(link_values::text(each.said.values[j].first));
            values[j].setValue(each.said.values[j].second);
          }
          if (each.replica) frame_fields::put_fields(attempts[i].initReplica(), *each.replica);
        }
      },
      max_bytes);
}

FrameBytes filled_part(const FilledLogs& said, std::size_t from, std::size_t count,
                       std::size_t max_bytes) {
  return make_frame(
      [&](link_wire::Frame::Builder frame) {
        auto wire = frame.initFilled();
        wire.setInstance(said.instance.value);
        auto logs = wire.initLogs(static_cast<unsigned>(count));
        for (unsigned i = 0; i < logs.size(); ++i) {
          const FilledLog& each = said.logs[from + i];
          logs[i].setTask(each.task.value);
          logs[i].setAttempt(each.attempt);
          logs[i].setOutBytes(each.out_bytes);
          logs[i].setErrBytes(each.err_bytes);
        }
      },
      max_bytes);
}

template <class T>
std::vector<T> part_of(const std::vector<T>& list, std::size_t from, std::size_t count) {
  const std::size_t begin = std::min(from, list.size());
  const std::size_t end = std::min(from + count, list.size());
  return {list.begin() + static_cast<std::ptrdiff_t>(begin),
          list.begin() + static_cast<std::ptrdiff_t>(end)};
}

/// Makes frames of a list's elements, in their order: of all at once, or, where that is longer than
/// a frame, of one half after the other. False when a single element is.
template <class Make>
bool in_halves(std::size_t size, Make make, std::vector<FrameBytes>& frames) {
  struct Part {
    std::size_t from;
    std::size_t count;
    bool more;
  };
  std::vector<Part> left{{0, size, false}};  // the next one last
  while (!left.empty()) {
    const Part part = left.back();
    left.pop_back();
    FrameBytes frame = make(part.from, part.count, part.more);
    if (!frame.empty()) {
      frames.push_back(std::move(frame));
      continue;
    }
    if (part.count <= 1) return false;
    const std::size_t half = part.count / 2;
    left.push_back({part.from + half, part.count - half, part.more});
    left.push_back({part.from, half, true});
  }
  return true;
}

}  // namespace

FrameBytes hello_frame(const WorkerHello& hello, std::uint32_t credits, std::size_t max_bytes) {
  // A hello without some of its reports would mean that these attempts are not there: better no
  // hello.
  if (hello.known.size() > kMaxKnownReports) return {};
  return hello_part({hello, credits, max_bytes}, hello.known, false);
}

std::vector<FrameBytes> hello_frames(const WorkerHello& hello, std::uint32_t credits,
                                     std::size_t max_bytes) {
  if (hello.known.size() > kMaxKnownReports) return {};
  std::vector<FrameBytes> frames;
  const HelloBounds bounds{hello, credits, max_bytes};
  const bool whole = in_halves(
      hello.known.size(),
      [&](std::size_t from, std::size_t count, bool more) {
        return hello_part(bounds, std::span(hello.known).subspan(from, count), more);
      },
      frames);
  return whole ? frames : std::vector<FrameBytes>{};
}

FrameBytes report_frame(const WorkerReport& report, std::size_t max_bytes) {
  for (const std::size_t tail_bytes : kTailSteps) {
    auto fill = [&](link_wire::Frame::Builder frame) {
      put(frame.initReport(), report, tail_bytes);
    };
    if (FrameBytes bytes = make_frame(fill, max_bytes); !bytes.empty()) return bytes;
  }
  return {};
}

FrameBytes samples_frame(const SampleAnswer& answer, std::size_t max_bytes) {
  if (std::max(answer.samples.size(), answer.progress.size()) > kMaxSamples) return {};
  return samples_part(answer, max_bytes, false);
}

std::vector<FrameBytes> samples_frames(const SampleAnswer& answer, std::size_t max_bytes) {
  const std::size_t most = std::max(answer.samples.size(), answer.progress.size());
  if (most > kMaxSamples) return {};
  std::vector<FrameBytes> frames;
  const auto make = [&](std::size_t from, std::size_t count, bool more) {
    SampleAnswer part{answer.instance, answer.sample_round, part_of(answer.samples, from, count),
                      part_of(answer.progress, from, count)};
    return samples_part(part, max_bytes, more);
  };
  return in_halves(most, make, frames) ? frames : std::vector<FrameBytes>{};
}

FrameBytes log_frame(const LogAnswer& answer, std::size_t max_bytes) {
  const std::size_t room = max_bytes - std::min(max_bytes, kFrameRoomBytes);
  const std::string_view text = answer.text;
  // The first part: the asker goes on from where it ends.
  const std::string_view part = text.substr(0, std::min({text.size(), room, kMaxLogBytes}));
  return make_frame(
      [&](link_wire::Frame::Builder frame) {
        auto wire = frame.initLog();
        wire.setInstance(answer.instance.value);
        wire.setNumber(answer.number);
        wire.setOffset(answer.offset);
        wire.setText(link_values::data(part));
        // Cut here, so more is there for certain.
        wire.setMoreMayCome(answer.more_may_come || part.size() < text.size());
        wire.setUnknown(answer.unknown);
        wire.setEnd(answer.end);
      },
      max_bytes);
}

std::vector<FrameBytes> metrics_frames(const MetricsReport& report, std::size_t max_bytes) {
  std::vector<FrameBytes> frames;
  // Each frame holds whole attempts, and counts by itself.
  const auto make = [&](std::size_t from, std::size_t count, bool /*more*/) {
    return count > kMaxSamples ? FrameBytes{} : metrics_part(report, from, count, max_bytes);
  };
  return in_halves(report.attempts.size(), make, frames) ? frames : std::vector<FrameBytes>{};
}

std::vector<FrameBytes> filled_frames(const FilledLogs& said, std::size_t max_bytes) {
  std::vector<FrameBytes> frames;
  const auto make = [&](std::size_t from, std::size_t count, bool /*more*/) {
    return count > kMaxSamples ? FrameBytes{} : filled_part(said, from, count, max_bytes);
  };
  return in_halves(said.logs.size(), make, frames) ? frames : std::vector<FrameBytes>{};
}

Expected<WorkerReport, LinkError> read_report(link_wire::Report::Reader frame) {
  if (auto problem = link_values::attempt_problem(frame.getTask(), frame.getAttempt());
      !problem.empty()) {
    return malformed("a report about " + problem);
  }
  WorkerReport report;
  report.instance = InstanceId{frame.getInstance()};
  report.task = TaskId{frame.getTask()};
  report.attempt = frame.getAttempt();
  report.exit_code = frame.getExitCode();
  // Cleaned again on this side: the worker is not trusted to have done so.
  report.reason = clean_text(link_values::view(frame.getReason()), kMaxReasonBytes);
  report.out_tail = link_values::bytes(frame.getOutTail());
  report.err_tail = link_values::bytes(frame.getErrTail());
  report.out_bytes = frame.getOutBytes();
  report.err_bytes = frame.getErrBytes();
  if (auto problem = kind_problem(report, frame.getKind()); !problem.empty()) {
    return malformed(problem);
  }
  report.kind = static_cast<WorkerReportKind>(frame.getKind());
  // A later version may know more kinds.
  if (frame.getFailure() <= static_cast<std::uint8_t>(FailureKind::files)) {
    report.failure = static_cast<FailureKind>(frame.getFailure());
  }
  const auto fetch = link_values::read_span(frame.getFetchNs(), "a fetch");
  if (!fetch) return fetch.error();
  const auto build = link_values::read_span(frame.getBuildNs(), "a build");
  if (!build) return build.error();
  const auto upload = link_values::read_span(frame.getUploadNs(), "an upload");
  if (!upload) return upload.error();
  report.used = within_bounds({Duration{frame.getCpuNs()}, frame.getPeakBytes()});
  report.fetch = fetch.value();
  report.build = build.value();
  report.upload = upload.value();
  return report;
}

Expected<WorkerHello, LinkError> read_hello(link_wire::Hello::Reader frame) {
  WorkerHello hello;
  hello.instance = InstanceId{frame.getInstance()};
  if (!hello.instance.valid()) return malformed("a hello of no instance");
  hello.number = frame.getNumber();
  const auto capacity = link_values::read_resources(frame.getCapacity(), "a capacity");
  if (!capacity) return capacity.error();
  hello.capacity = capacity.value();
  hello.limits = clean_text(link_values::view(frame.getLimits()), kMaxLimitsBytes);
  hello.isolation = clean_text(link_values::view(frame.getIsolation()), kMaxLimitsBytes);
  hello.own_checkpoints = frame.getOwnCheckpoints();
  const auto known = frame.getKnown();
  if (known.size() > kMaxKnownReports) {
    return malformed("a hello with " + std::to_string(known.size()) + " reports");
  }
  for (const auto entry : known) {
    auto report = read_report(entry);
    if (!report) return report.error();
    // Reports of other instances would end their attempts.
    if (report->instance != hello.instance) {
      return malformed("a hello with a report for instance " +
                       std::to_string(report->instance.value));
    }
    hello.known.push_back(std::move(report).value());
  }
  return hello;
}

Expected<SampleAnswer, LinkError> read_samples(link_wire::Samples::Reader frame) {
  SampleAnswer answer{InstanceId{frame.getInstance()}, frame.getAsking(), {}, {}};
  const auto samples = frame.getSamples();
  if (samples.size() > kMaxSamples) {
    return malformed(std::to_string(samples.size()) + " samples in one answer");
  }
  for (const auto sample : samples) {
    if (auto problem = link_values::attempt_problem(sample.getTask(), sample.getAttempt());
        !problem.empty()) {
      return malformed("a sample of " + problem);
    }
    if (static_cast<double>(sample.getScaled()) > TaskThroughput::kOne) {
      return malformed("a throughput above 1");
    }
    answer.samples.push_back({TaskId{sample.getTask()}, sample.getAttempt(), sample.getScaled()});
  }
  if (frame.getProgress().size() > kMaxSamples) {
    return malformed(std::to_string(frame.getProgress().size()) + " tasks' progress in one answer");
  }
  for (const auto wire : frame.getProgress()) {
    if (auto problem = link_values::attempt_problem(wire.getTask(), wire.getAttempt());
        !problem.empty()) {
      return malformed("progress of " + problem);
    }
    const auto progress = progress_of(wire);
    if (!progress) return malformed("progress that is no amount");
    answer.progress.push_back(*progress);
  }
  return answer;
}

Expected<MetricsReport, LinkError> read_metrics(link_wire::Metrics::Reader frame) {
  MetricsReport report{InstanceId{frame.getInstance()}, {}};
  if (frame.getAttempts().size() > kMaxSamples) {
    return malformed("the metrics of " + std::to_string(frame.getAttempts().size()) +
                     " attempts in one frame");
  }
  for (const auto wire : frame.getAttempts()) {
    if (auto problem = link_values::attempt_problem(wire.getTask(), wire.getAttempt());
        !problem.empty()) {
      return malformed("metrics of " + problem);
    }
    if (wire.getValues().size() > kMaxMetrics) {
      return malformed(std::to_string(wire.getValues().size()) + " metrics of one attempt");
    }
    AttemptMetrics& each =
        report.attempts.emplace_back(TaskMetrics{TaskId{wire.getTask()}, {}}, wire.getAttempt());
    for (const auto value : wire.getValues()) {
      each.said.values.emplace_back(link_values::view(value.getName()), value.getValue());
    }
    // A worker runs what its users like.
    if (!are_metrics(each.said.values)) return malformed("metrics that no task can report");
    if (!wire.hasReplica()) continue;
    auto replica = frame_fields::get_fields<ReplicaState>(wire.getReplica());
    if (!replica) return malformed(replica.error().message);
    if (!is_replica_state(replica.value())) return malformed("a replica that there cannot be");
    each.replica = std::move(replica).value();
    each.replica->trouble = clean_text(each.replica->trouble, kMostTroubleBytes);
    each.replica->address = clean_text(each.replica->address, kMostAddressBytes);
  }
  return report;
}

Expected<LogAnswer, LinkError> read_log(link_wire::Log::Reader frame) {
  LogAnswer answer;
  answer.instance = InstanceId{frame.getInstance()};
  answer.number = frame.getNumber();
  answer.offset = frame.getOffset();
  answer.more_may_come = frame.getMoreMayCome();
  if (frame.getText().size() > kMaxLogBytes) {
    return malformed("a log answer of " + std::to_string(frame.getText().size()) + " bytes");
  }
  answer.text = link_values::bytes(frame.getText());
  answer.unknown = frame.getUnknown();
  answer.end = frame.getEnd();
  return answer;
}

Expected<FilledLogs, LinkError> read_filled(link_wire::Filled::Reader frame) {
  FilledLogs said{InstanceId{frame.getInstance()}, {}};
  if (frame.getLogs().size() > kMaxSamples) {
    return malformed("full files of " + std::to_string(frame.getLogs().size()) +
                     " attempts in one frame");
  }
  for (const auto wire : frame.getLogs()) {
    if (auto problem = link_values::attempt_problem(wire.getTask(), wire.getAttempt());
        !problem.empty()) {
      return malformed("full files of " + problem);
    }
    said.logs.push_back(
        {TaskId{wire.getTask()}, wire.getAttempt(), wire.getOutBytes(), wire.getErrBytes()});
  }
  return said;
}

}  // namespace muster
