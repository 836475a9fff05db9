#include "model/submission_digest.hpp"

#include <bit>
#include <string_view>

namespace muster {
namespace {

/// Members of what is digested. Numbers are never given twice: stores hold digests of jobs that
/// were submitted before an update.
enum class Part : std::uint64_t {
  name = 1,
  user,
  workload_class,
  priority,
  gang,
  runtime_hint,
  task,
  program,
  markets,
  max_running,
  retries,
  origin,
  demand,
  image,
  delay,
  array_index,
  argument,
  variable,
  work_dir,
  time_limit,
  stop_grace,
  alone_progress,
  repeated_task,
  not_movable,
  checkpoints,
  max_fails,
  elastic,
  service,
  task_runtime_hint,
  epoch,
  progress_unit,
  batch_limits,
  distinct_instances,
  done_on_stop,
  retry_on,
  warn_signal,
  warn_before,
  warn_program_only,
  script,
  make_work_dir,
  constraint,
  check,
  goal,
  replica_range,
  size_range,
  most_an_instance,
  after,
  begin,
  deadline,
  held,
  keeps_waiting,
  every,
  zone,
  overlaps,
  notify,
  notify_on,
  stage,
  output,
  optional_outputs,
  // A new one stands here.
};

/// Each step is reversible for a given word, so that words that differ lead to different states.
class Digest {
 public:
  void word(std::uint64_t word) {
    state_ = (state_ ^ word) * 0x9e3779b97f4a7c15U;
    state_ ^= state_ >> 32U;
  }
  void begin(Part part) { word(static_cast<std::uint64_t>(part)); }
  void number(double value) { word(std::bit_cast<std::uint64_t>(value)); }
  // The length goes first: texts behind each other cannot be cut in another place.
  void text(std::string_view text) {
    word(text.size());
    std::uint64_t next = 0;
    for (std::size_t i = 0; i < text.size(); ++i) {
      next |= std::uint64_t{static_cast<unsigned char>(text[i])} << (8 * (i % 8));
      if (i % 8 != 7) continue;
      word(next);
      next = 0;
    }
    if (text.size() % 8 != 0) word(next);
  }
  /// A member at its default adds nothing.
  void whole(Part part, std::uint64_t value) {
    if (value == 0) return;
    begin(part);
    word(value);
  }
  void length(Part part, Duration value) { whole(part, static_cast<std::uint64_t>(value.count())); }
  void words(Part part, std::string_view value) {
    if (value.empty()) return;
    begin(part);
    text(value);
  }
  std::uint64_t value() const { return state_; }

 private:
  std::uint64_t state_ = 0x6a09e667f3bcc908U;
};

void add_demand(Digest& digest, const FamilyDemand& demand) {
  const auto& [family, amount, speed] = demand;
  digest.begin(Part::demand);
  digest.text(family);
  for (const Resource kind : kAllResources) {
    if (amount[kind] == 0) continue;
    digest.text(name_of(kind));
    digest.number(amount[kind]);
  }
  digest.number(speed);
}

void add_delays(Digest& digest, const Delays& delays) {
  const auto& [fetch, build, init, stop, upload] = delays;
  std::uint64_t which = 0;
  for (const Duration each : {fetch, build, init, stop, upload}) {
    ++which;
    if (each == Duration{}) continue;
    digest.begin(Part::delay);
    digest.word(which);
    digest.word(static_cast<std::uint64_t>(each.count()));
  }
}

/// The tasks of an array are alike but for their indices.
/// O(tasks) words instead of O(tasks x demands): arrays are mostly alike.
void add_task(Digest& digest, const TaskSpec& task, const TaskSpec* before) {
  // Bound member by member, so that a new one does not compile until it is decided on.
  const auto& [id, demands, image, delays, array_index, runtime_hint] = task;
  const bool alike = before != nullptr && before->demands == demands && before->image == image &&
                     before->delays == delays;
  digest.begin(alike ? Part::repeated_task : Part::task);
  if (!alike) {
    for (const FamilyDemand& each : demands.entries()) add_demand(digest, each);
    digest.words(Part::image, image);
    add_delays(digest, delays);
  }
  digest.whole(Part::array_index, array_index);
  if (runtime_hint) {
    digest.begin(Part::task_runtime_hint);
    digest.word(static_cast<std::uint64_t>(runtime_hint->count()));
  }
}

void add_tasks(Digest& digest, const std::vector<TaskSpec>& tasks) {
  const TaskSpec* before = nullptr;
  for (const TaskSpec& task : tasks) {
    add_task(digest, task, before);
    before = &task;
  }
}

void add_program(Digest& digest, const Program& program) {
  const auto& [argv, env, work_dir, time_limit, stop_grace, baseline_rate_per_s, warn_signal,
               warn_before, warn_program_only, script, make_work_dir, stage, outputs,
               optional_outputs] = program;
  for (const std::string& each : argv) {
    digest.begin(Part::argument);
    digest.text(each);
  }
  for (const auto& [name, value] : env) {
    digest.begin(Part::variable);
    digest.text(name);
    digest.text(value);
  }
  digest.words(Part::work_dir, work_dir);
  digest.length(Part::time_limit, time_limit);
  digest.length(Part::stop_grace, stop_grace);
  digest.whole(Part::alone_progress, std::bit_cast<std::uint64_t>(baseline_rate_per_s));
  digest.whole(Part::warn_signal, static_cast<std::uint64_t>(std::int64_t{warn_signal}));
  digest.length(Part::warn_before, warn_before);
  digest.whole(Part::warn_program_only, warn_program_only ? 1 : 0);
  digest.words(Part::script, script);
  digest.whole(Part::make_work_dir, make_work_dir ? 1 : 0);
  digest.words(Part::stage, stage);
  for (const std::string& each : outputs) digest.words(Part::output, each);
  digest.whole(Part::optional_outputs, optional_outputs ? 1 : 0);
}

void add_epoch(Digest& digest, const ElasticEpoch& epoch) {
  const auto& [until, rate_per_s, speedup, spread] = epoch;
  digest.begin(Part::epoch);
  digest.number(until);
  digest.number(rate_per_s);
  for (const auto* list : {&speedup, &spread}) {
    digest.word(list->size());
    for (const double each : *list) digest.number(each);
  }
}

void add_check(Digest& digest, const HealthCheck& check) {
  const auto& [kind, port, path, command, every, timeout, successes, failures] = check;
  digest.begin(Part::check);
  digest.text(name_of(kind));
  digest.text(port);
  digest.text(path);
  for (const std::string& each : command) digest.words(Part::argument, each);
  for (const Duration each : {every, timeout}) {
    digest.word(static_cast<std::uint64_t>(each.count()));
  }
  for (const std::uint32_t each : {successes, failures}) digest.word(each);
}

void add_goal(Digest& digest, const ServiceGoal& goal) {
  const auto& [metric, bound, at_least, probe, every, timeout] = goal;
  digest.words(Part::goal, metric);
  digest.number(bound);
  digest.word(at_least ? 1 : 0);
  for (const std::string& each : probe) digest.words(Part::argument, each);
  for (const Duration each : {every, timeout}) {
    digest.word(static_cast<std::uint64_t>(each.count()));
  }
}

void add_sizes(Digest& digest, const SizeRange& size) {
  const auto& [least_cpus, least_memory_gib] = size;
  digest.begin(Part::size_range);
  for (const double each : {least_cpus, least_memory_gib}) digest.number(each);
}

/// Jobs of the first kind that there was have the digests that they had then.
struct KindDigest {
  Digest& digest;

  void operator()(const BatchSpec&) const {}
  void operator()(const ServiceSpec& service) const {
    const auto& [ports, ready, alive, start_within, drain, replicas, surge, max_unavailable,
                 healthy_for, update_within, goal, least, most, size, revision, replaces, master] =
        service;
    digest.begin(Part::service);
    digest.word(ports.size());
    for (const std::string& each : ports) digest.text(each);
    add_check(digest, ready);
    add_check(digest, alive);
    for (const std::uint32_t each : {replicas, surge, max_unavailable}) digest.word(each);
    // The revision and the job that it replaces are given by the node that takes it.
    static_cast<void>(revision);
    static_cast<void>(replaces);
    static_cast<void>(master);
    for (const Duration each : {start_within, drain, healthy_for, update_within}) {
      digest.word(static_cast<std::uint64_t>(each.count()));
    }
    // Services without a goal have the digests that they had before there were any.
    if (goal.is_there()) add_goal(digest, goal);
    if (most > 0)
      digest.words(Part::replica_range, std::to_string(least) + '-' + std::to_string(most));
    if (size.is_there()) add_sizes(digest, size);
  }
  void operator()(const ElasticSpec& elastic) const {
    digest.begin(Part::elastic);
    digest.word(elastic.min_width);
    digest.word(elastic.max_width);
    digest.word(elastic.speedup.size());
    for (const double each : elastic.speedup) digest.number(each);
    for (const ElasticEpoch& epoch : elastic.epochs.all()) add_epoch(digest, epoch);
    digest.words(Part::progress_unit, elastic.unit);
    if (!elastic.batch) return;
    const auto& [initial, largest, local_min, local_max] = *elastic.batch;
    digest.begin(Part::batch_limits);
    for (const std::uint32_t each : {initial, largest, local_min, local_max}) digest.word(each);
  }
};

void add_times(Digest& digest, const Job& job) {
  for (const auto& [part, at] :
       {std::pair{Part::begin, job.begin}, std::pair{Part::deadline, job.deadline}}) {
    if (!at) continue;
    digest.begin(part);
    digest.word(static_cast<std::uint64_t>(at->time_since_epoch().count()));
  }
  digest.whole(Part::held, job.held ? 1 : 0);
  digest.whole(Part::keeps_waiting, job.keeps_waiting ? 1 : 0);
  digest.words(Part::every, job.every);
  digest.words(Part::zone, job.zone);
  digest.whole(Part::overlaps, job.overlaps ? 1 : 0);
}

/// `with_shares`: the members that the parts of a job share count, too.
std::uint64_t digest_of(const Job& job, bool with_shares) {
  // The numbers, and what the site itself adds, are not the user's.
  // Names every member, so that a new one does not compile until it is decided whether it counts.
  const auto& [id, name, user, workload_class, priority, gang, runtime_hint, tasks, program,
               markets, max_running, retries, token, kind, prediction, total_tasks, origin, movable,
               checkpoints, max_fails, most_an_instance, done_on_stop, retry_on, constraint, after,
               again_of, submitted, begin, deadline, held, keeps_waiting, every, zone, overlaps,
               recurs, notify, notify_on] = job;
  Digest digest;
  digest.words(Part::name, name);
  digest.words(Part::user, user);
  digest.words(Part::workload_class, workload_class);
  digest.whole(Part::priority, static_cast<std::uint64_t>(std::int64_t{priority}));
  digest.whole(Part::gang, gang ? 1 : 0);
  if (runtime_hint) {
    digest.begin(Part::runtime_hint);
    digest.word(static_cast<std::uint64_t>(runtime_hint->count()));
  }
  if (with_shares) add_tasks(digest, tasks);
  add_program(digest, program);
  // By name: the order of the choices may change.
  if (markets != MarketChoice::any) digest.words(Part::markets, name_of(markets));
  if (with_shares) digest.whole(Part::max_running, max_running);
  if (retries) {
    // An optional with its default inside differs from one that is not set, so whole() will not do.
    digest.begin(Part::retries);
    digest.word(*retries);
  }
  if (max_fails) {
    digest.begin(Part::max_fails);
    digest.word(*max_fails);
  }
  std::visit(KindDigest{digest}, kind);
  if (origin) {
    digest.begin(Part::origin);
    digest.number(origin->latitude_deg);
    digest.number(origin->longitude_deg);
  }
  digest.whole(Part::not_movable, movable ? 0 : 1);
  digest.whole(Part::checkpoints,
               checkpoints ? 1 : 0);  // a request without the key keeps no checkpoints
  // A bound of 1 has the digest that it had when it was the only one.
  digest.whole(Part::distinct_instances, most_an_instance == 1 ? 1 : 0);
  digest.whole(Part::most_an_instance, most_an_instance == 1 ? 0 : most_an_instance);
  digest.whole(Part::done_on_stop, done_on_stop ? 1 : 0);
  for (const std::string& each : retry_on) digest.words(Part::retry_on, each);
  digest.words(Part::constraint, constraint);
  // By place where it has one, for its number is given by the site; the end by name, as above.
  for (const AfterJob& each : after) {
    digest.begin(Part::after);
    digest.word(each.place > 0 ? each.place : each.job.value);
    digest.word(each.place > 0 ? 1 : 0);
    digest.text(name_of(each.end));
    if (each.by_index) digest.text("index");
  }
  add_times(digest, job);
  for (const std::string& each : notify) digest.words(Part::notify, each);
  if (notify_on != NotifyOn::end) digest.words(Part::notify_on, name_of(notify_on));
  return digest.value();
}

}  // namespace

std::uint64_t submission_digest(const Job& job) {
  return digest_of(job, true);
}

bool same_submission(const Job& a, const Job& b) {
  if (a.token != b.token) return false;
  const bool in_parts = a.total_tasks > 0 || b.total_tasks > 0;
  // Parts share out tasks among masters: only what they have in common can be compared.
  if (in_parts && a.task_count() != b.task_count()) return false;
  return digest_of(a, !in_parts) == digest_of(b, !in_parts);
}

}  // namespace muster
