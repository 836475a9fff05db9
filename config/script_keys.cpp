#include "config/script_keys.hpp"

#include "config/script.hpp"
#include "config/work_folder.hpp"

namespace muster::config {
namespace {

using R = JobRequest;

void check_made(const JobRequest& request, const Report& report) {
  if (request.make_work_dir && request.work_dir.empty()) {
    report("make_work_dir", "needs work_dir, the folder that is to be made");
  }
}

bool read_script(JobRequest& request, const RequestValue& value) {
  const auto* text = std::get_if<std::string>(&value.data);
  if (text == nullptr || text->empty()) return false;
  request.script = *text;
  return true;
}

void check_script(const JobRequest& request, const Report& report) {
  if (request.script.empty()) return;
  if (std::string fault = script_fault(request.script); !fault.empty()) report("script", fault);
  // One text was a line for the shell: the script would get it as its arguments.
  const auto& command = request.command;
  if (command.size() == 3 && command[0] == "/bin/sh" && command[1] == "-c") {
    report("command", "has to be a list beside `script`: its name and its arguments");
  }
}

}  // namespace

std::vector<RequestKey> script_keys() {
  return {{"make_work_dir", "true or false", "false",
           "`work_dir` is made where it is missing, by the user that the tasks run as; one with a "
           "placeholder always is",
           RequestSwitch{&R::make_work_dir, check_made},
           RequestFlag{"--make-workdir",
                       "make that folder where it is missing; one with %j or %a in it always is"}},
          {"script", "text", "none",
           "the text of a script, at most 128 KiB, that every task runs by its first line (`#!`); "
           "`command` is then the list of its name and its arguments",
           RequestOther{.at = &R::script,
                        .wanted = "the text of a script",
                        .read = read_script,
                        .check = check_script,
                        .longest = kMaxScriptBytes}}};
}

void make_script(const JobRequest& request, Job& job) {
  const std::string& folder = request.work_dir;
  job.program.script = request.script;
  job.program.make_work_dir = !folder.empty() && (request.make_work_dir || has_placeholder(folder));
  // A worker reads placeholders only in what is to be made.
  job.program.work_dir = job.program.make_work_dir ? folder : path_of_pattern(folder);
}

void ask_script(const Job& job, JobRequest& request) {
  request.script = job.program.script;
  request.make_work_dir = job.program.make_work_dir;
  request.work_dir =
      job.program.make_work_dir ? job.program.work_dir : pattern_of_path(job.program.work_dir);
}

}  // namespace muster::config
