#include "workers/process/folder_start.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "workers/process/program_start.hpp"

namespace muster::process {
namespace {

/// As the kernel bounds them for a path.
constexpr int kMostLinks = 40;
constexpr int kHow = O_PATH | O_CLOEXEC | O_NOFOLLOW;

bool failed(StartTrouble& trouble, StartFault fault, int error, const char* place) {
  trouble.stage = StartStage::work_dir;
  trouble.fault = fault;
  trouble.error = error;
  set_place(trouble, place);
  return false;
}

/// Takes the next part off the rest of a path; false at its end.
bool next_part(const char*& rest, char (&part)[NAME_MAX + 1], bool& is_too_long) {
  while (*rest == '/') ++rest;
  const char* end = strchrnul(rest, '/');
  const auto size = static_cast<std::size_t>(end - rest);
  is_too_long = size > NAME_MAX;
  if (size == 0 || is_too_long) return false;
  std::memcpy(part, rest, size);
  part[size] = '\0';
  rest = end;
  return true;
}

/// One step of a walk from the root on: where it is, as a descriptor and as a path.
class Walk {
 public:
  explicit Walk(PlainPath& path) : path_(path) { restart(); }
  ~Walk() { close(at_); }
  Walk(const Walk&) = delete;
  Walk& operator=(const Walk&) = delete;

  void restart() {
    if (at_ >= 0) close(at_);
    at_ = open("/", O_PATH | O_CLOEXEC | O_DIRECTORY);
    path_.text[0] = '\0';
  }
  int at() const { return at_; }
  const char* text() const { return path_.text[0] == '\0' ? "/" : path_.text.data(); }
  bool name(const char* part) {
    const std::size_t length = std::strlen(path_.text.data());
    const std::size_t more = std::strlen(part);
    if (length + more + 2 > path_.text.size()) return false;
    path_.text[length] = '/';
    std::memcpy(&path_.text[length + 1], part, more + 1);
    return true;
  }
  void unname() {
    if (char* slash = std::strrchr(path_.text.data(), '/')) *slash = '\0';
  }
  void move_to(int folder) {
    close(at_);
    at_ = folder;
  }

 private:
  PlainPath& path_;
  int at_ = -1;
};

/// Puts what the link says before the rest of the path.
bool put_link_first(int link, const char*& rest, char (&text)[2 * PATH_MAX]) {
  char target[PATH_MAX];
  const ssize_t size = readlinkat(link, "", target, sizeof target - 1);
  const std::size_t left = std::strlen(rest);
  if (size <= 0 || static_cast<std::size_t>(size) + left + 2 > sizeof text) return false;
  std::memmove(text + size, rest, left + 1);
  std::memcpy(text, target, static_cast<std::size_t>(size));
  rest = text;
  return true;
}

bool is_followed(const struct stat& link) {
  return link.st_uid == 0 || link.st_uid == geteuid();
}

}  // namespace

bool follow_to_made(const char* path, PlainPath& plain, StartTrouble& trouble) {
  Walk walk(plain);
  char text[2 * PATH_MAX];
  char part[NAME_MAX + 1];
  if (std::strlen(path) >= PATH_MAX) {
    return failed(trouble, StartFault::itself, ENAMETOOLONG, "");
  }
  std::memcpy(text, path, std::strlen(path) + 1);
  const char* rest = text;
  bool is_missing = false;
  bool is_too_long = false;
  for (int links = 0; next_part(rest, part, is_too_long);) {
    if (std::strcmp(part, ".") == 0) continue;
    const bool is_up = std::strcmp(part, "..") == 0;
    if (is_up) {
      walk.unname();
    } else if (!walk.name(part)) {
      return failed(trouble, StartFault::itself, ENAMETOOLONG, "");
    }
    // Below what is missing everything is.
    if (is_missing) {
      if (is_up) return failed(trouble, StartFault::itself, ENOENT, "");
      continue;
    }
    const int next = openat(walk.at(), part, kHow);
    if (next < 0 && errno != ENOENT) {
      const int error = errno;
      walk.unname();
      return failed(trouble, StartFault::above, error, walk.text());
    }
    is_missing = next < 0;
    if (is_missing) continue;
    struct stat found {};
    fstat(next, &found);
    if (S_ISDIR(found.st_mode)) {
      walk.move_to(next);
    } else if (!S_ISLNK(found.st_mode)) {
      close(next);
      return failed(trouble, StartFault::above, ENOTDIR, walk.text());
    } else {
      trouble.detail = found.st_uid;
      const bool good = is_followed(found) && ++links <= kMostLinks;
      const bool put = good && put_link_first(next, rest, text);
      close(next);
      if (!is_followed(found)) return failed(trouble, StartFault::other_link, EPERM, walk.text());
      if (!put) return failed(trouble, StartFault::itself, ELOOP, walk.text());
      walk.unname();
      if (*rest == '/') walk.restart();
    }
  }
  return is_too_long ? failed(trouble, StartFault::itself, ENAMETOOLONG, "") : true;
}

bool make_and_enter(const PlainPath& plain, StartTrouble& trouble) {
  PlainPath so_far;
  Walk walk(so_far);
  char part[NAME_MAX + 1];
  const char* rest = plain.text.data();
  bool is_too_long = false;
  while (next_part(rest, part, is_too_long)) {
    walk.name(part);
    int next = openat(walk.at(), part, kHow | O_DIRECTORY);
    // Another task of the job may make it at the same time.
    if (next < 0 && errno == ENOENT && (mkdirat(walk.at(), part, 0777) == 0 || errno == EEXIST)) {
      next = openat(walk.at(), part, kHow | O_DIRECTORY);
    }
    if (next < 0) return failed(trouble, StartFault::making, errno, walk.text());
    walk.move_to(next);
  }
  if (fchdir(walk.at()) != 0) return failed(trouble, StartFault::above, errno, walk.text());
  return true;
}

bool enter(const char* path, StartTrouble& trouble) {
  if (chdir(path) == 0) return true;
  failed(trouble, StartFault::itself, errno, "");
  char target[PATH_MAX];
  if (trouble.error == EACCES || trouble.error == ENOTDIR) {
    find_on_way(path, trouble);
  } else if (trouble.error == ENOENT) {
    const ssize_t size = readlink(path, target, sizeof target - 1);
    if (size <= 0) return false;
    target[size] = '\0';
    failed(trouble, StartFault::dead_link, ENOENT, target);
  }
  return false;
}

}  // namespace muster::process
