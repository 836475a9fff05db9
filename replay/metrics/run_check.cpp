#include "replay/metrics/run_check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <span>
#include <unordered_map>
#include <utility>
#include <variant>

#include "model/constraint.hpp"
#include "model/feasible.hpp"
#include "model/resource_sum.hpp"
#include "replay/metrics/id_set.hpp"

// Checks the laws of a run on its log alone, event by event, without the classes that wrote it: a
// fault in the cluster's state must not be able to hide itself. Jobs and tasks that have ended as
// they should are kept as numbers only, so that memory follows the living ones.

namespace muster::metrics {
namespace {

// One fault often brings forth thousands of others; the first ones tell what it was.
constexpr std::size_t kMostReported = 50;

}  // namespace

/// Books the log a second time, from scratch, and compares each event with the books. Jobs, tasks
/// and instances that have ended as they should are known by their numbers alone.
class RunCheck::Books {
 private:
  struct CheckedInstance {
    TypeId type;
    bool up = false;
    bool ready = false;
    bool ending = false;
    bool gone = false;
    bool forced = false;  ///< released for a cause that does not wait for its tasks
    std::vector<TaskId> tasks;
    ResourceSum used;  ///< resources granted to these
  };

  /// A job, or the part of one that a master has.
  using JobKey = std::pair<std::uint32_t, JobId>;

  struct CheckedTask {
    JobKey job;
    const Demands* demands = nullptr;
    SizeRange size{};         ///< of its service
    Constraint constraint{};  ///< of its job
    Resources granted;        ///< to its last attempt
    Attempt attempt = 0;
    InstanceId at;  ///< invalid while it holds nothing
    bool finished = false;
    bool has_reason = false;  ///< something was said about why it does not run
  };

  struct CheckedJob {
    std::vector<TaskId> tasks;
    bool ended = false;
    std::size_t width =
        0;  ///< number of its first tasks that are to run: of a job that is not elastic all
  };

 public:
  explicit Books(const Catalog& catalog) : catalog_(catalog) {}

  void see(const Event& event) {
    if (event.at < now_) broken("time runs backwards to {} s", to_seconds(event.at));
    // Stays at the latest time, so that one early event is reported once and not with all that
    // follow.
    now_ = std::max(now_, event.at);
    cell_ = event.cell;
    std::visit(*this, event.body);
    ++number_;
  }

  std::vector<std::string> finish() && {
    for (const auto& [id, instance] : instances_) {
      if (instance.up && !instance.gone) broken("instance {} is never gone", id.value);
    }
    for (const auto& [key, job] : jobs_) {
      if (!job.ended) check_reported(key.second, job);
    }
    if (count_ > kMostReported) {
      violations_.push_back(fmt::format("and {} more", count_ - kMostReported));
    }
    return std::move(violations_);
  }

  void operator()(const JobAccepted& e) {
    const auto [entry, fresh] = jobs_.try_emplace(JobKey{cell_, e.job.id});
    // Read once: copies share its terms.
    const Constraint constraint = Constraint::of(e.job.constraint);
    for (const TaskSpec& spec : e.job.tasks) {
      entry->second.tasks.push_back(spec.id);
      CheckedTask task;
      task.job = {cell_, e.job.id};
      task.demands = &spec.demands;
      if (const ServiceSpec* service = e.job.service()) task.size = service->size;
      task.constraint = constraint;
      const bool fresh_task =
          !tasks_over_.contains(spec.id.value) && tasks_.emplace(spec.id, std::move(task)).second;
      if (!fresh_task) broken("task {} is accepted twice", spec.id.value);
    }
    if (!fresh || jobs_over_[cell_].contains(e.job.id.value)) {
      broken("job {} is accepted twice", e.job.id.value);
    }
    const auto* elastic = std::get_if<ElasticSpec>(&e.job.kind);
    entry->second.width = elastic != nullptr ? elastic->min_width : e.job.tasks.size();
  }
  void operator()(const JobResized& e) {
    const auto job = jobs_.find({cell_, e.job});
    if (job == jobs_.end()) return broken("job {} was never accepted", e.job.value);
    if (e.width < 1 || e.width > job->second.tasks.size()) {
      broken("job {} is to have {} workers", e.job.value, e.width);
    }
    job->second.width = e.width;
  }

  void operator()(const TaskRefused& e) {
    if (CheckedTask* task = known(e.task)) task->has_reason = true;
  }

  void operator()(const LaunchRequested& e) {
    CheckedInstance instance;
    instance.type = e.type;
    const bool fresh = !gone_.contains(e.instance.value) &&
                       instances_.emplace(e.instance, std::move(instance)).second;
    if (!fresh) broken("instance {} is launched twice", e.instance.value);
  }

  void operator()(const LaunchRefused& e) {
    CheckedInstance* instance = known(e.instance);
    if (instance == nullptr) return;
    if (instance->up) broken("instance {} is refused after it came up", e.instance.value);
    part_with(e.instance);
  }

  void operator()(const InstanceUp& e) {
    CheckedInstance* instance = known(e.instance);
    if (instance == nullptr) return;
    if (instance->up || instance->gone) broken("instance {} is billed twice", e.instance.value);
    instance->up = true;
  }

  void operator()(const InstanceReady& e) {
    CheckedInstance* instance = known(e.instance);
    if (instance == nullptr) return;
    if (!instance->up || instance->gone) broken("instance {} is ready, not up", e.instance.value);
    instance->ready = true;
  }

  void operator()(const ReleaseDecided& e) {
    CheckedInstance* instance = known(e.instance);
    if (instance == nullptr) return;
    instance->forced =
        e.cause.code == CauseCode::worker_lost || e.cause.code == CauseCode::spend_cap;
  }

  void operator()(const TerminateIssued& e) {
    CheckedInstance* instance = known(e.instance);
    if (instance == nullptr) return;
    // A lost worker cannot let its tasks go, and the spend cap does not wait for them.
    if (!instance->tasks.empty() && !instance->forced) {
      broken("instance {} is ended with task {} on it", e.instance.value,
             instance->tasks.front().value);
    }
    instance->ending = true;
  }

  void operator()(const InstanceGone& e) {
    CheckedInstance* instance = known(e.instance);
    if (instance == nullptr) return;
    if (instance->gone) broken("instance {} is gone twice", e.instance.value);
    for (TaskId id : instance->tasks) {
      tasks_[id].at = {};
      tasks_[id].has_reason = true;
    }
    part_with(e.instance);
  }

  void operator()(const TaskAssigned& e) {
    CheckedTask* task = known(e.task);
    const CheckedInstance* instance = known(e.to);
    if (task == nullptr || instance == nullptr) return;
    if (instance->gone || instance->ending) {
      broken("task {} is assigned to instance {}, which is ending or gone", e.task.value,
             e.to.value);
    }
  }

  void operator()(const TaskUnassigned& e) {
    if (CheckedTask* task = known(e.task)) task->has_reason = true;
  }

  void operator()(const StartIssued& e) {
    if (tasks_over_.contains(e.task.value)) {
      return broken("task {} starts after its end", e.task.value);
    }
    CheckedTask* task = known(e.task);
    CheckedInstance* instance = known(e.instance);
    if (task == nullptr || instance == nullptr) return;
    check_start(e, *task, *instance);
    check_grant(e, *task, *instance);
    task->attempt = e.attempt;
    task->at = e.instance;
    task->has_reason = false;
    if (instance->gone) return;
    instance->tasks.push_back(e.task);
    instance->used += task->granted;
    check_room(e, *instance);
  }

  void operator()(const TaskStarted& e) { live(e.task, e.attempt, "starts"); }
  void operator()(const StopIssued& e) { live(e.task, e.attempt, "is stopped"); }
  void operator()(const TaskCheckpointed& e) { vacate(e.task, live(e.task, e.attempt, "leaves")); }
  void operator()(const TaskFailed& e) {
    CheckedTask* task = live(e.task, e.attempt, "fails");
    vacate(e.task, task);
    if (task != nullptr) task->has_reason = true;
  }
  void operator()(const TaskFinished& e) {
    CheckedTask* task = live(e.task, e.attempt, "finishes");
    vacate(e.task, task);
    if (task != nullptr) task->finished = true;
  }

  void operator()(const JobFinished& e) {
    const auto job = jobs_.find({cell_, e.job});
    if (job == jobs_.end()) {
      if (jobs_over_[cell_].contains(e.job.value)) return broken("job {} ends twice", e.job.value);
      return broken("job {} ends, but was not accepted", e.job.value);
    }
    const std::size_t before = count_;
    if (job->second.ended) broken("job {} ends twice", e.job.value);
    job->second.ended = true;
    for (std::size_t i = 0; i < job->second.tasks.size(); ++i) {
      const TaskId id = job->second.tasks[i];
      CheckedTask& task = tasks_[id];
      task.demands = nullptr;
      const bool has_to_finish = i < job->second.width && e.outcome == JobOutcome::completed;
      if (task.at.valid()) {
        broken("job {} ends while its task {} is on an instance", e.job.value, id.value);
      } else if (has_to_finish && !task.finished) {
        broken("job {} is completed, its task {} is not", e.job.value, id.value);
      }
    }
    // A job with a fault stays known in full: later events of it are still checked.
    if (count_ == before) close(job->first, job->second);
  }

  template <class Other>
  void operator()(const Other&) {}

 private:
  template <class... Args>
  void broken(fmt::format_string<Args...> text, Args&&... args) {
    if (++count_ > kMostReported) return;
    violations_.push_back(fmt::format("event {} at {} s: {}", number_, to_seconds(now_),
                                      fmt::format(text, std::forward<Args>(args)...)));
  }

  /// The job has ended as it should.
  void close(JobKey key, const CheckedJob& job) {
    for (TaskId id : job.tasks) {
      tasks_.erase(id);
      tasks_over_.add(id.value);
    }
    jobs_over_[key.first].add(key.second.value);
    jobs_.erase(key);
  }

  /// The instance is gone, or never was.
  void part_with(InstanceId id) {
    const auto found = instances_.find(id);
    if (found == instances_.end()) return;
    if (found->second.up) came_up_.add(id.value);
    gone_.add(id.value);
    instances_.erase(found);
  }

  CheckedTask* known(TaskId id) {
    const auto found = tasks_.find(id);
    if (found != tasks_.end()) return &found->second;
    if (!tasks_over_.contains(id.value)) broken("task {} was never accepted", id.value);
    return nullptr;
  }
  CheckedInstance* known(InstanceId id) {
    const auto found = instances_.find(id);
    if (found != instances_.end()) return &found->second;
    if (gone_.contains(id.value)) {
      // Callers may change what they get: the stand-in is made anew each time.
      what_is_gone_ = {};
      what_is_gone_.up = came_up_.contains(id.value);
      what_is_gone_.gone = true;
      return &what_is_gone_;
    }
    broken("instance {} was never launched", id.value);
    return nullptr;
  }

  /// The task, when this attempt of it holds an instance.
  CheckedTask* live(TaskId id, Attempt attempt, std::string_view what) {
    CheckedTask* task = known(id);
    if (task == nullptr && !tasks_over_.contains(id.value)) return nullptr;
    if (task == nullptr || !task->at.valid() || task->attempt != attempt) {
      broken("attempt {} of task {} {}, but is not live", attempt, id.value, what);
      return nullptr;
    }
    return task;
  }

  void vacate(TaskId id, CheckedTask* task) {
    if (task == nullptr) return;
    const auto instance = instances_.find(task->at);
    if (instance != instances_.end()) {
      std::vector<TaskId>& tasks = instance->second.tasks;
      const auto there = std::find(tasks.begin(), tasks.end(), id);
      if (there != tasks.end()) {
        tasks.erase(there);
        instance->second.used -= task->granted;
      }
    }
    task->at = {};
  }

  void check_start(const StartIssued& e, CheckedTask& task, const CheckedInstance& instance) {
    if (task.at.valid()) {
      broken("task {} starts on instance {} while it is on instance {}", e.task.value,
             e.instance.value, task.at.value);
      // Repaired after the complaint, so that one fault is not reported at every later event.
      vacate(e.task, &task);
    }
    if (task.finished || jobs_[task.job].ended) {
      broken("task {} starts after its end", e.task.value);
    }
    // Attempts rise by one: news of an older one is told from that of the present one by its
    // number.
    if (e.attempt != task.attempt + 1) {
      broken("task {} starts attempt {} after attempt {}", e.task.value, e.attempt, task.attempt);
    }
    if (!instance.ready || instance.ending || instance.gone) {
      broken("task {} starts on instance {}, which is not ready", e.task.value, e.instance.value);
    }
  }

  /// A task runs only where it may, and with the least that it is to be granted there.
  void check_grant(const StartIssued& e, CheckedTask& task, const CheckedInstance& instance) {
    task.granted = e.grant ? e.grant->amount : Resources{};
    if (task.demands == nullptr) return;  // its job has ended, which was found to be wrong
    const InstanceType& type = catalog_[instance.type];
    if (!task.constraint.admits(type)) {
      broken("task {} starts on a {}, which its job's constraint {} does not admit", e.task.value,
             type.name, task.constraint.text());
    }
    const FamilyDemand* demand = task.demands->on(type.family);
    if (demand == nullptr) {
      return broken("task {} may not run on family {} of instance {}", e.task.value, type.family,
                    e.instance.value);
    }
    const Resources least = least_grant(task.size, demand->amount);
    if (const auto kind = least.first_exceeding(task.granted)) {
      broken("task {} starts with {} {} of the {} that it demands", e.task.value,
             task.granted[*kind], name_of(*kind), least[*kind]);
    }
  }

  /// Adds up what the instance's tasks have from scratch, so that no rounding error is carried
  /// along.
  void check_room(const StartIssued& e, const CheckedInstance& instance) {
    const InstanceType& type = catalog_[instance.type];
    const Resources used = instance.used.value();
    if (const auto kind = used.first_exceeding(type.capacity)) {
      broken("instance {} holds {} {} of {}", e.instance.value, used[*kind], name_of(*kind),
             type.capacity[*kind]);
    }
  }

  void check_reported(JobId id, const CheckedJob& job) {
    const std::span<const TaskId> wanted(job.tasks.data(), std::min(job.width, job.tasks.size()));
    for (TaskId task_id : wanted) {
      const CheckedTask& task = tasks_[task_id];
      if (!task.finished && !task.has_reason) {
        return broken("job {} neither ends nor has a reason not to (task {})", id.value,
                      task_id.value);
      }
    }
    if (std::all_of(wanted.begin(), wanted.end(),
                    [&](TaskId task) { return tasks_[task].finished; })) {
      broken("job {} has finished all its tasks but does not end", id.value);
    }
  }

  const Catalog& catalog_;
  Instant now_{Duration::min()};
  std::size_t number_ = 1;
  std::size_t count_ = 0;
  std::vector<std::string> violations_;
  std::map<InstanceId, CheckedInstance> instances_;  // ordered: finish() reports in this order
  std::map<JobKey, CheckedJob> jobs_;
  std::uint32_t cell_ = 0;  ///< of the present event
  std::unordered_map<TaskId, CheckedTask> tasks_;
  IdSet tasks_over_;
  std::map<std::uint32_t, IdSet> jobs_over_;  ///< by cell
  IdSet gone_, came_up_;                      ///< instances; the latter of the former
  CheckedInstance what_is_gone_;              ///< stands for any of them
};

RunCheck::RunCheck(const Catalog& catalog) : books_(std::make_unique<Books>(catalog)) {}
RunCheck::~RunCheck() = default;

void RunCheck::see(const Event& event) {
  books_->see(event);
  services_.see(event);
}

std::vector<std::string> RunCheck::finish() {
  std::vector<std::string> broken = std::move(*books_).finish();
  const std::vector<std::string> services = services_.broken();
  broken.insert(broken.end(), services.begin(), services.end());
  return broken;
}

std::vector<std::string> check_run(std::span<const Event> events, const Catalog& catalog) {
  RunCheck check(catalog);
  for (const Event& event : events) check.see(event);
  return check.finish();
}

void BillCount::see(const Event& event) {
  // Bills of instances that are still there run to the last event.
  last_ = event.at;
  if (const auto* launch = std::get_if<LaunchRequested>(&event.body)) {
    rents_[launch->instance].price = RentedPrice(*launch, event.cell);
  } else if (const auto* changed = std::get_if<OfferingChanged>(&event.body)) {
    for (auto& [id, rent] : rents_) {
      if (rent.price.is_changed_by(event, *catalog_)) rent.price.change(changed->change);
    }
  } else if (const auto* refused = std::get_if<LaunchRefused>(&event.body)) {
    rents_.erase(refused->instance);
  } else if (const auto* up = std::get_if<InstanceUp>(&event.body)) {
    // The cloud's time counts where the event states it: it is that by which it bills.
    rents_[up->instance].since = up->billed_from.value_or(event.at);
  } else if (const auto* gone = std::get_if<InstanceGone>(&event.body)) {
    const Rent& rent = rents_[gone->instance];
    const Instant until = gone->billed_until.value_or(event.at);
    if (rent.since) gone_ += rent.price.charge(*rent.since, until);
    rents_.erase(gone->instance);
  }
}

Money BillCount::total() const {
  Money total = gone_;
  for (const auto& [id, rent] : rents_) {  // exact, so the order does not matter
    if (rent.since) total += rent.price.charge(*rent.since, last_);
  }
  return total;
}

Money total_bill(std::span<const Event> events, const Catalog& catalog) {
  BillCount count(catalog);
  for (const Event& event : events) count.see(event);
  return count.total();
}

}  // namespace muster::metrics
