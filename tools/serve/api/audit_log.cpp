// The audit log's thread: entries come in a queue and go to the file in groups, each of which is on
// the disk before the next. Who wants to read asks the same thread, so that a reader sees all that
// came before its question and no file is renamed under it.

#include "tools/serve/api/audit_log.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
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

Json text_or_null(const std::string& text) {
  return text.empty() ? Json(nullptr) : Json(text);
}

std::string line_of(const AuditEntry& entry) {
  const Json document{{"at_s", entry.at_s},
                      {"token", text_or_null(entry.token)},
                      {"user", text_or_null(entry.user)},
                      {"address", text_or_null(entry.address)},
                      {"method", entry.method},
                      {"path", entry.path},
                      {"status", entry.status == 0 ? Json(nullptr) : Json(entry.status)},
                      {"about", text_or_null(entry.about)},
                      {"unlisted", entry.unlisted}};
  // Paths and callers are what clients have sent: bytes that are no UTF-8 are replaced.
  return document.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string content_of(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
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
}

void AuditLog::add(AuditEntry entry) {
  {
    const std::lock_guard lock(mutex_);
    if (waiting_.size() >= kMaxWaiting) {
      ++dropped_;
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
    {
      std::unique_lock lock(mutex_);
      news_.wait(lock, [&] { return stops_ || !waiting_.empty() || !looks_.empty(); });
      // What still waits when it stops is written first.
      if (waiting_.empty() && looks_.empty()) return;
      entries.swap(waiting_);
      looks.swap(looks_);
    }
    if (!entries.empty()) write(entries);
    for (const Look& look : looks) look.use(find(look.question));
  }
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
  char last = '\n';
  if (size_ > 0 && ::pread(descriptor_, &last, 1, status.st_size - 1) != 1) return failed();
  // A line that a crash has cut off must not swallow the next one.
  if (last != '\n') put("\n");
  return std::nullopt;
}

void AuditLog::write(const std::deque<AuditEntry>& entries) {
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

/// What cannot be written is lost: a full disk must not end the API. That it was is said once,
/// until it goes again.
void AuditLog::put(const std::string& lines) {
  std::string_view left = lines;
  while (!left.empty() && descriptor_ >= 0) {
    const ssize_t sent = ::write(descriptor_, left.data(), left.size());
    if (sent < 0) break;
    left.remove_prefix(static_cast<std::size_t>(sent));
    size_ += static_cast<std::uint64_t>(sent);
  }
  const bool done = left.empty() && descriptor_ >= 0 && ::fdatasync(descriptor_) == 0;
  if (!done && !failed_ && options_.note) {
    options_.note(fmt::format("audit log: {}: {}; entries are lost", options_.file.string(),
                              std::strerror(errno)));
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
/// enough entries or the rest is too old.
std::vector<std::string> AuditLog::find(const AuditQuestion& question) const {
  std::vector<std::string> found;
  const auto use = [&](std::string_view line) {
    const Json entry = Json::parse(line, nullptr, /*allow_exceptions=*/false);
    // Of a line that a crash has cut off there is nothing to be told.
    if (!entry.is_object() || !entry.contains("at_s") || !entry["at_s"].is_number_integer()) {
      return true;
    }
    if (entry["at_s"].get<std::int64_t>() < question.since_s) return false;
    const bool wanted = question.user.empty() || entry.value("user", Json()) == Json(question.user);
    if (wanted) found.emplace_back(line);
    return found.size() < question.most;
  };
  for (std::uint32_t age = 0; age < options_.max_files; ++age) {
    std::error_code none;
    if (!fs::exists(file(age), none)) break;
    if (!each_backwards(content_of(file(age)), use)) break;
  }
  return found;
}

}  // namespace muster::api
