// The folder of one machine. It is all that is remembered of it: the command, the lock that a
// living worker holds, and the worker's line of /proc, by which a connector that starts anew adopts
// it.

#include "serve/machines/machine_folder.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <set>
#include <string_view>
#include <system_error>

#include "workers/process/files/attempt_dir.hpp"
#include "workers/process/shim/shim_supervisor.hpp"

namespace muster::machines {
namespace {

constexpr std::string_view kPrefix = "instance-";
constexpr const char* kCommand = "command";
constexpr const char* kLock = "lock";
constexpr const char* kWorker = "worker";
constexpr const char* kLog = "log";
constexpr const char* kOlderLog = "log.1";
constexpr const char* kAttempts = "state/attempts";
constexpr const char* kEnding = "ending";
constexpr const char* kEnds = "ends";
constexpr const char* kMark = "MUSTER_MACHINE";

std::string trouble(const std::string& path) {
  return path + ": " + std::strerror(errno);
}

bool write_all(int file, std::string_view text) {
  while (!text.empty()) {
    const ssize_t done = write(file, text.data(), text.size());
    if (done < 0 && errno == EINTR) continue;
    if (done <= 0) return false;
    text.remove_prefix(static_cast<std::size_t>(done));
  }
  return true;
}

bool sync_folder(const std::string& path) {
  const Descriptor folder(open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  return folder && fsync(folder.get()) == 0;
}

/// Takes the lock to see whether it is free, and lets go of it at once: somebody who wants it in
/// the same moment may find it held.
bool is_locked(const std::string& path) {
  const Descriptor file(open(path.c_str(), O_RDWR | O_CLOEXEC));
  return file && flock(file.get(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
}

/// Data that a forked child needs to become a worker, made before the fork: afterwards only calls
/// that are safe there are allowed, because other threads may have held locks.
struct Child {
  std::vector<char*> argv;
  std::vector<char*> environment;
  const char* folder = nullptr;
  Descriptor lock, log, line, null;
};

/// Moves a descriptor out of the way of those that the worker is to have.
Descriptor high(Descriptor low) {
  // Above 0 to 3, which become_worker() replaces.
  constexpr int kFirstFree = 10;
  return Descriptor(low ? fcntl(low.get(), F_DUPFD_CLOEXEC, kFirstFree) : -1);
}

/// By the child, before it becomes the worker: the line is there even when the connector dies right
/// after the fork.
void write_own_line(int file) {
  char line[1024];
  const int stat = open("/proc/self/stat", O_RDONLY | O_CLOEXEC);
  const ssize_t size = read(stat, line, sizeof line);
  if (size <= 0 || write(file, line, static_cast<std::size_t>(size)) != size) _exit(126);
  close(stat);
}

[[noreturn]] void become_worker(const Child& child) {
  // A session of its own: signals to the connector's do not reach the worker, and find_members()
  // knows by the session what the worker has started.
  setsid();
  write_own_line(child.line.get());
  // Ignored signals and the mask outlive exec, and the worker would pass them on to its tasks.
  for (int signal = 1; signal < NSIG; ++signal) ::signal(signal, SIG_DFL);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  constexpr int kLockDescriptor = 3;
  const bool ready = dup2(child.null.get(), 0) >= 0 && dup2(child.log.get(), 1) >= 0 &&
                     dup2(child.log.get(), 2) >= 0 &&
                     dup2(child.lock.get(), kLockDescriptor) >= 0 && chdir(child.folder) == 0;
  if (!ready) _exit(126);
  // Stores and sockets of the connector are not for the worker.
  syscall(SYS_close_range, static_cast<unsigned>(kLockDescriptor + 1), ~0u, 0u);
  execvpe(child.argv[0], child.argv.data(), child.environment.data());
  constexpr std::string_view kNote = "the worker's program cannot be executed\n";
  if (write(2, kNote.data(), kNote.size()) < 0) _exit(126);
  _exit(127);
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> all;
  for (std::string& text : texts) all.push_back(text.data());
  all.push_back(nullptr);
  return all;
}

}  // namespace

void notify_ending() {
  const char* folder = std::getenv(kMark);
  if (folder == nullptr) return;
  const std::string file = std::string(folder) + "/" + kEnding;
  const Descriptor made(open(file.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
}

bool is_told_to_end() {
  const char* folder = std::getenv(kMark);
  return folder != nullptr && access((std::string(folder) + "/" + kEnds).c_str(), F_OK) == 0;
}

MachineFolder MachineFolder::of(const std::filesystem::path& all, InstanceId instance) {
  return MachineFolder(all / (std::string(kPrefix) + std::to_string(instance.value)));
}

InstanceId MachineFolder::instance_of(const std::string& name) {
  InstanceId id;
  if (!name.starts_with(kPrefix)) return id;
  const char* const end = name.data() + name.size();
  const auto [stop, error] = std::from_chars(name.data() + kPrefix.size(), end, id.value);
  return error == std::errc{} && stop == end ? id : InstanceId{};
}

bool MachineFolder::exists() const {
  std::error_code ignored;
  return std::filesystem::exists(path_, ignored);
}

std::vector<std::string> MachineFolder::command() const {
  std::vector<std::string> argv;
  const std::string text = read_text(file(kCommand));
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\0', begin), text.size());
    argv.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return argv;
}

std::string MachineFolder::write_command(const std::vector<std::string>& argv) const {
  std::string text;
  for (const std::string& argument : argv) text.append(argument).push_back('\0');
  // After a crash the file is whole or not there, and boot() writes it again.
  if (std::string why = write_durably(file(kCommand), text); !why.empty()) return why;
  return sync_folder(path_.parent_path()) ? std::string{} : trouble(path_);
}

std::string write_durably(const std::filesystem::path& file, std::string_view text) {
  const std::string name = file.string();
  const std::string draft = name + ".new";
  const Descriptor out(open(draft.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
  // In this order: the name must not be durable before what it names.
  if (!out || !write_all(out.get(), text) || fsync(out.get()) != 0) return trouble(draft);
  if (rename(draft.c_str(), name.c_str()) != 0) return trouble(name);
  return sync_folder(file.parent_path()) ? std::string{} : trouble(file.parent_path());
}

MachineFolder::Found MachineFolder::find_worker() const {
  const std::optional<ProcessRow> line = row_from(read_text(file(kWorker)));
  // Without a line that can be read a held lock says that a worker lives, but not which process it
  // is.
  if (!line) return {std::nullopt, is_locked(file(kLock))};
  const auto row = find_process(line->pid);
  if (!row || row->start != line->start) return {};
  // A number and a start may come again after the whole machine was started anew.
  const bool same = is_locked(file(kLock)) || is_marked(row->pid, path_.string());
  return same ? Found{row, false} : Found{};
}

bool MachineFolder::is_ending() const {
  std::error_code error;
  return std::filesystem::exists(path_ / kEnding, error);
}

std::string MachineFolder::mark_end() const {
  const Descriptor made(open(file(kEnds).c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
  return made ? std::string{} : trouble(file(kEnds));
}

Descriptor MachineFolder::take_lock() const {
  const std::string name = file(kLock);
  for (const bool again : {false, true}) {
    Descriptor lock(open(name.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
    if (!lock || flock(lock.get(), LOCK_EX | LOCK_NB) == 0) return lock;
    // The worker is dead: something that it started has inherited the lock.
    if (!again) unlink(name.c_str());
  }
  return {};
}

MachineFolder::Started MachineFolder::start_worker() const {
  std::vector<std::string> argv = command();
  if (argv.empty()) return {-1, file(kCommand) + ": cannot be read"};
  std::vector<std::string> variables;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    // One entry of that name: which of two a program would see is not defined.
    if (!std::string_view(*entry).starts_with(std::string(kMark) + "=")) {
      variables.emplace_back(*entry);
    }
  }
  variables.push_back(std::string(kMark) + "=" + path_.string());
  constexpr int kAppend = O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC;
  const std::string folder = path_.string();
  Child child;
  child.argv = pointers(argv);
  child.environment = pointers(variables);
  child.folder = folder.c_str();
  child.lock = high(take_lock());
  if (!child.lock) return {-1, trouble(file(kLock))};
  child.line =
      high(Descriptor(open(file(kWorker).c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600)));
  child.log = high(Descriptor(open(file(kLog).c_str(), kAppend, 0600)));
  child.null = high(Descriptor(open("/dev/null", O_RDWR | O_CLOEXEC)));
  if (!child.line || !child.log || !child.null) return {-1, trouble(folder)};
  const pid_t pid = fork();
  if (pid == 0) become_worker(child);
  return {pid, pid < 0 ? std::string("fork: ") + std::strerror(errno) : ""};
}

std::vector<struct stat> MachineFolder::held_attempts() const {
  std::vector<struct stat> held;
  std::error_code error;
  for (const auto& attempt : std::filesystem::directory_iterator(path_ / kAttempts, error)) {
    const std::string lock = (attempt.path() / process::kLockFile).string();
    struct stat found {};
    if (is_locked(lock) && stat(lock.c_str(), &found) == 0) held.push_back(found);
  }
  return held;
}

MachineFolder::Members MachineFolder::find_members(const std::optional<ProcessRow>& worker) const {
  const std::vector<struct stat> held = held_attempts();
  // The number of a session is not given to a new process while the session has members.
  const auto now = worker ? find_process(worker->pid) : std::nullopt;
  const bool session_lives = worker && (!now || now->start == worker->start);
  const std::string folder = path_.string();
  const auto is_shim = [&held](const ProcessRow& row) {
    return std::any_of(held.begin(), held.end(),
                       [&row](const struct stat& lock) { return holds(row.pid, lock); });
  };
  Members members;
  members.locked = !held.empty();
  std::set<pid_t> known;
  std::vector<ProcessRow> strangers;
  for (const ProcessRow& row : all_processes()) {
    if (row.pid == getpid() || row.pid == 1) continue;
    const bool of_session = session_lives && row.session == worker->pid;
    const bool shim = is_shim(row);
    const bool member = shim || of_session || is_marked(row.pid, folder);
    if (member) known.insert(row.pid);
    if (session_lives && row.pid == worker->pid) continue;  // but what it has started is
    (shim ? members.shims : member ? members.others : strangers).push_back(row);
  }
  // Children of members are members. Each pass but the last adds a process, so the number of
  // processes bounds the passes.
  for (bool more = true; more;) {
    more = false;
    for (const ProcessRow& row : strangers) {
      if (!known.contains(row.parent) || !known.insert(row.pid).second) continue;
      members.others.push_back(row);
      more = true;
    }
  }
  return members;
}

void MachineFolder::end_leftovers() const {
  std::error_code error;
  for (const auto& attempt : std::filesystem::directory_iterator(path_ / kAttempts, error)) {
    const std::filesystem::path path = attempt.path();
    // A shim writes its result when nothing of the attempt is left.
    if (std::filesystem::exists(path / process::kResultFile, error)) continue;
    if (is_locked((path / process::kLockFile).string())) continue;
    const Descriptor folder = process::open_folder(path);
    if (folder) process::end_leftovers(folder.get(), path);
  }
}

void MachineFolder::bound_log(std::uint64_t max_bytes) const {
  const std::string log = file(kLog);
  struct stat found {};
  if (stat(log.c_str(), &found) != 0) return;
  if (static_cast<std::uint64_t>(found.st_size) <= max_bytes) return;
  // The worker goes on appending to the same file, so the older text is copied away.
  std::error_code error;
  std::filesystem::copy_file(log, file(kOlderLog),
                             std::filesystem::copy_options::overwrite_existing, error);
  // Lines that the worker writes between the copy and this are lost.
  if (truncate(log.c_str(), 0) != 0) return;
}

std::string MachineFolder::log_tail(std::uint64_t max_bytes) const {
  const std::string text = read_text(file(kOlderLog)) + read_text(file(kLog));
  return text.size() > max_bytes ? text.substr(text.size() - max_bytes) : text;
}

std::string MachineFolder::remove() const {
  std::error_code error;
  std::filesystem::remove_all(path_, error);
  return error ? path_.string() + ": cannot be removed: " + error.message() : "";
}

}  // namespace muster::machines
