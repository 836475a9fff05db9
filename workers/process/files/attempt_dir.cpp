#include "workers/process/files/attempt_dir.hpp"

#include <sys/file.h>
#include <sys/stat.h>

#include <cerrno>
#include <charconv>

// Files that shim and worker leave for each other. A file that the other may read meanwhile is
// written whole under another name and renamed, so that neither ever takes half of one for all.

namespace muster::process {

void put_files(const FileTerms& files, WorkerTerms& terms) {
  const auto& [store, outputs_max_bytes, user_max_bytes, patience] = files;
  terms.files = store;
  terms.outputs_max_bytes = outputs_max_bytes;
  terms.user_max_bytes = user_max_bytes;
  terms.files_patience = patience;
}

Duration files_time_of(const Order& order) {
  const int ways = (order.program.stage.empty() ? 0 : 1) + (order.program.outputs.empty() ? 0 : 1);
  return ways * order.worker.files_patience;
}

Duration grace_of(const Order& order) {
  // The keeper kills its program when the grace is over, and is to outlive it.
  constexpr Duration kKeeper = std::chrono::seconds{2};
  const Duration drained = order.service ? order.service->drain + kKeeper : Duration::zero();
  return order.program.stop_grace + drained;
}

std::string name_of(const AttemptKey& key) {
  return std::to_string(key.task.value) + "." + std::to_string(key.attempt);
}

std::optional<AttemptKey> key_from(std::string_view name) {
  AttemptKey key;
  const char* end = name.data() + name.size();
  const auto task = std::from_chars(name.data(), end, key.task.value);
  if (task.ec != std::errc{} || task.ptr == end || *task.ptr != '.') return std::nullopt;
  const auto attempt = std::from_chars(task.ptr + 1, end, key.attempt);
  if (attempt.ec != std::errc{} || attempt.ptr != end) return std::nullopt;
  return key;
}

std::optional<std::string> read_whole(int folder, const char* name, std::size_t max_bytes) {
  // O_NOFOLLOW: a task may own the folder and put a link there.
  const Descriptor file(openat(folder, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  if (!file) return std::nullopt;
  std::string text;
  char chunk[16384];
  while (true) {
    const ssize_t got = read(file.get(), chunk, sizeof chunk);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 || text.size() + static_cast<std::size_t>(got) > max_bytes) return std::nullopt;
    if (got == 0) return text;
    text.append(chunk, static_cast<std::size_t>(got));
  }
}

namespace {

int write_all(int fd, std::string_view content) {
  while (!content.empty()) {
    const ssize_t put = write(fd, content.data(), content.size());
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) return errno;
    content.remove_prefix(static_cast<std::size_t>(put));
  }
  return 0;
}

}  // namespace

int write_whole(int folder, const char* name, std::string_view content, bool sync) {
  const std::string draft = std::string(name) + ".new";
  Descriptor file(openat(folder, draft.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
  if (!file) return errno;
  if (const int error = write_all(file.get(), content); error != 0) return error;
  // Synced before it is renamed: else the name may be durable before the content.
  if (sync && fsync(file.get()) != 0) return errno;
  file.reset();
  if (renameat(folder, draft.c_str(), folder, name) != 0) return errno;
  return sync && fsync(folder) != 0 ? errno : 0;
}

int write_new(int folder, const char* name, std::string_view content, bool sync) {
  const Descriptor file(openat(folder, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (!file) return errno;
  if (const int error = write_all(file.get(), content); error != 0) return error;
  return sync && (fsync(file.get()) != 0 || fsync(folder) != 0) ? errno : 0;
}

Descriptor take_lock(int folder) {
  // The lock goes with the process that holds it, however it ends.
  Descriptor lock(openat(folder, kLockFile, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!lock || flock(lock.get(), LOCK_EX | LOCK_NB) != 0) return {};
  return lock;
}

Descriptor open_lock(int folder) {
  // For reading where a disk has become read-only; some file systems lock only what can be written.
  for (const int mode : {O_RDWR, O_RDONLY}) {
    Descriptor file(openat(folder, kLockFile, mode | O_CLOEXEC | O_NOFOLLOW));
    if (file) return file;
  }
  return {};
}

bool is_locked(int lock_file) {
  if (flock(lock_file, LOCK_EX | LOCK_NB) != 0) return errno == EWOULDBLOCK;
  flock(lock_file, LOCK_UN);
  return false;
}

bool is_removed(int folder) {
  struct stat found {};
  return fstat(folder, &found) == 0 && found.st_nlink == 0;
}

bool has_ended(const std::filesystem::path& attempt) {
  std::error_code ignored;
  return std::filesystem::exists(attempt / kResultFile, ignored) ||
         std::filesystem::exists(attempt / kAcknowledgedFile, ignored);
}

Descriptor open_folder(const std::filesystem::path& path) {
  return Descriptor(open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
}

}  // namespace muster::process
