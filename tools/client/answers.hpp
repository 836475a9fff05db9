#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "model/expected.hpp"
#include "model/job_documents.hpp"
#include "model/views.hpp"
#include "tools/client/api_client.hpp"

// The documents of docs/api.md as far as the command line shows them. Texts are printable.

namespace muster::client {

/// Whether it has ended, one way or another.
bool is_over(const JobView& job);
bool is_over(const TaskView& task);

/// A job with a page of its tasks.
struct JobPage : JobDocument {
  bool complete = true;  ///< everybody who may have a part of it has answered
};

/// A view of the whole cluster, and whose part is missing in it.
struct StatusAnswer : StatusView {
  Silent silent{};
};
struct CostAnswer : CostView {
  Silent silent{};
};
/// Today's costs, and whose part in them is an earlier one.
struct TodayAnswer : DayCostsView {
  Silent silent{};
};

/// A part of what a task wrote.
struct LogAnswer {
  std::uint64_t attempt = 0;
  std::uint64_t offset = 0;
  std::uint64_t next = 0;             ///< where the next part begins
  std::optional<std::uint64_t> size;  ///< of all that there is so far
  std::string text;                   ///< as the task wrote it
  bool more = false;                  ///< more is there, or may come
  std::string lost;                   ///< why something is missing; empty: nothing is
};

/// An answer as a struct, or the reason why it cannot be read.
template <class T>
using Parsed = Expected<T, ClientError>;

// Each turns an answer into its struct; the error says which field is missing or of another kind.
// The views are those that masters and the API make (model/views.hpp), read by their `fields`. A
// word that this version does not know is a value without a name: `shown_word` (views.hpp) says so.

/// The ids that POST /v1/jobs gives, in the order of the requests.
Parsed<std::vector<std::uint64_t>> submitted_jobs(const Answer& answer);
/// Sentences of that answer about jobs that cannot run as things are; an empty list: nothing is
/// said.
Parsed<std::vector<std::string>> warnings_in(const Answer& answer);
/// Masters and sites that have not confirmed a cancel yet that will be carried out; empty: all
/// have.
Parsed<std::vector<std::string>> unconfirmed_by(const Answer& answer);
/// Masters and sites that have not answered the API, of those that have a part of the view.
Parsed<Silent> silent_in(const Answer& answer);
/// GET /v1/jobs.
Parsed<std::vector<JobView>> job_list(const Answer& answer);
/// GET /v1/jobs/{id} without its tasks.
Parsed<JobView> job_only(const Answer& answer);
/// GET /v1/jobs/{id}.
Parsed<JobPage> job_page(const Answer& answer);
/// GET /v1/jobs/{id}/explain.
Parsed<JobPage> explanation(const Answer& answer);
/// A document that is a view: GET /v1/instances, /v1/nodes and /v1/decisions, POST /v1/plan.
/// Another one has its line at the end of answers.cpp.
template <class View>
Parsed<View> view_of(const Answer& answer);
/// GET /v1/status.
Parsed<StatusAnswer> status_of(const Answer& answer);
/// GET /v1/cost.
Parsed<CostAnswer> cost_of(const Answer& answer);
Parsed<TodayAnswer> today_of(const Answer& answer);
/// GET /v1/jobs/{id}/tasks/{index}/log, as a document and with raw=1.
Parsed<LogAnswer> log_part(const Answer& answer);
Parsed<LogAnswer> raw_log_part(BytesAnswer answer);

}  // namespace muster::client
