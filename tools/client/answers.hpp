#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "model/expected.hpp"
#include "tools/client/api_client.hpp"

// The documents of docs/api.md as far as the command line shows them. Texts are printable.

namespace muster::client {

/// Somebody who has not answered the API, and what they said last.
struct SilentAnswer {
  /// Of a master; all of them are parts of totals, which are without them now.
  struct Figures {
    double usd_h = 0;
    double today_usd = 0;
    double total_usd = 0;
    std::uint64_t instances = 0;
    std::uint64_t pending_tasks = 0;
  };
  std::string who;                ///< "master m0"
  std::optional<double> since_s;  ///< from the last answer; nothing: it is not known
  std::optional<Figures> last;    ///< nothing: it is not known
};

/// How wide an elastic job is and may be, and how far it has come.
struct ElasticAnswer {
  std::uint64_t least = 1;
  std::uint64_t most = 1;
  std::optional<std::uint64_t> width;  ///< nothing: it has none now
  double done = 0;
  std::optional<double> whole;  ///< nothing: it has not said
  std::string unit;
};

/// What a job was submitted with.
struct SubmissionAnswer {
  double cpus = 0;
  double memory_gib = 0;
  double gpus = 0;
  std::string market;
  std::int64_t priority = 0;
  std::uint64_t tasks = 0;
  std::uint64_t max_running = 0;
  std::string array;  ///< empty: none
  std::string work_dir;
  std::optional<double> time_limit_s;
  std::optional<double> runtime_hint_s;
  std::optional<double> stop_grace_s;
  std::optional<std::uint64_t> retries;
  std::optional<std::uint64_t> max_fails;
  std::vector<std::string> env_names;
  std::vector<std::pair<std::string, std::string>> others;  ///< other keys, with values as JSON
};

/// A job as lists show it.
struct JobAnswer {
  std::uint64_t job = 0;
  std::string name;
  std::string user;
  std::string state;
  std::uint64_t tasks_total = 0;
  std::uint64_t waiting = 0;
  std::uint64_t held = 0;
  std::uint64_t capped = 0;
  std::uint64_t starting = 0;
  std::uint64_t running = 0;
  std::uint64_t finished = 0;
  std::uint64_t failed = 0;
  std::uint64_t failed_attempts = 0;
  std::optional<double> submitted_s;  ///< nothing: no master has it yet
  std::optional<double> over_s;
  double usd = 0;
  std::optional<std::int64_t> exit_code;  ///< nothing: no task gave it one
  std::string master;
  std::vector<std::string> command;  ///< as it is: not printable
  bool movable = true;
  bool checkpoints = false;
  bool distinct_instances = false;
  std::string reason;    ///< why it waits, has failed or was refused; empty: nothing says so
  bool complete = true;  ///< everybody who may have a part of it has answered
  std::optional<ElasticAnswer> elastic;
  std::optional<std::uint64_t> failed_task;    ///< the lowest index of those that have failed
  std::optional<SubmissionAnswer> submission;  ///< nothing: nobody says

  /// It has ended, one way or another.
  bool over() const;
};

/// A task of a job.
struct TaskAnswer {
  std::uint64_t task = 0;
  std::string phase;
  std::uint64_t attempt = 0;
  std::optional<std::uint64_t> instance;
  std::string instance_type;
  double usd = 0;
  std::optional<std::int64_t> exit_code;
  std::string reason;   ///< why it waits or was refused; empty: nothing says so
  std::string failure;  ///< how its last attempt failed; empty: none has
  std::string why;      ///< of an explanation
  std::uint64_t moves = 0;
  std::optional<double> ran_s;                            ///< nothing: not known
  std::vector<std::pair<std::string, double>> metrics{};  ///< what it has reported last

  bool over() const {
    return phase == "finished" || phase == "failed" || phase == "stopped" || phase == "not run";
  }
};

/// A job with a page of its tasks.
struct JobDetails {
  JobAnswer job;
  std::vector<TaskAnswer> tasks;
  std::optional<std::uint64_t> next{};  ///< the page's last task, when there are more
  std::uint64_t tasks_behind = 0;       ///< how many
};

/// An instance with what is on it; amounts in cores, GiB and devices.
struct InstanceAnswer {
  std::uint64_t instance = 0;
  std::string type;
  std::string market;
  std::string phase;
  bool released = false;
  bool connected = false;
  double usd_h = 0;
  std::optional<double> up_s;
  std::string master;
  std::vector<std::pair<std::uint64_t, std::uint64_t>> tasks;  ///< job and task
  std::uint64_t more_tasks = 0;                                ///< besides these
  double used_cpu = 0;
  double used_memory = 0;
  double used_gpu = 0;
  double cpu = 0;
  double memory = 0;
  double gpu = 0;
};

/// A node with its load.
struct NodeAnswer {
  std::string node;
  std::vector<std::string> roles;
  bool connected = false;
  std::uint64_t jobs = 0;
  std::uint64_t pending_tasks = 0;
  std::uint64_t instances = 0;
  std::string policy;
};

/// What a round of a master decided.
struct DecisionAnswer {
  double at_s = 0;
  std::string master;
  std::uint64_t round = 0;
  std::string sentence;
};

/// How the cluster is.
struct StatusAnswer {
  struct Kind {
    std::string type;
    std::string market;
    std::uint64_t count = 0;
  };
  struct Cap {
    std::string master;
    double max_instances = 0;
    double max_usd_h = 0;
    double max_usd_day = 0;
  };
  double now_s = 0;
  std::uint64_t jobs_waiting = 0;
  std::uint64_t jobs_running = 0;
  std::uint64_t jobs_held = 0;
  std::uint64_t jobs_over = 0;
  std::uint64_t tasks_pending = 0;
  std::uint64_t tasks_running = 0;
  std::uint64_t elastic_jobs = 0;
  std::uint64_t elastic_workers = 0;
  std::vector<Kind> instances;
  double usd_h = 0;
  double total_usd = 0;
  double today_usd = 0;
  std::vector<NodeAnswer> nodes;
  std::vector<Cap> caps;
  std::vector<std::string> trouble;
  std::vector<SilentAnswer> silent;  ///< whose part is missing in all figures
};

/// What was paid, and for what.
struct CostAnswer {
  double total_usd = 0;
  std::vector<std::pair<std::string, double>> idle;  ///< boot, idle, drain, fragmentation
  std::vector<std::pair<std::string, double>> by;
  std::vector<SilentAnswer> silent;  ///< whose part is missing
};

/// What would be done with a job.
struct PlanAnswer {
  struct Launch {
    std::string type;
    std::string market;
    double usd_h = 0;
  };
  std::vector<Launch> launches;
  std::vector<std::pair<std::uint64_t, std::string>> places;  ///< task, to
  struct Refused {
    std::uint64_t task = 0;
    bool for_ever = false;  ///< asking again does not help
    std::string why;
  };
  std::vector<Refused> refusals;
  std::uint64_t left_out = 0;  ///< launches, places and refusals besides these
  std::uint64_t moves = 0;
  double usd_h = 0;
  double usd_h_now = 0;
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

/// An answer as a struct, or the reason why it is none.
template <class T>
using Parsed = Expected<T, ClientError>;

// Each turns an answer into its struct; the error says which field is missing or of another kind.
/// The ids that POST /v1/jobs gives, in the order of the requests.
Parsed<std::vector<std::uint64_t>> submitted_jobs(const Answer& answer);
/// Who has not confirmed a cancel yet that will be carried out; none: it has been.
Parsed<std::vector<std::string>> unconfirmed_by(const Answer& answer);
/// Who has not answered the API, of those who have a part of what it shows.
Parsed<std::vector<SilentAnswer>> silent_in(const Answer& answer);
/// GET /v1/jobs.
Parsed<std::vector<JobAnswer>> job_list(const Answer& answer);
/// GET /v1/jobs/{id} without its tasks.
Parsed<JobAnswer> job_only(const Answer& answer);
/// GET /v1/jobs/{id}.
Parsed<JobDetails> job_details(const Answer& answer);
/// GET /v1/jobs/{id}/explain.
Parsed<JobDetails> explanation(const Answer& answer);
/// GET /v1/instances.
Parsed<std::vector<InstanceAnswer>> instance_list(const Answer& answer);
/// GET /v1/nodes.
Parsed<std::vector<NodeAnswer>> node_list(const Answer& answer);
/// GET /v1/decisions.
Parsed<std::vector<DecisionAnswer>> decision_list(const Answer& answer);
/// GET /v1/status.
Parsed<StatusAnswer> status_of(const Answer& answer);
/// GET /v1/cost.
Parsed<CostAnswer> cost_of(const Answer& answer);
/// POST /v1/plan.
Parsed<PlanAnswer> plan_of(const Answer& answer);
/// GET /v1/jobs/{id}/tasks/{index}/log, as a document and with raw=1.
Parsed<LogAnswer> log_part(const Answer& answer);
Parsed<LogAnswer> raw_log_part(BytesAnswer answer);

}  // namespace muster::client
