#include "tools/cli/request_options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string_view>
#include <utility>
#include <variant>

#include "config/after_keys.hpp"
#include "config/array_indices.hpp"
#include "config/key_place.hpp"
#include "config/recurrence.hpp"
#include "config/request_keys.hpp"
#include "config/script.hpp"
#include "config/time_keys.hpp"
#include "config/work_folder.hpp"
#include "tools/cli/client_options.hpp"
#include "tools/cli/commands.hpp"
#include "tools/cli/job_source.hpp"
#include "tools/cli/output.hpp"
#include "tools/cli/stage_folders.hpp"
#include "tools/client/local_clock.hpp"
#include "tools/client/shell_words.hpp"

// Reads the flags of `submit` and `plan` into a job request. The table of a request's keys says
// which key has a flag, whose text is read by the key: files and flags accept the same values and
// complain alike. Flags that are no texts of one key (--env, --workdir, --spot ...) stand here.

namespace muster::cli {
namespace {

std::string check_folder(const std::string& path) {
  return path.empty() ? "must not be empty; leave the option out for a folder of the attempt's own"
                      : "";
}

/// The text of a flag as a value of its key's kind.
config::RequestValue value_of(const config::RequestKey& key, const std::string& text) {
  // Texts and numbers with units are read by the key itself; plain numbers are parsed here.
  config::RequestValue value{text, {}};
  if (const auto* flag = std::get_if<config::RequestSwitch>(&key.kind)) {
    value.data = !(JobRequest{}.*flag->at);
    return value;
  }
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
  for (const config::RequestKey& key : config::request_keys()) {
    const auto given = options.flags.find(key.name);
    if (given == options.flags.end()) continue;
    std::vector<std::string> after = request.after;
    if (config::read_value(request, key, value_of(key, given->second))) {
      // The jobs that the file names are waited for, too.
      if (key.name == "after") config::add_after_texts(request.after, after);
      continue;
    }
    complain(fmt::format("{}: has to be {}; it is '{}'", key.flag.name, config::wanted(key),
                         given->second));
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
  if (options.any) request.market = MarketChoice::any;
  if (options.spot) request.market = MarketChoice::spot;
  if (options.on_demand) request.market = MarketChoice::on_demand;
  if (!options.work_dir.empty()) {
    // Absolute: the tasks run elsewhere, where the caller's folder means nothing.
    // The user's path may have placeholders, the current folder has none of the kind.
    const std::filesystem::path written(options.work_dir);
    std::filesystem::path base = "/";
    if (!written.is_absolute()) {
      const auto here = absolute_path(".");
      good = good && here.has_value();
      if (here) base = pattern_of_path(here->lexically_normal().string());
    }
    request.work_dir = (base / written).lexically_normal().string();
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
  if (options.files.empty() && options.command.empty()) {
    complain("say what to run: FILE..., SCRIPT ARGUMENTS..., or -- COMMAND ARGUMENTS...");
    return false;
  }
  // Of these alone words may stand behind a "--": the arguments of a script.
  const bool may_be_script =
      !options.files.empty() && (options.files.front() == "-" || names_a_script(options.files[0]));
  if (!options.files.empty() && !options.command.empty() && !may_be_script) {
    complain("either files or a command behind --, not both");
    return false;
  }
  if (options.files.size() > 1 && !may_be_script && options.flags.contains("token")) {
    complain("--token is for one job; there are several files");
    return false;
  }
  if (options.files.size() > kMaxJobsPerBatch) {
    complain(fmt::format("at most {} files at once", kMaxJobsPerBatch));
    return false;
  }
  return true;
}

/// The request for a script, which is submitted alone; nothing after complaints. Words that are no
/// options stand behind the standard input as `more`.
std::optional<JobRequest> script_request(const RequestOptions& options, const JobSource& script,
                                         std::vector<std::string> more) {
  more.insert(more.end(), options.command.begin(), options.command.end());
  JobRequest request = request_from(script, more);
  const std::string name = request.command.front();
  if (const std::string fault = script_fault(script.text); !fault.empty()) {
    complain(fmt::format("{}: is taken for a script, and {}", name, fault));
    return std::nullopt;
  }
  if (const std::string unread = unread_lines(script.text); !unread.empty()) {
    complain(name + ": " + unread);
  }
  if (!complete(options, name, request)) return std::nullopt;
  return request;
}

/// It has lines for another scheduler.
bool has_others_lines(std::string_view text) {
  for (const char* mark : {"#SBATCH", "#PBS", "#BSUB", "#$ "}) {
    if (text.starts_with(mark) || text.find(std::string("\n") + mark) != text.npos) return true;
  }
  return false;
}

/// How to run a file that is not written as job files are, or is for another scheduler, and says in
/// no first line which program it is for; empty: it is a job file.
std::string script_hint(const JobSource& file) {
  if (is_written_as_job(file) && !has_others_lines(file.text)) return "";
  constexpr std::string_view kRead =
      "without a first line that begins with #! it is read as a job file. To run it as a script "
      "begin it with a line like #!/bin/sh";
  if (file.name == "-") return fmt::format("standard input: {}", kRead);
  const std::string path = file.name.find('/') == std::string::npos ? "./" + file.name : file.name;
  return fmt::format("{}: {}, or write: muster submit --workdir . -- {}", file.name, kRead,
                     client::shell_line({"sh", path}));
}

/// The jobs that the flag names.
std::vector<std::string> after_flag(const RequestOptions& options) {
  const auto given = options.flags.find("after");
  if (given == options.flags.end()) return {};
  const auto& keys = config::request_keys();
  const auto key = std::ranges::find_if(
      keys, [](const config::RequestKey& each) { return each.name == "after"; });
  JobRequest request;
  config::read_value(request, *key, value_of(*key, given->second));
  return request.after;
}

/// Where a request is from.
struct RequestPlace {
  std::shared_ptr<const JobSource> file;  ///< null: it is the command's own
  std::size_t position = 0;               ///< in its file
  bool is_alone = true;                   ///< there
};

/// Where requests say after which jobs they begin, to begin complaints.
class AfterPlaces {
 public:
  std::string of(const RequestPlace& place) {
    if (place.file == nullptr) return "the command: after";
    const std::string name = shown_name(*place.file);
    // A list is named in complaints as fields of a request are, and found as TOML names it.
    const std::string in_list = fmt::format("jobs/{}/after", place.position);
    if (place.file->is_script || is_json(*place.file)) {
      return fmt::format("{}: {}", name, place.is_alone ? "after" : in_list);
    }
    auto& places = of_file_[place.file.get()];
    if (!places) places = text_places(name, place.file->text);
    const std::string there = places(fmt::format("jobs[{}].after", place.position));
    if (!there.empty()) return fmt::format("{}: {}", there, in_list);
    const std::string alone = places("after");
    return fmt::format("{}: after", alone.empty() ? name : alone);
  }

 private:
  std::map<const JobSource*, std::function<std::string(std::string_view)>> of_file_;
};

/// Whether the jobs that others wait for are there; they may be in other files. The cluster puts
/// the places, too: the words are sent as they are.
bool know_each_other(const RequestOptions& options, const std::vector<JobRequest>& requests,
                     const std::vector<RequestPlace>& places) {
  bool good = true;
  std::vector<JobRequest> settled = requests;
  const std::vector<std::string> flag = after_flag(options);
  if (!flag.empty()) {
    for (JobRequest& each : settled) each.after = flag;
    config::settle_after(settled, [&](std::size_t, const std::string& fault) {
      // It is a fault of every job.
      if (std::exchange(good, false)) complain("--after: " + fault);
    });
    if (!good) return false;
    settled = requests;
  }
  AfterPlaces after_places;
  config::settle_after(settled, [&](std::size_t at, const std::string& fault) {
    complain(fmt::format("{}: {}", after_places.of(places[at]), fault));
    good = false;
  });
  return good;
}

/// Reads one job file after the other.
class FileRequests {
 public:
  explicit FileRequests(const RequestOptions& options) : options_(options) {}

  /// All files are checked, so that one call shows all that is wrong; nothing after complaints.
  std::optional<std::vector<JobRequest>> read(int& exit_code) {
    for (std::size_t i = 0; i < options_.files.size() && !alone_; ++i) add(i);
    if (!alone_ && !options_.command.empty()) {
      complain("either files or a command behind --, not both");
      good_ = false;
    }
    if (good_ && !alone_) good_ = are_few_enough();
    if (good_) good_ = know_each_other(options_, requests_, places_);
    // A file that is not there is a failure of the call's surroundings, not of its words.
    if (!all_there_) exit_code = kFailed;
    return good_ ? std::optional(std::move(requests_)) : std::nullopt;
  }

 private:
  void add(std::size_t i) {
    const std::string& file = options_.files[i];
    const auto source = read_source(file);
    if (!source) {
      complain(source.error().message);
      complain("to run a command write: muster submit -- COMMAND ARGUMENTS...");
      good_ = all_there_ = false;
    } else if (source->is_script) {
      add_script(source.value(), i);
    } else if (auto requests = requests_from(source.value()); !requests) {
      complain(requests.error().message);
      if (const std::string hint = script_hint(source.value()); !hint.empty()) complain(hint);
      good_ = false;
    } else {
      const auto text = std::make_shared<const JobSource>(source.value());
      const std::size_t before = requests_.size();
      for (JobRequest& request : requests.value()) {
        const std::size_t position = requests_.size() - before;
        requests_.push_back(std::move(request));
        place_stage(file, requests_.back());
        places_.push_back({text, position, requests->size() == 1});
        good_ = complete(options_, file, requests_.back()) && good_;
      }
    }
  }

  bool are_few_enough() const {
    if (requests_.size() > kMaxJobsPerBatch) {
      complain(fmt::format("at most {} jobs at once; the files have {}", kMaxJobsPerBatch,
                           requests_.size()));
      return false;
    }
    if (requests_.size() == 1 || !options_.flags.contains("token")) return true;
    complain(fmt::format("--token is for one job; the files have {}", requests_.size()));
    return false;
  }

  void add_script(const JobSource& script, std::size_t i) {
    const auto behind = options_.files.begin() + static_cast<std::ptrdiff_t>(i) + 1;
    if (i > 0) {
      complain(fmt::format("{}: is a script and no job file: submit it alone", script.name));
      good_ = false;
      return;
    }
    alone_ = true;
    auto request = script_request(options_, script, {behind, options_.files.end()});
    good_ = request.has_value();
    if (!request) return;
    requests_.push_back(*std::move(request));
    places_.push_back({std::make_shared<const JobSource>(script)});
  }

  const RequestOptions& options_;
  std::vector<JobRequest> requests_;
  std::vector<RequestPlace> places_;  ///< of each
  bool good_ = true;
  bool all_there_ = true;
  bool alone_ = false;  ///< it is a script, and what stands behind are its arguments
};

/// Whether the word is an option of a submission that has its value in the next word.
bool takes_next_word(std::string_view word) {
  static const std::set<std::string, std::less<>> kOptions = [] {
    CLI::App app;
    RequestOptions request;
    ClientOptions client;
    add_request_options(app, request);
    add_client_options(app, client);
    std::set<std::string, std::less<>> names;
    for (const CLI::Option* option : app.get_options()) {
      if (option->get_expected_max() == 0) continue;
      for (const std::string& name : option->get_lnames()) names.insert("--" + name);
    }
    return names;
  }();
  return kOptions.contains(word);
}

/// The flag of a key. Its text is read by the key once all flags are known.
CLI::Option* add_flag(CLI::App& app, RequestOptions& options, const config::RequestKey& key) {
  const std::string flag(key.flag.name);
  const std::string meaning(key.flag.meaning.empty() ? key.meaning : key.flag.meaning);
  const auto take = [&options, name = key.name](const std::string& text) {
    options.flags[name] = text;
  };
  if (std::holds_alternative<config::RequestSwitch>(key.kind)) {
    return app.add_flag_callback(
        flag, [take] { take({}); }, meaning);
  }
  return app.add_option_function<std::string>(flag, take, meaning);
}

}  // namespace

void add_request_options(CLI::App& app, RequestOptions& options) {
  app.add_option(
      "files", options.files,
      "job files (TOML, or JSON when the name ends so), or a script and its arguments; -: either "
      "from the standard input");
  const std::string group = "Keys of the job (override the files)";
  for (const config::RequestKey& key : config::request_keys()) {
    if (!key.flag.name.empty()) add_flag(app, options, key)->group(group);
  }
  app.add_option("--env", options.env, "NAME=VALUE, an environment variable; may be repeated")
      ->group(group)
      // One value each: else the option would swallow the words behind it.
      ->allow_extra_args(false);
  app.add_option("--workdir", options.work_dir, "the folder that every task starts in")
      ->group(group)
      ->check(CLI::Validator(check_folder, "FOLDER"));
  CLI::Option* spot = app.add_flag("--spot", options.spot, "only on the spot market");
  CLI::Option* on_demand = app.add_flag("--on-demand", options.on_demand, "only on demand");
  CLI::Option* any = app.add_flag("--any", options.any, "on either market");
  spot->group(group)->excludes(on_demand)->excludes(any);
  on_demand->group(group)->excludes(any);
  any->group(group);
}

namespace {

/// By this computer's clock, in its zone; false after a complaint.
bool settle_times(std::vector<JobRequest>& requests) {
  const bool any = std::ranges::any_of(requests, [](const JobRequest& each) {
    return !each.begin.empty() || !each.deadline.empty() ||
           (!each.every.empty() && each.zone.empty());
  });
  if (!any) return true;
  const auto zone = local_time_zone();
  if (!zone) {
    complain("TZ: has to be the name of a time zone like Europe/Berlin, by which times are read");
    return false;
  }
  const Instant now = client::clock_now();
  for (JobRequest& request : requests) {
    config::settle_times(request, now, client::local_clock(), *zone);
  }
  return true;
}

std::optional<std::vector<JobRequest>> read_requests(const RequestOptions& options,
                                                     int& exit_code) {
  exit_code = kUsage;
  if (!called_rightly(options)) return std::nullopt;
  std::vector<JobRequest> requests;
  if (options.files.empty()) {
    JobRequest request;
    request.command = options.command;
    if (!complete(options, "the command", request)) return std::nullopt;
    requests.push_back(std::move(request));
    if (!know_each_other(options, requests, {RequestPlace{}})) return std::nullopt;
    return requests;
  }
  return FileRequests(options).read(exit_code);
}

}  // namespace

std::optional<std::vector<JobRequest>> make_requests(const RequestOptions& options,
                                                     int& exit_code) {
  auto requests = read_requests(options, exit_code);
  if (requests && !settle_times(*requests)) requests.reset();
  return requests;
}

OwnWords own_words(int argc, const char* const* argv) {
  if (argc < 2) return {argc, argc};
  const std::string_view verb = argv[1];
  const bool is_exec = verb == "exec";
  // Words behind -- are the command's: the library would take its flags for ours.
  if (verb != "submit" && verb != "plan" && !is_exec) return {argc, argc};
  const auto* const end = argv + argc;
  const auto* const dashes = std::find(argv, end, std::string_view("--"));
  const int own = static_cast<int>(dashes - argv);
  for (int i = 2; !is_exec && i < own; ++i) {
    if (argv[i][0] == '-' || takes_next_word(argv[i - 1]) || !names_a_script(argv[i])) continue;
    // As sbatch has it: arguments behind a script are the script's.
    return {i + 1, i + 1 == own ? std::min(own + 1, argc) : i + 1};
  }
  return {own, std::min(own + 1, argc)};
}

}  // namespace muster::cli
