// The audit log's thread: entries come in a queue and go to the file in groups, each of which is on
// the disk before the next. A reader asks the same thread, so that it sees all entries from before
// its question and no file is renamed under it.

#include "serve/api/audit_log.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string_view>
#include <system_error>
#include <utility>

namespace muster::api {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

/// Of the largest number there is.
constexpr int kLossDigits = 20;

Json text_or_null(const std::string& text) {
  return text.empty() ? Json(nullptr) : Json(text);
}

std::string line_of(const AuditEntry& entry) {
  Json document{{"at_s", entry.at_s},
                {"token", text_or_null(entry.token)},
                {"user", text_or_null(entry.user)},
                {"address", text_or_null(entry.address)},
                {"method", entry.method},
                {"path", entry.path},
                {"status", entry.status == 0 ? Json(nullptr) : Json(entry.status)},
                {"about", text_or_null(entry.about)},
                {"unlisted", entry.unlisted}};
  if (entry.lost > 0) document["lost"] = entry.lost;
  // Paths and callers are what clients have sent: bytes that are no UTF-8 are replaced.
  return document.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string content_of(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

/// When the entry was made, without a look at the rest of its line; nothing where that has another
/// shape.
std::optional<std::int64_t> time_of(std::string_view line) {
  constexpr std::string_view kBegin = R"({"at_s":)";
  if (!line.starts_with(kBegin)) return std::nullopt;
  std::int64_t at_s = 0;
  const auto [rest, error] =
      std::from_chars(line.data() + kBegin.size(), line.data() + line.size(), at_s);
  return error == std::errc{} ? std::optional(at_s) : std::nullopt;
}

/// The lines of a text from the last to the first.
template <class Use>
bool each_backwards(std::string_view text, Use use) {
  while (!text.empty()) {
    const std::size_t end = text.find_last_not_of('\n');
    if (end == std::string_view::npos) return true;
    text = text.substr(0, end + 1);
    const std::size_t before = text.rfind('\n');
    const std::size_t begin = before == std::string_view::npos ? 0 : before + 1;
    if (!use(text.substr(begin))) return false;
    text = text.substr(0, begin);
  }
  return true;
}

}  // namespace

Expected<std::unique_ptr<AuditLog>, ServerError> AuditLog::open(AuditOptions options) {
  auto log = std::unique_ptr<AuditLog>(new AuditLog(std::move(options)));
  if (auto fault = log->open_file()) {
    return Failure<ServerError>{ServerError::bad_option, "audit log: " + *fault};
  }
  log->open_losses();
  log->thread_ = std::thread([self = log.get()] { self->run(); });
  return log;
}

AuditLog::~AuditLog() {
  {
    const std::lock_guard lock(mutex_);
    stops_ = true;
  }
  news_.notify_one();
  if (thread_.joinable()) thread_.join();
  if (descriptor_ >= 0) ::close(descriptor_);
  if (losses_ >= 0) ::close(losses_);
}

void AuditLog::add(AuditEntry entry) {
  {
    const std::lock_guard lock(mutex_);
    if (waiting_.size() >= kMaxWaiting) {
      ++crowded_;
      return;
    }
    entry.unlisted = std::exchange(dropped_, 0);
    waiting_.push_back(std::move(entry));
  }
  news_.notify_one();
}

void AuditLog::add_refused(AuditEntry entry) {
  {
    const std::lock_guard lock(mutex_);
    if (entry.at_s - window_s_ >= kRefusalWindowS || entry.at_s < window_s_) {
      window_s_ = entry.at_s;
      refusals_ = {};
    }
    // Strangers, who are many, do not use up what there is for those with a token.
    if (++refusals_.at(entry.token.empty() ? 0 : 1) > kMaxRefusals) {
      ++dropped_;
      return;
    }
  }
  add(std::move(entry));
}

void AuditLog::read(AuditQuestion question, Lines use) {
  {
    const std::lock_guard lock(mutex_);
    looks_.push_back({std::move(question), std::move(use)});
  }
  news_.notify_one();
}

void AuditLog::run() {
  while (true) {
    std::deque<AuditEntry> entries;
    std::deque<Look> looks;
    std::uint64_t crowded = 0;
    {
      std::unique_lock lock(mutex_);
      news_.wait(lock, [&] { return stops_ || !waiting_.empty() || !looks_.empty(); });
      // Entries that still wait when it stops are written first.
      if (waiting_.empty() && looks_.empty()) return;
      entries.swap(waiting_);
      looks.swap(looks_);
      crowded = std::exchange(crowded_, 0);
    }
    if (!entries.empty()) write(entries);
    // They came after those that waited.
    if (crowded > 0) note_losses(lost_ + crowded);
    for (const Look& look : looks) look.use(find(look.question));
  }
}

void AuditLog::sync_folder_of(const fs::path& file) {
  const fs::path folder = file.has_parent_path() ? file.parent_path() : fs::path(".");
  const int descriptor = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) return;
  ::fsync(descriptor);
  ::close(descriptor);
}

std::optional<std::string> AuditLog::open_file() {
  const auto failed = [&] {
    return fmt::format("{}: {}", options_.file.string(), std::strerror(errno));
  };
  descriptor_ =
      ::open(options_.file.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600);
  struct stat status {};
  if (descriptor_ < 0 || ::fstat(descriptor_, &status) != 0) return failed();
  size_ = static_cast<std::uint64_t>(status.st_size);
  // An entry outlives a power cut once it is written: so has the name that it stands under.
  if (size_ == 0) sync_folder_of(options_.file);
  char last = '\n';
  if (size_ > 0 && ::pread(descriptor_, &last, 1, status.st_size - 1) != 1) return failed();
  // A line that a crash has cut off must not swallow the next one.
  torn_ = last != '\n';
  return std::nullopt;
}

/// The number stands in a block of its own that is written over: that also a full disk takes.
/// Without the file losses are told of as long as the process lives.
void AuditLog::open_losses() {
  const std::string name = options_.file.string() + ".lost";
  losses_ = ::open(name.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
  std::array<char, kLossDigits> digits{};
  const ssize_t got = losses_ < 0 ? 0 : ::pread(losses_, digits.data(), digits.size(), 0);
  std::uint64_t lost = 0;
  if (got > 0) std::from_chars(digits.data(), digits.data() + got, lost);
  // It is written with each loss: the hole is no older than the last one.
  struct stat status {};
  if (losses_ >= 0 && ::fstat(losses_, &status) == 0) last_s_ = status.st_mtim.tv_sec;
  note_losses(lost);
}

void AuditLog::note_losses(std::uint64_t lost) {
  lost_ = lost;
  const std::string digits = fmt::format("{:0{}}", lost, kLossDigits);
  if (losses_ >= 0 && ::pwrite(losses_, digits.data(), digits.size(), 0) < 0 && options_.note) {
    options_.note(
        fmt::format("audit log: {}.lost: {}", options_.file.string(), std::strerror(errno)));
  }
}

/// Before the first entry that there is room for again.
void AuditLog::write_hole(std::int64_t at_s) {
  const std::uint64_t lost = lost_;
  if (lost == 0) return;
  AuditEntry hole;
  hole.at_s = at_s;
  hole.lost = lost;
  put(line_of(hole) + '\n');
  // It is one of those that were lost if there was no room for it either.
  note_losses(failed_ ? lost : 0);
}

void AuditLog::write(const std::deque<AuditEntry>& entries) {
  last_s_ = entries.back().at_s;
  write_hole(entries.front().at_s);
  std::string lines;
  for (const AuditEntry& entry : entries) {
    std::string line = line_of(entry) + '\n';
    if (size_ + lines.size() + line.size() > options_.max_bytes && size_ + lines.size() > 0) {
      put(std::exchange(lines, {}));
      rotate();
    }
    lines += line;
  }
  put(lines);
}

/// How many of the bytes the file has taken.
std::string::size_type AuditLog::put_bytes(std::string_view bytes) {
  std::string_view left = bytes;
  while (!left.empty() && descriptor_ >= 0) {
    const ssize_t sent = ::write(descriptor_, left.data(), left.size());
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0) break;
    left.remove_prefix(static_cast<std::size_t>(sent));
  }
  const std::size_t taken = bytes.size() - left.size();
  size_ += taken;
  return taken;
}

/// Lines that cannot be written are lost: a full disk must not end the API. That it was is said
/// once, until it goes again, and by an entry then. The file ends with a whole line whatever
/// happens.
void AuditLog::put(const std::string& lines) {
  if (lines.empty()) return;
  if (torn_) torn_ = put_bytes("\n") == 0;
  const std::size_t taken = torn_ ? 0 : put_bytes(lines);
  bool done = taken == lines.size() && descriptor_ >= 0;
  const int why = errno;
  if (!done) {
    const std::size_t whole = taken == 0 ? 0 : lines.rfind('\n', taken - 1) + 1;
    const std::uint64_t end = size_ - (taken - whole);
    if (taken > whole && ::ftruncate(descriptor_, static_cast<off_t>(end)) == 0) {
      size_ = end;
    } else {
      torn_ |= taken > whole;
    }
    note_losses(lost_ +
                static_cast<std::uint64_t>(std::count(
                    lines.begin() + static_cast<std::ptrdiff_t>(whole), lines.end(), '\n')));
  }
  done = (descriptor_ < 0 || ::fdatasync(descriptor_) == 0) && done;
  if (!done && !failed_ && options_.note) {
    options_.note(fmt::format("audit log: {}: {}; entries are lost", options_.file.string(),
                              std::strerror(why)));
  }
  failed_ = !done;
}

fs::path AuditLog::file(std::uint32_t age) const {
  return age == 0 ? options_.file : fs::path(fmt::format("{}.{}", options_.file.string(), age));
}

void AuditLog::rotate() {
  std::error_code ignored;
  // Without a file there is nothing to move on: after a reopening that failed, only that is tried.
  const bool is_there = fs::exists(options_.file, ignored);
  // The oldest goes by being replaced.
  for (std::uint32_t age = options_.max_files - 1; age > 0 && is_there; --age) {
    fs::rename(file(age - 1), file(age), ignored);
  }
  if (descriptor_ >= 0) ::close(descriptor_);
  descriptor_ = -1;
  if (const auto fault = open_file(); fault && options_.note) options_.note("audit log: " + *fault);
}

/// O(bytes of the files that are looked at): one after the other, the newest first, until there are
/// enough entries or a whole file is too old. One entry that is says nothing of those before it, as
/// clocks are set back.
std::vector<std::string> AuditLog::find(const AuditQuestion& question) const {
  std::vector<std::string> found;
  bool any_new = true;
  const auto use = [&](std::string_view line) {
    const auto at_s = time_of(line);
    if (!at_s || *at_s < question.since_s) return true;
    any_new = true;
    const Json entry = Json::parse(line, nullptr, /*allow_exceptions=*/false);
    // Of a line that a crash has cut off there is nothing to be told.
    if (!entry.is_object()) return true;
    // A lost entry may have been any user's.
    const bool wanted = question.user.empty() || entry.contains("lost") ||
                        entry.value("user", Json()) == Json(question.user);
    if (wanted) found.emplace_back(line);
    return found.size() < question.most;
  };
  if (lost_ > 0) {
    AuditEntry hole;
    hole.at_s = last_s_;
    hole.lost = lost_;
    found.push_back(line_of(hole));
  }
  for (std::uint32_t age = 0; age < options_.max_files && any_new; ++age) {
    std::error_code none;
    if (!fs::exists(file(age), none)) break;
    any_new = false;
    if (found.size() >= question.most || !each_backwards(content_of(file(age)), use)) break;
  }
  return found;
}

}  // namespace muster::api
