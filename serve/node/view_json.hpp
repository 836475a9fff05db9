#pragma once

#include <optional>
#include <string>
#include <vector>

#include "model/job_cursor.hpp"
#include "model/job_documents.hpp"
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
/// How many jobs a list in another order than that of submission was made of.
struct Sorted {
  std::uint64_t of = 0;
  bool all = true;  ///< that match
};

/// A list in another order than that of submission, the first ones of the sorted jobs.
std::string sorted_jobs(const JsonText& list, Sorted sorted, const Silent& silent);

/// A job with a page of its tasks, whose list is written already.
std::string job(const JobDocument& job, const JsonText& tasks, const Silent& silent);
/// A job with a page of its tasks, each with the reason why it waits or is where it is.
std::string job(const ExplainedDocument& job, const JsonText& tasks, const Silent& silent);

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
