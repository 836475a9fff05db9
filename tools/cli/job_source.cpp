#include "tools/cli/job_source.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <thread>

#include "config/error_list.hpp"
#include "config/request_value.hpp"
#include "config/script.hpp"

namespace muster::cli {
namespace {

constexpr std::string_view kStandardInput = "-";
/// How a script from the standard input is called in lists.
constexpr const char* kNameOfInput = "stdin";

Failure<ConfigError> unreadable(const std::string& name, const std::string& why) {
  return {ConfigError::unreadable, name + ": " + why};
}

/// At most `most` bytes, read to their end; false: errno says why not.
bool read_bytes(int file, std::size_t most, std::string& text) {
  std::array<char, 65'536> piece{};
  while (text.size() < most) {
    const ssize_t got = read(file, piece.data(), std::min(piece.size(), most - text.size()));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return got == 0;
    text.append(piece.data(), static_cast<std::size_t>(got));
  }
  return true;
}

bool is_pipe(int file) {
  struct stat found {};
  return fstat(file, &found) == 0 && S_ISFIFO(found.st_mode);
}

/// Waits until somebody has the pipe open for writing, or has written something, which goes to
/// `text`. False: it has no writer.
bool await_writer(int file, std::string& text) {
  constexpr auto kPatience = std::chrono::seconds{2};
  constexpr auto kLook = std::chrono::milliseconds{20};
  const auto until = std::chrono::steady_clock::now() + kPatience;
  std::array<char, 4'096> piece{};
  ssize_t got = 0;
  // The end of it is where there is no writer.
  while ((got = read(file, piece.data(), piece.size())) == 0) {
    if (std::chrono::steady_clock::now() >= until) return false;
    std::this_thread::sleep_for(kLook);
  }
  if (got > 0) text.assign(piece.data(), static_cast<std::size_t>(got));
  return got > 0 || errno == EAGAIN;
}

/// The first line decides; of a file without one that may be executed, whether it is a job file.
bool is_script_file(const JobSource& source, int file) {
  // In TOML a line that begins so is a comment.
  const std::string ending = std::filesystem::path(source.name).extension().string();
  if (ending == ".toml" || ending == ".json") return false;
  if (is_script(source.text)) return true;
  if (source.name == kStandardInput) return false;
  struct stat found {};
  const bool may_run =
      fstat(file, &found) == 0 && S_ISREG(found.st_mode) && (found.st_mode & 0111) != 0;
  return may_run && !is_written_as_job(source);
}

}  // namespace

std::string shown_name(const JobSource& file) {
  return file.name == kStandardInput ? "standard input" : file.name;
}

bool is_json(const JobSource& file) {
  if (std::filesystem::path(file.name).extension() == ".json") return true;
  if (file.name != kStandardInput) return false;
  const std::size_t first = file.text.find_first_not_of(" \t\r\n");
  return first != std::string::npos && file.text[first] == '{';
}

bool is_written_as_job(const JobSource& file) {
  ErrorList errors;
  return (is_json(file) ? config::parse_json(file.text, file.name, errors)
                        : config::parse_toml(file.text, file.name, errors))
      .has_value();
}

Expected<JobSource, ConfigError> read_source(const std::string& name) {
  JobSource source{name, {}, false};
  const bool is_input = name == kStandardInput;
  // O_NONBLOCK: the opening of a pipe would wait for a writer for ever.
  const int file =
      is_input ? dup(STDIN_FILENO) : open(name.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file < 0) {
    if (is_input) return unreadable("the standard input", std::strerror(errno));
    return unreadable(name, errno == ENOENT
                                ? "cannot be read: is it there?"
                                : fmt::format("cannot be read: {}", std::strerror(errno)));
  }
  if (!is_input && is_pipe(file) && !await_writer(file, source.text)) {
    close(file);
    return unreadable(name, "is a pipe that no process writes into");
  }
  if (!is_input) fcntl(file, F_SETFL, fcntl(file, F_GETFL) & ~O_NONBLOCK);
  // One byte more than any kind may have tells one that is too large.
  const bool good = read_bytes(file, kMaxBatchBytes + 1, source.text);
  const int error = errno;
  source.is_script = good && is_script_file(source, file);
  close(file);
  if (good) return source;
  return unreadable(is_input ? "the standard input" : name,
                    error == EISDIR ? "is a folder" : std::strerror(error));
}

bool names_a_script(const std::string& name) {
  // A file alone: to open another, such as a pipe, could wait or take what is in it.
  struct stat found {};
  if (stat(name.c_str(), &found) != 0 || !S_ISREG(found.st_mode)) return false;
  const int file = open(name.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return false;
  JobSource source{name, {}, false};
  const bool good = read_bytes(file, kMaxBatchBytes + 1, source.text);
  const bool is_one = good && is_script_file(source, file);
  close(file);
  return is_one;
}

Expected<std::vector<JobRequest>, ConfigError> requests_from(const JobSource& file) {
  return job_requests_from_file(file.text, shown_name(file), is_json(file));
}

JobRequest request_from(const JobSource& script, const std::vector<std::string>& arguments) {
  JobRequest request;
  request.command = {script.name == kStandardInput ? kNameOfInput : script.name};
  request.command.insert(request.command.end(), arguments.begin(), arguments.end());
  request.script = script.text;
  return request;
}

}  // namespace muster::cli
