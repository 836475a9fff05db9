#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "actors/link/frame.hpp"
#include "actors/link/tls.hpp"
#include "actors/messages/messages.hpp"
#include "model/expected.hpp"
#include "model/max_span.hpp"

// Messages of the worker and the master actor as frames and back. A frame that would be longer than
// `max_bytes` comes out empty, after what may be cut has been cut. Frames are checked whole when
// they are read: numbers finite and in range, kinds known, texts no longer than the bounds below.

namespace muster {

inline constexpr std::size_t kMaxReasonBytes = 4096;
inline constexpr std::size_t kMaxLimitsBytes = 1024;
inline constexpr std::size_t kMaxTailBytes = 65'536;  ///< of each stream in a report
inline constexpr std::size_t kMaxLogBytes = 524'288;  ///< of one log answer
inline constexpr std::size_t kMaxKnownReports = 65'536;
inline constexpr std::size_t kMaxSamples = 65'536;
inline constexpr double kMaxAmount = 1e12;  ///< of any resource

// --- messages of a worker ----------------------------------------------------------------------

/// Tails are cut, in the end away, so that every report fits: a report that is not there would mean
/// that the attempt is not there.
FrameBytes hello_frame(const WorkerHello& hello, std::uint32_t credits, std::size_t max_bytes);
/// The hello in as many frames as its reports need, to be sent one behind the other; empty when
/// there are too many reports.
std::vector<FrameBytes> hello_frames(const WorkerHello& hello, std::uint32_t credits,
                                     std::size_t max_bytes);
FrameBytes report_frame(const WorkerReport& report, std::size_t max_bytes);
FrameBytes samples_frame(const SampleAnswer& answer, std::size_t max_bytes);
std::vector<FrameBytes> samples_frames(const SampleAnswer& answer, std::size_t max_bytes);
FrameBytes log_frame(const LogAnswer& answer, std::size_t max_bytes);
/// As many frames as it takes, each whole by itself.
std::vector<FrameBytes> metrics_frames(const MetricsReport& report, std::size_t max_bytes);
std::vector<FrameBytes> filled_frames(const FilledLogs& said, std::size_t max_bytes);
/// Output that does not fit is cut, and the command then not said to be over.
FrameBytes exec_answer_frame(const ExecAnswer& answer, std::size_t max_bytes);

/// Attempts that do not fit are left out.
FrameBytes usage_answer_frame(const UsageAnswer& answer, std::size_t max_bytes);

/// Content of the frames; `malformed` with the reason when it is not possible.
Expected<WorkerHello, LinkError> read_hello(link_wire::Hello::Reader frame);
Expected<WorkerReport, LinkError> read_report(link_wire::Report::Reader frame);
Expected<SampleAnswer, LinkError> read_samples(link_wire::Samples::Reader frame);
Expected<LogAnswer, LinkError> read_log(link_wire::Log::Reader frame);
Expected<MetricsReport, LinkError> read_metrics(link_wire::Metrics::Reader frame);
Expected<FilledLogs, LinkError> read_filled(link_wire::Filled::Reader frame);
Expected<ExecAnswer, LinkError> read_exec_answer(link_wire::ExecAnswer::Reader frame);
Expected<UsageAnswer, LinkError> read_usage_answer(link_wire::UsageAnswer::Reader frame);

// --- messages of a master ----------------------------------------------------------------------

/// Of these only a start order and a command can be too long.
FrameBytes start_frame(const TaskOrder& order, std::size_t max_bytes);
FrameBytes stop_frame(TaskId task, Attempt attempt);
FrameBytes ack_frame(TaskId task, Attempt attempt);
FrameBytes greet_frame();
FrameBytes sample_frame(std::uint64_t sample_round);
FrameBytes log_request_frame(const LogRequest& request);
FrameBytes exec_frame(const ExecRequest& request, std::size_t max_bytes);
FrameBytes usage_frame(const UsageRequest& request);

/// Content of the frames; `malformed` with the reason when it is not possible.
Expected<TaskOrder, LinkError> read_start(link_wire::StartOrder::Reader frame);
Expected<LogRequest, LinkError> read_log_request(link_wire::LogRequest::Reader frame);
Expected<ExecRequest, LinkError> read_exec(link_wire::Exec::Reader frame);
/// A stop or an acknowledgement.
struct AttemptName {
  TaskId task;
  Attempt attempt = 0;
};
Expected<AttemptName, LinkError> read_attempt(link_wire::AttemptName::Reader frame);

}  // namespace muster
