#include "workers/process/limits/task_users.hpp"

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include <functional>
#include <string>
#include <vector>

#include "tests/support/temp_file.hpp"

namespace muster::process {
namespace {

/// Of a process that runs `check` on a system with these accounts; 77: it could not be tried.
int code_with_accounts(const std::string& passwd, const std::function<int()>& check) {
  const test::TempFile file("passwd", passwd);
  const pid_t pid = fork();
  if (pid == 0) {
    const bool apart = unshare(geteuid() == 0 ? CLONE_NEWNS : CLONE_NEWUSER | CLONE_NEWNS) == 0 &&
                       mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
                       mount(file.path().c_str(), "/etc/passwd", nullptr, MS_BIND, nullptr) == 0;
    _exit(apart ? check() : 77);
  }
  int status = 0;
  waitpid(pid, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/// The account of a person that has to be found; without a number where it is not.
TaskAccount person(const std::string& name) {
  const FoundAccount found = system_accounts().person(name);
  return found && found.value() ? *found.value() : TaskAccount{};
}
bool is_no_person(const std::string& name) {
  const FoundAccount found = system_accounts().person(name);
  return found && !found.value();
}

const std::string kAccounts =
    "root:x:0:0::/:/bin/sh\n"
    "clock:x:999:999::/:/bin/sh\n"
    "first:x:1000:4242::/srv/first:/bin/sh\n"
    "mail:x:1001:4242::/srv/mail:/usr/sbin/nologin\n"
    "nobody:x:65534:65534::/:/bin/sh\n";

TEST(AccountsOfTheSystem, OfAPersonAreFoundByTheName) {
  const int code = code_with_accounts(kAccounts, [] {
    const TaskAccount first{1000, 4242, {4242}, "/srv/first", false, "first", "/bin/sh"};
    if (person("first") != first) return 1;
    if (person("mail").uid != 1001 || !person("mail").shell.empty()) return 2;
    return 0;
  });
  if (code == 77) GTEST_SKIP() << "this system lets nobody make namespaces";
  EXPECT_EQ(code, 0);
}

TEST(AccountsOfTheSystem, OfItsServicesAndOfNobodyAreNoPersons) {
  const int code = code_with_accounts(kAccounts, [] {
    int number = 0;
    for (const char* name : {"root", "clock", "nobody", "absent"}) {
      ++number;
      if (!is_no_person(name)) return number;
    }
    return 0;
  });
  if (code == 77) GTEST_SKIP() << "this system lets nobody make namespaces";
  EXPECT_EQ(code, 0);
}

TEST(AccountsOfTheSystem, HaveTheirNumbersWhoeverTheyAre) {
  const int code = code_with_accounts(kAccounts, [] {
    const Accounts accounts = system_accounts();
    if (!accounts.has(0) || !accounts.has(999) || !accounts.has(1000)) return 1;
    if (accounts.has(1002)) return 2;
    if (account_with(999).login != "clock" || account_with(1002).login != "1002") return 3;
    return listed_account_in({900, 1000}) == "clock (999)" ? 0 : 4;
  });
  if (code == 77) GTEST_SKIP() << "this system lets nobody make namespaces";
  EXPECT_EQ(code, 0);
}

}  // namespace
}  // namespace muster::process
