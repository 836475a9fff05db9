// The book of orders by their numbers. Several processes add lines to one file: each reads what
// others have added before it looks a number up. A line begins with a line break of its own, so
// that one which a full disk has cut off takes no other with it.

#include "serve/api/request_book.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <iterator>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "model/hexadecimal.hpp"

namespace muster::api {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

fs::path before(const fs::path& file) {
  return file.string() + ".1";
}

/// Another process that holds it writes a few lines.
constexpr std::chrono::milliseconds kLockPatience{200};

std::string line_of(const NumberedRequest& request, const std::optional<OrderAnswer>& answer) {
  Json line{{"number", request.number}, {"asks", hexadecimal(request.asks)}, {"of", request.of}};
  if (answer) {
    line["status"] = answer->status;
    line["answer"] = answer->json;
  }
  return "\n" + line.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

/// In one write, so that lines of several processes do not mix; false: it is not there, see errno.
bool append(const fs::path& file, const std::string& text) {
  const int open =
      ::open(file.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (open < 0) return false;
  const bool done = ::write(open, text.data(), text.size()) == static_cast<ssize_t>(text.size());
  const int why = errno;
  ::close(open);
  errno = why;
  return done;
}

/// Nothing when the line is not one of this book's, such as one that was cut off.
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

/// Held from the look into the file to the line in it, so that no other process moves the file
/// meanwhile.
FileLock RequestBook::lock_file() const {
  return FileLock(file_, kLockPatience);
}

OrderStanding RequestBook::begin(const NumberedRequest& request) {
  const std::lock_guard lock(mutex_);
  const FileLock alone = lock_file();
  catch_up();
  const auto found = entries_.find(request.number);
  if (found != entries_.end()) {
    if (found->second.asks != request.asks) return {.other = true};
    return {.begun = true, .answer = found->second.answer};
  }
  Entry entry{request.asks, request.of, {}};
  write(request.number, entry, alone.fault().empty());
  put(request.number, std::move(entry));
  return {};
}

void RequestBook::end(const NumberedRequest& request, const OrderAnswer& answer) {
  if (answer.json.size() > kMaxAnswerBytes) return;
  const std::lock_guard lock(mutex_);
  const FileLock alone = lock_file();
  // Lines that others have added before the file moves on would not be found any more.
  catch_up();
  Entry entry{request.asks, request.of, answer};
  write(request.number, entry, alone.fault().empty());
  put(request.number, std::move(entry));
}

void RequestBook::put(const std::string& number, Entry entry) {
  const auto [place, is_new] = entries_.try_emplace(number);
  // An answer stays, whatever else is read of its request.
  if (!is_new && place->second.answer && !entry.answer) return;
  if (!is_new) entry.of = place->second.of;
  place->second = std::move(entry);
  if (!is_new) return;
  const std::string& of = place->second.of;
  std::deque<std::string>& numbers = numbers_of_[of];
  by_count_.erase({numbers.size(), of});
  numbers.push_back(number);
  by_count_.emplace(numbers.size(), of);
  if (entries_.size() > kMaxRequests) forget_one();
}

/// The oldest of the token that has the most.
void RequestBook::forget_one() {
  const auto most = by_count_.extract(std::prev(by_count_.end()));
  auto& [count, of] = most.value();
  const auto numbers = numbers_of_.find(of);
  entries_.erase(numbers->second.front());
  numbers->second.pop_front();
  if (numbers->second.empty()) {
    numbers_of_.erase(numbers);
  } else {
    by_count_.emplace(count - 1, of);
  }
}

/// Reads lines that other processes have written since.
void RequestBook::catch_up() {
  if (file_.empty()) return;
  const FileStamp present = stamp_of(file_);
  if (present == known_) return;
  const auto is_known = [this](const FileStamp& stamp) {
    return stamp.inode == known_.inode && stamp.device == known_.device && stamp.size >= read_;
  };
  if (!is_known(present)) {
    // Lines may have been added to the file that was read before it moved on; of one that has
    // moved on twice the rest is gone, and what came next is in the file before.
    const FileStamp moved = stamp_of(before(file_));
    read(before(file_), is_known(moved) ? read_ : 0);
    read_ = 0;
  }
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
  Entry entry{*asks, text_at(document, "of"), {}};
  const auto status = document.find("status");
  if (status != document.end() && status->is_number_integer()) {
    entry.answer = {status->get<int>(), text_at(document, "answer")};
  }
  put(number, std::move(entry));
}

/// Entries that cannot be written are in memory alone: a full disk must not keep users from ending
/// jobs. `alone`: no other process writes, so that the file may be moved.
void RequestBook::write(const std::string& number, const Entry& entry, bool alone) {
  if (file_.empty()) return;
  if (alone && stamp_of(file_).size >= kMaxFileBytes) rotate();
  const std::string line = line_of({number, entry.asks, entry.of}, entry.answer);
  const bool done = append(file_, line);
  if (!done && !failed_ && note_) {
    note_(fmt::format("requests: {}: {}; a restart forgets their numbers", file_.string(),
                      std::strerror(errno)));
  }
  failed_ = !done;
}

/// The new file begins with what each token did last, which the next move would else take away.
void RequestBook::rotate() {
  std::error_code failed;
  fs::rename(file_, before(file_), failed);
  if (!failed) append(file_, carried());
}

/// By turns, the newest of each token first; written the oldest first.
std::string RequestBook::carried() const {
  std::vector<std::string> lines;
  std::size_t bytes = 0;
  for (std::size_t turn = 0; bytes < kCarriedBytes; ++turn) {
    const std::size_t before_turn = lines.size();
    for (const auto& [of, numbers] : numbers_of_) {
      if (turn >= numbers.size() || bytes >= kCarriedBytes) continue;
      const std::string& number = numbers[numbers.size() - 1 - turn];
      const Entry& entry = entries_.at(number);
      lines.push_back(line_of({number, entry.asks, of}, entry.answer));
      bytes += lines.back().size();
    }
    if (lines.size() == before_turn) break;
  }
  std::string text;
  for (auto line = lines.rbegin(); line != lines.rend(); ++line) text += *line;
  return text;
}

}  // namespace muster::api
