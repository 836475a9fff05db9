#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "model/event.hpp"
#include "model/ids.hpp"
#include "model/time.hpp"

namespace muster {

// A command beside a running task (docs/tasks.md). Its client asks for its output again
// and again, and hands in its input; places in both are counted in bytes from the beginning, so
// that a question can be repeated.

/// Words of a command, and their bytes together.
inline constexpr std::size_t kMostExecWords = 4096;
inline constexpr std::size_t kMostExecBytes = std::size_t{64} << 10;
/// Input in one question, and input that waits for a command to read it.
inline constexpr std::size_t kMostExecInput = std::size_t{64} << 10;
/// Output in one answer, of both streams together.
inline constexpr std::size_t kMostExecOutput = std::size_t{256} << 10;
/// The name of a terminal's kind.
inline constexpr std::size_t kMostTermBytes = 64;
/// How long an answer may wait for something to say.
inline constexpr Duration kMostExecWait = std::chrono::seconds{10};

/// Begins a command, or goes on with one. Answered by an ExecAnswer with the same number.
struct ExecRequest {
  std::uint64_t number = 0;
  TaskId task;
  Attempt attempt = 0;        ///< filled in by the master: the one that runs
  std::uint64_t command = 0;  ///< its number; 0: it is to begin
  std::string user{};         ///< for whom the asker acts; each may have some at once

  // Of one that is to begin.
  std::string token{};  ///< of the request: a repetition begins no second command; may be empty
  std::vector<std::string> argv{};
  bool terminal = false;  ///< its three streams are a terminal; its output is standard output then
  std::string term{};     ///< the variable TERM; empty: not set

  // Of either. Rows and columns of the terminal; 0: as it is.
  std::uint16_t rows = 0;
  std::uint16_t columns = 0;

  // Of one that runs.
  std::uint64_t input_at = 0;  ///< where `input` begins
  std::string input{};
  bool input_ends = false;      ///< nothing comes behind it
  std::int32_t signal = 0;      ///< for the command and its children; 0: no signal
  std::uint64_t out_at = 0;     ///< output up to there has come, and need not be kept
  std::uint64_t err_at = 0;     ///< likewise
  std::uint32_t max_bytes = 0;  ///< of output in the answer; 0: the output is not asked for
  Duration wait{};              ///< for something new, at most kMostExecWait
  bool ends = false;            ///< its client goes: it is to end
};

/// Why a question about a command has no other answer.
enum class ExecTrouble : std::uint8_t {
  none,
  unknown,      ///< there is no such command, any more or of that task
  not_running,  ///< the task does not run
  too_many,     ///< as many commands run as may
  unsupported,  ///< the worker, or what it runs, knows no such commands
  failed        ///< it could not be begun
};
/// The last one.
inline constexpr ExecTrouble kLastExecTrouble = ExecTrouble::failed;

/// How a command stands.
struct ExecAnswer {
  InstanceId instance;
  std::uint64_t number = 0;
  std::uint64_t command = 0;
  ExecTrouble trouble = ExecTrouble::none;
  std::string reason{};  ///< of the trouble; of one that is over: why, if not by itself
  Attempt attempt = 0;
  std::uint64_t input_at = 0;  ///< input up to there is taken
  std::uint64_t out_at = 0;    ///< where `out` begins
  std::string out{};
  std::uint64_t err_at = 0;
  std::string err{};
  bool over = false;           ///< it has ended, and nothing comes behind `out` and `err`
  std::int32_t exit_code = 0;  ///< of one that is over; 128+n: signal n
};

/// The instance whose worker runs a command of that number, and such a number. Numbers stay below
/// 2^53, which every reader of JSON knows.
constexpr unsigned kExecCountBits = 16;
constexpr InstanceId instance_of_exec(std::uint64_t command) {
  return InstanceId{command >> kExecCountBits};
}
constexpr std::uint64_t exec_number(InstanceId instance, std::uint16_t count) {
  return (instance.value << kExecCountBits) | count;
}

/// The answer to that question that says no more than why there is no other.
inline ExecAnswer exec_trouble(const ExecRequest& request, ExecTrouble trouble,
                               std::string reason) {
  ExecAnswer answer;
  answer.number = request.number;
  answer.command = request.command;
  answer.attempt = request.attempt;
  answer.trouble = trouble;
  answer.reason = std::move(reason);
  return answer;
}

}  // namespace muster
