#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "tools/replay/workload/demands_text.hpp"
#include "tools/replay/workload/formats.hpp"
#include "tools/replay/workload/json_keys.hpp"

// Traces of the Eva artifact. The document is read as a tree first; places of what is wrong are
// found by a second pass over the text, which is paid only by files with faults.

namespace muster::replay {
namespace {

using Json = nlohmann::json;

/// Something wrong, at the place that the dotted path leads to.
struct JsonError {
  std::string path;
  std::string message;
};

/// Gets typed fields out of the jobs and remembers what is wrong.
class EvaReader {
 public:
  /// The jobs in the order of their numbers.
  RawJobs read_jobs(const Json& root);
  void complain(std::string path, std::string message) {
    errors_.push_back({std::move(path), std::move(message)});
  }
  const std::vector<JsonError>& errors() const { return errors_; }

 private:
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

  std::vector<JsonError> errors_;
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
           fmt::format("has to be {}; it is {}", describe(range), value->dump()));
  return range.low;
}

Duration EvaReader::seconds(const Json& object, const std::string& path, const char* name) {
  return from_seconds(number(object, path, name, {.low = 0, .high = to_seconds(kLongest)}));
}

std::string EvaReader::text(const Json& object, const std::string& path, const char* name) {
  const Json* value = member(object, path, name);
  if (value == nullptr) return {};
  if (value->is_string() && !value->get_ref<const std::string&>().empty()) {
    return value->get<std::string>();
  }
  complain(path + "." + name, fmt::format("has to be a text; it is {}", value->dump()));
  return {};
}

std::string EvaReader::image(const Json& task, const std::string& path) {
  const Json* value = member(task, path, "image_id");
  if (value == nullptr) return {};
  if (value->is_string()) return value->get<std::string>();
  if (value->is_number_unsigned()) return value->dump();
  complain(path + ".image_id",
           fmt::format("has to be a whole number or a text; it is {}", value->dump()));
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
                             describe(kAmount), vector.dump()));
  return {};
}

Demands EvaReader::read_demands(const Json& task, const std::string& path) {
  const Json* demand = member(task, path, "demand");
  if (demand == nullptr) return {};
  const std::string here = path + ".demand";
  if (!demand->is_object() || demand->empty()) {
    complain(here, fmt::format("has to give a vector for a family or for \"any\"; it is {}",
                               demand->dump()));
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
  to.submit = Instant{seconds(job, key, "arrival_time")};
  to.job.runtime_hint = seconds(job, key, "duration");
  to.truth.iterations = number(job, key, "total_iters", kIterations);
  to.truth.iterations_per_s = number(job, key, "full_throughput", kPositive);
  read_tasks(job, key, draft);
  return draft;
}

struct Parsed {
  Json root;
  std::vector<JsonError> errors;
};

RawJobs EvaReader::read_jobs(const Json& root) {
  RawJobs raw_jobs;
  std::set<JobId> ids;
  for (const auto& [key, job] : root.items()) {
    raw_jobs.add(read_job(key, job));
    const JobId id = raw_jobs.jobs.back().id;
    if (id.valid() && !ids.insert(id).second) complain(key, "is the number of another job, too");
  }
  // The tree's keys are sorted as texts, in which "10" comes before "2".
  std::stable_sort(raw_jobs.jobs.begin(), raw_jobs.jobs.end(),
                   [](const JobRow& a, const JobRow& b) { return a.id < b.id; });
  return raw_jobs;
}

Expected<Json, WorkloadError> parse(const std::string& file, const std::string& text) {
  try {
    return Json::parse(text);
  } catch (const Json::parse_error& error) {
    const std::string_view what = error.what();
    const std::size_t cut = what.find(": ");  // after the exception's number and its position
    const TextPlace place = place_of_byte(file, text, error.byte > 0 ? error.byte - 1 : 0);
    return Failure<WorkloadError>{
        WorkloadError::malformed,
        fmt::format("{}: {}", to_text(place), what.substr(cut == what.npos ? 0 : cut + 2))};
  } catch (const Json::exception& error) {
    return Failure<WorkloadError>{WorkloadError::malformed,
                                  fmt::format("{}: {}", file, error.what())};
  }
}

Failure<WorkloadError> report(const std::string& file, const std::string& text,
                              const std::vector<JsonError>& found) {
  const std::map<std::string, std::uint32_t> lines = key_lines(text);
  ErrorList errors;
  for (const JsonError& error : found) {
    const auto line = lines.find(error.path);
    // A path that is missing from the document has no line of its own.
    errors.add({file, line == lines.end() ? 1 : line->second}, error.path, error.message);
  }
  errors.sort_by_line();
  return invalid(errors);
}

/// Trace JSON of the Eva artifact: an object of jobs by number.
RawJobsResult read_eva_json(const WorkloadConfig& config) {
  const std::filesystem::path& path = config.path;
  const std::string file = path.string();
  const auto content = read_text_file(path);
  if (!content) return as_workload_error(content.error());
  const std::string& text = content.value();
  auto root = parse(file, text);
  if (!root) return root.error();
  if (!root->is_object()) {
    return Failure<WorkloadError>{WorkloadError::invalid,
                                  fmt::format("{}:1: has to be an object of jobs", file)};
  }
  EvaReader reader;
  RawJobs raw_jobs = reader.read_jobs(root.value());
  // The tree keeps one of several equal keys, so that a lost job shows only in the text.
  for (std::string& key : repeated_keys(text)) reader.complain(std::move(key), "appears twice");
  if (!reader.errors().empty()) return report(file, text, reader.errors());
  raw_jobs.description = fmt::format("Eva trace {}", path.filename().string());
  return raw_jobs;
}

}  // namespace

WorkloadFormat eva_json_format() {
  return trace("eva-json", read_eva_json);
}

}  // namespace muster::replay
