// Reads /proc. A process is known by its number and its start together, for numbers are given out
// again.

#include "serve/machines/process_table.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/syscall.h>

#include <charconv>
#include <csignal>
#include <memory>
#include <sstream>

namespace muster::machines {
namespace {

/// The entries of a folder whose names are numbers.
std::vector<long> numbers_in(const std::string& folder) {
  const auto close_folder = [](DIR* open) { closedir(open); };
  const std::unique_ptr<DIR, decltype(close_folder)> open(opendir(folder.c_str()), close_folder);
  std::vector<long> numbers;
  if (!open) return numbers;
  while (const dirent* entry = readdir(open.get())) {
    const std::string_view name = entry->d_name;
    long number = 0;
    const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
    if (error == std::errc{} && end == name.data() + name.size()) numbers.push_back(number);
  }
  return numbers;
}

std::string proc_file(pid_t pid, const char* name) {
  return "/proc/" + std::to_string(pid) + "/" + name;
}

}  // namespace

std::string read_text(const std::string& path) {
  const Descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  std::string text;
  // In pieces, for files of /proc do not tell their size.
  char buffer[4096];
  ssize_t got = 0;
  while (file && (got = read(file.get(), buffer, sizeof buffer)) > 0) {
    text.append(buffer, static_cast<std::size_t>(got));
  }
  return text;
}

std::optional<ProcessRow> row_from(std::string_view stat_line) {
  // "PID (NAME) STATE PPID PGRP SESSION ...", and the start is the 22nd field. The name may hold
  // anything, also spaces and parentheses.
  const std::size_t name_end = stat_line.rfind(')');
  if (name_end == std::string_view::npos) return std::nullopt;
  ProcessRow row;
  std::istringstream head{std::string(stat_line.substr(0, name_end))};
  std::istringstream rest{std::string(stat_line.substr(name_end + 1))};
  char state = 0;
  long group = 0;
  std::string skipped;
  if (!(head >> row.pid) || !(rest >> state >> row.parent >> group >> row.session)) {
    return std::nullopt;
  }
  // The fields 7 to 21.
  constexpr int kFieldsBeforeStart = 15;
  for (int i = 0; i < kFieldsBeforeStart; ++i) rest >> skipped;
  // A zombie (Z, X) runs nothing any more, so it counts as gone.
  if (!(rest >> row.start) || state == 'Z' || state == 'X') return std::nullopt;
  return row;
}

std::optional<ProcessRow> find_process(pid_t pid) {
  return row_from(read_text(proc_file(pid, "stat")));
}

/// Not one instant: processes start and end while the folder is read.
std::vector<ProcessRow> all_processes() {
  std::vector<ProcessRow> rows;
  for (const long pid : numbers_in("/proc")) {
    if (const auto row = find_process(static_cast<pid_t>(pid))) rows.push_back(*row);
  }
  return rows;
}

Descriptor open_child(pid_t pid) {
  return Descriptor(static_cast<int>(syscall(SYS_pidfd_open, pid, 0)));
}

Descriptor open_process(const ProcessRow& process) {
  Descriptor pidfd = open_child(process.pid);
  if (!pidfd) return {};
  // Compared after the pidfd is open: from then on it means one process, whatever becomes of the
  // number.
  const auto now = find_process(process.pid);
  if (!now || now->start != process.start) return {};
  return pidfd;
}

void signal_process(const ProcessRow& process, int signal) {
  if (const Descriptor pidfd = open_process(process)) {
    syscall(SYS_pidfd_send_signal, pidfd.get(), signal, nullptr, 0);
  }
}

bool holds(pid_t pid, const struct stat& file) {
  const std::string folder = proc_file(pid, "fd");
  for (const long fd : numbers_in(folder)) {
    struct stat open {};
    if (stat((folder + "/" + std::to_string(fd)).c_str(), &open) == 0 &&
        open.st_dev == file.st_dev && open.st_ino == file.st_ino) {
      return true;
    }
  }
  return false;
}

bool is_marked(pid_t pid, const std::string& folder) {
  const std::string environment = read_text(proc_file(pid, "environ"));
  std::istringstream entries(environment);
  std::string entry;
  while (std::getline(entries, entry, '\0')) {
    const std::size_t equals = entry.find('=');
    if (!entry.starts_with("MUSTER_") || equals == std::string::npos) continue;
    const std::string_view value = std::string_view(entry).substr(equals + 1);
    if (value == folder || value.starts_with(folder + "/")) return true;
  }
  return false;
}

}  // namespace muster::machines
