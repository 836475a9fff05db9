#include <fmt/format.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <thread>

#include "tools/cli/client_options.hpp"
#include "tools/cli/commands.hpp"
#include "tools/cli/named_task.hpp"
#include "tools/cli/output.hpp"
#include "tools/cli/remote_command.hpp"

// `muster exec`: a command beside a running task, with this terminal or with these streams.

namespace muster::cli {
namespace {

using client::ClientError;

/// Between two tries to hand in input that the command does not read.
constexpr int kFullPause_ms = 100;
constexpr int kSignalBase = 128;

struct ExecOptions {
  ClientOptions client;
  std::string task;  ///< JOB or JOB:TASK
  std::vector<std::string> argv;
  bool terminal = false;
  bool no_terminal = false;
  bool no_input = false;
};

/// The only task of the job; nothing, after a complaint, when it has others.
std::optional<std::uint64_t> only_task(client::ApiClient& api, std::uint64_t job) {
  const auto answer = api.get(fmt::format("/v1/jobs/{}?limit=2", job));
  const auto page =
      answer ? client::job_page(answer.value()) : client::Parsed<client::JobPage>(answer.error());
  if (!page) {
    complain_of(page.error());
    return std::nullopt;
  }
  if (page->tasks.size() == 1 && page->job.tasks == 1) return page->tasks.front().index;
  complain(page->tasks.empty() ? fmt::format("job {} has no tasks that are known yet", job)
                               : fmt::format("job {} has {} tasks: say which one, such as {}:{}",
                                             job, page->job.tasks, job, page->tasks.front().index));
  return std::nullopt;
}

/// One call of the command, from its begin to its end.
class ExecCall {
 public:
  ExecCall(const ExecOptions& options, client::ApiClient& in, client::ApiClient& out)
      : options_(options), in_(in), out_(out) {
    has_terminal_ = !options.no_terminal && (options.terminal || isatty(STDIN_FILENO) == 1);
  }

  int run(std::uint64_t job, std::uint64_t task);

 private:
  Expected<std::string, ClientError> begin(const std::string& path);
  int go_on(RemoteCommand& command);
  std::optional<Failure<ClientError>> heed(RemoteCommand& command, int signal);
  void read_input(RemoteCommand& command);

  const ExecOptions& options_;
  client::ApiClient& in_;
  client::ApiClient& out_;
  bool has_terminal_ = false;
  bool reads_ = true;
  int ended_by_ = 0;  ///< a signal that ends this process
};

/// The path of the command that was begun.
Expected<std::string, ClientError> ExecCall::begin(const std::string& path) {
  nlohmann::json asked{{"argv", options_.argv}, {"terminal", has_terminal_}};
  if (has_terminal_) {
    const char* term = getenv("TERM");
    const std::string_view kind = term == nullptr ? "" : term;
    if (!kind.empty() && kind.size() <= 64) asked["term"] = kind;
    if (const auto room = terminal_room(STDIN_FILENO)) {
      asked["rows"] = room->rows;
      asked["columns"] = room->columns;
    }
  }
  const auto answer =
      in_.post(path, asked.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace),
               client::Elsewhere::always);
  if (!answer) return answer.error();
  const nlohmann::json number = answer->document.value("command", nlohmann::json());
  if (!number.is_number_unsigned()) {
    return Failure<ClientError>{ClientError::malformed, "the answer has no number of the command"};
  }
  return fmt::format("{}/{}", path, number.get<std::uint64_t>());
}

int ExecCall::run(std::uint64_t job, std::uint64_t task) {
  const auto path = begin(fmt::format("/v1/jobs/{}/tasks/{}/exec", job, task));
  if (!path) return complain_of(path.error());
  // A reader that has gone is an error of the write, and the command is ended.
  std::signal(SIGPIPE, SIG_IGN);
  RemoteCommand command(in_, out_, path.value());
  return go_on(command);
}

int ExecCall::go_on(RemoteCommand& command) {
  const SignalStream signals(has_terminal_);
  std::optional<RawKeys> keys;
  if (has_terminal_ && isatty(STDIN_FILENO) == 1) keys.emplace();
  const int over = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  Expected<int, ClientError> end = 0;
  std::thread printer([&] {
    end = command.print_output();
    eventfd_write(over, 1);
  });
  if (options_.no_input) {
    reads_ = false;
    command.end_input();
  }
  std::optional<Failure<ClientError>> failure;
  while (!failure) {
    const bool reads = reads_ && command.input_room() > 0;
    std::array<pollfd, 3> polled{{{over, POLLIN, 0},
                                  {signals.descriptor(), POLLIN, 0},
                                  {reads ? STDIN_FILENO : -1, POLLIN, 0}}};
    const bool is_full = command.has_input();
    if (poll(polled.data(), polled.size(), is_full ? kFullPause_ms : -1) < 0 && errno != EINTR) {
      break;
    }
    if (polled[0].revents != 0) break;
    while (const int signal = signals.next()) {
      if (!failure) failure = heed(command, signal);
    }
    if (polled[2].revents != 0) read_input(command);
    if (!failure && command.has_input()) failure = command.hand_in({});
  }
  printer.join();
  close(over);
  keys.reset();
  // No further request comes; it may be gone already.
  command.hand_in({.ends = true});
  if (ended_by_ != 0) return kSignalBase + ended_by_;
  if (!end) return complain_of(end.error());
  return end.value();
}

std::optional<Failure<ClientError>> ExecCall::heed(RemoteCommand& command, int signal) {
  if (signal == SIGWINCH) {
    return has_terminal_ ? command.hand_in({.room = terminal_room(STDIN_FILENO)}) : std::nullopt;
  }
  // With its terminal, or with this process, the command is to end.
  const bool ends = signal == SIGHUP || (has_terminal_ && signal == SIGTERM);
  if (ends) ended_by_ = signal;
  return command.hand_in({.signal = signal, .ends = ends});
}

void ExecCall::read_input(RemoteCommand& command) {
  std::array<char, RemoteCommand::kMostInput> chunk;
  const ssize_t got =
      read(STDIN_FILENO, chunk.data(), std::min(chunk.size(), command.input_room()));
  if (got < 0 && (errno == EINTR || errno == EAGAIN)) return;
  if (got > 0) return command.add_input({chunk.data(), static_cast<std::size_t>(got)});
  reads_ = false;
  command.end_input();
}

int run_exec(ExecOptions& options) {
  if (options.argv.empty()) options.argv = {"/bin/sh"};
  const auto named = named_task(options.task);
  const auto in = connect(options.client);
  const auto out = in ? connect(options.client) : nullptr;
  if (!named || !out) return kFailed;
  const auto task = named->task ? named->task : only_task(*in, named->job);
  if (!task) return kFailed;
  return ExecCall(options, *in, *out).run(named->job, *task);
}

}  // namespace

void add_exec(CLI::App& app, int& exit_code, const std::vector<std::string>& words) {
  auto options = std::make_shared<ExecOptions>();
  options->argv = words;
  CLI::App* command =
      app.add_subcommand("exec", "Run a command beside a running task: exec 12:3 -- sh");
  command
      ->add_option("task", options->task,
                   "id of a job, and the index of the task where it has several: 12:3. The command "
                   "stands behind --; without one it is /bin/sh")
      ->required()
      ->check(is_task());
  CLI::Option* terminal =
      command->add_flag("-t,--tty", options->terminal,
                        "give the command a terminal; so it is where the standard input is one");
  command
      ->add_flag("-T,--no-tty", options->no_terminal,
                 "give it no terminal: standard output and standard error stay apart")
      ->excludes(terminal);
  command->add_flag("-n,--no-input", options->no_input, "do not read the standard input");
  add_where_options(*command, options->client);
  command->callback([options, &exit_code] { exit_code = run_exec(*options); });
}

}  // namespace muster::cli
