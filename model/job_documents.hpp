#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "model/job_views.hpp"

// The API's documents of jobs, which are put together from views and described as these are: the
// node that writes them, the document of the API and the command that reads them go over `fields`.

namespace muster {

/// Of a view whose members stand among those of the document.
struct AmongKey : Key {
  explicit constexpr AmongKey(const char* in_code) : Key(in_code) {}
};
/// The members of another view, which this one has besides its own.
constexpr AmongKey among(const char* name) {
  return AmongKey(name);
}

/// A member of any kind.
struct NamedJson {
  std::string name;
  std::string json;
};
/// Of members of any kind, which stand among those that a view names.
struct OthersKey : Key {
  bool (*is_named)(std::string_view name);  ///< whether `fields` of the view has the name

  explicit constexpr OthersKey(bool (*is_named_in_view)(std::string_view))
      : Key("others"), is_named(is_named_in_view) {}
};

/// Looks for a member of a name.
struct NameLook {
  std::string_view name;
  bool found = false;

  void operator()(Key key, const auto&) { found = found || key.name == name; }
  void operator()(OthersKey, const auto&) {}
};
/// Whether the view names the member.
template <class View>
bool has_member(std::string_view name) {
  NameLook look{name};
  const View view{};
  fields(look, view);
  return look.found;
}
/// All members that the view does not name.
template <class View>
constexpr OthersKey others_than() {
  return OthersKey(&has_member<View>);
}

/// The further key of a job that is a resubmission: the number of the job before it.
inline constexpr const char* kResubmittedFrom = "resubmitted_from";
/// Likewise, of a run of a recurring job: the number of that one.
inline constexpr const char* kRunOf = "run_of";

/// The request that a job was submitted with, by its keys: those that matter to every job, and
/// those that were given besides.
struct SubmittedAs {
  static constexpr std::string_view kSchema = "SubmittedAs";

  std::string array{};  ///< the indices of its tasks, perhaps cut; empty: only a part is known
  bool checkpoints = false;
  std::string workload_class{};
  double cpus = 0;
  bool distinct_instances = false;
  std::vector<std::string> env_names{};
  bool gang = false;
  double gpus = 0;
  MarketChoice market = MarketChoice::any;
  std::optional<std::uint32_t> max_fails{};
  std::uint32_t max_running = 0;
  double memory_gib = 0;
  std::uint32_t most_an_instance = 0;
  bool movable = true;
  int priority = 0;
  std::optional<std::uint32_t> retries{};
  std::optional<double> runtime_hint_s{};
  std::optional<double> stop_grace_s{};
  std::uint64_t tasks = 0;  ///< of the whole job
  std::optional<double> time_limit_s{};
  std::string work_dir{};           ///< empty: a folder of the attempt's own
  std::vector<NamedJson> others{};  ///< further keys that were given
};

void fields(auto& a, Like<SubmittedAs> auto& v) {
  a(or_null("array", "the indices of its tasks; null where several masters have parts of it"),
    v.array);
  a(always("checkpoints", "a task that is stopped goes on later where it was"), v.checkpoints);
  a(always("class", "jobs with one class are taken to run alike"), v.workload_class);
  a(always("cpus", "cpus of a task"), v.cpus);
  a(always("distinct_instances", "no two of its tasks run on one instance"), v.distinct_instances);
  a(always("env_names", "names of its environment variables; their values are not told"),
    v.env_names);
  a(always("gang", "its tasks start together or not at all"), v.gang);
  a(always("gpus", "gpus of a task"), v.gpus);
  a(always("market", "the market whose instances it may run on"), v.market);
  a(always("max_fails",
           "number of its tasks that may fail; with one more the rest is ended; null: any "
           "number"),
    v.max_fails);
  a(always("max_running", "number of its tasks that may have a place at once; 0: all"),
    v.max_running);
  a(always("memory_gib", "memory of a task"), v.memory_gib);
  a(later("most_an_instance",
          "number of its tasks that may have a place on one instance at once; 0: all"),
    v.most_an_instance);
  a(always("movable", "a running task may be moved to another instance"), v.movable);
  a(always("priority", "its priority; the highest goes first"), v.priority);
  a(always("retries", "how often a task that failed is tried again; null: as the cluster says"),
    v.retries);
  a(always("runtime_hint_s", "how long a task is said to run"), v.runtime_hint_s);
  a(always("stop_grace_s", "time between SIGTERM and SIGKILL; null: as the cluster says"),
    v.stop_grace_s);
  a(always("tasks", "number of its tasks"), v.tasks);
  a(always("time_limit_s", "longest time that an attempt may run; null: no limit"), v.time_limit_s);
  a(or_null("work_dir", "folder in which its tasks start; null: a fresh one"), v.work_dir);
  a(others_than<SubmittedAs>(), v.others);
}

/// A task with the reason why it waits, or is where it is.
struct ExplainedTask {
  static constexpr std::string_view kSchema = "ExplainedTask";

  TaskView task;
};

void fields(auto& a, Like<ExplainedTask> auto& v) {
  a(among("task"), v.task);
  a(later("why", "why the task is where it is, from the stored decisions"), v.task.why);
}

/// A page of jobs.
struct JobsDocument {
  static constexpr std::string_view kSchema = "Jobs";

  std::vector<JobView> jobs{};
  std::optional<std::string> next{};  ///< where the next page begins
  std::optional<std::uint64_t> sorted_of{};
  std::optional<bool> sorted_all{};
};

void fields(auto& a, Like<JobsDocument> auto& v) {
  a(always("jobs",
           "first those that are not over, then the others, each by time of submission, the newest "
           "first, unless `sort` asks for another order"),
    v.jobs);
  a(always("next", "to be given as `after` for the next page; null: this is the last one"), v.next);
  a(later("sorted_of",
          "where `sort` asks for another order than that of submission, how many jobs were sorted: "
          "all that match or the newest 10,000 of them; else null"),
    v.sorted_of);
  a(later("sorted_all",
          "likewise, whether they are all that match: false where older ones were not looked at"),
    v.sorted_all);
}

/// A job with a page of its tasks.
struct JobDocument {
  static constexpr std::string_view kSchema = "JobWithTasks";

  JobView job;
  std::optional<SubmittedAs> submission{};  ///< nothing: it is no longer known
  std::vector<TaskView> tasks{};
  std::optional<std::uint32_t> next{};  ///< the page's last task, where there are more
  std::uint64_t tasks_behind = 0;       ///< of those that are wanted, behind the page
};

void fields(auto& a, Like<JobDocument> auto& v) {
  a(among("job"), v.job);
  a(later("submission",
          "the request that the job was submitted with; null where it is no longer known"),
    v.submission);
  a(always("tasks", "a page of its tasks, by index"), v.tasks);
  a(later("next", "to be given as `after` for the next page; null: this is the last one"), v.next);
  a(later("tasks_behind", "number of tasks behind this page"), v.tasks_behind);
}

/// A job with a page of its tasks, each with its reason.
struct ExplainedDocument {
  static constexpr std::string_view kSchema = "Explanation";

  JobView job;
  std::vector<ExplainedTask> tasks{};
  std::optional<std::uint32_t> next{};
  std::uint64_t tasks_behind = 0;
};

void fields(auto& a, Like<ExplainedDocument> auto& v) {
  a(always("job", "the job"), v.job);
  a(always("tasks", "a page of its tasks, by index"), v.tasks);
  a(later("next", "to be given as `after` for the next page; null: this is the last one"), v.next);
  a(later("tasks_behind", "number of tasks behind this page"), v.tasks_behind);
}

/// The documents of jobs, which say besides whose part is missing in them, and their parts.
using JobDocuments = std::tuple<JobsDocument, JobDocument, ExplainedDocument>;
using PartsOfJobDocuments = std::tuple<ExplainedTask, SubmittedAs>;

}  // namespace muster
