#include "serve/node/view_json.hpp"

#include <utility>

namespace muster::view_json {
namespace {

/// Writes the members of a document. Its long list was written in pieces and is not in the view.
template <class Listed>
class PageFields : public JsonFields {
 public:
  PageFields(JsonText& out, const JsonText& list) : JsonFields(out), list_(list) {}

  using JsonFields::operator();
  void operator()(ViewKey key, const std::vector<Listed>&) {
    out().key(key.name).begin_list().values(list_).end_list();
  }

 private:
  const JsonText& list_;
};

template <class Listed, class Document>
std::string page(const Document& document, const JsonText& list, const Silent& silent) {
  JsonText out;
  PageFields<Listed> members(out.begin_object(), list);
  fields(members, document);
  return closed(std::move(out), silent);
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
    explained ? put_members(list, ExplainedTask{task}) : put_members(list, task);
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
  JobsDocument document;
  if (next) document.next = to_text(*next);
  return page<JobView>(document, list, silent);
}

std::string sorted_jobs(const JsonText& list, Sorted sorted, const Silent& silent) {
  JobsDocument document;
  document.sorted_of = sorted.of;
  document.sorted_all = sorted.all;
  return page<JobView>(document, list, silent);
}

std::string job(const JobDocument& job, const JsonText& tasks, const Silent& silent) {
  return page<TaskView>(job, tasks, silent);
}

std::string job(const ExplainedDocument& job, const JsonText& tasks, const Silent& silent) {
  return page<ExplainedTask>(job, tasks, silent);
}

}  // namespace muster::view_json
