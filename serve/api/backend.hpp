#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/exec.hpp"
#include "model/ids.hpp"
#include "model/job.hpp"
#include "model/job_cursor.hpp"
#include "model/job_filter.hpp"
#include "model/usage_cursor.hpp"
#include "serve/api/routes.hpp"

/// The HTTP API and what it asks of the cluster; free of actors.
namespace muster::api {

/// Names and values, in the order in which they are sent.
using Headers = std::vector<std::pair<std::string, std::string>>;

/// An answer to a client: an HTTP status and a JSON document in the shapes of docs/api.md, or what
/// the content type says. For a status from 400 on use `refusal`.
struct Answer {
  int status = 200;
  std::string json;
  std::string_view content_type = "application/json";
  Headers headers{};
};

/// The answer {"error": {"code", "message"}}; `code` is a word or two in lower case ("not found",
/// "cap reached") that a program may branch on. Bytes that are not UTF-8 are replaced.
Answer refusal(int status, const std::string& code, const std::string& message);

/// Takes an answer. May be called from any thread and long after the client has gone; only its
/// first call counts. It may be dropped without a call: the client then gets 503 when the
/// server's own time limit is over.
using Reply = std::function<void(Answer)>;

/// Change that may be asked of a job, and of an instance.
enum class JobChange : std::uint8_t { cancel, hold, release };
enum class InstanceChange : std::uint8_t { drain, interrupt };

/// How a job is submitted again.
struct Again {
  JobId job;
  bool failed_only = false;                  ///< only its tasks that did not finish
  std::optional<std::uint32_t> max_fails{};  ///< of the new job; nothing: as the first one's
  std::string token{};                       ///< of the new submission
  std::string scope{};                       ///< for whom the API's token acts
  std::optional<int> max_priority{};         ///< of the new job; nothing: as the first one's
};

/// A change of a service: another number of replicas, or another revision.
struct ServiceChange {
  JobId job;                                ///< a revision of it
  std::optional<std::uint64_t> replicas{};  ///< nothing: another revision
  std::optional<Job> as{};                  ///< of that; nothing: as the job is or was
  bool keeps_replicas = false;              ///< as many as the service has now, whatever `as` says
  std::string token{};                ///< of the submission, of the one that is as the job was
  std::string scope{};                ///< for whom the API's token acts
  std::optional<int> max_priority{};  ///< of the one that is as the job was; nothing: as it had
};

/// A question about a command beside a task.
struct ExecQuery {
  JobId job;
  std::uint32_t index = 0;  ///< the task's, as in its job's array
  ExecRequest request{};    ///< but for the task's number
};

/// Which piece of a task's output is asked for.
struct LogQuery {
  JobId job;
  std::uint32_t index = 0;     ///< the task's, as in its job's array
  Attempt attempt = 0;         ///< 0: the newest
  bool error_stream = false;   ///< stderr instead of stdout
  std::uint64_t offset = 0;    ///< bytes from the stream's beginning
  std::uint32_t max = 65'536;  ///< bytes at most; 1 to 1 MiB
  bool raw = false;            ///< the bytes themselves instead of a document
};

/// Which jobs a listing shows: those that are not over, the others, all, or those that are not over
/// and stand so (ShownState).
enum class JobState : std::uint8_t {
  active,
  over,
  all,
  waiting,
  starting,
  running,
  held,
  stopping
};
constexpr auto words_of(JobState) {
  return words_as_spelt<JobState>();
}

/// Order of a list of jobs: by time of submission, the newest first; by cost or by the time from
/// submission to the end, the most first; by name.
enum class JobSort : std::uint8_t { submitted, cost, ran, name };
constexpr auto words_of(JobSort) {
  return words_as_spelt<JobSort>();
}

/// Key that costs are split by.
enum class CostBy : std::uint8_t { user, job, instance };
constexpr auto words_of(CostBy) {
  return words_as_spelt<CostBy>();
}

/// A look at the cluster that changes nothing, as a route asks for it. A member that the route has
/// no parameter for has its default.
struct View {
  Operation of = Operation::status;
  JobId job{};
  JobState state = JobState::active;
  std::string user{};                ///< empty: everybody's
  std::uint32_t limit = 100;         ///< of jobs, tasks or decisions: 1 to 10,000
  std::optional<JobCursor> after{};  ///< nothing: from the beginning
  JobFilter filter{};                ///< of jobs
  JobSort sort = JobSort::submitted;
  std::optional<std::uint32_t> after_task{};  ///< an index, likewise
  std::string phase{};                        ///< of tasks; empty: any
  CostBy by = CostBy::user;
  std::uint32_t hours = 24;  ///< of the past: 1 to 24
  Duration wait{};           ///< time that the answer may wait for something new; 0: no wait
  std::string name{};        ///< of a service; empty: of all
  std::string revision{};    ///< of a service's endpoints that are known
  bool attempts = false;     ///< of tasks: with their attempts
  InstanceId instance{};     ///< of decisions; none: any
  std::string master{};      ///< likewise; empty: any
  Duration within{};         ///< only decisions of that time until now; 0: all that are kept
  std::optional<std::uint32_t> index{};  ///< of running tasks; nothing: of any
  UsageCursor from{};                    ///< likewise: where the page begins
};

/// One value of a metric.
struct Sample {
  std::vector<std::pair<std::string, std::string>> labels;
  double value = 0;
};

/// A gauge or a counter with all its values.
struct Metric {
  std::string name;  ///< as in docs/api.md, with the unit last; `_total` marks a counter
  std::string help;
  bool counter = false;
  std::vector<Sample> samples;
};

/// A distribution, as Prometheus counts them.
struct Distribution {
  std::string name;
  std::string help;
  std::vector<std::pair<std::string, std::string>> labels;
  std::vector<double> bounds;          ///< upper ends of the buckets, rising, without infinity
  std::vector<std::uint64_t> buckets;  ///< how many fell into each, one more than `bounds`
  double sum = 0;
};

/// Figures of /metrics besides the server's own.
struct MetricsInput {
  std::vector<Metric> metrics;
  std::vector<Distribution> distributions;  ///< those of one name stand together
  bool reachable = true;                    ///< the cluster's figures are among them
};

/// Owner of a job; empty when it is not known, with the answer that says why.
struct JobOwner {
  std::optional<std::string> user{};
  Answer why{};
};

/// Questions and orders of the API to the cluster. The server calls these from its own threads,
/// several at once; an implementation returns quickly and answers through the reply.
class Backend {
 public:
  virtual ~Backend() = default;

  /// Takes the jobs, which are valid but have no ids yet, all or none of them.
  /// 201 {"jobs": [{"job": 12}]} when they are durable.
  virtual void submit(std::vector<Job> jobs, Reply reply) = 0;
  /// Takes the job, or a part of it, once more, as a new job: as submit() does. 404; 409 when it is
  /// not all known any more or nothing of it has failed.
  virtual void resubmit(const Again& what, Reply reply) = 0;
  /// Changes the service that the job is a revision of. Of a number of replicas: 200 {"job": 12};
  /// 409 when it is over or no service; 422 for more than it may have. Of a revision: as submit()
  /// does; 409 when the service is over.
  virtual void change_service(ServiceChange what, Reply reply) = 0;
  /// The user of a job, which never changes.
  virtual void owner(JobId job, std::function<void(JobOwner)> reply) = 0;
  /// 200 {"job": 12}; 404; 409 when the job is over or cannot be changed so. Of a cancel besides:
  /// 202 {"job": 12, "unconfirmed": ["m1"]} when it will be carried out, but not everybody has
  /// confirmed that in time; 429 when too many such are open.
  virtual void change_job(JobId job, JobChange change, Reply reply) = 0;
  /// 200 {"instance": 3}; 404; 409.
  virtual void change_instance(InstanceId instance, InstanceChange change, Reply reply) = 0;
  /// 200 and what log_document() or log_bytes() makes of the piece.
  virtual void read_log(const LogQuery& query, Reply reply) = 0;
  /// Begins a command beside a task: 201 and what exec_document() makes of the answer; 404; 409
  /// when the task does not run; 429 when there are as many as may be. Or goes on with one: 200;
  /// 404.
  virtual void exec(const ExecQuery& query, Reply reply) = 0;
  /// Dry run of the job; changes nothing.
  virtual void plan(Job job, Reply reply) = 0;
  /// 200 and the document of the view; 404 when it has no such job. That of a job which is waited
  /// for comes as soon as it is over or the wait has passed.
  virtual void view(const View& what, Reply reply) = 0;
  /// The figures of the cluster; answered at most once, nothing when there are no figures at
  /// present.
  virtual void metrics(std::function<void(std::optional<MetricsInput>)> reply) = 0;
};

}  // namespace muster::api
