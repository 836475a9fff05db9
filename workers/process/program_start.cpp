#include "workers/process/program_start.hpp"

#include <elf.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstring>

namespace muster::process {
namespace {

constexpr const char* kDefaultPath = "/bin:/usr/bin";
/// As much of a file as the kernel looks at (BINPRM_BUF_SIZE).
constexpr std::size_t kHeadBytes = 256;
/// How deep interpreters of interpreters are followed; the kernel follows fewer.
constexpr int kMostNested = 8;
constexpr int kMostSegments = 64;

struct Head {
  std::array<char, kHeadBytes + 1> bytes{};
  std::size_t size = 0;
};

/// Closes without more than a system call, and keeps the errno of what went before.
void close_quietly(int file) {
  const int error = errno;
  close(file);
  errno = error;
}

bool read_head(const char* path, Head& head) {
  const int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (file < 0) return false;
  const ssize_t got = pread(file, head.bytes.data(), kHeadBytes, 0);
  close_quietly(file);
  head.size = got > 0 ? static_cast<std::size_t>(got) : 0;
  return got >= 0;
}

/// As shells tell programs from scripts: those have a zero byte in what comes first.
bool is_text(const char* path) {
  Head head;
  return read_head(path, head) && std::memchr(head.bytes.data(), '\0', head.size) == nullptr;
}

/// The name behind "#!"; false: there is no such name.
bool interpreter_of(const Head& head, char* name, std::size_t room) {
  if (head.size < 3 || head.bytes[0] != '#' || head.bytes[1] != '!') return false;
  std::size_t begin = 2;
  while (begin < head.size && (head.bytes[begin] == ' ' || head.bytes[begin] == '\t')) ++begin;
  std::size_t end = begin;
  while (end < head.size && std::strchr(" \t\n", head.bytes[end]) == nullptr) ++end;
  if (end == begin || end - begin >= room) return false;
  std::memcpy(name, &head.bytes[begin], end - begin);
  name[end - begin] = '\0';
  return true;
}

/// The name of a program's loader; false: it has no loader.
template <class Header, class Segment>
bool loader_of(int file, char* name, std::size_t room) {
  Header header;
  if (pread(file, &header, sizeof header, 0) != static_cast<ssize_t>(sizeof header)) return false;
  for (int i = 0; i < header.e_phnum && i < kMostSegments; ++i) {
    Segment segment;
    const auto at = static_cast<off_t>(header.e_phoff) + i * static_cast<off_t>(sizeof segment);
    if (pread(file, &segment, sizeof segment, at) != static_cast<ssize_t>(sizeof segment)) {
      return false;
    }
    if (segment.p_type != PT_INTERP) continue;
    if (segment.p_filesz == 0 || segment.p_filesz >= room) return false;
    const auto size = static_cast<std::size_t>(segment.p_filesz);
    if (pread(file, name, size, static_cast<off_t>(segment.p_offset)) !=
        static_cast<ssize_t>(size)) {
      return false;
    }
    name[size] = '\0';
    return true;
  }
  return false;
}

bool loader_named_in(const char* path, const Head& head, char* name, std::size_t room) {
  const int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (file < 0) return false;
  const bool found = head.bytes[EI_CLASS] == ELFCLASS64
                         ? loader_of<Elf64_Ehdr, Elf64_Phdr>(file, name, room)
                         : loader_of<Elf32_Ehdr, Elf32_Phdr>(file, name, room);
  close_quietly(file);
  return found;
}

bool is_elf(const Head& head) {
  return head.size > EI_DATA && std::memcmp(head.bytes.data(), ELFMAG, SELFMAG) == 0;
}

/// The machine that a program is for, where that is not this one; 0: it is, or nobody knows.
std::uint32_t other_machine(const Head& head) {
  const auto machine_in = [](const Head& of) -> std::uint32_t {
    const auto low = static_cast<unsigned char>(of.bytes[offsetof(Elf64_Ehdr, e_machine)]);
    const auto high = static_cast<unsigned char>(of.bytes[offsetof(Elf64_Ehdr, e_machine) + 1]);
    return of.bytes[EI_DATA] == ELFDATA2MSB ? low * 256U + high : high * 256U + low;
  };
  Head own;
  if (!is_elf(head) || !read_head("/proc/self/exe", own) || !is_elf(own)) return 0;
  const std::uint32_t machine = machine_in(head);
  return machine == machine_in(own) ? 0 : machine;
}

/// Looks for what a file that is there needs and lacks: its interpreter, the interpreter's, a
/// loader.
void look_inside(const char* path, StartTrouble& trouble) {
  char name[PATH_MAX];
  for (int depth = 0; depth < kMostNested; ++depth) {
    Head head;
    if (!read_head(depth == 0 ? path : name, head)) return;
    char next[PATH_MAX];
    StartFault fault = StartFault::interpreter;
    if (is_elf(head)) {
      fault = StartFault::loader;
      if (!loader_named_in(depth == 0 ? path : name, head, next, sizeof next)) return;
    } else if (!interpreter_of(head, next, sizeof next)) {
      return;
    }
    struct stat found {};
    const bool is_missing = stat(next, &found) != 0;
    const bool is_barred = !is_missing && (!S_ISREG(found.st_mode) || access(next, X_OK) != 0);
    // Of a loader that is there the kernel's own error says what is wrong with it.
    const bool is_odd_loader = fault == StartFault::loader && !is_missing && depth == 0 &&
                               trouble.error != ENOENT && trouble.error != EACCES;
    if (is_missing || is_barred || is_odd_loader) {
      if (is_missing) trouble.error = errno;
      trouble.fault = fault;
      return set_place(trouble, next);
    }
    std::memcpy(name, next, sizeof name);
    if (fault == StartFault::loader) return;
  }
  trouble.fault = StartFault::nested;
  set_place(trouble, path);
}

void explain_absent(const char* file, StartTrouble& trouble) {
  struct stat found {};
  if (stat(file, &found) == 0) return look_inside(file, trouble);
  if (lstat(file, &found) != 0 || !S_ISLNK(found.st_mode)) return;
  char target[PATH_MAX];
  const ssize_t length = readlink(file, target, sizeof target - 1);
  if (length <= 0) return;
  target[length] = '\0';
  trouble.fault = StartFault::dead_link;
  set_place(trouble, target);
}

void explain_barred(const char* file, StartTrouble& trouble) {
  struct stat found {};
  if (stat(file, &found) != 0) return find_on_way(file, trouble);
  if (!S_ISREG(found.st_mode)) {
    trouble.fault = S_ISDIR(found.st_mode) ? StartFault::is_folder : StartFault::no_file;
    return;
  }
  if (access(file, X_OK) == 0) return look_inside(file, trouble);
  struct statvfs mounted {};
  const bool no_exec = statvfs(file, &mounted) == 0 && (mounted.f_flag & ST_NOEXEC) != 0;
  trouble.fault = no_exec ? StartFault::no_exec_mount : StartFault::no_right;
  trouble.detail = found.st_mode & 07777U;
}

void explain_format(const char* file, StartTrouble& trouble) {
  Head head;
  trouble.fault = StartFault::no_program;
  if (!read_head(file, head)) return;
  if (const std::uint32_t machine = other_machine(head); machine != 0) {
    trouble.fault = StartFault::other_machine;
    trouble.detail = machine;
  }
}

/// The fault where the kernel refuses to execute the file.
StartTrouble trouble_of(const char* file, int error) {
  StartTrouble trouble;
  trouble.stage = StartStage::program;
  trouble.error = error;
  struct stat found {};
  switch (error) {
    case ENOENT:
      explain_absent(file, trouble);
      break;
    case ENOTDIR:
      find_on_way(file, trouble);
      break;
    case EACCES:
      explain_barred(file, trouble);
      break;
    case ENOEXEC:
      explain_format(file, trouble);
      break;
    case ELOOP:
    case EINVAL:
    case EIO:
    case EISDIR:
    case ELIBBAD:
      // Of the file itself, or of what it needs.
      if (stat(file, &found) == 0) look_inside(file, trouble);
      break;
    default:
      break;
  }
  return trouble;
}

/// Returns the errno.
int execute(ProgramPlan& plan, const char* file) {
  execve(file, plan.argv.data(), plan.env.data());
  const bool is_unknown = errno == ENOEXEC && is_text(file);
  if (!is_unknown && !(plan.own_script && errno == EACCES)) return errno;
  plan.reader_argv[plan.file_at] = const_cast<char*>(file);
  execve(plan.reader_argv[0], plan.reader_argv.data(), plan.env.data());
  return errno;
}

const char* path_of(const ProgramPlan& plan) {
  for (const char* entry : plan.env) {
    if (entry != nullptr && std::strncmp(entry, "PATH=", 5) == 0) return entry + 5;
  }
  return kDefaultPath;
}

bool passes_over(int error) {
  // As execvp() has it: the folder is not there, or does not answer.
  return error == ENOENT || error == ENOTDIR || error == EACCES || error == ESTALE ||
         error == ENODEV || error == ETIMEDOUT;
}

StartTrouble search_path(ProgramPlan& plan) {
  StartTrouble kept;
  kept.stage = StartStage::program;
  kept.error = ENOENT;
  kept.fault = StartFault::not_in_path;
  const char* path = path_of(plan);
  set_place(kept, path);
  const std::size_t length = std::strlen(plan.program);
  if (length > NAME_MAX) {
    kept.error = ENAMETOOLONG;
    kept.fault = StartFault::itself;
    return kept;
  }
  char file[PATH_MAX];
  while (true) {
    const char* end = strchrnul(path, ':');
    const auto size = static_cast<std::size_t>(end - path);
    if (size + 1 + length < sizeof file) {
      std::memcpy(file, path, size);
      // An empty entry is the present folder.
      file[size] = '/';
      std::memcpy(file + (size == 0 ? 0 : size + 1), plan.program, length + 1);
      const int error = execute(plan, file);
      struct stat found {};
      const bool is_there = lstat(file, &found) == 0;
      if (!passes_over(error)) return trouble_of(file, error);
      // The first that is there and cannot be executed tells more than that others are not.
      if (is_there && kept.fault == StartFault::not_in_path) kept = trouble_of(file, error);
    }
    if (*end == '\0') return kept;
    path = end + 1;
  }
}

}  // namespace

void find_on_way(const char* path, StartTrouble& trouble) {
  char part[PATH_MAX];
  const std::size_t length = std::strlen(path);
  if (length >= sizeof part) return;
  for (std::size_t end = 1; end < length; ++end) {
    if (path[end] != '/') continue;
    std::memcpy(part, path, end);
    part[end] = '\0';
    struct stat found {};
    if (stat(part, &found) != 0) return;
    const bool is_folder = S_ISDIR(found.st_mode);
    if (is_folder && access(part, X_OK) == 0) continue;
    trouble.fault = StartFault::above;
    return set_place(trouble, part);
  }
}

StartTrouble become_program(ProgramPlan& plan) {
  if (std::strchr(plan.program, '/') == nullptr) return search_path(plan);
  return trouble_of(plan.program, execute(plan, plan.program));
}

}  // namespace muster::process
