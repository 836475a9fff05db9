#include "tools/cli/request_options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <string_view>
#include <variant>

#include "config/array_indices.hpp"
#include "config/request_keys.hpp"
#include "tools/cli/commands.hpp"
#include "tools/cli/output.hpp"

// Flags of `submit` and `plan` as a job request. Each flag is the text of one key of a job file and
// is read by that key, so that files and flags accept the same and complain alike.

namespace muster::cli {
namespace {

struct Flag {
  std::string_view flag;
  std::string_view key;
  std::string_view meaning;
};
constexpr std::array<Flag, 29> kFlags = {
    {{"--name", "name", "what lists show"},
     {"--user", "user", "who pays; default: for whom the API's token acts, else you"},
     {"--class", "class", "jobs of one class are expected to slow each other alike"},
     {"--priority", "priority", "larger goes first of what waits"},
     {"--from", "from", "where you are, as LATITUDE,LONGITUDE: the nearest site takes the job"},
     {"--tasks", "tasks", "how many tasks there are"},
     {"--array", "array", "indices of the tasks: 0-99, 1,3,7-9, 0-99%10 (at most 10 at once)"},
     {"--max-running", "max_running", "at most so many tasks at once"},
     {"--cpus", "cpus", "cores of each task"},
     {"--memory", "memory_gib", "memory of each task: GiB, or with a unit like 512MiB"},
     {"--gpus", "gpus", "GPUs of each task"},
     {"--time", "time_limit_s", "an attempt that runs longer is ended: seconds, or like 10min"},
     {"--runtime", "runtime_hint_s", "how long a task will take alone; no promise"},
     {"--stop-grace", "stop_grace_s", "from SIGTERM to SIGKILL when a task has to stop"},
     {"--progress", "baseline_rate_per_s", "units of progress a second when alone"},
     {"--retries", "retries",
      "failed attempts of a task after which it is tried again; default: 0"},
     {"--retry-on", "retry_on",
      "only after these failures, like 75,signal: exit codes, and signal; default: any"},
     {"--signal", "signal",
      "before the time limit, like USR1@60: [B:]SIGNAL[@TIME]; B: to the program alone"},
     {"--max-fails", "max_fails", "so many tasks may fail; with one more the rest is ended"},
     {"--elastic", "elastic", "1-8: as many workers as the policy likes, between these two"},
     {"--progress-unit", "progress_unit", "what an elastic job's progress counts, such as samples"},
     {"--progress-ends", "progress_ends",
      "where its epochs end, like 100,250; the last is its end"},
     {"--speedup", "speedup", "of 1, 2, ... workers against one, like 1,1.9,2.7"},
     {"--rescale", "rescale_s", "for how long another width keeps it from progress; default: 30s"},
     {"--batch", "batch", "it trains, with so many samples a step at first"},
     {"--batch-max", "batch_max", "samples of a step at most"},
     {"--local-batch-min", "local_batch_min", "samples that a worker takes at once at least"},
     {"--local-batch-max", "local_batch_max", "samples that a worker has room for at once"},
     {"--token", "token", "the same token is the same submission"}}};

std::string check_folder(const std::string& path) {
  return path.empty() ? "must not be empty; leave the option out for a folder of the attempt's own"
                      : "";
}

// All names of kFlags are keys of the table, so the search always finds one.
const config::RequestKey& key_of(std::string_view name) {
  const auto& keys = config::request_keys();
  return *std::find_if(keys.begin(), keys.end(),
                       [&](const config::RequestKey& key) { return key.name == name; });
}

/// The text of a flag as a value of its key's kind.
config::RequestValue value_of(const config::RequestKey& key, const std::string& text) {
  // Texts and numbers with units are read by the key itself; plain numbers are parsed here.
  config::RequestValue value{text, {}};
  const auto* number = std::get_if<config::RequestNumber>(&key.kind);
  if (number == nullptr || number->text != config::NumberText::none) return value;
  if (const auto parsed = parse_number(text)) value.data = *parsed;
  return value;
}

/// Lets the flags say what they say; false after complaints.
bool override_by_flags(const RequestOptions& options, JobRequest& request) {
  bool good = true;
  if (options.flags.contains("array")) {
    // Tasks and array exclude each other; a flag takes the place of whichever the file has.
    request.tasks = JobRequest{}.tasks;
    if (options.flags.at("array").find('%') != std::string::npos) request.max_running = 0;
  }
  if (options.flags.contains("tasks")) request.array.clear();
  for (const Flag& flag : kFlags) {
    const auto given = options.flags.find(std::string(flag.key));
    if (given == options.flags.end()) continue;
    const config::RequestKey& key = key_of(flag.key);
    if (config::read_value(request, key, value_of(key, given->second))) continue;
    complain(
        fmt::format("{}: has to be {}; it is '{}'", flag.flag, config::wanted(key), given->second));
    good = false;
  }
  for (const std::string& variable : options.env) {
    const std::size_t equals = variable.find('=');
    if (equals == std::string::npos) {
      complain(fmt::format("--env: has to be NAME=VALUE; it is '{}'", variable));
      good = false;
      continue;
    }
    request.env[variable.substr(0, equals)] = variable.substr(equals + 1);
  }
  if (options.gang) request.gang = true;
  if (options.no_move) request.movable = false;
  if (options.checkpoints) request.checkpoints = true;
  if (options.done_on_stop) request.done_on_stop = true;
  if (options.distinct_instances) request.distinct_instances = true;
  if (options.any) request.market = MarketChoice::any;
  if (options.spot) request.market = MarketChoice::spot;
  if (options.on_demand) request.market = MarketChoice::on_demand;
  if (!options.work_dir.empty()) {
    // Absolute: the tasks run elsewhere, where the caller's folder means nothing.
    request.work_dir = std::filesystem::absolute(options.work_dir).lexically_normal().string();
  }
  return good;
}

/// Flags and all; false after complaints.
bool complete(const RequestOptions& options, const std::string& source, JobRequest& request) {
  if (!override_by_flags(options, request)) return false;
  const std::vector<std::string> wrong = faults(request);
  for (const std::string& fault : wrong) complain(source + ": " + fault);
  return wrong.empty();
}

bool called_rightly(const RequestOptions& options) {
  if (options.files.empty() == options.command.empty()) {
    complain(options.files.empty() ? "say what to run: FILE..., or -- COMMAND ARGUMENTS..."
                                   : "either files or a command behind --, not both");
    return false;
  }
  if (options.files.size() > 1 && options.flags.contains("token")) {
    complain("--token is for one job; there are several files");
    return false;
  }
  if (options.files.size() > kMaxJobsPerBatch) {
    complain(fmt::format("at most {} files at once", kMaxJobsPerBatch));
    return false;
  }
  return true;
}

}  // namespace

void add_request_options(CLI::App& app, RequestOptions& options) {
  app.add_option("files", options.files, "job files (TOML, or JSON when the name ends so)");
  const std::string group = "What to run (overrides the files)";
  for (const Flag& flag : kFlags) {
    app.add_option_function<std::string>(
           std::string(flag.flag),
           [&options, key = std::string(flag.key)](const std::string& text) {
             options.flags[key] = text;
           },
           std::string(flag.meaning))
        ->group(group);
  }
  app.add_option("--env", options.env, "NAME=VALUE, an environment variable; may be repeated")
      ->group(group)
      // One value each: else the option would swallow the words behind it.
      ->allow_extra_args(false);
  app.add_option("--workdir", options.work_dir, "the folder that every task starts in")
      ->group(group)
      ->check(CLI::Validator(check_folder, "FOLDER"));
  app.add_flag("--gang", options.gang, "the tasks start together or not at all")->group(group);
  app.add_flag("--distinct-instances", options.distinct_instances,
               "no two of its tasks on one instance at a time")
      ->group(group);
  app.add_flag("--no-move", options.no_move, "tasks that run stay where they are")->group(group);
  app.add_flag("--checkpoints", options.checkpoints,
               "a task that is stopped saves what it has done")
      ->group(group);
  app.add_flag("--done-on-stop", options.done_on_stop,
               "exit code 0 after a request to stop: the task has done its work")
      ->group(group);
  CLI::Option* spot = app.add_flag("--spot", options.spot, "only on the spot market");
  CLI::Option* on_demand = app.add_flag("--on-demand", options.on_demand, "only on demand");
  CLI::Option* any = app.add_flag("--any", options.any, "on either market");
  spot->group(group)->excludes(on_demand)->excludes(any);
  on_demand->group(group)->excludes(any);
  any->group(group);
}

std::optional<std::vector<JobRequest>> make_requests(const RequestOptions& options,
                                                     int& exit_code) {
  exit_code = kUsage;
  if (!called_rightly(options)) return std::nullopt;
  std::vector<JobRequest> requests;
  if (!options.command.empty()) {
    JobRequest request;
    request.command = options.command;
    if (!complete(options, "the command", request)) return std::nullopt;
    requests.push_back(std::move(request));
    return requests;
  }
  bool good = true;
  bool all_there = true;
  for (const std::string& file : options.files) {
    auto loaded = load_job_file(file);
    if (!loaded) {
      complain(loaded.error().message);
      if (loaded.error().code == ConfigError::unreadable) {
        complain("to run a command write: muster submit -- COMMAND ARGUMENTS...");
        all_there = false;
      }
      good = false;
      continue;
    }
    requests.push_back(std::move(loaded).value());
    // All files are checked, so that one call shows all that is wrong.
    good = complete(options, file, requests.back()) && good;
  }
  if (good) return requests;
  // A file that is not there is a failure of the call's surroundings, not of its words.
  if (!all_there) exit_code = kFailed;
  return std::nullopt;
}

int own_words(int argc, const char* const* argv) {
  if (argc < 2) return argc;
  const std::string_view verb = argv[1];
  // Words behind -- are the command's: the library would take its flags for ours.
  if (verb != "submit" && verb != "plan") return argc;
  const auto* const end = argv + argc;
  const auto* const dashes = std::find(argv, end, std::string_view("--"));
  return static_cast<int>(dashes - argv);
}

}  // namespace muster::cli
