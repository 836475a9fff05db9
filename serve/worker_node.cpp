// The process of a worker: an actor system with the link to the master and the executor. Its end
// leaves the tasks to their shims, and the next process of the instance adopts them.

#include "serve/worker_node.hpp"

#include <netdb.h>
#include <spdlog/spdlog.h>
#include <sys/socket.h>
#include <unistd.h>

#include <caf/all.hpp>
#include <memory>
#include <system_error>
#include <utility>

#include "actors/link/worker_link_master.hpp"
#include "actors/messages/interfaces.hpp"
#include "actors/time/clock_wall.hpp"
#include "serve/machines/task_user.hpp"
#include "serve/node/node_log.hpp"
#include "workers/process/process_executor.hpp"
#include "workers/worker_actor.hpp"

namespace muster {
namespace {

namespace fs = std::filesystem;

/// The threads that a worker's actors share; there are three of them.
constexpr int kActorThreads = 2;

void isolate(const WorkerConfig& config, ProcessOptions& options) {
  const LiveWorkerConfig& tasks = config.tasks;
  options.task_uids = parse_uid_range(tasks.task_uids);
  const std::uint32_t user = tasks.task_uid;
  // To become the user that the worker already is takes no rights and no change.
  if (user != 0 && user != geteuid()) options.task_uid = user;
  if (options.task_uids || options.task_uid || !machines::by_namespaces(tasks)) return;
  options.hidden = config.hide;
  // The word by which this instance is known.
  if (!config.key.empty()) options.hidden->push_back(config.key.string());
}

/// The address from which packets to its master would leave, which is the one that others in the
/// master's network reach it by; no packet is sent. Where that cannot be told, this computer's own.
std::string own_address(const WorkerConfig& config) {
  for (const Endpoint& master : config.masters) {
    addrinfo wanted{};
    wanted.ai_socktype = SOCK_DGRAM;
    addrinfo* found = nullptr;
    const std::string port = std::to_string(master.port);
    if (getaddrinfo(master.host.c_str(), port.c_str(), &wanted, &found) != 0) continue;
    const std::unique_ptr<addrinfo, void (*)(addrinfo*)> list(found, freeaddrinfo);
    const process::Descriptor end(socket(found->ai_family, SOCK_DGRAM | SOCK_CLOEXEC, 0));
    sockaddr_storage own{};
    socklen_t size = sizeof own;
    char text[NI_MAXHOST];
    if (end && connect(end.get(), found->ai_addr, found->ai_addrlen) == 0 &&
        getsockname(end.get(), reinterpret_cast<sockaddr*>(&own), &size) == 0 &&
        getnameinfo(reinterpret_cast<sockaddr*>(&own), size, text, sizeof text, nullptr, 0,
                    NI_NUMERICHOST) == 0) {
      return text;
    }
  }
  return "127.0.0.1";
}

ProcessOptions process_options(const WorkerConfig& config, const fs::path& program) {
  ProcessOptions options;
  options.state_dir = config.state_dir;
  options.checkpoint_root = config.checkpoint_root;
  options.files.store = config.files.string();
  options.files.user_max_bytes = std::uint64_t{config.user_max_mib} << 20;
  options.files.patience = config.files_patience;
  options.files.outputs_max_bytes = std::uint64_t{config.outputs_max_mib} << 20;
  options.checkpoint_mark = config.checkpoint_mark;
  options.shim_program = config.shim_program.empty() ? program : config.shim_program;
  options.stop_grace = config.tasks.stop_grace;
  options.log_file_bytes = config.tasks.log_bytes;
  options.log_files_kept = config.tasks.log_files;
  options.tail_bytes = config.tasks.tail_bytes;
  options.acknowledged_keep = config.tasks.acknowledged_keep;
  if (config.tasks.disk_free_mib != 0U) options.disk_check = config.tasks.disk_check;
  if (config.tasks.disk_free_mib) {
    options.disk_free_bytes = std::uint64_t{*config.tasks.disk_free_mib} << 20;
  }
  options.max_processes = config.tasks.max_processes;
  options.hold_cpu = config.tasks.hold_cpu;
  options.metric_names = config.tasks.metric_names;
  options.metrics_interval = config.tasks.metrics_interval;
  options.first_port = config.tasks.first_port;
  options.last_port = config.tasks.last_port;
  options.address = config.tasks.address.empty() ? own_address(config) : config.tasks.address;
  options.exec_most = config.tasks.exec_most;
  options.exec_keep = config.tasks.exec_keep;
  isolate(config, options);
  return options;
}

MasterLinkSetup link_setup(const WorkerConfig& config) {
  MasterLinkSetup setup;
  setup.instance = InstanceId{config.instance};
  setup.masters = config.masters;
  setup.master_name = config.master_name;
  if (!config.insecure_loopback) {
    setup.tls = TlsFiles{config.certificate, config.key, config.trusted};
  }
  setup.options.insecure_loopback = config.insecure_loopback;
  setup.options.heartbeat = config.heartbeat;
  setup.options.dead_after = config.timeout;
  setup.options.max_frame_bytes = config.max_frame_bytes;
  // Instances that were started together must not dial together for ever.
  setup.seed = config.instance + 1;
  return setup;
}

LinkListener log_news(std::shared_ptr<spdlog::logger> log) {
  return [log = std::move(log)](const LinkNews& news) {
    switch (news.kind) {
      case LinkNewsKind::up:
        return log->info("link up: {}", news.text);
      case LinkNewsKind::down:
        return log->warn("link down: {}", news.text);
      case LinkNewsKind::refused:
        return log->error("link refused: {}", news.text);
      case LinkNewsKind::failed:
        return log->warn("link failed: {}", news.text);
    }
  };
}

/// Logs the calls between a worker and its executor, with the ids of task and attempt.
class LoggedExecutor : public Executor {
 public:
  LoggedExecutor(std::shared_ptr<spdlog::logger> log, std::unique_ptr<Executor> inner)
      : log_(std::move(log)), inner_(std::move(inner)) {
    log_->info("limits: {}; isolation: {}", inner_->limits(), inner_->isolation());
  }
  void start(const TaskOrder& order) override {
    log_->info("job={} task={} attempt={} start", order.job.value, order.task.id.value,
               order.attempt);
    inner_->start(order);
  }
  void stop(TaskId task, Attempt attempt) override {
    log_->info("task={} attempt={} stop", task.value, attempt);
    inner_->stop(task, attempt);
  }
  std::vector<ExecutionSample> sample() override { return inner_->sample(); }
  void repeat_reports() override { inner_->repeat_reports(); }
  bool repeats(TaskId task, Attempt attempt) const override {
    return inner_->repeats(task, attempt);
  }
  std::vector<FoundExecution> adopt() override {
    std::vector<FoundExecution> found = inner_->adopt();
    for (const FoundExecution& e : found) {
      log_->info("task={} attempt={} taken over", e.task.value, e.attempt);
    }
    return found;
  }
  void acknowledged(TaskId task, Attempt attempt) override {
    log_->debug("task={} attempt={} settled", task.value, attempt);
    inner_->acknowledged(task, attempt);
  }
  LogPart read_log(const LogPlace& place) override { return inner_->read_log(place); }
  void exec(const ExecRequest& request, const std::function<void(ExecAnswer)>& answer) override {
    if (request.command == 0) {
      log_->info("task={} attempt={} a command beside it for {}", request.task.value,
                 request.attempt, request.user);
    }
    inner_->exec(request, answer);
  }
  void usage(const std::function<void(std::vector<AttemptUsage>)>& answer) override {
    inner_->usage(answer);
  }
  std::string limits() const override { return inner_->limits(); }
  std::string isolation() const override { return inner_->isolation(); }
  bool own_checkpoints() const override { return inner_->own_checkpoints(); }

  /// Reports of attempts, written down before they are passed on.
  static ExecutorHost listening(ExecutorHost host, const std::shared_ptr<spdlog::logger>& log) {
    host.started = [log, told = host.started](TaskId task, Attempt attempt, Duration fetch,
                                              Duration build) {
      log->info("task={} attempt={} started", task.value, attempt);
      told(task, attempt, fetch, build);
    };
    host.checkpointed = [log, told = host.checkpointed](TaskId task, Attempt attempt,
                                                        Duration upload, ExecutionEnd end) {
      log->info("task={} attempt={} left exit_code={}", task.value, attempt, end.exit_code);
      told(task, attempt, upload, std::move(end));
    };
    host.finished = [log, told = host.finished](TaskId task, Attempt attempt, ExecutionEnd end) {
      log->info("task={} attempt={} finished exit_code={}", task.value, attempt, end.exit_code);
      told(task, attempt, std::move(end));
    };
    host.failed = [log, told = host.failed](TaskId task, Attempt attempt, std::string reason,
                                            ExecutionEnd end) {
      log->warn("task={} attempt={} failed exit_code={}: {}", task.value, attempt, end.exit_code,
                reason);
      told(task, attempt, std::move(reason), std::move(end));
    };
    host.rejected = [log, told = host.rejected](TaskId task, Attempt attempt, std::string reason) {
      log->warn("task={} attempt={} rejected: {}", task.value, attempt, reason);
      told(task, attempt, std::move(reason));
    };
    return host;
  }

 private:
  std::shared_ptr<spdlog::logger> log_;
  std::unique_ptr<Executor> inner_;
};

/// Why one of the folders cannot be used; empty: all can.
std::string make_folders(const WorkerConfig& config) {
  for (const fs::path& folder :
       {config.state_dir, config.checkpoint_root, config.log.parent_path()}) {
    if (folder.empty()) continue;
    std::error_code error;
    const bool made = fs::create_directories(folder, error);
    // Tasks of another user have to get through to their own checkpoints.
    const bool passage =
        machines::other_task_user(config.tasks) && folder == config.checkpoint_root;
    if (made && passage) {
      fs::permissions(folder, fs::perms::group_exec | fs::perms::others_exec, fs::perm_options::add,
                      error);
    }
    if (error) return folder.string() + ": cannot be made: " + error.message();
  }
  return {};
}

caf::actor_system_config& prepare(caf::actor_system_config& config) {
  add_messages(config);
  // Sharing sleeps when there is nothing to do; the usual policy polls.
  config.set("scheduler.policy", caf::atom("sharing"));
  config.set("scheduler.max-threads", kActorThreads);
  return config;
}

}  // namespace

class WorkerNode::Parts {
 public:
  explicit Parts(std::shared_ptr<spdlog::logger> log)
      : log_(std::move(log)), system_(prepare(actor_config_)) {}

  ~Parts() {
    link_.reset();
    if (worker_) caf::anon_send_exit(worker_, caf::exit_reason::user_shutdown);
    worker_ = nullptr;
    system_.await_all_actors_done();
    log_->info("worker ended; its tasks go on");
  }
  Parts(const Parts&) = delete;
  Parts& operator=(const Parts&) = delete;

  Expected<bool, LinkError> begin(const WorkerConfig& config, const fs::path& program) {
    MasterLinkSetup setup = link_setup(config);
    setup.news = log_news(log_);
    auto link = MasterLink::start(system_, std::move(setup));
    if (!link) return link.error();
    link_ = std::move(link).value();
    WorkerSetup worker;
    worker.instance = InstanceId{config.instance};
    worker.type = TypeId{0};  // there is no catalog here, and only model executors ask
    worker.capacity = config.capacity;
    worker.master = link_->master();
    worker.origin = wall_origin(system_);
    worker.make_executor = [log = log_, options = process_options(config, program)](
                               InstanceId instance, TypeId, const ExecutorHost& host) {
      return std::make_unique<LoggedExecutor>(
          log, std::make_unique<ProcessExecutor>(instance, options,
                                                 LoggedExecutor::listening(host, log)));
    };
    log_->info("worker of instance {} begins", config.instance);
    worker_ = system_.spawn<Worker>(std::move(worker));
    return true;
  }

 private:
  std::shared_ptr<spdlog::logger> log_;
  caf::actor_system_config actor_config_;
  caf::actor_system system_;
  std::unique_ptr<MasterLink> link_;
  WorkerActor worker_;
};

Expected<std::unique_ptr<WorkerNode>, WorkerNodeError> WorkerNode::start(
    const WorkerConfig& config, const std::filesystem::path& program) {
  if (const std::string why = make_folders(config); !why.empty()) {
    return Failure<WorkerNodeError>{WorkerNodeError::folder, why};
  }
  std::shared_ptr<spdlog::logger> log;
  try {
    log = make_log("instance-" + std::to_string(config.instance), config.log, config.log.empty());
  } catch (const spdlog::spdlog_ex& error) {
    return Failure<WorkerNodeError>{WorkerNodeError::folder, error.what()};
  }
  auto parts = std::make_unique<Parts>(std::move(log));
  if (auto begun = parts->begin(config, program); !begun) {
    return Failure<WorkerNodeError>{WorkerNodeError::tls, begun.error().message};
  }
  return std::unique_ptr<WorkerNode>(new WorkerNode(std::move(parts)));
}

WorkerNode::WorkerNode(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
WorkerNode::~WorkerNode() = default;

}  // namespace muster
