// The book of orders by their numbers. Several processes add lines to one file: each reads what
// others have added before it looks a number up. A line begins with a line break of its own, so
// that one which a full disk has cut off takes no other with it.

#include "tools/serve/api/request_book.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <nlohmann/json.hpp>
#include <utility>

namespace muster::api {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

fs::path before(const fs::path& file) {
  return file.string() + ".1";
}

std::string line_of(const std::string& number, const TokenDigest& asks,
                    const std::optional<OrderAnswer>& answer) {
  Json line{{"number", number}, {"asks", hexadecimal(asks)}};
  if (answer) {
    line["status"] = answer->status;
    line["answer"] = answer->json;
  }
  return "\n" + line.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

/// Nothing when the line is none of this book's, such as one that was cut off.
std::string text_at(const Json& line, const char* field) {
  const auto found = line.find(field);
  return found != line.end() && found->is_string() ? found->get<std::string>() : std::string();
}

}  // namespace

RequestBook::RequestBook(fs::path file, Note note)
    : file_(std::move(file)), note_(std::move(note)) {
  if (file_.empty()) return;
  const std::lock_guard lock(mutex_);
  read(before(file_), 0);
  catch_up();
}

OrderStanding RequestBook::begin(const std::string& number, const TokenDigest& asks) {
  const std::lock_guard lock(mutex_);
  catch_up();
  const auto found = entries_.find(number);
  if (found != entries_.end()) {
    if (found->second.asks != asks) return {.other = true};
    return {.begun = true, .answer = found->second.answer};
  }
  write(number, {asks, {}});
  put(number, {asks, {}});
  return {};
}

void RequestBook::end(const std::string& number, const TokenDigest& asks,
                      const OrderAnswer& answer) {
  if (answer.json.size() > kMaxAnswerBytes) return;
  const std::lock_guard lock(mutex_);
  Entry entry{asks, answer};
  write(number, entry);
  put(number, std::move(entry));
}

void RequestBook::put(const std::string& number, Entry entry) {
  const auto [place, is_new] = entries_.try_emplace(number);
  // An answer stays, whatever else is read of its request.
  if (!is_new && place->second.answer && !entry.answer) return;
  place->second = std::move(entry);
  if (!is_new) return;
  order_.push_back(number);
  if (order_.size() <= kMaxRequests) return;
  entries_.erase(order_.front());
  order_.pop_front();
}

/// What other processes have written since.
void RequestBook::catch_up() {
  if (file_.empty()) return;
  const FileStamp present = stamp_of(file_);
  if (present == known_) return;
  // A new file may have the number of one that is gone.
  const bool same =
      present.inode == known_.inode && present.device == known_.device && present.size >= read_;
  if (!same) read_ = 0;
  known_ = present;
  read(file_, read_);
}

/// Takes whole lines alone: the rest of the last one may be on its way.
void RequestBook::read(const fs::path& file, std::uint64_t from) {
  // Room for the lines that several processes add before one of them has the file rotated.
  const auto text = read_private(file, 4 * kMaxFileBytes, from);
  if (!text) return;
  std::string_view left = text.value();
  const std::size_t end = left.rfind('\n');
  if (end == std::string_view::npos) return;
  left = left.substr(0, end + 1);
  if (file == file_) read_ = from + left.size();
  while (!left.empty()) {
    const std::size_t size = left.find('\n');
    take(left.substr(0, size));
    left.remove_prefix(size + 1);
  }
}

void RequestBook::take(std::string_view line) {
  if (line.empty()) return;
  const Json document = Json::parse(line, nullptr, /*allow_exceptions=*/false);
  if (!document.is_object()) return;
  const std::string number = text_at(document, "number");
  const auto asks = digest_from(text_at(document, "asks"));
  if (!asks || !request_number_fault(number).empty()) return;
  Entry entry{*asks, {}};
  const auto status = document.find("status");
  if (status != document.end() && status->is_number_integer()) {
    entry.answer = {status->get<int>(), text_at(document, "answer")};
  }
  put(number, std::move(entry));
}

/// What cannot be written is in memory alone: a full disk must not keep anybody from ending a job.
void RequestBook::write(const std::string& number, const Entry& entry) {
  if (file_.empty()) return;
  if (stamp_of(file_).size >= kMaxFileBytes) rotate();
  const int file =
      ::open(file_.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600);
  const std::string line = line_of(number, entry.asks, entry.answer);
  // One write: lines of several processes do not mix.
  const bool done =
      file >= 0 && ::write(file, line.data(), line.size()) == static_cast<ssize_t>(line.size());
  if (!done && !failed_ && note_) {
    note_(fmt::format("requests: {}: {}; a restart forgets their numbers", file_.string(),
                      std::strerror(errno)));
  }
  failed_ = !done;
  if (file >= 0) ::close(file);
}

/// Whoever comes first does it; the others add to the new file.
void RequestBook::rotate() {
  const FileLock lock(file_, std::chrono::milliseconds{0});
  if (!lock.fault().empty() || stamp_of(file_).size < kMaxFileBytes) return;
  std::error_code ignored;
  fs::rename(file_, before(file_), ignored);
}

}  // namespace muster::api
