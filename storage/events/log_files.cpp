#include "storage/events/log_files.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <charconv>
#include <iterator>
#include <limits>
#include <system_error>
#include <utility>

#include "storage/events/log_block_file.hpp"

// The name of a part says where it is in its stream, so that no file is opened to find a place.

namespace muster {
namespace {

namespace fs = std::filesystem;

/// Size of a small file on most disks.
constexpr std::uint64_t kDiskBlock = 4096;
constexpr const char* kDraft = ".draft";
/// Names of the streams in those of parts.
constexpr std::string_view kOut = "out";
constexpr std::string_view kErr = "err";

std::uint64_t on_disk(std::uint64_t bytes) {
  return (bytes + kDiskBlock - 1) / kDiskBlock * kDiskBlock;
}

struct FileFacts {
  std::uint64_t bytes = 0;
  Duration at{};  ///< of its last change
};

std::optional<FileFacts> facts_of(const fs::path& file) {
  struct stat found {};
  if (stat(file.c_str(), &found) != 0) return std::nullopt;
  return FileFacts{
      static_cast<std::uint64_t>(found.st_size),
      std::chrono::seconds{found.st_mtim.tv_sec} + std::chrono::nanoseconds{found.st_mtim.tv_nsec}};
}

/// Takes a number off the front of the text; false: it begins with something else.
template <class Number>
bool take_number(std::string_view& text, Number& number) {
  const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
  if (read.ec != std::errc{}) return false;
  text.remove_prefix(static_cast<std::size_t>(read.ptr - text.data()));
  return true;
}

bool take_word(std::string_view& text, std::string_view word) {
  if (!text.starts_with(word)) return false;
  text.remove_prefix(word.size());
  return true;
}

std::optional<LogPart> part_from(std::string_view text) {
  LogPart part;
  part.error_stream = take_word(text, kErr);
  if (!part.error_stream && !take_word(text, kOut)) return std::nullopt;
  const bool read = take_word(text, ".") && take_number(text, part.begin) && take_word(text, "-") &&
                    take_number(text, part.end);
  return read && text.empty() && part.begin < part.end ? std::optional(part) : std::nullopt;
}

}  // namespace

std::string LogFileId::file_name() const {
  std::string name = std::to_string(log.task.value) + "." + std::to_string(log.attempt);
  if (!part) return name;
  name.append(".").append(part->error_stream ? kErr : kOut).append(".");
  return name + std::to_string(part->begin) + "-" + std::to_string(part->end);
}

std::optional<LogFileId> LogFileId::from(std::string_view file_name) {
  LogFileId id;
  const bool read = take_number(file_name, id.log.task.value) && take_word(file_name, ".") &&
                    take_number(file_name, id.log.attempt);
  if (!read) return std::nullopt;
  if (file_name.empty()) return id;
  if (!take_word(file_name, ".")) return std::nullopt;
  id.part = part_from(file_name);
  return id.part ? std::optional(id) : std::nullopt;
}

LogFiles::LogFiles(fs::path folder) : folder_(std::move(folder)) {}

fs::path LogFiles::path_of(const LogFileId& id) const {
  return folder_ / id.file_name();
}

fs::path LogFiles::draft_of(const LogName& log) const {
  return folder_ / (LogFileId{log, {}}.file_name() + kDraft);
}

void LogFiles::scan() {
  std::error_code ignored;
  std::error_code failed;  // of going on: the entries until then are known
  for (fs::directory_iterator at(folder_, failed), end; !failed && at != end;
       at.increment(failed)) {
    const fs::path& file = at->path();
    if (file.extension() == kDraft) {
      fs::remove(file, ignored);
      continue;
    }
    const auto id = LogFileId::from(file.filename().string());
    const auto facts = id ? facts_of(file) : std::nullopt;
    // Files of other names are not ours to count or to remove.
    if (facts) add(*id, facts->at);
  }
}

void LogFiles::add(const LogFileId& id, Duration at) {
  const auto facts = facts_of(path_of(id));
  if (!facts) return;
  if (files_.contains(id)) remove(id);
  const std::uint64_t bytes = on_disk(facts->bytes);
  files_[id] = {bytes, at};
  by_age_.insert({at, id});
  bytes_of_[id.log] += bytes;
  bytes_ += bytes;
}

void LogFiles::remove(const LogFileId& id) {
  const auto file = files_.find(id);
  if (file == files_.end()) return;
  const auto [bytes, at] = file->second;
  auto [same, end] = by_age_.equal_range(at);
  while (same != end && !(same->second == id)) ++same;
  if (same != end) by_age_.erase(same);
  bytes_ -= bytes;
  const auto all = bytes_of_.find(id.log);
  all->second -= bytes;
  files_.erase(file);
  if (!has(id.log)) bytes_of_.erase(all);
}

bool LogFiles::has(const LogName& log) const {
  const auto first = files_.lower_bound({log, {}});
  return first != files_.end() && first->first.log == log;
}

std::optional<LogFileId> LogFiles::oldest() const {
  return by_age_.empty() ? std::nullopt : std::optional(by_age_.begin()->second);
}

std::optional<Duration> LogFiles::oldest_at() const {
  return by_age_.empty() ? std::nullopt : std::optional(by_age_.begin()->first);
}

std::optional<LogFileId> LogFiles::oldest_part_of(const LogName& log) const {
  auto oldest = files_.end();
  std::size_t parts = 0;
  for (const bool error_stream : {false, true}) {
    const auto first = files_.lower_bound({log, LogPart{error_stream, 0, 0}});
    const bool has = first != files_.end() && first->first.log == log &&
                     first->first.part->error_stream == error_stream;
    if (!has) continue;
    const auto next = std::next(first);
    parts += next != files_.end() && next->first.log == log ? 2 : 1;
    if (oldest == files_.end() || first->second.at < oldest->second.at) oldest = first;
  }
  return parts > 1 ? std::optional(oldest->first) : std::nullopt;
}

std::uint64_t LogFiles::bytes_of(const LogName& log) const {
  const auto found = bytes_of_.find(log);
  return found == bytes_of_.end() ? 0 : found->second;
}

std::uint64_t LogFiles::end_of_parts(const LogName& log, bool error_stream) const {
  constexpr std::uint64_t kBehindAll = std::numeric_limits<std::uint64_t>::max();
  const auto after = files_.upper_bound({log, LogPart{error_stream, kBehindAll, kBehindAll}});
  if (after == files_.begin()) return 0;
  const LogFileId& last = std::prev(after)->first;
  return last.log == log && last.part && last.part->error_stream == error_stream ? last.part->end
                                                                                 : 0;
}

/// Up to the first gap behind the text's beginning. A part that cannot be read is such a gap.
KeptLog LogFiles::read_parts(const LogSink::Place& place) const {
  constexpr std::uint64_t kBehindAll = std::numeric_limits<std::uint64_t>::max();
  KeptLog kept{place.offset, {}, end_of_parts(place.name, place.error_stream), {}};
  const LogPart behind{place.error_stream, place.offset, kBehindAll};
  auto part = files_.upper_bound({place.name, behind});
  // The one before may reach over the place.
  if (part != files_.begin()) --part;
  for (; part != files_.end() && kept.text.size() < place.max_bytes; ++part) {
    const LogFileId& id = part->first;
    if (id.log < place.name || (id.log == place.name && !id.part)) continue;
    if (id.log != place.name || id.part->error_stream > place.error_stream) break;
    const std::uint64_t next = kept.offset + kept.text.size();
    if (id.part->error_stream != place.error_stream || id.part->end <= next) continue;
    if (!kept.text.empty() && id.part->begin > next) break;
    LogSink::Place rest = place;
    rest.offset = next;
    rest.max_bytes -= static_cast<std::uint32_t>(kept.text.size());
    const auto read = read_log_file(path_of(id), rest);
    const bool readable = read && !read->text.empty();
    if (!kept.text.empty() && (!readable || read->offset > next)) break;
    if (!readable) continue;
    if (kept.text.empty()) kept.offset = read->offset;
    kept.text += read->text;
  }
  return kept;
}

std::optional<KeptLog> LogFiles::read(const LogSink::Place& place) const {
  if (!has(place.name)) return std::nullopt;
  KeptLog kept = read_parts(place);
  LogSink::Place behind = place;
  behind.offset = kept.offset + kept.text.size();
  behind.max_bytes -= static_cast<std::uint32_t>(kept.text.size());
  const LogFileId whole{place.name, {}};
  auto rest = has_rest(place.name) ? read_log_file(path_of(whole), behind) : std::nullopt;
  const auto first = files_.upper_bound(whole);
  const bool has_parts = first != files_.end() && first->first.log == place.name;
  if (!has_parts) return rest;
  kept.open = !rest;
  if (!rest) return kept;
  kept.lost = std::move(rest->lost);
  if (rest->none) return kept;
  kept.end = std::max(kept.end, rest->end);
  if (kept.text.empty()) kept.offset = rest->offset;
  if (rest->offset == kept.offset + kept.text.size()) kept.text += rest->text;
  return kept;
}

}  // namespace muster
