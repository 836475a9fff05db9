#include <algorithm>

#include "actors/link/worker_link_codec.hpp"
#include "actors/link/worker_link_values.hpp"

// Questions about commands beside tasks, and their answers.

namespace muster {
namespace {

using link_values::malformed;

/// Of Linux.
constexpr std::int32_t kLastSignal = 64;
constexpr std::size_t kMostUserBytes = 1024;
constexpr std::size_t kMostTokenBytes = 256;
/// Everything of an answer but its output and its reason.
constexpr std::size_t kAnswerRoomBytes = 512;

std::size_t bytes_of(const std::vector<std::string>& words) {
  std::size_t bytes = 0;
  for (const std::string& word : words) bytes += word.size();
  return bytes;
}

}  // namespace

FrameBytes exec_frame(const ExecRequest& request, std::size_t max_bytes) {
  return make_frame(
      [&](link_wire::Frame::Builder frame) {
        auto wire = frame.initExec();
        wire.setNumber(request.number);
        wire.setTask(request.task.value);
        wire.setAttempt(request.attempt);
        wire.setCommand(request.command);
        wire.setUser(link_values::text(request.user));
        auto words = wire.initArgv(static_cast<unsigned>(request.argv.size()));
        for (unsigned i = 0; i < words.size(); ++i) {
          words.set(i, link_values::data(request.argv[i]));
        }
        wire.setTerminal(request.terminal);
        wire.setTerm(link_values::text(request.term));
        wire.setRows(request.rows);
        wire.setColumns(request.columns);
        wire.setInputAt(request.input_at);
        wire.setInput(link_values::data(request.input));
        wire.setInputEnds(request.input_ends);
        wire.setSignal(request.signal);
        wire.setOutAt(request.out_at);
        wire.setErrAt(request.err_at);
        wire.setMaxBytes(request.max_bytes);
        wire.setWaitNs(request.wait.count());
        wire.setEnds(request.ends);
        wire.setToken(link_values::text(request.token));
      },
      max_bytes);
}

Expected<ExecRequest, LinkError> read_exec(link_wire::Exec::Reader frame) {
  if (frame.getTask() == 0) return malformed("a command beside no task");
  if (frame.getArgv().size() > kMostExecWords) return malformed("a command of too many words");
  ExecRequest request;
  request.number = frame.getNumber();
  request.task = TaskId{frame.getTask()};
  request.attempt = frame.getAttempt();
  request.command = frame.getCommand();
  request.user = clean_text(link_values::view(frame.getUser()), kMostUserBytes);
  for (const auto word : frame.getArgv()) request.argv.push_back(link_values::bytes(word));
  request.terminal = frame.getTerminal();
  request.term = clean_text(link_values::view(frame.getTerm()), kMostTermBytes);
  request.rows = frame.getRows();
  request.columns = frame.getColumns();
  request.input_at = frame.getInputAt();
  request.input = link_values::bytes(frame.getInput());
  request.input_ends = frame.getInputEnds();
  request.signal = frame.getSignal();
  request.out_at = frame.getOutAt();
  request.err_at = frame.getErrAt();
  request.max_bytes = std::min<std::uint32_t>(frame.getMaxBytes(), kMostExecOutput);
  request.ends = frame.getEnds();
  request.token = clean_text(link_values::view(frame.getToken()), kMostTokenBytes);
  const auto wait = link_values::read_span(frame.getWaitNs(), "the wait for a command");
  if (!wait) return wait.error();
  request.wait = std::min(wait.value(), kMostExecWait);
  if (bytes_of(request.argv) > kMostExecBytes) return malformed("a command that is too long");
  if (request.input.size() > kMostExecInput) return malformed("too much input for a command");
  if (request.signal < 0 || request.signal > kLastSignal) {
    return malformed("a signal that there is not");
  }
  return request;
}

FrameBytes exec_answer_frame(const ExecAnswer& answer, std::size_t max_bytes) {
  const std::string reason = clean_text(answer.reason, kMaxReasonBytes);
  const std::size_t taken = kAnswerRoomBytes + reason.size();
  const std::size_t room = std::min(max_bytes - std::min(max_bytes, taken), kMostExecOutput);
  // Their first parts: the asker goes on from where they end.
  const auto out = std::string_view(answer.out).substr(0, room);
  const auto err = std::string_view(answer.err).substr(0, room - out.size());
  const bool whole = out.size() == answer.out.size() && err.size() == answer.err.size();
  return make_frame(
      [&](link_wire::Frame::Builder frame) {
        auto wire = frame.initExecAnswer();
        wire.setInstance(answer.instance.value);
        wire.setNumber(answer.number);
        wire.setCommand(answer.command);
        wire.setTrouble(static_cast<std::uint8_t>(answer.trouble));
        wire.setReason(link_values::text(reason));
        wire.setAttempt(answer.attempt);
        wire.setInputAt(answer.input_at);
        wire.setOutAt(answer.out_at);
        wire.setOut(link_values::data(out));
        wire.setErrAt(answer.err_at);
        wire.setErr(link_values::data(err));
        wire.setOver(answer.over && whole);
        wire.setExitCode(answer.exit_code);
      },
      max_bytes);
}

Expected<ExecAnswer, LinkError> read_exec_answer(link_wire::ExecAnswer::Reader frame) {
  ExecAnswer answer;
  if (frame.getTrouble() > static_cast<std::uint8_t>(kLastExecTrouble)) {
    return malformed("a trouble of a command that there is not");
  }
  if (frame.getOut().size() + frame.getErr().size() > kMostExecOutput) {
    return malformed("too much output of a command");
  }
  answer.instance = InstanceId{frame.getInstance()};
  answer.number = frame.getNumber();
  answer.command = frame.getCommand();
  answer.trouble = static_cast<ExecTrouble>(frame.getTrouble());
  answer.reason = clean_text(link_values::view(frame.getReason()), kMaxReasonBytes);
  answer.attempt = frame.getAttempt();
  answer.input_at = frame.getInputAt();
  answer.out_at = frame.getOutAt();
  answer.out = link_values::bytes(frame.getOut());
  answer.err_at = frame.getErrAt();
  answer.err = link_values::bytes(frame.getErr());
  answer.over = frame.getOver();
  answer.exit_code = frame.getExitCode();
  return answer;
}

}  // namespace muster
