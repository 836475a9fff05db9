#include "tools/cli/output.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <new>
#include <optional>
#include <system_error>

#include "config/error_list.hpp"
#include "tools/cli/commands.hpp"
#include "tools/cli/unnamed_file.hpp"
#include "tools/client/printable.hpp"

// Where commands write. A file appears whole or not at all: it is written without a name and gets
// it at the end, so that a reader never meets half of it, two writers do not meet each other, a
// full disk does not destroy the former file, and nothing stays behind when the command is killed.

namespace muster::cli {

namespace {

/// Names and values come from outside and may have any length: of a word that is longer than any of
/// ours the beginning is shown.
std::string without_floods(std::string_view message) {
  constexpr std::size_t kLongestWord = 400;
  std::string text;
  while (!message.empty()) {
    const std::size_t size = std::min(message.find_first_of(" \n"), message.size() - 1) + 1;
    const std::string_view word = message.substr(0, size);
    text +=
        size > kLongestWord ? brief(word) + (word.back() == '\n' ? "\n" : " ") : std::string(word);
    message.remove_prefix(size);
  }
  return text;
}

}  // namespace

void complain(const std::string& message) {
  // Flushed at once: a command may be killed, and its last words are what the supervisor's log
  // shows. Cleaned here, where all messages pass: parts of them are from arguments, files and other
  // programs.
  std::cerr << "muster: " << client::printable_lines(without_floods(message)) << std::endl;
}

namespace {

namespace fs = std::filesystem;

constexpr const char* kFolderIsGone =
    "the folder that you are in is gone: change to one that is there";

bool refuse(const fs::path& file, const std::string& reason) {
  complain("cannot write " + file.string() + ": " + reason);
  return false;
}

bool refuse_unwritable(const fs::path& file) {
  return refuse(file, "is the folder there and writable, and the disk not full?");
}

/// The file that a name leads to, links followed, and whether it is to be written in place: a pipe
/// or a device cannot be replaced by a file.
struct Target {
  fs::path file;
  bool in_place = false;
};

Target target_of(const fs::path& name) {
  std::error_code error;
  const fs::file_status status = fs::status(name, error);
  if (!fs::exists(status)) return {name, false};
  if (!fs::is_regular_file(status)) return {name, true};
  // Renaming onto a link would replace the link and leave the file that it names as it was.
  const fs::path real = fs::canonical(name, error);
  return {error ? name : real, false};
}

/// The target, with its folder made; nothing, after a complaint, when it is a folder itself.
std::optional<Target> prepared(const fs::path& name) {
  std::error_code ignored;
  if (fs::is_directory(name, ignored)) {
    refuse(name, "it is a folder");
    return std::nullopt;
  }
  if (name.has_parent_path()) fs::create_directories(name.parent_path(), ignored);
  return target_of(name);
}

/// A reader that closes the pipe has seen enough, as `head` does: that is no failure to report,
/// whether signals tell of it here or not.
bool has_reader_left() {
  pollfd out{STDOUT_FILENO, POLLOUT, 0};
  struct stat kind {};
  if (fstat(STDOUT_FILENO, &kind) != 0 || !(S_ISFIFO(kind.st_mode) || S_ISSOCK(kind.st_mode))) {
    return false;
  }
  return poll(&out, 1, 0) == 1 && (out.revents & (POLLERR | POLLHUP)) != 0;
}

bool write_stream(const fs::path& file, const std::function<void(std::ostream&)>& write) {
  std::ofstream out(file, std::ios::binary | std::ios::trunc);
  if (out) write(out);
  // Writes out what is buffered; only then is it known whether all of it fits.
  out.close();
  return static_cast<bool>(out);
}

}  // namespace

void print_error(const std::string& text) {
  std::cerr << client::printable_lines(text) << std::flush;
}

void open_standard_streams() {
  for (int stream = STDIN_FILENO; stream <= STDERR_FILENO; ++stream) {
    if (fcntl(stream, F_GETFD) != -1 || errno != EBADF) continue;
    // The other way round than it is used, so that a write or a read is an error as it was before:
    // output to a closed stream must not look as if it had been read.
    const int way = stream == STDIN_FILENO ? O_WRONLY : O_RDONLY;
    // The lowest number that is free is taken, which is this one.
    if (open("/dev/null", way) != stream) std::_Exit(kFailed);
  }
}

std::string sentence_of(const std::exception& error) {
  if (dynamic_cast<const std::bad_alloc*>(&error) != nullptr) return "there is no memory left";
  if (const auto* file = dynamic_cast<const fs::filesystem_error*>(&error)) {
    std::error_code gone;
    static_cast<void>(fs::current_path(gone));
    if (gone && !file->path1().is_absolute()) return kFolderIsGone;
    return file->path1().string() + ": " + file->code().message();
  }
  const auto* system = dynamic_cast<const std::system_error*>(&error);
  return system != nullptr ? system->code().message() : error.what();
}

std::optional<fs::path> absolute_path(const fs::path& path) {
  std::error_code gone;
  fs::path absolute = fs::absolute(path, gone);
  if (!gone) return absolute;
  complain(kFolderIsGone);
  return std::nullopt;
}

bool flush_standard_output() {
  std::cout.flush();
  if (!std::cout && !has_reader_left()) {
    complain("cannot write to the standard output: is it closed, or the disk full?");
  }
  return static_cast<bool>(std::cout);
}

bool told(const std::string& done) {
  std::cout.flush();
  if (!std::cout) complain(done + ", but the standard output did not take what was said of it");
  return static_cast<bool>(std::cout);
}

bool can_write(const fs::path& file) {
  if (file.empty() || file == "-") return true;
  const std::optional<Target> target = prepared(file);
  if (!target) return false;
  if (target->in_place) return true;
  // Tries the folder and not the file itself, which keeps its content until the real writing.
  return UnnamedFile(target->file).is_open() || refuse_unwritable(file);
}

bool write_output(const fs::path& file, const std::function<void(std::ostream&)>& write) {
  return write_or_drop(file, [&](std::ostream& out) {
    write(out);
    return true;
  });
}

bool write_or_drop(const fs::path& file, const std::function<bool(std::ostream&)>& write_it) {
  bool wanted = true;
  const auto write = [&](std::ostream& out) { wanted = write_it(out); };
  if (file == "-") {
    write(std::cout);
    return flush_standard_output();
  }
  const std::optional<Target> target = prepared(file);
  if (!target) return false;
  if (target->in_place) return write_stream(target->file, write) || refuse_unwritable(file);
  UnnamedFile part(target->file);
  if (!part.is_open() || !write_stream(part.path(), write)) return refuse_unwritable(file);
  // Nothing has failed: the writer has found that there is nothing worth keeping.
  if (!wanted) return true;
  const std::error_code error = part.name();
  return !error || refuse(file, error.message());
}

Duration elapsed() {
  static const auto kBegin = std::chrono::steady_clock::now();
  return std::chrono::duration_cast<Duration>(std::chrono::steady_clock::now() - kBegin);
}

}  // namespace muster::cli
