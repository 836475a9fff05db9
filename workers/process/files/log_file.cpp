#include "workers/process/files/log_file.hpp"

#include <dirent.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <memory>
#include <utility>

#include "workers/process/descriptor.hpp"

// Writer and reader share no lock: files only grow or go, and their names say where in the stream
// they begin.

namespace muster::process {
namespace {

std::string file_name(const std::string& name, std::uint64_t first) {
  return name + "." + std::to_string(first);
}

}  // namespace

LogWriter::LogWriter(int folder, std::string name, Bounds bounds)
    : folder_(folder), name_(std::move(name)), bounds_(bounds) {
  bounds_.file_bytes = std::max<std::uint64_t>(bounds_.file_bytes, 1);
}

bool LogWriter::next_file() {
  Descriptor next(openat(folder_, file_name(name_, offset_).c_str(),
                         O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!next) return false;
  // Known by the place of its first byte, which is its name.
  if (file_) full_.push_back(offset_ - in_file_);
  file_ = std::move(next);
  in_file_ = 0;
  while (full_.size() > bounds_.files_kept) {
    unlinkat(folder_, file_name(name_, full_.front()).c_str(), 0);
    full_.erase(full_.begin());
  }
  return true;
}

void LogWriter::write(std::string_view text) {
  while (!text.empty()) {
    if ((!file_ || in_file_ >= bounds_.file_bytes) && !next_file()) break;
    const std::size_t room = bounds_.file_bytes - in_file_;
    const ssize_t put = ::write(file_.get(), text.data(), std::min(text.size(), room));
    if (put < 0 && errno == EINTR) continue;
    if (put <= 0) break;
    offset_ += static_cast<std::uint64_t>(put);
    in_file_ += static_cast<std::uint64_t>(put);
    text.remove_prefix(static_cast<std::size_t>(put));
  }
  // Counted, so that the reader can tell a gap from silence.
  dropped_ += text.size();
}

LogReader::LogReader(int folder, std::string name) : folder_(folder), name_(std::move(name)) {
  // The folder is opened anew: a shared descriptor would share its place in the listing too.
  const int own = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  const std::unique_ptr<DIR, CloseFolder> listing(own < 0 ? nullptr : fdopendir(own));
  if (!listing) return;
  const std::string prefix = name_ + ".";
  while (const dirent* entry = readdir(listing.get())) {
    const std::string_view file = entry->d_name;
    if (!file.starts_with(prefix)) continue;
    std::uint64_t first = 0;
    const char* last = file.data() + file.size();
    const auto parsed = std::from_chars(file.data() + prefix.size(), last, first);
    if (parsed.ec == std::errc{} && parsed.ptr == last) files_.push_back(first);
  }
  if (files_.empty()) return;
  std::sort(files_.begin(), files_.end());
  struct stat status {};
  const std::string newest = file_name(name_, files_.back());
  const bool known = fstatat(folder_, newest.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0;
  end_ = files_.back() + (known ? static_cast<std::uint64_t>(status.st_size) : 0);
}

std::uint64_t LogReader::begin() const {
  return files_.empty() ? 0 : files_.front();
}

std::string LogReader::read(std::uint64_t& offset, std::size_t max_bytes) const {
  std::string text;
  offset = std::max(offset, begin());
  if (offset >= end_) return text;
  max_bytes = static_cast<std::size_t>(std::min<std::uint64_t>(max_bytes, end_ - offset));
  // The last file that begins at or before the offset.
  auto file = std::prev(std::upper_bound(files_.begin(), files_.end(), offset));
  for (; file != files_.end() && text.size() < max_bytes; ++file) {
    // O_NONBLOCK: a task may own the folder, and a pipe of that name would never open.
    const Descriptor source(openat(folder_, file_name(name_, *file).c_str(),
                                   O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
    // A gap in the text would shift all places behind it: the text so far is the answer.
    if (!source && !text.empty()) break;
    if (!source) {  // it went while we looked: the rest begins later
      offset = std::next(file) == files_.end() ? end_ : *std::next(file);
      continue;
    }
    const std::size_t before = text.size();
    text.resize(max_bytes);
    std::size_t got = before;
    while (got < max_bytes) {
      const auto place = static_cast<off_t>(offset + got - *file);
      const ssize_t more = pread(source.get(), text.data() + got, max_bytes - got, place);
      if (more <= 0) break;
      got += static_cast<std::size_t>(more);
    }
    text.resize(got);
  }
  return text;
}

std::string LogReader::tail(std::size_t max_bytes) const {
  std::uint64_t from = end_ > max_bytes ? end_ - max_bytes : 0;
  return read(from, max_bytes);
}

}  // namespace muster::process
