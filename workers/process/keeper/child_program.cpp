#include "workers/process/keeper/child_program.hpp"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <memory>

#include "workers/process/limits/limits.hpp"
#include "workers/process/program_start.hpp"
#include "workers/process/shim/shim_task.hpp"

// Between fork and exec the child makes system calls only, on what is made before.

namespace muster::process {
namespace {

constexpr const char* kTextReader = "/bin/sh";
constexpr std::int32_t kSignalled = 128;

struct StartPlan {
  ProgramPlan* program = nullptr;
  pid_t parent = 0;
  int out = -1;  ///< its output stream; -1: this process's own
  int err = -1;  ///< its error stream, likewise
  int news = -1;
};

std::vector<char*> pointers_into(const std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  pointers.reserve(texts.size() + 1);
  for (const std::string& text : texts) pointers.push_back(const_cast<char*>(text.c_str()));
  pointers.push_back(nullptr);
  return pointers;
}

void run_started(const void* with) {
  const auto& plan = *static_cast<const StartPlan*>(with);
  // A signal to its group reaches what it has started, and not this process.
  setsid();
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  // The parent may have died before that was set: the signal would not come.
  if (getppid() != plan.parent) _exit(kCannotRun);
  if (plan.out >= 0) dup2(plan.out, STDOUT_FILENO);
  if (plan.err >= 0) dup2(plan.err, STDERR_FILENO);
  // Signals are blocked as they come by descriptor.
  sigset_t no_signals;
  sigemptyset(&no_signals);
  sigprocmask(SIG_SETMASK, &no_signals, nullptr);
  const StartTrouble trouble = become_program(*plan.program);
  [[maybe_unused]] const ssize_t put = write(plan.news, &trouble, sizeof trouble);
  _exit(exit_code_of(trouble));
}

std::string words_for(const StartTrouble& trouble, const ProgramWords& words) {
  Order order;
  order.program.argv = words.argv;
  TaskPlace place;
  // The task has entered its work folder, whichever that is.
  const std::unique_ptr<char, decltype(&free)> here(get_current_dir_name(), &free);
  order.program.work_dir = place.work_dir = here ? here.get() : ".";
  return describe(trouble, order, place);
}

}  // namespace

std::optional<ChildProgram> ChildProgram::start(const ProgramWords& words, ProgramOutput output) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0) return std::nullopt;
  ChildProgram child;
  child.news_ = Descriptor(ends[0]);
  const Descriptor news(ends[1]);
  Descriptor nothing;
  Descriptor printed;
  if (output == ProgramOutput::read) {
    int both[2];
    if (pipe2(both, O_CLOEXEC) != 0) return std::nullopt;
    child.out_ = Descriptor(both[0]);
    printed = Descriptor(both[1]);
    // This process alone never waits: the program may well.
    if (fcntl(both[0], F_SETFL, O_NONBLOCK) != 0) return std::nullopt;
  }
  if (output != ProgramOutput::inherited) {
    nothing = Descriptor(open("/dev/null", O_WRONLY | O_CLOEXEC));
    if (!nothing) return std::nullopt;
  }
  ProgramPlan program;
  program.argv = pointers_into(words.argv);
  program.env = pointers_into(words.env);
  program.program = program.argv.front();
  program.reader_argv = {const_cast<char*>(kTextReader), nullptr};
  // With the null that ends them.
  program.reader_argv.insert(program.reader_argv.end(), program.argv.begin() + 1,
                             program.argv.end());
  const int out = printed ? printed.get() : nothing.get();
  const StartPlan plan{&program, getpid(), out, nothing.get(), news.get()};
  // A copy: a file system that does not answer may hold up the child, and not this process.
  child.pid_ = fork_into(-1, run_started, &plan);
  if (child.pid_ < 0) return std::nullopt;
  return child;
}

void ChildProgram::hear(const ProgramWords& words) {
  if (!news_) return;
  StartTrouble trouble;
  const ssize_t got = read(news_.get(), &trouble, sizeof trouble);
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
  // The pipe closes with exec: nothing in it means that the program runs.
  news_.reset();
  if (got == sizeof trouble) start_failure_ = words_for(trouble, words);
}

void ChildProgram::read_output() {
  std::array<char, 1024> piece;
  while (out_) {
    const ssize_t got = ::read(out_.get(), piece.data(), piece.size());
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (got <= 0) return out_.reset();
    const std::size_t left = kMostOutput - output_.size();
    output_.append(piece.data(), std::min(static_cast<std::size_t>(got), left));
  }
}

void ChildProgram::signal(int number) const {
  // Before its setsid() the child leads no group yet.
  if (kill(-pid_, number) != 0) kill(pid_, number);
}

std::int32_t exit_code_of_status(int status) {
  return WIFSIGNALED(status) ? kSignalled + WTERMSIG(status) : WEXITSTATUS(status);
}

}  // namespace muster::process
