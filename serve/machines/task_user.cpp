#include "serve/machines/task_user.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <vector>

#include "config/work_folder.hpp"
#include "workers/process/limits/namespaces.hpp"

namespace muster::machines {
namespace {

namespace fs = std::filesystem;

constexpr std::uint32_t kTaskGroup = 65534;  ///< as process::Order::user_group
constexpr std::size_t kMostFolders = 120;    ///< of a way; an exit code has to name each
constexpr mode_t kPassage = 0711;

/// The folders of a path from the root on, as far as they are there.
void add_way(const fs::path& path, std::vector<std::string>& way) {
  fs::path so_far;
  std::error_code none;
  for (const fs::path& part : path) {
    so_far /= part;
    if (!fs::is_directory(so_far, none) || way.size() >= kMostFolders) return;
    way.push_back(so_far.string());
  }
}

/// Result of the look in a process of its own that has become the account; 0 where that is not
/// possible, which the start of the task will report. The look makes system calls only, for other
/// threads may hold locks.
template <class Look>
int look_as(const process::TaskAccount& account, const Look& look) {
  const pid_t pid = fork();
  if (pid == 0) {
    const bool is_other =
        syscall(SYS_setgroups, account.groups.size(), account.groups.data()) == 0 &&
        syscall(SYS_setresgid, account.gid, account.gid, account.gid) == 0 &&
        syscall(SYS_setresuid, account.uid, account.uid, account.uid) == 0;
    _exit(is_other ? look() : 0);
  }
  int status = 0;
  while (pid > 0 && waitpid(pid, &status, 0) < 0) {
    if (errno != EINTR) return 0;
  }
  return pid > 0 && WIFEXITED(status) ? WEXITSTATUS(status) : 0;
}

/// Whether the account can make something in the folder.
bool can_make_in(const fs::path& folder, const process::TaskAccount* account) {
  const auto is_refused = [&folder] {
    return access(folder.c_str(), W_OK | X_OK) != 0 && (errno == EACCES || errno == EROFS) ? 1 : 0;
  };
  return (account != nullptr ? look_as(*account, is_refused) : is_refused()) == 0;
}

/// The end of a path that is there: itself or one above it; its mode.
fs::path last_that_is_there(fs::path path, struct stat& found) {
  while (stat(path.c_str(), &found) != 0 && path.has_relative_path()) path = path.parent_path();
  return path;
}

std::string user_words(const std::string& user, const process::TaskAccount* account) {
  if (account == nullptr) return fmt::format("user {} of this system", geteuid());
  return fmt::format("user {} (uid {})", user, account->uid);
}

/// Whether a folder's mode lets the account in. Rights that it does not show, such as an access
/// list, can only let in more.
bool is_open_to(const struct stat& folder, const process::TaskAccount& account) {
  if (folder.st_uid == account.uid) return (folder.st_mode & S_IXUSR) != 0;
  const auto& groups = account.groups;
  const bool in_group = folder.st_gid == account.gid ||
                        std::find(groups.begin(), groups.end(), folder.st_gid) != groups.end();
  return (folder.st_mode & (in_group ? S_IXGRP : S_IXOTH)) != 0;
}

/// Whether the modes alone say that the account can enter the folder; no process is needed then.
bool is_plainly_open(const fs::path& place, const process::TaskAccount& account) {
  std::vector<std::string> way;
  std::error_code none;
  add_way(place, way);
  add_way(fs::weakly_canonical(place, none), way);
  return std::all_of(way.begin(), way.end(), [&account](const std::string& folder) {
    struct stat found {};
    return stat(folder.c_str(), &found) == 0 && is_open_to(found, account);
  });
}

}  // namespace

bool is_other_user(std::uint32_t user, std::uint32_t self) {
  return user != 0 && user != self;
}

std::optional<std::uint32_t> other_task_user(const LiveWorkerConfig& tasks, std::uint32_t self) {
  if (const auto range = parse_uid_range(tasks.task_uids)) return range->last;
  return is_other_user(tasks.task_uid, self) ? std::optional(tasks.task_uid) : std::nullopt;
}

std::string task_user_setting(const LiveWorkerConfig& tasks) {
  if (!tasks.task_uids.empty()) return "task_uids = " + tasks.task_uids;
  return fmt::format("task_uid = {}", tasks.task_uid);
}

std::optional<TaskUserFault> task_range_fault(const LiveWorkerConfig& tasks) {
  const auto range = parse_uid_range(tasks.task_uids);
  if (!range) return std::nullopt;
  const std::string account = process::listed_account_in(*range);
  if (account.empty()) return std::nullopt;
  return TaskUserFault{"task_uids", tasks.task_uids,
                       "the range has a user id of the account " + account +
                           "; it has to be of numbers that no account has"};
}

std::optional<TaskUserFault> task_user_fault(const LiveWorkerConfig& tasks, std::uint32_t self) {
  const auto only_root = [self](const std::string& key, const std::string& value) {
    const std::string users = key == "task_uid" ? "user" : "users";
    return TaskUserFault{
        key, value,
        fmt::format("only root can run tasks as {} {}, and this is user {}", users, value, self)};
  };
  if (self != 0 && !tasks.task_uids.empty()) return only_root("task_uids", tasks.task_uids);
  if (self != 0 && is_other_user(tasks.task_uid, self)) {
    return only_root("task_uid", std::to_string(tasks.task_uid));
  }
  if (tasks.isolation != IsolationChoice::namespaces) return std::nullopt;
  std::string fault = process::namespaces_fault();
  if (fault.empty()) return std::nullopt;
  return TaskUserFault{"isolation", "namespaces", std::move(fault)};
}

bool by_namespaces(const LiveWorkerConfig& tasks) {
  if (tasks.isolation == IsolationChoice::namespaces) return true;
  return tasks.isolation == IsolationChoice::automatic && process::namespaces_fault().empty();
}

std::string task_user_sentence(const LiveWorkerConfig& tasks) {
  if (!tasks.task_uids.empty()) {
    return fmt::format(
        "Tasks run as their user's account, or as one of the users {} that is that user's alone: "
        "apart from the cluster's keys and from each other (isolation: uid)",
        tasks.task_uids);
  }
  if (const auto other = other_task_user(tasks)) {
    return fmt::format("Tasks run as user {}, apart from the cluster's keys (isolation: one uid)",
                       *other);
  }
  // Containment by the user's rights does not exist then.
  if (geteuid() == 0) {
    return "Tasks run as root: they can do anything on this machine (isolation: none)";
  }
  const std::string_view rest =
      by_namespaces(tasks)
          ? ", with the cluster's folders out of their sight (isolation: namespaces)"
          : ": they can read and change what you can, the cluster's keys with it (isolation: none)";
  return fmt::format("Tasks run as you (user {}){}", geteuid(), rest);
}

std::optional<fs::path> barred_on_way(const fs::path& place, std::uint32_t user) {
  // With the group of tasks that run as one user; an id of a range has that of its own number.
  return barred_on_way(place, process::TaskAccount{user, kTaskGroup});
}

std::optional<fs::path> barred_on_way(const fs::path& place, const process::TaskAccount& account) {
  if (geteuid() != 0 || account.uid == 0) return std::nullopt;
  std::vector<std::string> way;
  std::error_code none;
  add_way(fs::absolute(place), way);
  add_way(fs::weakly_canonical(place, none), way);  // where links lead
  std::vector<std::string> inside;
  for (const std::string& folder : way) inside.push_back(folder + "/.");
  // The place of the first folder that is barred, counted from 1.
  const auto first = static_cast<std::size_t>(look_as(account, [&inside] {
    for (std::size_t i = 0; i < inside.size(); ++i) {
      const int folder = open(inside[i].c_str(), O_PATH | O_CLOEXEC);
      if (folder < 0 && errno == EACCES) return static_cast<int>(i + 1);
      close(folder);
    }
    return 0;
  }));
  if (first == 0 || first > way.size()) return std::nullopt;
  return way[first - 1];
}

std::string barred_text(const fs::path& folder, std::uint32_t user) {
  struct stat found {};
  stat(folder.c_str(), &found);
  return fmt::format(
      "tasks of user {} cannot pass {} (mode {:o}, of user {}), so not get to their own folders",
      user, folder.string(), found.st_mode & 07777, found.st_uid);
}

WorkFolders::WorkFolders(const LiveWorkerConfig& tasks) : other_(other_task_user(tasks)) {
  const auto range = parse_uid_range(tasks.task_uids);
  if (!range) return;
  users_.emplace(*range, tasks.checkpoints / process::kTaskUsersFile);
  users_->catch_up();
}

const std::optional<process::TaskAccount>& WorkFolders::account_of(const std::string& user) {
  const auto known = accounts_.find(user);
  if (known != accounts_.end()) return known->second;
  std::optional account(process::TaskAccount{*other_, kTaskGroup});
  if (users_) {
    const auto found = users_->last_account_of(user);
    if (!found) {
      account = std::nullopt;
    } else {
      // A user without a number yet will own nothing that another number of the range does not.
      account = found.value().value_or(process::TaskAccount{*other_, *other_});
    }
  }
  return accounts_.emplace(user, std::move(account)).first->second;
}

bool WorkFolders::looks_at(const Program& program) {
  return !program.work_dir.empty() || names_a_file(program);
}

bool WorkFolders::names_a_file(const Program& program) {
  // A line for the shell is most of what is submitted, and every system has that.
  return program.script.empty() && !program.argv.empty() && program.argv[0].starts_with('/') &&
         program.argv[0] != "/bin/sh";
}

std::string WorkFolders::fault(const Program& program, const std::string& user) {
  std::string fault;
  if (other_ && !account_of(user)) return fault;
  if (!program.work_dir.empty()) {
    const std::string key = (program.make_work_dir ? "make " : "enter ") + program.work_dir;
    const auto [place, is_new] = faults_.try_emplace({user, key});
    if (is_new) {
      place->second = program.make_work_dir ? fault_of_made(program.work_dir, user)
                                            : fault_of_folder(program.work_dir, user);
    }
    fault = place->second;
  }
  if (!fault.empty() || !names_a_file(program)) return fault;
  const auto [place, is_new] = faults_.try_emplace({user, "run " + program.argv[0]});
  if (is_new) place->second = fault_of_program(program.argv[0], user);
  return place->second;
}

/// The account of the user's tasks; null: they run as this process does.
const process::TaskAccount* WorkFolders::other_account(const std::string& user) {
  return other_ ? &*account_of(user) : nullptr;
}

/// The folder that bars the way to a place; empty: no folder is known to.
std::string WorkFolders::bar(const fs::path& place, const std::string& user) {
  const process::TaskAccount* account = other_account(user);
  std::optional<fs::path> barred;
  if (account != nullptr) {
    if (is_plainly_open(place, *account)) return {};
    barred = barred_on_way(place, *account);
  } else {
    std::vector<std::string> way;
    add_way(place, way);
    const auto first = std::find_if(way.begin(), way.end(), [](const std::string& folder) {
      return access(folder.c_str(), X_OK) != 0 && errno == EACCES;
    });
    if (first != way.end()) barred = *first;
  }
  if (!barred) return {};
  struct stat found {};
  stat(barred->c_str(), &found);
  return fmt::format("{} cannot enter {}: {} has mode {:o} and is of user {}",
                     user_words(user, account), place.string(), barred->string(),
                     found.st_mode & 07777, found.st_uid);
}

std::string WorkFolders::fault_of_folder(const std::string& folder, const std::string& user) {
  if (std::string barred = bar(folder, user); !barred.empty()) return "work_dir: " + barred;
  struct stat found {};
  if (stat(folder.c_str(), &found) == 0) {
    return S_ISDIR(found.st_mode) ? std::string{} : "work_dir: " + folder + " is no folder";
  }
  if (errno == ENOENT) {
    return "work_dir: " + folder +
           " is not there; --make-workdir (make_work_dir) has the tasks make it";
  }
  if (errno == ENOTDIR) return "work_dir: a part of " + folder + " is no folder";
  return {};
}

std::string WorkFolders::fault_of_made(const std::string& pattern, const std::string& user) {
  const std::string folder = common_work_folder(pattern);
  struct stat found {};
  const fs::path top = last_that_is_there(folder, found);
  if (std::string barred = bar(top, user); !barred.empty()) return "work_dir: " + barred;
  if (!S_ISDIR(found.st_mode)) return "work_dir: " + top.string() + " is no folder";
  // A folder that is there already, as a task of another job may have made it, need not be made.
  const process::TaskAccount* account = other_account(user);
  if (top == fs::path(folder) || can_make_in(top, account)) return {};
  return fmt::format("work_dir: {} cannot make {}: {} has mode {:o} and is of user {}",
                     user_words(user, account), folder, top.string(), found.st_mode & 07777,
                     found.st_uid);
}

std::string WorkFolders::fault_of_program(const std::string& program, const std::string& user) {
  const fs::path path(program);
  if (std::string barred = bar(path.parent_path(), user); !barred.empty()) {
    return "command: " + barred;
  }
  struct stat found {};
  if (stat(program.c_str(), &found) != 0) {
    const bool is_absent = errno == ENOENT || errno == ENOTDIR;
    return is_absent ? "command: " + program + " is not there" : std::string{};
  }
  if (S_ISDIR(found.st_mode)) return "command: " + program + " is a folder";
  if ((found.st_mode & 0111) != 0) return {};
  return fmt::format("command: {} is not executable: its mode is {:o} (chmod +x)", program,
                     found.st_mode & 07777);
}

std::string make_open_folder(const fs::path& folder) {
  std::error_code none;
  if (folder.empty() || fs::is_directory(folder, none)) return {};
  if (std::string trouble = make_open_folder(folder.parent_path()); !trouble.empty()) {
    return trouble;
  }
  if (mkdir(folder.c_str(), kPassage) == 0) {
    chmod(folder.c_str(), kPassage);  // independent of the umask
    return {};
  }
  return errno == EEXIST ? std::string{} : folder.string() + ": " + std::strerror(errno);
}

}  // namespace muster::machines
