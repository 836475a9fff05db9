#include "workers/process/shim/shim_task.hpp"

#include <grp.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <csignal>
#include <cstring>
#include <map>
#include <utility>

#include "workers/process/folder_start.hpp"
#include "workers/process/keeper/keeper.hpp"
#include "workers/process/keeper/keeper_order.hpp"
#include "workers/process/limits/limits.hpp"
#include "workers/process/limits/namespaces.hpp"
#include "workers/process/limits/task_limits.hpp"
#include "workers/process/program_start.hpp"

// Between fork and exec the child makes system calls only. All that it needs is made before, in
// ChildPlan.

namespace muster::process {
namespace {

constexpr const char* kShell = "/bin/sh";
constexpr const char* kPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
/// When the machine itself runs out of memory, tasks go before what supervises them.
constexpr const char* kOomScore = "500";
/// CLOSE_RANGE_CLOEXEC, which older headers lack.
constexpr unsigned kCloseRangeCloexec = 4;

/// Data that the child needs, made before the fork: afterwards it only makes system calls.
struct ChildPlan {
  ProgramPlan* program = nullptr;
  const char* work_dir = nullptr;
  PlainPath* made = nullptr;  ///< room for where a work folder is that is to be made
  const Order* order = nullptr;
  std::vector<gid_t> groups;
  std::optional<Sight> sight;  ///< nothing: it sees all
  pid_t parent = 0;
  int in = -1;
  int out = -1;
  int err = -1;
  int news = -1;
  const SideProgram* side = nullptr;  ///< null: it is the task itself
};

// The texts have to outlive the pointers, and the list ends with a null for exec.
std::vector<char*> pointers_to(const std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  pointers.reserve(texts.size() + 1);
  for (const std::string& text : texts) pointers.push_back(const_cast<char*>(text.c_str()));
  pointers.push_back(nullptr);
  return pointers;
}

[[noreturn]] void give_up(const ChildPlan& plan, const StartTrouble& trouble) {
  // The parent reads this whole or not at all: it is far below the size of an atomic pipe write.
  [[maybe_unused]] const ssize_t put = write(plan.news, &trouble, sizeof trouble);
  _exit(127);
}

[[noreturn]] void give_up(const ChildPlan& plan, StartStage stage) {
  StartTrouble trouble;
  trouble.stage = stage;
  trouble.error = errno;
  give_up(plan, trouble);
}

// Handlers are gone after exec, but what is ignored or blocked would be inherited.
void reset_signals() {
  struct sigaction plain {};
  plain.sa_handler = SIG_DFL;
  for (int number = 1; number < NSIG; ++number) sigaction(number, &plain, nullptr);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
}

void prefer_others() {
  const int file = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
  if (file < 0) return;
  [[maybe_unused]] const ssize_t put = write(file, kOomScore, std::strlen(kOomScore));
  close(file);
}

void become_user(const ChildPlan& plan) {
  if (plan.order->worker.user) {
    const gid_t group = plan.order->worker.user_group;
    const uid_t user = *plan.order->worker.user;
    if (setgroups(plan.groups.size(), plan.groups.data()) != 0 ||
        setresgid(group, group, group) != 0 || setresuid(user, user, user) != 0) {
      give_up(plan, StartStage::user);
    }
  }
  // Here, while the owners of links show: in a namespace of the user's own they are nobody's.
  StartTrouble trouble;
  if (plan.order->program.make_work_dir && !follow_to_made(plan.work_dir, *plan.made, trouble)) {
    give_up(plan, trouble);
  }
  if (plan.sight) {
    if (const int error = hide(*plan.sight); error != 0) {
      errno = error;
      give_up(plan, StartStage::sight);
    }
  }
  if (plan.side != nullptr) {
    // A task that cannot be looked into can still be in no namespaces but the shim's own, unless
    // they are what isolates it.
    const int error = join_namespaces(plan.side->task);
    if (error != 0 && (!plan.order->worker.hidden.empty() || error != EACCES)) {
      errno = error;
      give_up(plan, StartStage::sight);
    }
  }
  // After the change of user and of its rights, which clear it.
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  // The parent may have died before the signal was set: it would not be sent then.
  if (getppid() != plan.parent) _exit(127);
  // A program with set-user-ID gains no rights.
  prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
}

/// Limits by which the kernel holds a process and its children, without a group of its own.
void bound_process(const Order& order) {
  // Of the task alone: the shim has to keep up with it.
  if (order.worker.nice != 0) setpriority(PRIO_PROCESS, 0, order.worker.nice);
  if (!order.worker.cpus.empty()) {
    cpu_set_t cpus;
    CPU_ZERO(&cpus);
    for (const std::uint32_t cpu : order.worker.cpus) CPU_SET(cpu, &cpus);
    // Fails when these were taken from the worker meanwhile: then it runs on what is left.
    sched_setaffinity(0, sizeof cpus, &cpus);
  }
  set_task_limits();
  // Counted for the user as a whole, so only where nothing but its tasks runs as it. Root is not
  // held to it, so it is set before the user changes.
  if (order.worker.own_user && order.worker.max_processes != 0) {
    const rlimit processes{order.worker.max_processes, order.worker.max_processes};
    setrlimit(RLIMIT_NPROC, &processes);
  }
}

void enter_work_dir(const ChildPlan& plan) {
  StartTrouble trouble;
  const bool entered = plan.order->program.make_work_dir ? make_and_enter(*plan.made, trouble)
                                                         : enter(plan.work_dir, trouble);
  if (!entered) give_up(plan, trouble);
}

void run_child(const void* with) {
  const auto& plan = *static_cast<const ChildPlan*>(with);
  // A session of its own: a signal to its group reaches the task's processes and not the shim.
  setsid();
  reset_signals();
  prefer_others();
  bound_process(*plan.order);
  umask(022);
  if (dup2(plan.in, 0) < 0 || dup2(plan.out, 1) < 0 || dup2(plan.err, 2) < 0) {
    give_up(plan, StartStage::process);
  }
  // Its signals come by the terminal then, and its end when that is hung up.
  if (plan.side != nullptr && plan.side->terminal) ioctl(0, TIOCSCTTY, 0);
  // Everything but the three streams closes at exec, also what a library has opened.
  syscall(SYS_close_range, 3u, ~0u, kCloseRangeCloexec);
  become_user(plan);
  enter_work_dir(plan);
  give_up(plan, become_program(*plan.program));
}

bool make_pipe(Descriptor& reading, Descriptor& writing) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return false;
  reading = Descriptor(ends[0]);
  writing = Descriptor(ends[1]);
  // The reading end alone: a task that finds its output non-blocking would be surprised.
  return fcntl(ends[0], F_SETFL, O_NONBLOCK) == 0;
}

// Rounded down, at least 1: programs take it as their number of threads.
std::string whole_cpus(double cpus) {
  return std::to_string(std::max(1L, std::lround(std::floor(cpus + kResourceEpsilon))));
}

/// Says what reads the program where the kernel does not: a shell or, of the order's own script,
/// what its first line names, with the rest of that line as one argument, as the kernel has it. The
/// texts are the caller's, to be kept.
void read_by(const Order& order, std::string& reader, std::string& option, ProgramPlan& plan) {
  reader = kShell;
  std::string_view line =
      std::string_view(order.program.script).substr(0, order.program.script.find('\n'));
  if (line.starts_with("#!")) {
    constexpr std::string_view kBlanks = " \t";
    line.remove_prefix(std::min(line.find_first_not_of(kBlanks, 2), line.size()));
    line = line.substr(0, line.find_last_not_of(kBlanks) + 1);
    const std::size_t end = std::min(line.find_first_of(kBlanks), line.size());
    if (end > 0) {
      reader = line.substr(0, end);
      option = line.substr(std::min(line.find_first_not_of(kBlanks, end), line.size()));
    }
  }
  plan.reader_argv.push_back(reader.data());
  if (!option.empty()) plan.reader_argv.push_back(option.data());
  plan.file_at = plan.reader_argv.size();
  plan.reader_argv.push_back(nullptr);
  // With the null that ends them.
  plan.reader_argv.insert(plan.reader_argv.end(), plan.argv.begin() + 1, plan.argv.end());
}

/// This process's own program, also for a user who could not reach it by its path.
constexpr const char* kOwnProgram = "/proc/self/exe";

/// The program and its arguments; of a replica those of its keeper, which starts the program.
std::vector<std::string> words_of(const Order& order, const TaskPlace& place) {
  std::vector<std::string> words = order.program.argv;
  if (!order.service) return words;
  if (!place.script.empty()) words.front() = place.script;
  const KeeperOrder keeper{*order.service, order.worker.first_port, order.worker.last_port,
                           order.program.stop_grace};
  const std::vector<std::string> before{kOwnProgram, kKeepVerb, to_text(keeper), "--"};
  words.insert(words.begin(), before.begin(), before.end());
  return words;
}

/// Places that the task is to find in its place, wherever that is.
Sight sight_for(const Order& order, const TaskPlace& place) {
  std::vector<std::string> kept{order.worker.checkpoint_dir};
  // A folder that the job names stays hidden where it is among what is: it may hold the keys.
  if (order.program.work_dir.empty()) kept.push_back(place.work_dir);
  // An abstract socket is no file.
  if (!place.progress_socket.starts_with('@')) kept.push_back(place.progress_socket);
  if (!place.script.empty()) kept.push_back(place.script);
  return sight_of(order.worker.hidden, kept);
}

}  // namespace

std::vector<std::string> environment_of(const Order& order, const TaskPlace& place) {
  std::map<std::string, std::string> env{
      {"PATH", kPath}, {"HOME", place.home}, {"LANG", "C.UTF-8"}};
  if (!order.worker.login.empty()) env["USER"] = env["LOGNAME"] = order.worker.login;
  if (!order.worker.shell.empty()) env["SHELL"] = order.worker.shell;
  // In this order: a job may set PATH and HOME, but not what Muster says.
  for (const auto& [name, value] : order.program.env) env[name] = value;
  env["MUSTER_JOB_ID"] = std::to_string(order.job.value);
  env["MUSTER_TASK_INDEX"] = std::to_string(order.task.array_index);
  env["MUSTER_TASK_COUNT"] = std::to_string(order.task_count);
  if (!order.user.empty()) env["MUSTER_USER"] = order.user;
  env["MUSTER_ATTEMPT"] = std::to_string(order.key().attempt);
  env["MUSTER_CPUS"] = whole_cpus(order.granted[Resource::cpu]);
  env["CUDA_VISIBLE_DEVICES"] = order.worker.gpus;
  env["MUSTER_CHECKPOINT_DIR"] = order.worker.checkpoint_dir;
  env["MUSTER_SOCKET"] = place.progress_socket;
  if (order.service) env["MUSTER_ADDRESS"] = order.worker.address;
  env[kMarkVariable] = place.attempt_dir;
  std::vector<std::string> entries;
  entries.reserve(env.size());
  for (const auto& [name, value] : env) entries.push_back(name + "=" + value);
  return entries;
}

std::optional<ForkedTask> fork_beside(const Order& order, const TaskPlace& place, int group_folder,
                                      const SideProgram& side) {
  ForkedTask command;
  Descriptor news;
  if (!make_pipe(command.news, news)) return std::nullopt;
  std::vector<std::string> env = environment_of(order, place);
  if (!side.term.empty()) env.push_back("TERM=" + side.term);
  ProgramPlan program;
  program.argv = pointers_to(side.argv);
  program.env = pointers_to(env);
  program.program = side.argv.front().c_str();
  std::string reader;
  std::string no_option;
  read_by(Order{}, reader, no_option, program);
  PlainPath made;
  ChildPlan plan;
  plan.program = &program;
  plan.made = &made;
  plan.work_dir = place.work_dir.c_str();
  plan.order = &order;
  plan.groups.assign(order.worker.user_groups.begin(), order.worker.user_groups.end());
  plan.parent = getpid();
  plan.in = side.in;
  plan.out = side.out;
  plan.err = side.err;
  plan.news = news.get();
  plan.side = &side;
  // A terminal of the task's user, as after a login.
  if (side.terminal && order.worker.user) {
    [[maybe_unused]] const int done = fchown(side.in, *order.worker.user, order.worker.user_group);
  }
  command.pid = fork_into(group_folder, run_child, &plan);
  if (command.pid < 0) return std::nullopt;
  return command;
}

std::optional<ForkedTask> fork_task(const Order& order, const TaskPlace& place, int group_folder) {
  ForkedTask task;
  Descriptor out;
  Descriptor err;
  Descriptor news;
  const Descriptor in(open("/dev/null", O_RDONLY | O_CLOEXEC));
  if (!in || !make_pipe(task.out, out) || !make_pipe(task.err, err) ||
      !make_pipe(task.news, news)) {
    return std::nullopt;
  }
  const std::vector<std::string> env = environment_of(order, place);
  std::string reader;
  std::string reader_option;
  ProgramPlan program;
  const std::vector<std::string> words = words_of(order, place);
  program.argv = pointers_to(words);
  program.env = pointers_to(env);
  program.own_script = !place.script.empty() && !order.service;
  program.program = program.own_script ? place.script.c_str() : words[0].c_str();
  read_by(order, reader, reader_option, program);
  PlainPath made;
  ChildPlan plan;
  plan.program = &program;
  plan.made = &made;
  plan.work_dir = place.work_dir.c_str();
  plan.order = &order;
  plan.groups.assign(order.worker.user_groups.begin(), order.worker.user_groups.end());
  if (!order.worker.hidden.empty()) plan.sight = sight_for(order, place);
  plan.parent = getpid();
  plan.in = in.get();
  plan.out = out.get();
  plan.err = err.get();
  plan.news = news.get();
  // Copies of the writing ends close with this function: the pipes end with the task.
  // To copy this process's memory would take longer than the rest. A task of another user gets a
  // copy nevertheless: others of that user may stop it before it executes its program, and would
  // stop the shim with it. So does one whose folder may be on a file system that does not answer.
  // The user's namespaces need one, too.
  const bool may_share = !order.worker.user && !plan.sight && order.program.work_dir.empty();
  task.pid = may_share ? share_into(group_folder, run_child, &plan)
                       : fork_into(group_folder, run_child, &plan);
  if (task.pid < 0) return std::nullopt;
  return task;
}

}  // namespace muster::process
