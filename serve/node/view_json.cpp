#include "serve/node/view_json.hpp"

#include <string_view>
#include <utility>

#include "config/submission.hpp"

namespace muster::view_json {
namespace {

void put_list(JsonText& out, std::string_view key, const JsonText& list) {
  out.key(key).begin_list().values(list).end_list();
}

void put_submission(JsonText& out, const JobView& job) {
  out.key("submission");
  if (!job.submission) {
    out.value(nullptr);
    return;
  }
  out.raw(config::submission_json(*job.submission, job.tasks));
}

}  // namespace

void add_jobs(JsonText& list, const std::vector<JobView>& jobs) {
  for (const JobView& job : jobs) {
    list.begin_object();
    put_members(list, job);
    list.end_object();
  }
}

void add_tasks(JsonText& list, const std::vector<TaskView>& tasks, bool explained) {
  for (const TaskView& task : tasks) {
    list.begin_object();
    put_members(list, task);
    if (explained) list.field("why", task.why);
    list.end_object();
  }
}

std::string closed(JsonText out, const Silent& silent) {
  out.field("complete", silent.empty()).key("silent").begin_list();
  for (const SilentView& one : silent) {
    out.begin_object();
    put_members(out, one);
    out.end_object();
  }
  return out.end_list().end_object().take();
}

std::string jobs(const JsonText& list, const std::optional<JobCursor>& next, const Silent& silent) {
  JsonText out;
  put_list(out.begin_object(), "jobs", list);
  out.field("next", next ? std::optional(to_text(*next)) : std::nullopt);
  return closed(std::move(out), silent);
}

std::string job(const JobView& job, const TaskPage& tasks, bool explained, const Silent& silent) {
  JsonText out;
  out.begin_object();
  if (explained) {
    out.key("job").begin_object();
    put_members(out, job);
    out.end_object();
  } else {
    put_members(out, job);
    put_submission(out, job);
  }
  put_list(out, "tasks", tasks.list);
  out.field("next", tasks.next).field("tasks_behind", tasks.behind);
  return closed(std::move(out), silent);
}

}  // namespace muster::view_json
