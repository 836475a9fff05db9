// How a process is made that is in a cgroup from its first moment: one that is moved later may have
// forked by then.

#include <linux/sched.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdint>

#include "workers/process/limits/limits.hpp"

namespace muster::process {
namespace {

clone_args arguments(int group_folder) {
  clone_args args{};
  args.exit_signal = SIGCHLD;
  if (group_folder < 0) return args;
  args.flags = CLONE_INTO_CGROUP;
  args.cgroup = static_cast<std::uint64_t>(group_folder);
  return args;
}

// Sanitizers do not expect that two processes share what they know of a stack.
#if defined(__x86_64__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)

/// Holds what execvp() lays down for a program without a first line: a pointer for each word of the
/// order, of which the kernel takes some 700,000 at most. Pages that are not touched take no
/// memory.
constexpr std::size_t kStackBytes = std::size_t{8} << 20;
/// Below it, so that whatever takes more ends the task and writes over nothing.
constexpr std::size_t kGuardBytes = std::size_t{1} << 16;

pid_t clone_sharing(clone_args args, ChildMain run, const void* with) {
  void* whole = mmap(nullptr, kGuardBytes + kStackBytes, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK | MAP_NORESERVE, -1, 0);
  if (whole == MAP_FAILED) return -1;
  mprotect(whole, kGuardBytes, PROT_NONE);
  char* stack = static_cast<char*>(whole) + kGuardBytes;
  args.flags |= CLONE_VM | CLONE_VFORK;
  args.stack = reinterpret_cast<std::uint64_t>(stack);
  args.stack_size = kStackBytes;
  long result = SYS_clone3;
  register const void* argument asm("r12") = with;
  register ChildMain function asm("r13") = run;
  // In the new process the stack is another, so nothing of this function can be used there but what
  // registers hold.
  asm volatile(
      "syscall\n\t"
      "testq %%rax, %%rax\n\t"
      "jnz 1f\n\t"
      "movq %%r12, %%rdi\n\t"
      "callq *%%r13\n\t"
      "hlt\n"
      "1:"
      : "+a"(result)
      : "D"(&args), "S"(sizeof args), "r"(argument), "r"(function)
      : "rcx", "r11", "cc", "memory");
  munmap(whole, kGuardBytes + kStackBytes);
  if (result >= 0) return static_cast<pid_t>(result);
  errno = static_cast<int>(-result);
  return -1;
}

#else

pid_t clone_sharing(const clone_args& /*args*/, ChildMain /*run*/, const void* /*with*/) {
  errno = ENOSYS;
  return -1;
}

#endif

}  // namespace

pid_t fork_into(int group_folder, ChildMain run, const void* with) {
  clone_args args = arguments(group_folder);
  const pid_t pid =
      group_folder < 0 ? fork() : static_cast<pid_t>(syscall(SYS_clone3, &args, sizeof args));
  if (pid == 0) run(with);
  return pid;
}

pid_t share_into(int group_folder, ChildMain run, const void* with) {
  const pid_t pid = clone_sharing(arguments(group_folder), run, with);
  // Filters of system calls refuse what they do not know by EPERM. A limit that a copy cannot have
  // either refuses it once more.
  return pid < 0 ? fork_into(group_folder, run, with) : pid;
}

}  // namespace muster::process
