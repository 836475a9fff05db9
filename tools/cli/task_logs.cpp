#include "tools/cli/task_logs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iostream>
#include <limits>

#include "tools/cli/client_options.hpp"
#include "tools/cli/output.hpp"

// Reads the output of one task through the API, part by part, and finds where its last lines begin.
// Nothing of it is kept but the place that was read up to.

namespace muster::cli {
namespace {

using client::ClientError;

constexpr std::uint64_t kPartBytes = 256 * 1024;
/// Read at once on the way back to the first of the last lines.
constexpr std::uint64_t kBackBytes = 64 * 1024;
/// How often the rest of an attempt is asked for after the next one has begun.
constexpr std::uint32_t kLooksForEnd = 20;
constexpr std::uint64_t kBehindAll = std::numeric_limits<std::int64_t>::max();

}  // namespace

/// Neighbours differ; a standard error is bright beside its standard output.
std::string LogPrinter::label_of(const LogSource& source) const {
  // Of the palette of every terminal, without black, white and the red of errors.
  constexpr std::array<int, 5> kColors = {36, 33, 35, 32, 34};
  constexpr int kBright = 60;
  const char* err = labels_.both && source.err ? " err" : "";
  if (!labels_.several) return fmt::format("[{}{}] ", source.task, err);
  const std::string label = fmt::format("{}:{}{} | ", source.job, source.task, err);
  if (!labels_.color) return label;
  const int color = kColors[(source.job + source.task) % kColors.size()];
  return fmt::format("\x1b[{}m{}\x1b[0m", color + (source.err ? kBright : 0), label);
}

void LogPrinter::print(const LogSource& source, std::string_view text) {
  if (!several()) {
    std::cout << text << std::flush;
    return;
  }
  if (!text.empty() && !(source == source_)) end_line();
  source_ = source;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    const std::string_view line = text.substr(0, end == std::string_view::npos ? end : end + 1);
    if (!in_line_) std::cout << label_of(source);
    std::cout << line;
    in_line_ = line.back() != '\n';
    text.remove_prefix(line.size());
  }
  std::cout << std::flush;
}

void LogPrinter::end_line() {
  if (in_line_) std::cout << '\n' << std::flush;
  in_line_ = false;
}

std::string TaskLog::log_path(bool err, std::uint64_t offset, std::uint64_t max_bytes) const {
  std::string path = fmt::format("/v1/jobs/{}/tasks/{}/log?stream={}&offset={}&max={}", wish_.job,
                                 task_, err ? "err" : "out", offset, max_bytes);
  if (attempt_) path += fmt::format("&attempt={}", *attempt_);
  return path;
}

TaskLog::Part TaskLog::ask(std::uint64_t offset, std::uint64_t max_bytes, bool raw) {
  const std::string path = log_path(err_, offset, max_bytes);
  if (raw) {
    auto answer = api_.get_bytes(path + "&raw=1");
    if (!answer) return answer.error();
    return client::raw_log_part(std::move(answer).value());
  }
  const auto answer = api_.get(path);
  if (!answer) return answer.error();
  print_json(answer->text);
  return client::log_part(answer.value());
}

/// Prints the next part. Of several tasks that are followed only whole lines are printed, so that
/// they do not mix; `last`: nothing more comes, and what is there is a line.
TaskLog::Part TaskLog::next(LogPrinter& out, bool last) {
  auto part = ask(offset_, kPartBytes, !wish_.json);
  if (!part) return part;
  // The following output is of the same attempt, also when the task runs again meanwhile.
  if (!attempt_ && part->attempt > 0) attempt_ = part->attempt;
  if (part->offset > offset_ && !part->text.empty()) {
    const std::uint64_t gone = part->offset - offset_;
    complain(fmt::format("{} {} no longer kept", gone, gone == 1 ? "byte is" : "bytes are"));
  }
  if (wish_.json) {
    // JSON prints the answer as it came; the text in it is not cut at lines.
    offset_ = std::max(offset_, part->next);
    return part;
  }
  if (!last && part->text.size() < kPartBytes) part->text.resize(part->text.rfind('\n') + 1);
  offset_ = std::max(offset_, part->offset + part->text.size());
  printed_ |= !part->text.empty();
  out.print({task_, err_, wish_.job}, part->text);
  return part;
}

void TaskLog::print_loss(const client::LogAnswer& part) {
  if (part.lost.empty()) return;
  lost_ = true;
  if (std::exchange(told_, part.attempt) == part.attempt) return;
  complain(
      fmt::format("output of attempt {} of task {} is lost: {}", part.attempt, task_, part.lost));
}

std::optional<Failure<ClientError>> TaskLog::print_present(LogPrinter& out) {
  if (auto failure = find_begin()) return failure;
  while (true) {
    const auto part = next(out, true);
    if (!part) return part.error();
    if (!part->text.empty() && part->more) continue;
    print_loss(part.value());
    return std::nullopt;
  }
}

std::string TaskLog::other_stream() {
  const char* const here = err_ ? "standard error" : "standard output";
  const char* const there = err_ ? "standard output" : "standard error";
  // From its beginning, so that lines can be counted; of a longer one its size says enough.
  auto answer = api_.get_bytes(log_path(!err_, 0, kPartBytes) + "&raw=1");
  if (!answer) return "";
  const auto part = client::raw_log_part(std::move(answer).value());
  if (!part || part->text.empty()) return "";
  const std::uint64_t size = part->size.value_or(part->text.size());
  const auto breaks = std::count(part->text.begin(), part->text.end(), '\n');
  const auto lines = breaks + (part->text.back() == '\n' ? 0 : 1);
  const std::string amount = part->offset == 0 && size == part->text.size()
                                 ? fmt::format("{} line{}", lines, lines == 1 ? "" : "s")
                                 : fmt::format("{} bytes", size);
  const std::string begin = printed_ ? fmt::format("task {} has failed", task_)
                                     : fmt::format("nothing on the {} of task {}", here, task_);
  return fmt::format("{}; its {} has {}: {}", begin, there, amount,
                     err_ ? "leave --err out" : "--err");
}

/// Prints all that is there, up to the empty part behind it.
TaskLog::Part TaskLog::read_on(LogPrinter& out, bool last) {
  auto part = next(out, last);
  while (part && !part->text.empty()) part = next(out, last);
  return part;
}

void TaskLog::turn_to_next(LogPrinter& out) {
  if (out.several()) out.end_line();
  ++*attempt_;
  complain(fmt::format("task {} runs again: attempt {}", task_, *attempt_));
  begun_ = true;  // of a further attempt all is wanted
  offset_ = 0;
  looks_for_end_ = 0;
}

Expected<bool, ClientError> TaskLog::catch_up(const TaskView& seen, LogPrinter& out) {
  from_first_ |= seen.attempt == 0;
  if (seen.attempt == 0) return true;
  // One that was followed from before its first attempt may have had several since.
  if (!attempt_) attempt_ = from_first_ ? 1 : seen.attempt;
  while (*attempt_ < seen.attempt) {
    auto failure = find_begin();
    if (!failure) {
      auto part = read_on(out, !out.several());
      // The last output of an attempt may reach its master's node after the news of its end: it is
      // waited for, but not for ever.
      const bool goes_on = part && part->more && !client::is_over(seen);
      if (goes_on && ++looks_for_end_ < kLooksForEnd) return false;
      if (part) part = read_on(out, true);
      if (part) print_loss(part.value());
      if (!part) failure = part.error();
    }
    // An attempt may have ended before it wrote anything.
    if (failure && failure->code != ClientError::not_found) return *std::move(failure);
    turn_to_next(out);
  }
  return true;
}

std::optional<Failure<ClientError>> TaskLog::print_new(const TaskView& seen, LogPrinter& out) {
  if (!wish_.attempt) {
    const auto caught_up = catch_up(seen, out);
    if (!caught_up) return caught_up.error();
    if (!caught_up.value()) return std::nullopt;
  }
  const bool left_behind = wish_.attempt && seen.attempt > *wish_.attempt;
  done_ = client::is_over(seen) || left_behind;
  if (!attempt_) return std::nullopt;
  if (auto failure = find_begin()) {
    if (failure->code == ClientError::not_found && !done_) return std::nullopt;
    return failure;
  }
  const auto part = read_on(out, done_ || !out.several());
  if (part) {
    print_loss(part.value());
    return std::nullopt;
  }
  // The attempt may have been announced and not have written anything.
  if (part.error().code == ClientError::not_found && !done_) return std::nullopt;
  return part.error();
}

/// The bytes from one place to another, as far as they are there; `from` becomes where they begin.
Expected<std::string, ClientError> TaskLog::read_between(std::uint64_t& from, std::uint64_t to) {
  std::string text;
  std::uint64_t place = from;
  while (place < to) {
    const auto part = ask(place, to - place, true);
    if (!part) return part.error();
    // Older text may be gone meanwhile, so that what is there begins behind the wanted place.
    if (part->text.empty() || part->offset >= to) break;
    if (text.empty()) from = part->offset;
    text += part->text.substr(0, to - part->offset);
    place = part->offset + part->text.size();
  }
  if (text.empty()) from = to;
  return text;
}

/// Goes back from the end, piece by piece, to where the wanted lines begin.
std::optional<Failure<ClientError>> TaskLog::find_begin() {
  if (std::exchange(begun_, true) || !wish_.tail) return std::nullopt;
  const auto end = ask(kBehindAll, 1, true);
  if (!end) {
    // Asked again at the next look: the attempt may not have written anything yet.
    begun_ = false;
    return end.error();
  }
  if (!attempt_ && end->attempt > 0) attempt_ = end->attempt;
  if (!end->size) return std::nullopt;  // the size is not known: then all of it
  std::uint64_t lines = 0;
  offset_ = *end->size;
  while (offset_ > 0 && *wish_.tail > 0) {
    const std::uint64_t wanted = offset_ - std::min(offset_, kBackBytes);
    std::uint64_t from = wanted;
    const auto read = read_between(from, offset_);
    if (!read) return read.error();
    const std::string& text = read.value();
    for (std::size_t i = text.size(); i > 0; --i) {
      const std::uint64_t place = from + i;  // behind the byte
      // The line break at the very end closes the last line and begins no other.
      if (text[i - 1] != '\n' || place == *end->size || ++lines < *wish_.tail) continue;
      offset_ = place;
      return std::nullopt;
    }
    offset_ = from;
    if (from > wanted) break;  // older text is gone
  }
  return std::nullopt;
}

}  // namespace muster::cli
