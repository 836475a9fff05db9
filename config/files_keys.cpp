#include "config/files_keys.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "config/request_text.hpp"
#include "config/text_pieces.hpp"

namespace muster::config {
namespace {

using R = JobRequest;

constexpr std::size_t kMostOutputs = 100;
constexpr std::size_t kMostOutputBytes = 1024;
/// PATH_MAX of Linux; it includes the zero byte at the end.
constexpr std::size_t kMostStageBytes = 4096;
constexpr std::string_view kWantedStage =
    "a folder; in a request to the API the id of a tree of files that was sent before";
constexpr std::string_view kWantedOutputs =
    "a list like [\"model.bin\", \"logs/**\"], or a text with commas between the patterns";

bool read_stage(JobRequest& request, const RequestValue& value) {
  const auto* text = std::get_if<std::string>(&value.data);
  if (text == nullptr || text->empty()) return false;
  request.stage = *text;
  return true;
}

void check_stage(const JobRequest& request, const Report& report) {
  if (request.stage.empty()) return;
  if (!is_one_line(request.stage)) return report("stage", "has to be UTF-8 text in one line");
  if (request.stage.size() >= kMostStageBytes) {
    report("stage", fmt::format("has to be shorter than {} bytes", kMostStageBytes));
  }
}

/// Adds the pattern without the blanks around it, as "out" where it is written "./out/"; false:
/// there is nothing of it.
bool add_pattern(std::vector<std::string>& all, std::string_view text) {
  text = without_spaces(text);
  while (text.starts_with("./")) text.remove_prefix(2);
  while (text.size() > 1 && text.ends_with('/')) text.remove_suffix(1);
  if (text.empty()) return false;
  all.emplace_back(text);
  return true;
}

bool read_outputs(JobRequest& request, const RequestValue& value) {
  std::vector<std::string> all;
  if (const auto* text = std::get_if<std::string>(&value.data)) {
    for (const std::string_view one : pieces_of(*text, ',')) {
      if (!add_pattern(all, one)) return false;
    }
  } else if (const auto* list = std::get_if<RequestValue::List>(&value.data)) {
    for (const RequestValue& element : *list) {
      const auto* one = std::get_if<std::string>(&element.data);
      if (one == nullptr || !add_pattern(all, *one)) return false;
    }
  } else {
    return false;
  }
  // Each once and in one order: two spellings of a request are one submission.
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  request.outputs = std::move(all);
  return true;
}

bool has_part_above(std::string_view pattern) {
  const auto parts = pieces_of(pattern, '/');
  return std::find(parts.begin(), parts.end(), "..") != parts.end();
}

void check_outputs(const JobRequest& request, const Report& report) {
  if (request.outputs.size() > kMostOutputs) {
    return report("outputs", fmt::format("has to be at most {} patterns; they are {}", kMostOutputs,
                                         request.outputs.size()));
  }
  for (const std::string& each : request.outputs) {
    if (!is_one_line(each)) {
      return report("outputs", "has to be patterns of UTF-8 text in one line each");
    }
    if (each.size() > kMostOutputBytes) {
      return report("outputs",
                    fmt::format("has to be patterns of at most {} bytes", kMostOutputBytes));
    }
    if (each.front() == '/' || has_part_above(each)) {
      return report("outputs", fmt::format("has to be paths below the task's work folder, without "
                                           "'..' and no '/' at the beginning; it has \"{:.60}\"",
                                           each));
    }
  }
}

void check_optional(const JobRequest& request, const Report& report) {
  if (request.optional_outputs && request.outputs.empty()) {
    report("optional_outputs", "needs outputs, which says what may be missing");
  }
}

}  // namespace

std::vector<RequestKey> files_keys() {
  return {
      {"stage", "text", "none",
       "folder whose files each task finds in its work folder, as they are when the job is "
       "submitted, but for those that its .musterignore names",
       RequestOther{
           &R::stage, std::string(kWantedStage), read_stage, check_stage, {}, kMostStageBytes - 1},
       RequestFlag{"--stage",
                   "send the files of this folder along: each task finds them in "
                   "its work folder"}},
      {"outputs", "list, or text like \"model.bin,logs/**\"", "none",
       "patterns of paths in the work folder: matching files are kept for `muster fetch` when a "
       "task ends, also one that has failed",
       RequestOther{&R::outputs, std::string(kWantedOutputs), read_outputs, check_outputs},
       RequestFlag{"--outputs",
                   "keep what matches these patterns, with commas between them, when a task "
                   "ends: see muster fetch"}},
      {"optional_outputs", "true or false", "false",
       "a pattern of `outputs` that nothing matches is no failure of a task that exits with 0",
       RequestSwitch{&R::optional_outputs, check_optional}, RequestFlag{"--optional-outputs"}}};
}

void check_files(const JobRequest& request, const Report& report) {
  if (request.work_dir.empty()) return;
  constexpr const char* kOwnFolder =
      "goes by the attempt's own work folder: leave work_dir (--workdir) out";
  if (!request.stage.empty()) report("stage", kOwnFolder);
  if (!request.outputs.empty()) report("outputs", kOwnFolder);
}

void make_files(const JobRequest& request, Job& job) {
  job.program.stage = request.stage;
  job.program.outputs = request.outputs;
  job.program.optional_outputs = request.optional_outputs;
}

void ask_files(const Job& job, JobRequest& request) {
  request.stage = job.program.stage;
  request.outputs = job.program.outputs;
  request.optional_outputs = job.program.optional_outputs;
}

}  // namespace muster::config
