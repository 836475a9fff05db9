#pragma once

#include <optional>
#include <string>
#include <vector>

#include "model/job_cursor.hpp"
#include "model/views.hpp"
#include "serve/node/json_fields.hpp"
#include "serve/node/json_text.hpp"

// Views as the API's documents. Their members are those that `fields` of the views names; of a view
// of the whole cluster they say besides who has not answered (`silent`) and whether everybody has
// (`complete`).

namespace muster::view_json {

/// The jobs, one after the other; for a list that is put together in pieces.
void add_jobs(JsonText& list, const std::vector<JobView>& jobs);
/// Likewise, for tasks. `explained`: with why each of them waits or is where it is.
void add_tasks(JsonText& list, const std::vector<TaskView>& tasks, bool explained);

/// A page of jobs.
std::string jobs(const JsonText& list, const std::optional<JobCursor>& next, const Silent& silent);

/// A page of a job's tasks, where the next begins, and how many tasks come behind it.
struct TaskPage {
  const JsonText& list;
  std::optional<std::uint32_t> next{};
  std::uint64_t behind = 0;
};
/// A job with a page of its tasks; beside them when it is explained, else before them.
std::string job(const JobView& job, const TaskPage& tasks, bool explained, const Silent& silent);

/// Ends the document with whether everybody has answered, and who has not.
std::string closed(JsonText out, const Silent& silent);

/// Writes the view's members into the object that is open.
template <class View>
void put_members(JsonText& out, const View& view) {
  JsonFields members(out);
  fields(members, view);
}

/// A view of one of PlainViews.
template <class View>
std::string document(const View& view) {
  JsonText out;
  put_members(out.begin_object(), view);
  return out.end_object().take();
}

/// A view of one of GatheredViews.
template <class View>
std::string document(const View& view, const Silent& silent) {
  JsonText out;
  put_members(out.begin_object(), view);
  return closed(std::move(out), silent);
}

}  // namespace muster::view_json
