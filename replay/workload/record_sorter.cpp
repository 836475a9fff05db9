#include "replay/workload/record_sorter.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <queue>
#include <system_error>

#include "model/check.hpp"

// A sort by merging: each part is sorted in memory and written behind the one before; at the end
// the parts are read side by side.

namespace muster::replay {
namespace {

/// Before each record in the file: its key and its size.
struct Head {
  RecordSorter::Key key;
  std::uint64_t size = 0;
};

/// Bytes that are read of a part at a time.
constexpr std::size_t kReadAhead = std::size_t{1} << 16;

}  // namespace

/// Goes through one part.
class RecordSorter::PartReader {
 public:
  PartReader(int file, Part part) : file_(file), part_(part) {}

  /// Turns to the next record; false at the end or when the file cannot be read.
  bool next() {
    at_ += skip_;
    skip_ = 0;
    if (at_ == buffer_.size() && part_.from == part_.to) return false;
    if (!have(sizeof(Head))) return false;
    std::memcpy(&head_, buffer_.data() + at_, sizeof(Head));
    at_ += sizeof(Head);
    if (!have(head_.size)) return false;
    skip_ = head_.size;
    return true;
  }
  bool broken() const { return broken_; }
  const Key& key() const { return head_.key; }
  std::string_view record() const { return {buffer_.data() + at_, head_.size}; }

 private:
  /// Whether that number of bytes stand from `at_` on.
  bool have(std::size_t size) {
    if (buffer_.size() - at_ >= size) return true;
    buffer_.erase(0, at_);
    at_ = 0;
    while (buffer_.size() < size) {
      const std::size_t before = buffer_.size();
      const std::size_t wanted = std::max(kReadAhead, size - before);
      const std::size_t most = std::min<std::uint64_t>(wanted, part_.to - part_.from);
      buffer_.resize(before + most);
      const ssize_t got =
          most == 0 ? 0
                    : pread(file_, buffer_.data() + before, most, static_cast<off_t>(part_.from));
      if (got <= 0) {
        broken_ = true;
        return false;
      }
      buffer_.resize(before + static_cast<std::size_t>(got));
      part_.from += static_cast<std::uint64_t>(got);
    }
    return true;
  }

  int file_;
  Part part_;  ///< part that is not read yet
  std::string buffer_;
  std::size_t at_ = 0;
  std::size_t skip_ = 0;
  Head head_;
  bool broken_ = false;
};

RecordSorter::RecordSorter(std::size_t max_memory_bytes) : max_memory_bytes_(max_memory_bytes) {}

void RecordSorter::add(const Key& key, std::string_view record) {
  if (!failure_.empty()) return;
  const std::size_t used = bytes_.size() + entries_.size() * sizeof(Entry);
  if (!entries_.empty() && used + record.size() + sizeof(Entry) > max_memory_bytes_) spill();
  entries_.push_back({key, bytes_.size(), static_cast<std::uint32_t>(record.size())});
  bytes_ += record;
}

void RecordSorter::sort() {
  std::sort(entries_.begin(), entries_.end(),
            [](const Entry& a, const Entry& b) { return a.key < b.key; });
}

void RecordSorter::fail(std::string_view what) {
  failure_ = fmt::format("{}: {}", what, std::generic_category().message(errno));
}

void RecordSorter::spill() {
  std::error_code error;
  const std::filesystem::path folder = std::filesystem::temp_directory_path(error);
  if (error) {
    errno = error.value();
    return fail("the folder for temporary files (TMPDIR)");
  }
  if (!file_) {
    std::string name = (folder / "muster-XXXXXX").string();
    const int file = mkstemp(name.data());
    if (file < 0) return fail(folder.string());
    // Nothing stays behind, however the process ends.
    unlink(name.c_str());
    file_.reset(fdopen(file, "w+b"));
    MUSTER_CHECK(file_, "an open file has a stream");
  }
  sort();
  Part part{written_, written_};
  for (const Entry& entry : entries_) {
    const Head head{entry.key, entry.size};
    std::fwrite(&head, sizeof head, 1, file_.get());
    std::fwrite(bytes_.data() + entry.at, 1, entry.size, file_.get());
    part.to += sizeof head + entry.size;
  }
  if (std::fflush(file_.get()) != 0 || std::ferror(file_.get()) != 0) return fail(folder.string());
  written_ = part.to;
  parts_.push_back(part);
  entries_.clear();
  bytes_.clear();
}

bool RecordSorter::each(const Take& take) {
  if (!failure_.empty()) return false;
  if (!parts_.empty()) {
    if (!entries_.empty()) spill();
    return failure_.empty() && merge(take);
  }
  sort();
  for (const Entry& entry : entries_) {
    if (!take(entry.key, std::string_view(bytes_).substr(entry.at, entry.size))) break;
  }
  return true;
}

bool RecordSorter::merge(const Take& take) {
  // The memory that was sorted in is free for the parts' buffers.
  entries_ = {};
  bytes_ = {};
  std::vector<PartReader> readers;
  readers.reserve(parts_.size());
  const auto later = [&](std::size_t a, std::size_t b) {
    return readers[a].key() > readers[b].key();
  };
  std::priority_queue<std::size_t, std::vector<std::size_t>, decltype(later)> next(later);
  const auto turn = [&](std::size_t index) {
    if (readers[index].next()) {
      next.push(index);
    } else if (readers[index].broken()) {
      fail("a temporary file");
    }
  };
  for (const Part& part : parts_) {
    readers.emplace_back(fileno(file_.get()), part);
    turn(readers.size() - 1);
  }
  while (!next.empty() && failure_.empty()) {
    const std::size_t index = next.top();
    next.pop();
    if (!take(readers[index].key(), readers[index].record())) return true;
    turn(index);
  }
  return failure_.empty();
}

}  // namespace muster::replay
