#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "tools/client/answers.hpp"
#include "tools/client/api_client.hpp"

namespace muster::cli {

/// The wanted part of a task's output.
struct LogWish {
  std::uint64_t job = 0;
  std::optional<std::uint64_t> attempt;  ///< nothing: the newest
  std::optional<std::uint64_t> tail;     ///< lines at its end; nothing: all
  bool err = false;
  bool both = false;  ///< standard output and standard error, each line with its stream before it
  bool json = false;  ///< the documents instead of the bytes
};

/// One stream of a task.
struct LogSource {
  std::uint64_t task = 0;
  bool err = false;
  std::uint64_t job = 0;

  friend bool operator==(const LogSource&, const LogSource&) = default;
};

/// How lines say whose they are.
struct LogLabels {
  bool several = false;  ///< tasks are printed: a line begins with its job and task, "12:3 | "
  bool both = false;     ///< streams: "12:3 err | "; of a single task "[3 err] " and "[3] "
  bool color = false;    ///< of its own for each task, by escapes of terminals
};

/// Where the output of one or several tasks goes: the text of a single one as it is, of several and
/// of both streams each line behind its label.
class LogPrinter {
 public:
  explicit LogPrinter(const LogLabels& labels) : labels_(labels) {}

  void print(const LogSource& source, std::string_view text);
  /// Ends a line that has not ended yet, where the next one is another task's.
  void end_line();
  /// Lines have labels.
  bool several() const { return labels_.several || labels_.both; }

 private:
  std::string label_of(const LogSource& source) const;

  LogLabels labels_;
  bool in_line_ = false;
  LogSource source_;  ///< whose line it is
};

/// Prints what one task writes. It remembers a place and no text.
class TaskLog {
 public:
  using Error = client::ClientError;

  TaskLog(client::ApiClient& api, const LogWish& wish, const LogSource& source)
      : api_(api), wish_(wish), task_(source.task), err_(source.err), attempt_(wish.attempt) {}

  /// Prints all that is there.
  std::optional<Failure<Error>> print_present(LogPrinter& out);
  /// Prints what has come since the last time; `seen` was looked at before. Nothing more will come
  /// once it is done().
  std::optional<Failure<Error>> print_new(const TaskView& seen, LogPrinter& out);

  /// The content of the other stream, in a sentence, where this one was empty or the task failed: a
  /// message on the other stream should not be taken for lost. Empty: there is nothing either, or
  /// it is not known.
  std::string other_stream();
  /// It had nothing where one of two streams was asked for by somebody who reads it.
  bool was_empty() const { return !printed_ && !wish_.both && !wish_.json && wish_.tail != 0U; }

  std::uint64_t task() const { return task_; }
  bool done() const { return done_; }
  /// Something of what was asked for is lost, which was said.
  bool lost() const { return lost_; }

 private:
  using Part = Expected<client::LogAnswer, Error>;

  Part ask(std::uint64_t offset, std::uint64_t max_bytes, bool raw);
  std::string log_path(bool err, std::uint64_t offset, std::uint64_t max_bytes) const;
  Part next(LogPrinter& out, bool last);
  std::optional<Failure<Error>> find_begin();
  Expected<std::string, Error> read_between(std::uint64_t& from, std::uint64_t to);
  void print_loss(const client::LogAnswer& part);
  Part read_on(LogPrinter& out, bool last);
  /// Reads attempts that have ended to their ends, one after the other, up to the one that the task
  /// has now. False: an earlier one has not come to its end yet.
  Expected<bool, Error> catch_up(const TaskView& seen, LogPrinter& out);
  void turn_to_next(LogPrinter& out);

  client::ApiClient& api_;
  const LogWish& wish_;
  std::uint64_t task_;
  bool err_;
  std::optional<std::uint64_t> attempt_;
  std::uint64_t offset_ = 0;
  bool begun_ = false;
  bool from_first_ = false;          ///< it was looked at before there was any attempt
  std::uint32_t looks_for_end_ = 0;  ///< at an attempt that has ended, while more may come of it
  bool done_ = false;
  bool lost_ = false;
  bool printed_ = false;               ///< some text
  std::optional<std::uint64_t> told_;  ///< the attempt whose loss was said last
};

}  // namespace muster::cli
