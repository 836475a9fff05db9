#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "config/task_isolation.hpp"
#include "model/expected.hpp"

namespace muster::process {

/// User, groups and home of a task's process.
struct TaskAccount {
  std::uint32_t uid = 0;
  std::uint32_t gid = 0;
  std::vector<std::uint32_t> groups{};  ///< besides
  std::string home{};                   ///< empty: no home
  bool of_range = false;                ///< a number without an account: nothing else runs as it
  std::string login{};  ///< the account's name; of a number without one: whose it is
  std::string shell{};  ///< the account's; empty: no shell that runs commands

  friend bool operator==(const TaskAccount&, const TaskAccount&) = default;
};

/// Nothing where there is no such account; an errno where the system cannot tell at present.
using FoundAccount = Expected<std::optional<TaskAccount>, int>;

/// The accounts of a system.
struct Accounts {
  /// Of a person called so. Those of the system itself (below 1000, and `nobody`) do not count.
  std::function<FoundAccount(const std::string& name)> person;
  /// Whether an account, whoever's, has this number.
  std::function<bool(std::uint32_t uid)> has;
};
Accounts system_accounts();

/// The account with this number: its name and its shell. Of a number without one, or while the
/// system cannot say, the number stands for the name. May wait for a name service.
TaskAccount account_with(std::uint32_t uid);

/// "nobody (65534)": an account that has a number of the range, as far as the system lists its
/// accounts; empty: no such account. Not to be called by two threads at once.
std::string listed_account_in(UidRange range);

/// Where workers that share checkpoints keep which user has which number.
inline constexpr const char* kTaskUsersFile = ".task-users";

enum class TaskUserError : std::uint8_t {
  used_up,  ///< every number of the range is somebody's
  taken,    ///< an account has the user's number now, or may have
  file,     ///< which numbers are given away cannot be read or written
  unknown   ///< the system cannot say at present whether there is such an account
};

/// As whom each user's tasks run: under the account of that name or else a number of the range,
/// which is the name's from then on, for every process that has the same file.
class TaskUsers {
 public:
  TaskUsers(UidRange range, std::filesystem::path file, Accounts accounts = system_accounts());

  /// A number that is given away now is on the disk when this returns.
  Expected<TaskAccount, TaskUserError> account_of(const std::string& user);
  /// Likewise, without giving a number away: nothing when the user has no number yet.
  FoundAccount known_account_of(const std::string& user);
  /// Likewise, as of the last catch_up(), which reads the file again.
  FoundAccount last_account_of(const std::string& user) const;
  void catch_up();

 private:
  void read(const std::string& text);
  Expected<TaskAccount, TaskUserError> give(const std::string& user);
  std::optional<std::uint32_t> free_number() const;

  UidRange range_;
  std::filesystem::path file_;
  Accounts accounts_;
  std::map<std::string, std::uint32_t> numbers_;  ///< as the file had them last
};

}  // namespace muster::process
