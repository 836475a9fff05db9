// Runs tasks as processes, each under a shim that outlives this worker. Here is the book-keeping of
// attempts on the worker's actor; threads of the supervisor, the watch and the sweeper do what
// waits for the system, and post back.

#include "workers/process/process_executor.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstdint>
#include <system_error>
#include <utility>

#include "config/work_folder.hpp"
#include "workers/process/files/checkpoint_mark.hpp"
#include "workers/process/files/log_file.hpp"

namespace muster {
namespace {

using process::AttemptKey;
using process::LimitMeans;

using process::kAttemptsFolder;
// Throughputs are above 0 (ExecutionSample), also of a task that hangs.
constexpr double kLeastThroughput = 1e-3;
// Looks at the disk that a new attempt waits for; then it is rejected and may go elsewhere.
constexpr int kLooksForSpace = 30;
/// As of a program that SIGTERM has ended.
constexpr std::int32_t kEndedByTerm = 143;

ProcessOptions absolute(ProcessOptions options) {
  for (auto* path : {&options.state_dir, &options.checkpoint_root, &options.shim_program}) {
    *path = std::filesystem::absolute(*path);
  }
  return options;
}

/// A part of what the attempt with that folder has written, which may still write if it runs.
LogPart part_in(const process::Descriptor& folder, const LogPlace& place, bool runs) {
  LogPart part;
  part.offset = place.offset;
  part.known = static_cast<bool>(folder);
  if (!folder) return part;
  const process::LogReader reader(folder.get(),
                                  place.error_stream ? process::kErrLog : process::kOutLog);
  part.text = reader.read(part.offset, std::min(place.max_bytes, ProcessExecutor::kMaxLogBytes));
  part.end = reader.end();
  // True while it may still write, or when the piece ends before the log does.
  part.more_may_come = runs || part.offset + part.text.size() < reader.end();
  return part;
}

/// How far an attempt says that it has come, if it does; its job runs as `together` tasks.
std::optional<ExecutionProgress> progress_of(const process::ProgressMeter& meter,
                                             std::uint32_t together) {
  if (meter.points().empty()) return std::nullopt;
  ExecutionProgress progress{meter.points().back().units, meter.points().back().step};
  if (progress.training) progress.training->replicas = together;
  return progress;
}

/// A shim that is connected to again says again what it has said.
void add_new(const process::ProgressPoint& point, process::ProgressMeter& meter) {
  const auto& points = meter.points();
  if (points.empty() || points.back().at < point.at) meter.add(point);
}

/// Open to pass through for tasks that run as another user, else closed to others.
void make_folder(const std::filesystem::path& folder, bool passage) {
  std::error_code error;  // told when an attempt cannot be started for it
  const bool made = std::filesystem::create_directories(folder, error);
  if (made || passage) chmod(folder.c_str(), passage ? 0711 : 0700);
}

/// Puts in the account that an attempt runs as, or returns why there is no account; called on the
/// supervisor's thread.
std::optional<process::AttemptResult> put_account(process::TaskUsers& users,
                                                  process::Order& order) {
  auto account = users.account_of(order.user);
  if (!account) {
    // A disk that is full for a moment is no fault of the job, nor is an account that should not
    // be, or accounts that cannot be looked at.
    const bool passes = account.error().code != process::TaskUserError::used_up;
    return process::not_begun(
        passes ? process::EndKind::not_launched : process::EndKind::not_started,
        account.error().message);
  }
  process::WorkerTerms& terms = order.worker;
  terms.user = account->uid;
  terms.user_group = account->gid;
  terms.user_groups = account->groups;
  terms.user_home = account->home;
  terms.own_user = account->of_range;
  terms.login = account->login;
  terms.shell = account->shell;
  return std::nullopt;
}

/// Tells the host how the attempt has ended.
void tell_end(const ExecutorHost& host, const AttemptKey& key, process::ShimEnded ended) {
  const process::AttemptResult& result = ended.result;
  // A stop that came before the start is not a checkpoint: the failure tells more.
  const bool never_ran =
      result.kind == process::EndKind::not_started || result.kind == process::EndKind::not_launched;
  // The cause of the stop is not known here: the master knows the meaning of an end after it.
  if (result.stopped && !never_ran) {
    host.checkpointed(key.task, key.attempt, result.stopping, std::move(ended.end));
  } else if (result.exit_code == 0 && result.reason.empty()) {
    host.finished(key.task, key.attempt, std::move(ended.end));
  } else {
    ended.end.failure = process::failure_of(result.kind);
    host.failed(key.task, key.attempt, result.reason, std::move(ended.end));
  }
}

/// The places that tasks are not to see, as they are now: a path that leads elsewhere later covers
/// nothing of what is here.
process::HeldPlaces hidden_by(const ProcessOptions& options) {
  make_folder(options.checkpoint_root, false);
  std::vector<std::string> paths = *options.hidden;
  paths.push_back(options.state_dir.string());
  paths.push_back(options.checkpoint_root.string());
  return process::held(paths);
}

}  // namespace

ProcessExecutor::ProcessExecutor(InstanceId instance, ProcessOptions options, ExecutorHost host)
    // Paths are made absolute once: shims run in other folders.
    : options_(absolute(std::move(options))),
      host_(std::move(host)),
      reports_(host_, options_.metrics_interval),
      means_(process::find_means(options_.best_means,
                                 process::group_name(instance, options_.state_dir.string()))),
      alone_rates_(options_.state_dir),
      // A cgroup limits processors by itself.
      cpus_(options_.hold_cpu && means_.means != LimitMeans::cgroup2 ? process::own_cpus()
                                                                     : std::vector<std::uint32_t>{},
            instance.value),
      company_since_(process::boot_time()),
      sweeper_(options_.state_dir / kAttemptsFolder,
               {options_.acknowledged_keep, options_.max_acknowledged}),
      desk_(
          {options_.state_dir / kAttemptsFolder, instance, options_.exec_most, options_.exec_keep}),
      usage_(
          host_,
          [this] {
            supervisor_->measure();
            if (watch_) watch_->measure();
          },
          [this](const AttemptKey& key) { return watch_ ? watch_->bytes_of(key) : 0; }) {
  const bool passage = options_.task_uid || options_.task_uids;
  make_folder(options_.state_dir, passage);
  make_folder(options_.state_dir / kAttemptsFolder, passage);
  if (options_.task_uids) {
    std::error_code error;  // told when a number cannot be written down
    if (std::filesystem::create_directories(options_.checkpoint_root, error)) {
      chmod(options_.checkpoint_root.c_str(), 0711);
    }
    // With the checkpoints, whose owners the numbers are, for whatever worker runs them next.
    users_.emplace(*options_.task_uids, options_.checkpoint_root / process::kTaskUsersFile,
                   options_.accounts);
  } else {
    // Once: a name service may take a while, and the number stays.
    own_ = process::account_with(options_.task_uid.value_or(geteuid()));
  }
  own_checkpoints_ = process::lacks_mark(options_.checkpoint_root, options_.checkpoint_mark);
  if (options_.hidden) hidden_ = hidden_by(options_);
  process::ShimSupervisorOptions crew;
  crew.attempts = options_.state_dir / kAttemptsFolder;
  crew.shim_program = options_.shim_program;
  crew.tail_bytes = options_.tail_bytes;
  crew.sync_orders = options_.sync_orders;
  crew.patience = options_.end_patience;
  if (users_) {
    // Its data outlives the supervisor and is used by nothing else.
    crew.complete = [this](process::Order& order) { return put_account(*users_, order); };
  }
  // Threads of the supervisor and the watch may speak while this goes; their posts are dropped.
  const std::weak_ptr<const bool> alive = alive_;
  supervisor_ =
      std::make_unique<process::ShimSupervisor>(crew, [this, alive](process::ShimNews news) {
        host_.post([this, alive, news = std::move(news)] {
          if (!alive.expired()) hear(news);
        });
      });
  if (options_.disk_check > Duration::zero()) watch_disks(instance);
}

void ProcessExecutor::watch_disks(InstanceId instance) {
  std::error_code error;  // then there is nothing to watch there
  std::filesystem::create_directories(options_.checkpoint_root, error);
  process::DiskWatchOptions watch;
  watch.attempts = options_.state_dir / kAttemptsFolder;
  watch.checkpoints = options_.checkpoint_root;
  watch.who = instance.value;
  watch.every = options_.disk_check;
  watch.least_free_bytes = options_.disk_free_bytes;
  watch.look = options_.disk_space;
  process::DiskWatch::Listener listener;
  listener.end = [this](const process::DiskVerdict& verdict) {
    supervisor_->end_for_disk(verdict.key, verdict.reason, verdict.drop_checkpoint);
  };
  listener.looked = [this, alive = std::weak_ptr<const bool>(alive_)](const std::string& full) {
    if (!full.empty()) sweeper_.hurry();
    host_.post([this, alive, full] {
      if (!alive.expired()) on_full_disk(full);
    });
  };
  watch_ = std::make_unique<process::DiskWatch>(std::move(watch), std::move(listener));
}

/// Begins what waits once there is room, and rejects what has waited too long: an attempt begun on
/// a full disk would only be ended, or fill it further.
void ProcessExecutor::on_full_disk(const std::string& full) {
  const Duration now = process::boot_time();
  std::vector<std::pair<AttemptKey, Waiting>> due;
  // Listed first: begin() and reject() change the maps.
  for (const auto& [key, waiting] : waiting_) {
    if (full.empty() || waiting.until <= now) due.emplace_back(key, waiting);
  }
  for (const auto& [key, waiting] : due) {
    waiting_.erase(key);
    if (full.empty()) {
      begin(waiting.order);
    } else {
      reject(key, full);
    }
  }
}

void ProcessExecutor::reject(const AttemptKey& key, const std::string& reason) {
  runs_.erase(key);
  company_changed();
  if (host_.rejected) host_.rejected(key.task, key.attempt, reason);
}

ProcessExecutor::~ProcessExecutor() {
  // The watch calls the supervisor, so it goes first.
  watch_.reset();
  supervisor_.reset();
  if (!means_.parent.empty()) rmdir(means_.parent.c_str());  // stays while attempts are in it
}

std::filesystem::path ProcessExecutor::folder_of(const AttemptKey& key) const {
  return options_.state_dir / kAttemptsFolder / process::name_of(key);
}

void ProcessExecutor::start(const TaskOrder& told) {
  const AttemptKey key{told.task.id, told.attempt};
  // One that was begun already has a folder, by which it is followed and not begun twice; the end
  // of one that is over was told.
  if (runs_.contains(key) || process::has_ended(folder_of(key))) return;
  // Entered before it begins: ends posted below are dropped for attempts that are not there.
  Run& run = runs_[key];
  run.workload_class = told.workload_class;
  run.baseline_rate_per_s = told.program.baseline_rate_per_s;
  run.together = told.task_count;
  company_changed();
  if (!told.program.argv.empty()) {
    if (!watch_ || watch_->full().empty()) return begin(told);
    // Without space it waits for this number of looks of the watch, each `disk_check` apart.
    const Duration until = process::boot_time() + kLooksForSpace * options_.disk_check;
    waiting_[key] = {told, until};
    return;
  }
  fail_to_start(key, "the job says nothing to execute");
}

void ProcessExecutor::fail_to_start(const AttemptKey& key, const std::string& reason) {
  process::ShimEnded ended;
  ended.result = process::not_begun(process::EndKind::not_started, reason);
  ended.end.exit_code = ended.result.exit_code;
  // Posted, so that no end is reported before start() has returned.
  host_.post([this, alive = std::weak_ptr<const bool>(alive_), key, ended] {
    if (!alive.expired()) end(key, ended);
  });
}

void ProcessExecutor::begin(const TaskOrder& told) {
  process::Order order{told};
  fill_in(order);
  order.worker = terms_for(order);
  // Watched before it is launched: it may write at once.
  if (watch_) watch_->add(order.key(), order.worker.checkpoint_dir);
  supervisor_->launch(std::move(order));
}

/// Fills in the values that the order leaves to its worker.
void ProcessExecutor::fill_in(TaskOrder& order) const {
  Program& program = order.program;
  const WorkFolderOf task{order.job, order.task.array_index, order.user};
  if (program.make_work_dir) program.work_dir = work_folder(program.work_dir, task);
  if (program.stop_grace <= Duration::zero()) program.stop_grace = options_.stop_grace;
}

process::WorkerTerms ProcessExecutor::terms_for(const TaskOrder& order) {
  const AttemptKey key{order.task.id, order.attempt};
  process::WorkerTerms terms;
  // By job and index, not by attempt: the next attempt, on whatever instance, finds it.
  terms.checkpoint_dir = (options_.checkpoint_root / std::to_string(order.job.value) /
                          std::to_string(order.task.array_index))
                             .string();
  // The same devices until end() gives them back, also when the worker is restarted in between.
  terms.gpus = gpus_.take(key, order.granted[Resource::gpu]);
  terms.memory_interval = options_.memory_interval;
  terms.means = means_.means;
  if (!means_.parent.empty()) terms.group = means_.parent + "/" + process::name_of(key);
  terms.max_processes = options_.max_processes;
  // With a limit on processors niceness is not needed.
  terms.nice = means_.means == LimitMeans::cgroup2 ? 0 : options_.nice;
  // Held until end() gives them back, as the devices are.
  terms.cpus = cpus_.take(key, order.granted[Resource::cpu]);
  terms.log_file_bytes = options_.log_file_bytes;
  terms.log_files_kept = options_.log_files_kept;
  terms.metric_names = options_.metric_names;
  terms.first_port = options_.first_port;
  terms.last_port = options_.last_port;
  terms.address = options_.address;
  terms.hidden = hidden_.places;
  put_files(options_.files, terms);
  if (users_) return terms;  // put_account() says as whom
  terms.user = options_.task_uid;
  terms.user_group = options_.task_gid;
  terms.login = own_.login;
  terms.shell = own_.shell;
  return terms;
}

void ProcessExecutor::stop(TaskId task, Attempt attempt) {
  const AttemptKey key{task, attempt};
  if (!runs_.contains(key)) return;
  if (waiting_.erase(key) == 0) return supervisor_->stop(key);
  process::ShimEnded ended;
  // It has saved nothing, and there was nothing to save: it left.
  ended.result.stopped = true;
  // Not 0: there was no program that could have been done.
  ended.end.exit_code = ended.result.exit_code = kEndedByTerm;
  ended.result.reason = "stopped before it began";
  end(key, ended);
}

void ProcessExecutor::hear(process::ShimNews news) {
  const auto found = runs_.find(news.key);
  // News of an attempt that has ended since come late from the supervisor's thread.
  if (found == runs_.end()) return;
  if (const auto* point = std::get_if<process::ProgressPoint>(&news.what)) {
    add_new(*point, found->second.meter);
  } else if (auto* metrics = std::get_if<Metrics>(&news.what)) {
    reports_.note(news.key, std::move(*metrics));
  } else if (auto* replica = std::get_if<ReplicaState>(&news.what)) {
    replica->address = options_.address;
    reports_.note(news.key, std::move(*replica));
  } else if (const auto* filled = std::get_if<process::FilledBytes>(&news.what)) {
    reports_.note(news.key, *filled);
  } else if (const auto* look = std::get_if<process::UsageLook>(&news.what)) {
    usage_.note(news.key, *look);
  } else if (auto* ended = std::get_if<process::ShimEnded>(&news.what)) {
    end(news.key, std::move(*ended));
  } else if (!found->second.started) {
    found->second.started = true;
    host_.started(news.key.task, news.key.attempt, Duration::zero(), Duration::zero());
  }
}

void ProcessExecutor::end(const AttemptKey& key, process::ShimEnded ended) {
  // The first end counts: one that is told again finds no attempt.
  if (runs_.erase(key) == 0) return;
  // Resources go back before the host hears: it may start the next attempt in the call.
  gpus_.give_back(key);
  cpus_.give_back(key);
  usage_.end(key);
  if (watch_) watch_->remove(key);
  company_changed();
  // Before its end: of what is over nothing more is heard.
  reports_.end(key, std::move(ended.result.metrics));
  tell_end(host_, key, std::move(ended));
}

void ProcessExecutor::company_changed() {
  // Rates measured across a change of company are of neither time.
  company_since_ = process::boot_time();
}

std::vector<ExecutionSample> ProcessExecutor::sample() {
  std::vector<ExecutionSample> samples;
  const Duration now = process::boot_time();
  for (const auto& [key, run] : runs_) {
    if (!run.started) continue;
    const auto throughput = normalized(run, now);
    const auto progress = progress_of(run.meter, run.together);
    if (throughput || progress) samples.push_back({key.task, key.attempt, throughput, progress});
  }
  return samples;
}

std::optional<double> ProcessExecutor::normalized(const Run& run, Duration now) {
  const auto rate = run.meter.rate(now, company_since_);
  if (!rate) return std::nullopt;
  const auto& points = run.meter.points();
  // Both points of the newest rate are of a time without company.
  const bool all_alone = runs_.size() == 1 && points[points.size() - 2].at >= company_since_;
  if (all_alone) alone_rates_.record(run.workload_class, *rate);
  const std::optional<double> reference = run.baseline_rate_per_s > 0
                                              ? std::optional(run.baseline_rate_per_s)
                                              : alone_rates_.best(run.workload_class);
  if (!reference) return std::nullopt;
  // More than 1 is noise of the measurement; 0 would say that the task never ends.
  return std::clamp(*rate / *reference, kLeastThroughput, 1.0);
}

std::vector<FoundExecution> ProcessExecutor::adopt() {
  std::vector<AttemptKey> keys;
  std::error_code error;
  for (const auto& entry :
       std::filesystem::directory_iterator(options_.state_dir / kAttemptsFolder, error)) {
    if (const auto key = process::key_from(entry.path().filename().string())) keys.push_back(*key);
  }
  std::sort(keys.begin(), keys.end());
  // By key, so that the order does not depend on the file system.
  std::vector<FoundExecution> found;
  for (const AttemptKey& key : keys) {
    if (auto execution = take_over(key)) found.push_back(*std::move(execution));
  }
  company_changed();
  return found;
}

std::optional<FoundExecution> ProcessExecutor::take_over(const AttemptKey& key) {
  // Acknowledged attempts have nothing left to tell; the sweeper removes their folders.
  const process::Descriptor folder = process::open_folder(folder_of(key));
  struct stat mark {};
  if (fstatat(folder.get(), process::kAcknowledgedFile, &mark, 0) == 0) {
    sweeper_.acknowledge(key);
    return std::nullopt;
  }
  Run& run = runs_[key];
  FoundExecution execution{key.task, key.attempt, {}};
  // An order that cannot be read leaves the defaults: the attempt is followed, since it may run.
  const auto text =
      process::read_whole(folder.get(), process::kOrderFile, process::kMaxRecordBytes);
  if (const auto order = text ? process::order_from(*text) : std::nullopt) {
    execution.granted = order->granted;
    run.workload_class = order->workload_class;
    run.baseline_rate_per_s = order->program.baseline_rate_per_s;
    run.together = order->task_count;
    gpus_.keep(key, order->worker.gpus, order->granted[Resource::gpu]);
    cpus_.keep(key, order->worker.cpus);
    if (watch_) watch_->add(key, order->worker.checkpoint_dir);
  }
  supervisor_->follow(key);
  return execution;
}

void ProcessExecutor::acknowledged(TaskId task, Attempt attempt) {
  // A running attempt cannot be settled: its outcome is yet to come.
  if (!runs_.contains({task, attempt})) sweeper_.acknowledge({task, attempt});
  reports_.settle({task, attempt});
}

LogPart ProcessExecutor::read_log(const LogPlace& place) {
  const AttemptKey key{place.task, place.attempt};
  return part_in(process::open_folder(folder_of(key)), place, runs_.contains(key));
}

void ProcessExecutor::exec(const ExecRequest& request,
                           const std::function<void(ExecAnswer)>& answer) {
  desk_.ask(request, [post = host_.post, alive = std::weak_ptr<const bool>(alive_),
                      answer](ExecAnswer made) {
    post([alive, answer, made = std::move(made)] {
      if (!alive.expired()) answer(made);
    });
  });
}

std::string ProcessExecutor::limits() const {
  std::string means(muster::name_of(means_.means));
  if (means_.means == LimitMeans::cgroup2) return means;
  return means + (cpus_.binds() ? ", processors by affinity" : ", processors not held");
}

std::string ProcessExecutor::isolation() const {
  if (users_) return "uid";
  if (options_.task_uid) return "one uid";
  return options_.hidden ? "namespaces" : "none";
}

}  // namespace muster
