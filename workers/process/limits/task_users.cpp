// Numbers are given away under the file's lock, one line each, which is appended and synced before
// anybody runs by it. A line that a crash has cut has no end, gave nothing away, and is cut off.

#include "workers/process/limits/task_users.hpp"

#include <grp.h>
#include <pwd.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <set>
#include <utility>

#include "workers/process/descriptor.hpp"
#include "workers/process/files/attempt_dir.hpp"

namespace muster::process {
namespace {

/// Below it are the accounts of the system's own services: a job's user must not get one of theirs
/// by its name, as names are taken on trust. The usual UID_MIN of /etc/login.defs.
constexpr std::uint32_t kFirstPerson = 1000;
constexpr std::uint32_t kNobody = 65534;
constexpr std::size_t kMaxFile = std::size_t{64} << 20;
constexpr std::size_t kMaxEntry = std::size_t{1} << 20;

/// The reentrant calls want room for the entry's texts: as much as they ask for, to a bound.
template <class Ask>
int ask_system(Ask ask) {
  std::vector<char> room(4096);
  int error = 0;
  while ((error = ask(room)) == ERANGE && room.size() < kMaxEntry) room.resize(room.size() * 2);
  return error;
}

/// Nothing when they cannot be had: a task without some of them could not read its user's files.
std::optional<std::vector<std::uint32_t>> groups_of(const std::string& name, gid_t group) {
  int count = 64;
  std::vector<gid_t> groups(static_cast<std::size_t>(count));
  // -1: there are more; the call has put how many into count.
  if (getgrouplist(name.c_str(), group, groups.data(), &count) < 0 && count > 0) {
    groups.resize(static_cast<std::size_t>(count));
    if (getgrouplist(name.c_str(), group, groups.data(), &count) < 0) return std::nullopt;
  }
  groups.resize(static_cast<std::size_t>(count));
  return std::vector<std::uint32_t>(groups.begin(), groups.end());
}

/// These say "no such entry" on some systems; any other error says that the answer is not known.
bool is_known(int error) {
  return error == 0 || error == ENOENT || error == ESRCH;
}

/// A shell that runs commands; empty: the account's is there to turn people away.
std::string shell_of(const passwd& entry) {
  const std::string shell = entry.pw_shell == nullptr ? "" : entry.pw_shell;
  return shell.ends_with("/nologin") || shell.ends_with("/false") ? std::string{} : shell;
}

std::string text_of(const char* text) {
  return text == nullptr ? "" : text;
}

FoundAccount person_called(const std::string& name) {
  std::optional<TaskAccount> account;
  const int failed = ask_system([&](std::vector<char>& room) {
    passwd entry{};
    passwd* found = nullptr;
    const int error = getpwnam_r(name.c_str(), &entry, room.data(), room.size(), &found);
    // The texts of the entry are in `room`, so they are taken here.
    if (error != 0 || found == nullptr) return error;
    if (entry.pw_uid < kFirstPerson || entry.pw_uid == kNobody) return 0;
    auto groups = groups_of(name, entry.pw_gid);
    if (!groups) return EIO;
    account = TaskAccount{entry.pw_uid, entry.pw_gid, *std::move(groups), text_of(entry.pw_dir),
                          false,        name,         shell_of(entry)};
    return 0;
  });
  if (!is_known(failed)) return Failure<int>{failed, std::strerror(failed)};
  return account;
}

bool is_taken(std::uint32_t uid) {
  bool taken = false;
  const int error = ask_system([&](std::vector<char>& room) {
    passwd entry{};
    passwd* found = nullptr;
    const int failed = getpwuid_r(uid, &entry, room.data(), room.size(), &found);
    taken = found != nullptr;
    return failed;
  });
  // A number whose use cannot be found out is not given away.
  return taken || !is_known(error);
}

/// Anything but plain characters as %XX: names are the API's, and a line is one name's.
std::string escaped(const std::string& name) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  for (const char c : name) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte > ' ' && byte < 0x7f && byte != '%') {
      text += c;
    } else {
      text += {'%', kDigits[byte >> 4], kDigits[byte & 15]};
    }
  }
  return text;
}

std::string unescaped(std::string_view text) {
  std::string name;
  for (std::size_t i = 0; i < text.size(); ++i) {
    unsigned byte = 0;
    const bool coded = text[i] == '%' && i + 2 < text.size();
    if (coded) std::from_chars(&text[i + 1], &text[i + 1] + 2, byte, 16);
    name += coded ? static_cast<char>(byte) : text[i];
    if (coded) i += 2;
  }
  return name;
}

TaskAccount of_range(std::uint32_t number, const std::string& user) {
  return {number, number, {}, "", true, user, ""};
}

Failure<TaskUserError> file_failure(const std::filesystem::path& file) {
  return {TaskUserError::file, file.string() + ": " + std::strerror(errno)};
}

/// Durable with its name: the file's folder is synced when the file is new.
bool append(const Descriptor& file, const std::string& line, const std::filesystem::path& path,
            bool is_new) {
  if (write(file.get(), line.data(), line.size()) != static_cast<ssize_t>(line.size())) {
    return false;
  }
  if (fsync(file.get()) != 0) return false;
  if (!is_new) return true;
  const Descriptor folder = open_folder(path.parent_path());
  return folder && fsync(folder.get()) == 0;
}

}  // namespace

Accounts system_accounts() {
  return {person_called, is_taken};
}

TaskAccount account_with(std::uint32_t uid) {
  TaskAccount account;
  account.uid = uid;
  account.login = std::to_string(uid);
  ask_system([&](std::vector<char>& room) {
    passwd entry{};
    passwd* found = nullptr;
    const int error = getpwuid_r(uid, &entry, room.data(), room.size(), &found);
    if (error != 0 || found == nullptr) return error;
    account.login = text_of(entry.pw_name);
    account.shell = shell_of(entry);
    return 0;
  });
  return account;
}

TaskUsers::TaskUsers(UidRange range, std::filesystem::path file, Accounts accounts)
    : range_(range), file_(std::move(file)), accounts_(std::move(accounts)) {}

std::string listed_account_in(UidRange range) {
  std::string account;
  setpwent();
  while (const passwd* entry = getpwent()) {
    if (entry->pw_uid < range.first || entry->pw_uid > range.last) continue;
    account = std::string(entry->pw_name) + " (" + std::to_string(entry->pw_uid) + ")";
    break;
  }
  endpwent();
  return account;
}

Expected<TaskAccount, TaskUserError> TaskUsers::account_of(const std::string& user) {
  auto found = known_account_of(user);
  // No number is given to who may have an account: it would be kept for good.
  if (!found) {
    return Failure<TaskUserError>{
        TaskUserError::unknown,
        "whether user " + user +
            " has an account cannot be found out at present: " + found.error().message};
  }
  auto known = std::move(found).value();
  if (!known) return give(user);
  // A user of that account could get at the user's files, and the user's tasks at that account's.
  if (known->of_range && accounts_.has(known->uid)) {
    const std::string number = std::to_string(known->uid);
    return Failure<TaskUserError>{
        TaskUserError::taken,
        "user id " + number + ", which user " + user + " has by " + file_.string() +
            ", is that of an account of this system now, or its accounts cannot be looked at: give "
            "the account another one"};
  }
  return *std::move(known);
}

FoundAccount TaskUsers::known_account_of(const std::string& user) {
  auto last = last_account_of(user);
  if (!last || last.value()) return last;
  catch_up();
  return last_account_of(user);
}

void TaskUsers::catch_up() {
  read(read_whole(AT_FDCWD, file_.c_str(), kMaxFile).value_or(""));
}

FoundAccount TaskUsers::last_account_of(const std::string& user) const {
  // Asked each time: an account may be made, or get other groups, while this process runs.
  auto person = accounts_.person(user);
  if (!person || person.value()) return person;
  const auto found = numbers_.find(user);
  if (found == numbers_.end()) return std::optional<TaskAccount>{};
  return std::optional(of_range(found->second, user));
}

/// Lines are "NUMBER NAME"; one without a line end does not count.
void TaskUsers::read(const std::string& text) {
  numbers_.clear();
  for (std::size_t begin = 0, end = 0; (end = text.find('\n', begin)) != std::string::npos;
       begin = end + 1) {
    const std::string_view line(&text[begin], end - begin);
    std::uint32_t number = 0;
    const auto parsed = std::from_chars(line.data(), line.data() + line.size(), number);
    const auto space = static_cast<std::size_t>(parsed.ptr - line.data());
    // Never root, whatever became of the file.
    if (parsed.ec != std::errc{} || space >= line.size() || number == 0) continue;
    numbers_.emplace(unescaped(line.substr(space + 1)), number);
  }
}

Expected<TaskAccount, TaskUserError> TaskUsers::give(const std::string& user) {
  struct stat before {};
  const bool is_new = stat(file_.c_str(), &before) != 0;
  const Descriptor file(open(file_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  // Waits for a worker that is giving a number away, which takes a write and a sync.
  if (!file || flock(file.get(), LOCK_EX) != 0) return file_failure(file_);
  const auto text = read_whole(AT_FDCWD, file_.c_str(), kMaxFile);
  if (!text) return file_failure(file_);
  read(*text);
  // Another worker may have been first.
  if (const auto found = numbers_.find(user); found != numbers_.end()) {
    return of_range(found->second, user);
  }
  const std::size_t whole = text->rfind('\n') + 1;  // 0 when there is no line
  if (ftruncate(file.get(), static_cast<off_t>(whole)) != 0 || lseek(file.get(), 0, SEEK_END) < 0) {
    return file_failure(file_);
  }
  const auto number = free_number();
  if (!number) {
    return Failure<TaskUserError>{TaskUserError::used_up,
                                  "no user id is left for user " + user + ": every one from " +
                                      std::to_string(range_.first) + " to " +
                                      std::to_string(range_.last) +
                                      " is another's; let the range of worker.task_uids be larger"};
  }
  if (!append(file, std::to_string(*number) + " " + escaped(user) + "\n", file_, is_new)) {
    return file_failure(file_);
  }
  numbers_[user] = *number;
  return of_range(*number, user);
}

std::optional<std::uint32_t> TaskUsers::free_number() const {
  std::set<std::uint32_t> given;
  for (const auto& [name, number] : numbers_) given.insert(number);
  // By 64 bits: the range may end at the largest number.
  for (std::uint64_t at = range_.first; at <= range_.last; ++at) {
    const auto number = static_cast<std::uint32_t>(at);
    if (!given.contains(number) && !accounts_.has(number)) return number;
  }
  return std::nullopt;
}

}  // namespace muster::process
