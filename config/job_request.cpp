#include "config/job_request.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "config/after_keys.hpp"
#include "config/array_indices.hpp"
#include "config/elastic_keys.hpp"
#include "config/error_list.hpp"
#include "config/files_keys.hpp"
#include "config/job_name.hpp"
#include "config/notify_keys.hpp"
#include "config/request_keys.hpp"
#include "config/request_value.hpp"
#include "config/script_keys.hpp"
#include "config/service_keys.hpp"
#include "config/stop_keys.hpp"
#include "config/time_keys.hpp"

// Requests come as TOML and as JSON. Both become a RequestValue, so that one table of keys reads
// and checks them; requests that were put together otherwise go through faults() with the same
// table.

namespace muster {

/// Declared for the JSON library, which finds it by its name; service_keys.cpp has it.
void to_json(nlohmann::ordered_json& out, const RequestService& service);

namespace {

using config::RequestKey;
using config::RequestMember;
using config::RequestValue;

/// Levels of tables in a request whose members have places of their own: [service.size] is the
/// second.
constexpr int kTablesInside = 2;

/// Reads one request, and adds what is wrong to a list.
class RequestReader {
 public:
  /// `prefix` is what names of fields begin with.
  RequestReader(std::string prefix, ErrorList& errors)
      : prefix_(std::move(prefix)), errors_(errors) {}

  /// `missing`: where it is said of a key that it is not there.
  JobRequest read(const RequestValue& document, const TextPlace& missing);

 private:
  void read_member(const RequestMember& member);
  /// Of what is in a table, and in the tables in it up to that many levels.
  void note_places(const RequestValue& value, const std::string& path, int levels);
  TextPlace place_of(std::string_view field, const TextPlace& missing) const;
  void add(const TextPlace& place, std::string_view name, std::string_view message) {
    errors_.add(place, fmt::format("{}{:.60}", prefix_, name), message);
  }

  std::string prefix_;
  ErrorList& errors_;
  JobRequest request_;
  std::map<std::string, TextPlace, std::less<>> places_;  ///< of the keys that are there
  std::set<std::string, std::less<>> unread_;             ///< those among them that are of no use
};

/// For the message of an unknown key, which offers the nearest of them.
std::vector<std::string> known_keys() {
  std::vector<std::string> names;
  for (const RequestKey& key : config::request_keys()) names.push_back(key.name);
  return names;
}

void RequestReader::note_places(const RequestValue& value, const std::string& path, int levels) {
  const auto* table = std::get_if<RequestValue::Table>(&value.data);
  if (table == nullptr || levels == 0) return;
  for (const RequestMember& each : *table) {
    places_[path + each.key] = each.place;
    note_places(each.value, path + each.key + ".", levels - 1);
  }
}

/// That of the table around it where the document has no such member.
TextPlace RequestReader::place_of(std::string_view field, const TextPlace& missing) const {
  while (true) {
    const auto place = places_.find(field);
    if (place != places_.end()) return place->second;
    const std::size_t dot = field.rfind('.');
    if (dot == std::string_view::npos) return missing;
    field = field.substr(0, dot);
  }
}

void RequestReader::read_member(const RequestMember& member) {
  const auto& keys = config::request_keys();
  const auto key = std::find_if(keys.begin(), keys.end(), [&](const RequestKey& candidate) {
    return candidate.name == member.key;
  });
  if (key == keys.end()) {
    const std::string name = config::shown(member.key);
    add(member.place, name, unknown_word("key", name, known_keys()));
    return;
  }
  places_[member.key] = member.value.place;
  note_places(member.value, member.key + ".", kTablesInside);
  if (config::read_value(request_, *key, member.value)) return;
  unread_.insert(member.key);
  const RequestMember* wrong = config::first_that_is_no_text(member.value);
  if (wrong != nullptr) {
    return add(wrong->place, key->name,
               fmt::format("has to be {}; {} is {}", config::wanted(*key),
                           config::shown(wrong->key), config::written(wrong->value)));
  }
  add(member.value.place, key->name,
      fmt::format("has to be {}; it is {}", config::wanted(*key), config::written(member.value)));
}

JobRequest RequestReader::read(const RequestValue& document, const TextPlace& missing) {
  const auto* members = std::get_if<RequestValue::Table>(&document.data);
  if (members == nullptr) {
    add(document.place, "", "a job request has to be an object; it is " + written(document));
    return {};
  }
  for (const RequestMember& member : *members) {
    // A document of nothing but mistakes is not read to its end.
    if (errors_.size() > kShownErrors) break;
    read_member(member);
  }
  const auto report = [&](std::string_view field, const std::string& message) {
    // Said already that the value is not of its kind.
    if (unread_.contains(field)) return;
    // A member of a table stands behind a dot; the message names it.
    add(place_of(field, missing), field.substr(0, field.find('.')), message);
  };
  for (const RequestKey& key : config::request_keys()) {
    // Every key, also those that are not given: some are required.
    config::check_value(request_, key, report);
  }
  // `places_` tells that the user gave the key, which a value equal to the default would not.
  config::check_together(request_, places_.contains("tasks"), report);
  return std::move(request_);
}

/// A limit behind the array's '%' counts as max_running: "0-99%10" means max_running = 10. Both
/// spellings give equal requests from here on.
void settle_array(JobRequest& request) {
  const auto array = parse_array(request.array);
  if (!array || array->max_running == 0) return;
  request.max_running = array->max_running;
  request.array = without_limit(request.array);
}

Failure<ConfigError> failure(ConfigError code, ErrorList& errors) {
  errors.sort_by_line();
  return {code, errors.text(kShownErrors)};
}

// Checked before parsing: the memory that a parser takes grows with the text.
std::optional<Failure<ConfigError>> refuse_size(std::string_view text, std::size_t limit,
                                                const std::string& source) {
  if (text.size() <= limit) return std::nullopt;
  return Failure<ConfigError>{
      ConfigError::invalid,
      fmt::format("{}: has to be at most {} bytes; it is {}", source, limit, text.size())};
}

/// The list under "jobs" when the document is a batch.
const RequestValue* batch_of(const RequestValue& document) {
  const auto* members = std::get_if<RequestValue::Table>(&document.data);
  // A request with one more member beside "jobs" is read as a request, which says what is wrong.
  if (members == nullptr || members->size() != 1 || members->front().key != "jobs") return nullptr;
  return &members->front().value;
}

/// `slash`: as the names of fields begin.
std::vector<JobRequest> read_batch(const RequestValue& batch, std::string_view slash,
                                   ErrorList& errors) {
  std::vector<JobRequest> requests;
  const auto* list = std::get_if<RequestValue::List>(&batch.data);
  if (list == nullptr || list->empty() || list->size() > kMaxJobsPerBatch) {
    errors.add(batch.place, fmt::format("{}jobs", slash),
               fmt::format("has to be a list of 1 to {} job requests", kMaxJobsPerBatch));
    return requests;
  }
  // Stops when there are more faults than are shown: the rest would cost time and say nothing.
  for (std::size_t i = 0; i < list->size() && errors.size() <= kShownErrors; ++i) {
    const RequestValue& document = (*list)[i];
    requests.push_back(
        RequestReader(fmt::format("{}jobs/{}/", slash, i), errors).read(document, document.place));
    settle_array(requests.back());
  }
  return requests;
}

/// The requests of a batch, or the single one that the document is. `slash`: names of fields begin
/// with it.
std::vector<JobRequest> read_requests(const RequestValue& document, const std::string& slash,
                                      const TextPlace& place, ErrorList& errors) {
  if (const RequestValue* batch = batch_of(document)) return read_batch(*batch, slash, errors);
  std::vector<JobRequest> requests{RequestReader(slash, errors).read(document, place)};
  settle_array(requests.back());
  return requests;
}

/// Puts places for names of jobs that others wait for; adds what is wrong.
void settle_names(std::vector<JobRequest>& requests, bool batch, const TextPlace& place,
                  ErrorList& errors) {
  if (!errors.empty()) return;  // names may be missing
  config::settle_after(requests, [&](std::size_t at, const std::string& fault) {
    errors.add(place, batch ? fmt::format("/jobs/{}/after", at) : "/after", fault);
  });
}

/// Times that would be others when the request is read once more are refused.
void check_settled(const std::vector<JobRequest>& requests, bool batch, const TextPlace& place,
                   ErrorList& errors) {
  for (std::size_t i = 0; i < requests.size(); ++i) {
    const auto [key, fault] = config::unsettled_time(requests[i]);
    if (fault.empty()) continue;
    errors.add(place, batch ? fmt::format("/jobs/{}/{}", i, key) : fmt::format("/{}", key), fault);
  }
}

std::vector<TaskSpec> tasks_of(const JobRequest& request, const ArrayIndices& array) {
  TaskSpec task;
  task.demands = Demands(Resources::of(request.gpus, request.cpus, request.memory_gib));
  std::vector<TaskSpec> tasks(request.array.empty() ? request.tasks : array.indices.size(), task);
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    // Without an array indices are positions, so both kinds of jobs name tasks the same way.
    tasks[i].array_index = request.array.empty() ? static_cast<std::uint32_t>(i) : array.indices[i];
  }
  return tasks;
}

Duration duration_of(const std::optional<double>& seconds) {
  return seconds ? from_seconds(*seconds) : Duration{};
}

/// Shows where in a request the key's value is, whatever its kind.
template <class Put>
struct PutMember {
  const Put& put;

  void operator()(const config::RequestNumber& key) const { std::visit(put, key.at); }
  void operator()(const config::RequestText& key) const { put(key.at); }
  void operator()(const config::RequestSwitch& key) const { put(key.at); }
  void operator()(const config::RequestWord& key) const { put(key.at); }
  void operator()(const config::RequestOther& key) const { std::visit(put, key.at); }
};

}  // namespace

Expected<JobRequest, ConfigError> load_job_file(const std::filesystem::path& file) {
  std::error_code error;
  if (std::filesystem::is_directory(file, error)) {
    return Failure<ConfigError>{ConfigError::unreadable, file.string() + ": is a folder"};
  }
  // Binary: a text is judged by the bytes that are in the file.
  std::ifstream in(file, std::ios::binary);
  if (!in) {
    return Failure<ConfigError>{ConfigError::unreadable,
                                file.string() + ": cannot be read: is it there?"};
  }
  // One byte more than allowed tells a file that is too large, whatever its kind says of its size.
  std::string text(kMaxRequestBytes + 1, '\0');
  in.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (in.bad()) {
    return Failure<ConfigError>{ConfigError::unreadable, file.string() + ": cannot be read"};
  }
  text.resize(static_cast<std::size_t>(in.gcount()));
  if (text.size() > kMaxRequestBytes) {
    return Failure<ConfigError>{ConfigError::invalid, fmt::format("{}: has to be at most {} bytes",
                                                                  file.string(), kMaxRequestBytes)};
  }
  const bool json = file.extension() == ".json";
  return json ? job_request_from_json(text, file.string())
              : job_request_from_toml(text, file.string());
}

Expected<JobRequest, ConfigError> job_request_from_toml(std::string_view text,
                                                        const std::string& source) {
  if (auto refused = refuse_size(text, kMaxRequestBytes, source)) return *refused;
  ErrorList errors;
  const auto document = config::parse_toml(text, source, errors);
  if (!document) return failure(ConfigError::malformed, errors);
  JobRequest request = RequestReader("", errors).read(*document, {source});
  if (!errors.empty()) return failure(ConfigError::invalid, errors);
  settle_array(request);
  return request;
}

Expected<JobRequest, ConfigError> job_request_from_json(std::string_view text,
                                                        const std::string& source) {
  if (auto refused = refuse_size(text, kMaxRequestBytes, source)) return *refused;
  ErrorList errors;
  const auto document = config::parse_json(text, source, errors);
  if (!document) return failure(ConfigError::malformed, errors);
  JobRequest request = RequestReader("/", errors).read(*document, {source});
  if (!errors.empty()) return failure(ConfigError::invalid, errors);
  settle_array(request);
  return request;
}

Expected<std::vector<JobRequest>, ConfigError> job_requests_from_json(std::string_view text,
                                                                      const std::string& source) {
  if (auto refused = refuse_size(text, kMaxBatchBytes, source)) return *refused;
  ErrorList errors;
  const auto document = config::parse_json(text, source, errors);
  if (!document) return failure(ConfigError::malformed, errors);
  // A single request may be as large as any single one, although a batch may be larger.
  const bool batch = batch_of(*document) != nullptr;
  if (!batch) {
    if (auto refused = refuse_size(text, kMaxRequestBytes, source)) return *refused;
  }
  std::vector<JobRequest> requests = read_requests(*document, "/", {source}, errors);
  settle_names(requests, batch, {source}, errors);
  check_settled(requests, batch, {source}, errors);
  if (!errors.empty()) return failure(ConfigError::invalid, errors);
  return requests;
}

Expected<std::vector<JobRequest>, ConfigError> job_requests_from_file(std::string_view text,
                                                                      const std::string& source,
                                                                      bool json) {
  if (auto refused = refuse_size(text, kMaxBatchBytes, source)) return *refused;
  ErrorList errors;
  const auto document =
      json ? config::parse_json(text, source, errors) : config::parse_toml(text, source, errors);
  if (!document) return failure(ConfigError::malformed, errors);
  if (batch_of(*document) == nullptr) {
    if (auto refused = refuse_size(text, kMaxRequestBytes, source)) return *refused;
  }
  std::vector<JobRequest> requests = read_requests(*document, json ? "/" : "", {source}, errors);
  if (!errors.empty()) return failure(ConfigError::invalid, errors);
  return requests;
}

std::optional<double> parse_memory_gib(std::string_view text) {
  constexpr double kGiB = 1024.0 * 1024 * 1024;
  const std::optional<double> bytes = parse_bytes(text, kGiB);
  return bytes ? std::optional(*bytes / kGiB) : std::nullopt;
}

std::string to_json(const JobRequest& request) {
  const JobRequest plain;
  nlohmann::ordered_json out = nlohmann::ordered_json::object();
  for (const RequestKey& key : config::request_keys()) {
    const auto put = [&](auto at) {
      const auto& value = request.*at;
      // Only values that differ from the defaults, so that a repeated request reads like the one
      // that was written.
      if (value == plain.*at) return;
      if constexpr (requires { name_of(value); }) {
        out[key.name] = name_of(value);
      } else if constexpr (requires { value.has_value(); }) {
        out[key.name] = *value;
      } else {
        out[key.name] = value;
      }
    };
    std::visit(PutMember{put}, key.kind);
  }
  // `replace`: a name with bytes that are no UTF-8 must not throw while it is shown.
  return out.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

Job make_job(const JobRequest& request) {
  ArrayIndices array;
  if (auto parsed = parse_array(request.array)) array = std::move(parsed).value();
  Job job;
  job.name = config::job_name(request);
  job.user = request.user;
  // Without a class jobs of one name are taken to interfere alike.
  job.workload_class = request.workload_class.empty() ? job.name : request.workload_class;
  job.priority = request.priority;
  job.gang = request.gang;
  if (request.runtime_hint_s) job.runtime_hint = from_seconds(*request.runtime_hint_s);
  job.tasks = tasks_of(request, array);
  job.program.argv = request.command;
  job.program.env.assign(request.env.begin(), request.env.end());
  job.program.time_limit = duration_of(request.time_limit_s);
  job.program.stop_grace = duration_of(request.stop_grace_s);
  job.program.baseline_rate_per_s = request.baseline_rate_per_s.value_or(0);
  job.markets = request.market;
  // check_together() refuses two bounds that differ: where both stand they are equal.
  job.max_running = std::max(request.max_running, array.max_running);
  job.retries = request.retries;
  job.max_fails = request.max_fails;
  job.token = request.token;
  job.origin = parse_geo_point(request.from);
  job.movable = request.movable;
  job.checkpoints = request.checkpoints;
  // check_together() refuses two that differ.
  job.most_an_instance = request.most_an_instance.value_or(request.distinct_instances ? 1 : 0);
  job.constraint = request.constraint;
  config::make_script(request, job);
  config::make_files(request, job);
  config::make_stops(request, job);
  job.after = config::after_of(request.after);
  config::make_times(request, job);
  config::make_notify(request, job);
  if (!request.elastic.empty()) config::make_elastic(request, job);
  if (request.service) config::make_service(request, job);
  return job;
}

JobRequest request_of(const Job& job) {
  const auto seconds = [](Duration time) {
    return time > Duration::zero() ? std::optional(to_seconds(time)) : std::nullopt;
  };
  JobRequest request;
  request.name = job.name;
  request.user = job.user;
  request.workload_class = job.workload_class;
  request.priority = job.priority;
  request.command = job.program.argv;
  request.env = {job.program.env.begin(), job.program.env.end()};
  // All tasks of a request are alike: the first one's demands are those of all.
  if (!job.tasks.empty() && !job.tasks.front().demands.entries().empty()) {
    const Resources& amount = job.tasks.front().demands.entries().front().amount;
    request.cpus = amount[Resource::cpu];
    request.memory_gib = amount[Resource::memory];
    request.gpus = amount[Resource::gpu];
  }
  request.time_limit_s = seconds(job.program.time_limit);
  if (job.runtime_hint) request.runtime_hint_s = seconds(*job.runtime_hint);
  request.stop_grace_s = seconds(job.program.stop_grace);
  if (job.program.baseline_rate_per_s > 0)
    request.baseline_rate_per_s = job.program.baseline_rate_per_s;
  request.market = job.markets;
  request.retries = job.retries;
  request.max_fails = job.max_fails;
  request.movable = job.movable;
  request.checkpoints = job.checkpoints;
  request.distinct_instances = job.most_an_instance == 1;
  if (job.most_an_instance > 1) request.most_an_instance = job.most_an_instance;
  request.constraint = job.constraint;
  config::ask_script(job, request);
  config::ask_files(job, request);
  config::ask_stops(job, request);
  request.after = config::after_texts(job.after);
  config::ask_times(job, request);
  config::ask_notify(job, request);
  config::ask_elastic(job, request);
  config::ask_service(job, request);
  if (job.origin) {
    request.from = fmt::format("{},{}", job.origin->latitude_deg, job.origin->longitude_deg);
  }
  return request;
}

/// For requests that were not read from a text: flags of a command line, for example.
std::vector<std::string> faults(const JobRequest& request) {
  std::vector<std::string> found;
  const auto report = [&](std::string_view field, const std::string& message) {
    found.push_back(fmt::format("{}: {}", field.substr(0, field.find('.')), message));
  };
  for (const RequestKey& key : config::request_keys()) {
    config::check_value(request, key, report);
  }
  config::check_together(request, request.tasks != JobRequest{}.tasks, report);
  return found;
}

std::string describe_job_request() {
  std::string text = "| key | type | default | meaning |\n|---|---|---|---|\n";
  for (const RequestKey& key : config::request_keys()) {
    text += fmt::format("| `{}` | {} | {} | {} |\n", key.name, key.type, key.default_value,
                        key.meaning);
  }
  return text;
}

}  // namespace muster
