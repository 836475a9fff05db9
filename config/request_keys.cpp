// One table of all keys of a job request. The reader of TOML and JSON, the command line and the
// reference in the docs go by it, so that a key has one name, one range and one sentence
// everywhere.

#include "config/request_keys.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "config/after_keys.hpp"
#include "config/array_indices.hpp"
#include "config/elastic_keys.hpp"
#include "config/files_keys.hpp"
#include "config/notify_keys.hpp"
#include "config/request_text.hpp"
#include "config/script_keys.hpp"
#include "config/service_keys.hpp"
#include "config/stop_keys.hpp"
#include "config/time_keys.hpp"
#include "config/work_folder.hpp"
#include "model/constraint.hpp"

namespace muster::config {
namespace {

/// In seconds: from 1 ms to 10 years of 365 days.
constexpr NumberRange kTime{.low = 0.001, .high = 315'360'000};
constexpr NumberRange kPriority{.low = -1'000'000, .high = 1'000'000, .whole = true};
constexpr NumberRange kTasks{.low = 1, .high = kMaxTasksPerJob, .whole = true};
constexpr NumberRange kRunning{.low = 0, .high = kMaxTasksPerJob, .whole = true};
constexpr NumberRange kCpus{.low = 0, .high = 100'000, .above_low = true};
/// From 1 MiB on: no process starts in less, and it would be ended for it again and again.
constexpr NumberRange kMemory{.low = 1.0 / 1024, .high = 1'000'000};
constexpr NumberRange kGpus{.low = 0, .high = 10'000};
constexpr NumberRange kProgress{.low = 0, .high = 1e15, .above_low = true};
constexpr NumberRange kFails{.low = 0, .high = kMaxTasksPerJob, .whole = true};
constexpr NumberRange kRetries{.low = 0, .high = 10'000, .whole = true};

// Arguments of a program end with a zero byte.
bool has_zero_byte(std::string_view text) {
  return text.find('\0') != std::string_view::npos;
}

bool read_command(JobRequest& request, const RequestValue& value) {
  if (const auto* line = std::get_if<std::string>(&value.data)) {
    if (line->empty()) return false;
    // One text goes through the shell, so that pipes and variables work; a list does not.
    request.command = {"/bin/sh", "-c", *line};
    return true;
  }
  const auto* list = std::get_if<RequestValue::List>(&value.data);
  if (list == nullptr || list->empty()) return false;
  std::vector<std::string> words;
  for (const RequestValue& element : *list) {
    const auto* word = std::get_if<std::string>(&element.data);
    if (word == nullptr) return false;
    words.push_back(*word);
  }
  request.command = std::move(words);
  return true;
}

// The command is bounded in bytes, as the kernel bounds what a program is given.
void check_command(const JobRequest& request, const Report& report) {
  if (request.command.empty()) return report("command", "is missing; it says what every task runs");
  if (request.command.front().empty()) report("command", "its first text, the program, is empty");
  std::size_t bytes = 0;
  for (const std::string& word : request.command) {
    // Each argument ends with a zero byte, which counts against the kernel's bound too.
    bytes += word.size() + 1;
    if (has_zero_byte(word))
      return report("command", "has a zero byte; no program can be given one");
    if (!is_utf8(word)) return report("command", "has to be UTF-8 text");
  }
  if (bytes > kMaxCommandBytes) {
    report("command", fmt::format("has to be at most {} bytes; it is {} (put what is long into a "
                                  "file)",
                                  kMaxCommandBytes, bytes));
  }
}

/// The value of a variable, as it may be written.
std::optional<std::string> variable_text(const RequestValue& value) {
  if (const auto* text = std::get_if<std::string>(&value.data)) return *text;
  const auto* whole = std::get_if<std::int64_t>(&value.data);
  return whole != nullptr ? std::optional(std::to_string(*whole)) : std::nullopt;
}

bool read_env(JobRequest& request, const RequestValue& value) {
  const auto* table = std::get_if<RequestValue::Table>(&value.data);
  if (table == nullptr) return false;
  std::map<std::string, std::string> env;
  for (const RequestMember& member : *table) {
    auto text = variable_text(member.value);
    if (!text) return false;
    env[member.key] = *std::move(text);
  }
  request.env = std::move(env);
  return true;
}

// Muster's own variables would win silently: better refused.
void check_env(const JobRequest& request, const Report& report) {
  std::size_t bytes = 0;
  for (const auto& [name, value] : request.env) {
    // "NAME=value" and its zero byte are what a process is given.
    bytes += name.size() + value.size() + 2;
    if (!is_variable_name(name)) {
      report("env." + name,
             fmt::format("'{}' is no name of a variable: UTF-8 text without '=' and zero bytes, "
                         "not empty",
                         // The name goes into a message for a terminal.
                         is_utf8(name) ? shown(name) : std::string("?")));
    } else if (is_own_variable(name)) {
      report("env." + name,
             fmt::format("{} is for Muster to set: choose another name", shown(name)));
    } else if (has_zero_byte(value) || !is_utf8(value)) {
      report("env." + name, fmt::format("{} has to be UTF-8 text without zero bytes", shown(name)));
    }
  }
  if (bytes > kMaxEnvBytes) {
    report("env", fmt::format("has to be at most {} bytes in all; it is {}", kMaxEnvBytes, bytes));
  }
}

void check_work_dir(const JobRequest& request, const Report& report) {
  const std::string& folder = request.work_dir;
  if (folder.empty()) return;
  if (!is_one_line(folder)) return report("work_dir", "has to be UTF-8 text in one line");
  if (folder.front() != '/') {
    report("work_dir", fmt::format("has to begin with '/': the tasks run on other machines; it is "
                                   "\"{:.60}\"",
                                   folder));
  }
  // PATH_MAX of Linux; it includes the zero byte at the end.
  constexpr std::size_t kMaxPath = 4096;
  if (folder.size() >= kMaxPath) {
    report("work_dir", fmt::format("has to be shorter than {} bytes", kMaxPath));
  }
  if (std::string fault = placeholder_fault(folder); !fault.empty()) report("work_dir", fault);
}

void check_array(const JobRequest& request, const Report& report) {
  if (request.array.empty()) return;
  const auto array = parse_array(request.array);
  if (!array) report("array", array.error().message);
}

void check_from(const JobRequest& request, const Report& report) {
  if (request.from.empty() || parse_geo_point(request.from)) return;
  report("from",
         fmt::format("has to be LATITUDE,LONGITUDE in degrees; it is \"{}\"", request.from));
}

void check_constraint(const JobRequest& request, const Report& report) {
  if (request.constraint.empty()) return;
  const auto constraint = Constraint::parse(request.constraint);
  if (!constraint) report("constraint", constraint.error().message);
}

// Reads a text of any content; the check that goes with the key says what is wrong with it.
template <std::string JobRequest::*kAt>
bool read_text(JobRequest& request, const RequestValue& value) {
  const auto* text = std::get_if<std::string>(&value.data);
  if (text == nullptr || text->empty()) return false;
  request.*kAt = *text;
  return true;
}

using Keys = std::vector<RequestKey>;
using R = JobRequest;

Keys what_keys() {
  return {
      {"command", "list of texts, or text", "required",
       "the command of every task: a program and its arguments, or one line for `/bin/sh -c`",
       RequestOther{&R::command, "a list of texts, the program first, or one text for /bin/sh -c",
                    read_command, check_command}},
      {"name", "text", "the program's file name", "the job's name in lists", RequestText{&R::name},
       RequestFlag{"--name"}},
      {"user", "text", "the submitting user",
       "the user that the job is billed to; through the API another user than the token's only "
       "with an admin's token",
       RequestText{&R::user},
       RequestFlag{
           "--user",
           "the user that the job is billed to; default: the user of the API's token, else you"}},
      {"class", "text", "the name", "jobs of one class are expected to slow each other alike",
       RequestText{&R::workload_class}, RequestFlag{"--class"}},
      {"priority", "whole number", "0", "waiting jobs of a larger priority go first",
       RequestNumber{&R::priority, kPriority}, RequestFlag{"--priority"}},
      {"env", "table of texts", "empty",
       "environment variables of every task, on top of a minimal environment",
       RequestOther{&R::env, "a table of texts, as { NAME = \"value\" }", read_env, check_env}},
      {"work_dir", "text", "a folder of the attempt's own",
       "the folder that every task starts in; `%j` in it is the job's number, `%a` the task's "
       "index, "
       "`%u` the user, `%%` a `%`",
       RequestOther{&R::work_dir, "the absolute path of a folder", read_text<&R::work_dir>,
                    check_work_dir}}};
}

Keys task_keys() {
  return {{"tasks", "whole number", "1", "how many tasks there are, with indices from 0",
           RequestNumber{&R::tasks, kTasks}, RequestFlag{"--tasks"}},
          {"array", "text", "none",
           "indices of the tasks instead of `tasks`: \"0-99\", \"1,3,7-9\", each tenth: "
           "\"0-100:10\"; \"0-99%10\" runs at most 10 at once",
           RequestOther{&R::array, "a text like \"0-99\", \"1,3,7-9\", \"0-100:10\" or \"0-99%10\"",
                        read_text<&R::array>, check_array},
           RequestFlag{"--array",
                       "indices of the tasks: 0-99, 1,3,7-9, 0-100:10 (each tenth), 0-99%10 (at "
                       "most 10 at once)"}},
          {"max_running", "whole number", "0", "most tasks that run at once; 0: no limit",
           RequestNumber{&R::max_running, kRunning}, RequestFlag{"--max-running"}},
          {"gang", "true or false", "false", "the tasks start together or not at all",
           RequestSwitch{&R::gang}, RequestFlag{"--gang"}}};
}

// Demands are of one task: the job asks for them times its tasks.
Keys demand_keys() {
  return {
      {"cpus", "number", "1", "cores of each task", RequestNumber{&R::cpus, kCpus},
       RequestFlag{"--cpus"}},
      {"memory_gib", "number, or text like \"512M\"", "1",
       "memory of each task, in GiB; at least 1 MiB",
       RequestNumber{&R::memory_gib, kMemory, NumberText::memory},
       RequestFlag{"--memory", "memory of each task: GiB, or with a unit like 512M or 4G"}},
      {"gpus", "number", "0", "GPUs of each task", RequestNumber{&R::gpus, kGpus},
       RequestFlag{"--gpus"}},
      {"market", "word", "any", "where the tasks may run: any, on-demand or spot",
       RequestWord{&R::market}},
      {"constraint", "text", "none",
       "on which instance types the tasks may run: terms that a type has to meet, as "
       "`type=c7i.*,zone!=eu-1a,label.disk=nvme`; keys are `type` and `family`, whose values may "
       "have `*` and `?`, `zone` and `label.NAME`; a bar between values stands for \"or\"",
       RequestOther{&R::constraint, "a text like \"zone=eu-1a,type!=c7i.*\"",
                    read_text<&R::constraint>, check_constraint},
       RequestFlag{"--constraint",
                   "on which instance types, as type=c7i.*,zone!=eu-1a,label.disk=nvme"}}};
}

Keys run_keys() {
  const std::string time = "seconds, or text like \"5min\"";
  return {
      {"time_limit_s", time, "none",
       "time limit of an attempt: one that runs longer is killed and has failed",
       RequestNumber{&R::time_limit_s, kTime, NumberText::time},
       RequestFlag{"--time",
                   "time limit of an attempt, which is killed when it runs longer: seconds, or "
                   "like 10min, 10:00 or 1-00:00:00"}},
      {"runtime_hint_s", time, "none",
       "estimated run time of a task without others beside it; a hint, not a limit",
       RequestNumber{&R::runtime_hint_s, kTime, NumberText::time},
       RequestFlag{"--runtime",
                   "estimated run time of a task without others beside it, like --time; a hint, "
                   "not a limit"}},
      {"stop_grace_s", time, "the worker's", "from SIGTERM to SIGKILL when a task has to stop",
       RequestNumber{&R::stop_grace_s, kTime, NumberText::time}, RequestFlag{"--stop-grace"}},
      {"baseline_rate_per_s", "number", "none",
       "units of progress a second that a task makes when it is alone",
       RequestNumber{&R::baseline_rate_per_s, kProgress}, RequestFlag{"--progress"}},
      {"retries", "whole number", "`master.max_attempts` - 1",
       "failed attempts of a task after which it is tried again; a command that cannot start is "
       "not",
       RequestNumber{&R::retries, kRetries}, RequestFlag{"--retries"}},
      {"movable", "true or false", "true",
       "tasks that run may be moved to other instances when that is cheaper: stopped there and "
       "started again",
       RequestSwitch{&R::movable}, RequestFlag{"--no-move", "tasks that run stay where they are"}},
      {"checkpoints", "true or false", "false",
       "a task that is stopped saves what it has done; without it all that it has run is counted "
       "as lost by a move",
       RequestSwitch{&R::checkpoints},
       RequestFlag{"--checkpoints", "a task that is stopped saves what it has done"}},
      {"distinct_instances", "true or false", "false",
       "no two of the tasks have a place on one instance at a time, so that one that is lost stops "
       "one of them; `most_an_instance = 1` says it, too",
       RequestSwitch{&R::distinct_instances},
       RequestFlag{"--distinct-instances", "no two of its tasks on one instance at a time"}},
      {"most_an_instance", "whole number", "none",
       "tasks that may have a place on one instance at a time, so that one that is lost stops no "
       "more of them",
       RequestNumber{&R::most_an_instance, kTasks},
       RequestFlag{"--most-an-instance", "tasks that may be on one instance at a time"}},
      {"max_fails", "whole number", "none",
       "tasks that may fail; with one more the rest of the job is ended",
       RequestNumber{&R::max_fails, kFails}, RequestFlag{"--max-fails"}},
      {"from", "text", "where the site is",
       "where the user is, as \"LATITUDE,LONGITUDE\": the nearest site takes the job",
       RequestOther{&R::from, "a text like \"35.7,139.7\"", read_text<&R::from>, check_from},
       RequestFlag{"--from",
                   "where you are, as LATITUDE,LONGITUDE: the nearest site takes the job"}},
      {"token", "text", "none",
       "a second submission with this token, at one site and by API tokens of one user, is taken "
       "for a repetition and answered with the first one's jobs; another job with it is refused",
       RequestText{&R::token},
       RequestFlag{"--token",
                   "name of the submission: a repetition with this token submits nothing again"}}};
}

std::optional<double> number_of(const JobRequest& request, const RequestNumber& key) {
  return std::visit(
      // Fields are plain or optional; an optional one that is not set has no number to check.
      [&](auto at) -> std::optional<double> {
        const auto& field = request.*at;
        if constexpr (requires { field.has_value(); }) {
          if (!field) return std::nullopt;
          return static_cast<double>(*field);
        } else {
          return static_cast<double>(field);
        }
      },
      key.at);
}

std::optional<double> number_from(const RequestValue& value, NumberText form) {
  const auto* text = std::get_if<std::string>(&value.data);
  if (text == nullptr) return value.number();
  if (form == NumberText::memory) return parse_memory_gib(*text);
  if (form == NumberText::none) return std::nullopt;
  const std::optional<Duration> time = parse_duration(*text);
  return time ? std::optional(to_seconds(*time)) : std::nullopt;
}

struct Read {
  JobRequest& request;
  const RequestValue& value;

  /// The range is checked before the conversion: a double that the field's type cannot hold must
  /// not be cast.
  bool operator()(const RequestNumber& key) const {
    const std::optional<double> number = number_from(value, key.text);
    if (!number || !key.range.contains(*number)) return false;
    std::visit(
        [&](auto at) {
          auto& field = request.*at;
          if constexpr (requires { field.has_value(); }) {
            field =
                static_cast<typename std::remove_reference_t<decltype(field)>::value_type>(*number);
          } else {
            field = static_cast<std::remove_reference_t<decltype(field)>>(*number);
          }
        },
        key.at);
    return true;
  }

  bool operator()(const RequestText& key) const {
    const auto* text = std::get_if<std::string>(&value.data);
    if (text == nullptr || text->size() > kMaxRequestText || !is_label(*text)) return false;
    request.*key.at = *text;
    return true;
  }

  bool operator()(const RequestSwitch& key) const {
    const auto* truth = std::get_if<bool>(&value.data);
    if (truth != nullptr) request.*key.at = *truth;
    return truth != nullptr;
  }

  bool operator()(const RequestWord& key) const {
    const auto* text = std::get_if<std::string>(&value.data);
    const auto word = text == nullptr ? std::nullopt : named<MarketChoice>(*text);
    if (word) request.*key.at = *word;
    return word.has_value();
  }

  bool operator()(const RequestOther& key) const { return key.read(request, value); }
};

}  // namespace

const std::vector<RequestKey>& request_keys() {
  static const Keys kKeys = [] {
    Keys all;
    for (const Keys& part : {what_keys(), script_keys(), files_keys(), task_keys(), demand_keys(),
                             run_keys(), stop_keys(), after_keys(), time_keys(),
                             notify_request_keys(), elastic_keys(), service_keys()}) {
      all.insert(all.end(), part.begin(), part.end());
    }
    return all;
  }();
  return kKeys;
}

/// For a message that names the variable at fault rather than the whole table.
const RequestMember* first_that_is_no_text(const RequestValue& value) {
  const auto* table = std::get_if<RequestValue::Table>(&value.data);
  if (table == nullptr) return nullptr;
  const auto wrong = std::find_if(table->begin(), table->end(), [](const RequestMember& member) {
    return !variable_text(member.value);
  });
  return wrong == table->end() ? nullptr : &*wrong;
}

std::string wanted(const RequestKey& key) {
  if (const auto* other = std::get_if<RequestOther>(&key.kind)) return other->wanted;
  if (std::holds_alternative<RequestSwitch>(key.kind)) return "true or false";
  if (std::holds_alternative<RequestWord>(key.kind)) {
    return one_of(kWords<MarketChoice>, "\"");
  }
  if (std::holds_alternative<RequestText>(key.kind)) {
    return fmt::format("a text of 1 to {} bytes in one line, {}", kMaxRequestText, kLabelRule);
  }
  const auto& number = std::get<RequestNumber>(key.kind);
  if (number.text == NumberText::time) {
    return fmt::format("a time from 1 ms to 10 years: {}", kDurationForms);
  }
  std::string range = describe(number.range);
  if (number.text == NumberText::none) return range;
  return fmt::format("{}, in GiB, or {}", range, kBytesForms);
}

bool read_value(JobRequest& request, const RequestKey& key, const RequestValue& value) {
  return std::visit(Read{request, value}, key.kind);
}

/// Checks what is in the request whatever it came from: flags of the command line do not go through
/// read_value().
void check_value(const JobRequest& request, const RequestKey& key, const Report& report) {
  if (const auto* other = std::get_if<RequestOther>(&key.kind)) {
    other->check(request, report);
  } else if (const auto* flag = std::get_if<RequestSwitch>(&key.kind)) {
    if (flag->check != nullptr) flag->check(request, report);
  } else if (const auto* text = std::get_if<RequestText>(&key.kind)) {
    const std::string& content = request.*(text->at);
    if (content.size() > kMaxRequestText || (!content.empty() && !is_label(content))) {
      report(key.name, "has to be " + wanted(key));
    }
  } else if (const auto* number = std::get_if<RequestNumber>(&key.kind)) {
    const auto value = number_of(request, *number);
    if (!value || number->range.contains(*value)) return;
    report(key.name, fmt::format("has to be {}; it is {}", wanted(key), number_text(*value)));
  }
}

/// Checks keys that are each fine alone. `tasks_given` tells a `tasks = 1` from the default.
void check_together(const JobRequest& request, bool tasks_given, const Report& report) {
  // A text that is not an array is reported by its own key: here it counts as empty.
  const auto array = request.array.empty() ? ArrayIndices{} : [&] {
    auto parsed = parse_array(request.array);
    return parsed ? std::move(parsed).value() : ArrayIndices{};
  }();
  if (!request.array.empty() && tasks_given) {
    report("tasks", "cannot be given beside array, which says how many there are");
  }
  if (array.max_running > 0 && request.max_running > 0 &&
      array.max_running != request.max_running) {
    report("max_running", fmt::format("is {} here and {} in array: say it once",
                                      request.max_running, array.max_running));
  }
  if (request.distinct_instances && request.most_an_instance.value_or(1) != 1) {
    report("most_an_instance",
           fmt::format("is {} here, and distinct_instances = true says 1: say it once",
                       *request.most_an_instance));
  }
  check_elastic(request, tasks_given, report);
  check_stops(request, report);
  check_after(request, report);
  check_times(request, report);
  check_notify(request, report);
  check_files(request, report);
  check_service(request, tasks_given, report);
  if (!request.gang) return;
  if (!request.array.empty()) report("gang", "cannot be an array: a gang has `tasks`");
  if (request.max_running > 0 || array.max_running > 0) {
    report("gang", "cannot have max_running: its tasks start together or not at all");
  }
}

}  // namespace muster::config
