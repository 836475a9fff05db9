#include <fmt/format.h>

#include <algorithm>

#include "config/time_text.hpp"
#include "replay/workload/demands_text.hpp"
#include "replay/workload/formats.hpp"
#include "replay/workload/json_entries.hpp"

// Traces of the Eva artifact, read job by job.

namespace muster::replay {
namespace {

using Json = nlohmann::json;

/// A value as messages show it.
std::string shown_value(const Json& value) {
  return brief(value.dump());
}

/// Gets typed fields out of the jobs.
class EvaReader {
 public:
  explicit EvaReader(TraceReading& reading)
      : reading_(reading), file_(text_file_name(reading.config().path)) {}

  void read(const JsonEntry& entry);

 private:
  /// Of the place that the dotted path leads to.
  void complain(const std::string& path, std::string_view message) {
    const auto line = entry_->lines.find(path);
    // A path that is missing from the document has no line of its own.
    reading_.errors().add({file_, line == entry_->lines.end() ? entry_->line : line->second}, path,
                          message);
  }
  JobDraft read_job(const std::string& key, const Json& job);
  const Json* member(const Json& object, const std::string& path, const char* name);
  double number(const Json& object, const std::string& path, const char* name,
                const NumberRange& range);
  Duration seconds(const Json& object, const std::string& path, const char* name);
  std::string text(const Json& object, const std::string& path, const char* name);
  std::string image(const Json& task, const std::string& path);
  TaskSpec read_task(const Json& task, const std::string& path, Duration init);
  Demands read_demands(const Json& task, const std::string& path);
  Resources read_vector(const Json& vector, const std::string& path);
  void read_tasks(const Json& job, const std::string& number, JobDraft& to);
  Instant submission(const Json& job, const std::string& number);

  TraceReading& reading_;
  std::string file_;
  const JsonEntry* entry_ = nullptr;
};

const Json* EvaReader::member(const Json& object, const std::string& path, const char* name) {
  const auto found = object.find(name);
  if (found != object.end()) return &*found;
  complain(path, fmt::format("'{}' is missing", name));
  return nullptr;
}

double EvaReader::number(const Json& object, const std::string& path, const char* name,
                         const NumberRange& range) {
  const Json* value = member(object, path, name);
  if (value == nullptr) return range.low;
  if (value->is_number() && range.contains(value->get<double>())) return value->get<double>();
  complain(path + "." + name,
           fmt::format("has to be {}; it is {}", describe(range), shown_value(*value)));
  return range.low;
}

Duration EvaReader::seconds(const Json& object, const std::string& path, const char* name) {
  return from_seconds(number(object, path, name, {.low = 0, .high = to_seconds(kLongest)}));
}

/// A number of seconds or a date.
Instant EvaReader::submission(const Json& job, const std::string& number) {
  const Json* value = member(job, number, "arrival_time");
  if (value == nullptr) return {};
  std::optional<Moment> moment;
  if (value->is_number()) moment = parse_moment(number_text(value->get<double>()));
  if (value->is_string()) moment = parse_moment(value->get_ref<const std::string&>());
  if (moment && moment->at >= Duration::zero()) {
    if (moment->calendar) reading_.dated();
    return Instant{moment->at};
  }
  complain(number + ".arrival_time",
           fmt::format("has to be {}; it is {}", kWantedMoment, shown_value(*value)));
  return {};
}

std::string EvaReader::text(const Json& object, const std::string& path, const char* name) {
  const Json* value = member(object, path, name);
  if (value == nullptr) return {};
  if (value->is_string() && !value->get_ref<const std::string&>().empty()) {
    return value->get<std::string>();
  }
  complain(path + "." + name, fmt::format("has to be a text; it is {}", shown_value(*value)));
  return {};
}

std::string EvaReader::image(const Json& task, const std::string& path) {
  const Json* value = member(task, path, "image_id");
  if (value == nullptr) return {};
  if (value->is_string()) return value->get<std::string>();
  if (value->is_number_unsigned()) return value->dump();
  complain(path + ".image_id",
           fmt::format("has to be a whole number or a text; it is {}", shown_value(*value)));
  return {};
}

Resources EvaReader::read_vector(const Json& vector, const std::string& path) {
  const bool three = vector.is_array() && vector.size() == 3;
  const bool good = three && std::all_of(vector.begin(), vector.end(), [](const Json& amount) {
                      return amount.is_number() && kAmount.contains(amount.get<double>());
                    });
  if (good) {
    return Resources::of(vector[0].get<double>(), vector[1].get<double>(), vector[2].get<double>());
  }
  complain(path, fmt::format("has to be [gpu, cpu, memory in GiB], each {}; it is {}",
                             describe(kAmount), shown_value(vector)));
  return {};
}

Demands EvaReader::read_demands(const Json& task, const std::string& path) {
  const Json* demand = member(task, path, "demand");
  if (demand == nullptr) return {};
  const std::string here = path + ".demand";
  if (!demand->is_object() || demand->empty()) {
    complain(here, fmt::format("has to give a vector for a family or for \"any\"; it is {}",
                               shown_value(*demand)));
    return {};
  }
  std::vector<FamilyDemand> entries;
  for (const auto& [family, vector] : demand->items()) {
    const std::string at = here + "." + family;
    if (!is_family_name(family)) {
      complain(at, "the name of a family has to be made of letters, digits, '-', '_' and '.'");
    }
    FamilyDemand entry{family == "any" ? "" : family, read_vector(vector, at)};
    // The one for any family first, as everywhere.
    entries.insert(entry.family.empty() ? entries.begin() : entries.end(), std::move(entry));
  }
  return Demands(std::move(entries));
}

TaskSpec EvaReader::read_task(const Json& task, const std::string& path, Duration init) {
  TaskSpec spec;
  if (!task.is_object()) {
    complain(path, "has to be an object");
    return spec;
  }
  spec.demands = read_demands(task, path);
  spec.image = image(task, path);
  spec.delays.fetch = seconds(task, path, "fetch_delay");
  spec.delays.build = seconds(task, path, "build_image_delay");
  spec.delays.init = init;
  spec.delays.stop = seconds(task, path, "kill_delay");
  spec.delays.upload = seconds(task, path, "upload_delay");
  return spec;
}

void EvaReader::read_tasks(const Json& job, const std::string& number, JobDraft& to) {
  const Duration init = seconds(job, number, "init_delay");
  const Json* tasks = member(job, number, "tasks");
  if (tasks == nullptr) return;
  const std::string here = number + ".tasks";
  if (!tasks->is_object() || tasks->empty()) {
    complain(here, "has to be an object with at least one task");
    return;
  }
  std::vector<TaskSpec>& first = to.job.job.tasks;
  for (const auto& [task_number, task] : tasks->items()) {
    const std::string path = here + "." + task_number;
    TaskSpec spec = read_task(task, path, init);
    // One task stands for all: a workload keeps a template and a number of tasks.
    if (first.empty()) first.push_back(spec);
    const bool alike = spec.demands == first[0].demands && spec.image == first[0].image &&
                       spec.delays == first[0].delays;
    if (!alike) complain(path, "all tasks of a job have to have the same demand, image and delays");
  }
  to.tasks = tasks->size();
}

JobDraft EvaReader::read_job(const std::string& key, const Json& job) {
  JobDraft draft;
  WorkloadJob& to = draft.job;
  const std::optional<std::uint64_t> id = parse_whole(key);
  if (id && JobId{*id}.valid()) {
    to.job.id = JobId{*id};
    reading_.id(*id);
  } else {
    complain(key, "the key of a job has to be its number");
  }
  if (!job.is_object()) {
    complain(key, "has to be an object");
    return draft;
  }
  to.job.name = text(job, key, "name");
  to.job.workload_class = to.job.name;
  to.job.gang = true;
  to.truth.interference = interference_name(to.job.name);
  to.submit = submission(job, key);
  to.job.runtime_hint = seconds(job, key, "duration");
  to.truth.iterations = number(job, key, "total_iters", kIterations);
  to.truth.iterations_per_s = number(job, key, "full_throughput", kPositive);
  read_tasks(job, key, draft);
  return draft;
}

void EvaReader::read(const JsonEntry& entry) {
  entry_ = &entry;
  reading_.begin_row(entry.line);
  JobDraft draft = read_job(entry.key, entry.value);
  for (const std::string& path : entry.repeated) complain(path, "appears twice");
  reading_.end_row(std::move(draft));
}

/// Trace JSON of the Eva artifact: an object of jobs by number.
TraceResult read_eva_json(TraceReading& reading) {
  const std::filesystem::path& path = reading.config().path;
  EvaReader reader(reading);
  reading.order_by_id();
  const auto failure = each_json_entry(path, [&](const JsonEntry& entry) { reader.read(entry); });
  if (failure) return *failure;
  return reading.finish({.description = fmt::format("Eva trace {}", path.filename().string()),
                         .from_first = false,
                         .id_of = "number of the job"});
}

}  // namespace

WorkloadFormat eva_json_format() {
  return trace("eva-json", read_eva_json);
}

}  // namespace muster::replay
