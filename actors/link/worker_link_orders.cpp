#include "actors/link/frame_fields.hpp"
#include "actors/link/worker_link_codec.hpp"
#include "actors/link/worker_link_values.hpp"

// Messages of a master.

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

}  // namespace

FrameBytes start_frame(const TaskOrder& order, std::size_t max_bytes) {
  return make_frame(
      [&](link_wire::Frame::Builder frame) { frame_fields::put_fields(frame.initStart(), order); },
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

Expected<TaskOrder, LinkError> read_start(link_wire::StartOrder::Reader frame) {
  auto order = frame_fields::get_fields<TaskOrder>(frame);
  if (!order) return order;
  if (auto problem = link_values::attempt_problem(order->task.id.value, order->attempt);
      !problem.empty()) {
    return malformed("an order for " + problem);
  }
  if (order->program.warn_signal < 0 || order->program.warn_signal > kMostSignal) {
    return malformed("a signal that there is not");
  }
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
