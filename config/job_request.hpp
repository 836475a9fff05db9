#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "config/config_error.hpp"
#include "model/expected.hpp"
#include "model/job.hpp"

namespace muster {

/// The table [service] of a request.
struct RequestService {
  ServiceSpec spec;
  std::uint32_t most_replicas = 0;  ///< that it may be scaled to; 0: twice as many, 8 at least
  bool goal_is_reported = false;    ///< its program says the number of its goal itself
  /// Of the text that it was read from: the member at fault, and what is wrong with it.
  std::vector<std::pair<std::string, std::string>> faults{};

  friend bool operator==(const RequestService&, const RequestService&) = default;
};

/// A user's request, as it stands in a job file (TOML) or in a request to the API (JSON): with
/// equal names in both. Units are in the names.
struct JobRequest {
  std::string name;  ///< default: the command's file name
  std::string
      user;  ///< the user that the job is billed to; default: set by the command line or the API
  std::string workload_class;  ///< "class"; jobs of one class interfere alike; default: the name
  int priority = 0;
  std::vector<std::string> command;
  std::map<std::string, std::string> env;
  std::string work_dir;              ///< may have placeholders (work_folder.hpp)
  bool make_work_dir = false;        ///< made where it is missing; one with a placeholder always is
  std::string script;                ///< its text; `command` is then its name and its arguments
  std::string stage;                 ///< a folder, or the id of a tree that is in the store
  std::vector<std::string> outputs;  ///< patterns of paths that are kept at a task's end
  bool optional_outputs = false;
  std::uint32_t tasks = 1;
  std::string array;              ///< "0-99", "1,3,7-9%2": one task an index, instead of `tasks`
  std::uint32_t max_running = 0;  ///< most of them that run at once; 0: all
  bool gang = false;              ///< the tasks start together or not at all
  double cpus = 1;
  double memory_gib = 1;
  double gpus = 0;
  std::optional<double> time_limit_s;
  std::optional<double> runtime_hint_s;
  std::optional<double> stop_grace_s;
  std::optional<double> baseline_rate_per_s;  ///< units of progress a second when alone
  MarketChoice market = MarketChoice::any;
  std::optional<std::uint32_t> retries;
  std::optional<std::uint32_t> max_fails;  ///< with more failed tasks than this the rest is ended
  std::string from;                 ///< "LATITUDE,LONGITUDE" of the user; empty: where the site is
  std::string token;                ///< the same token of the same user is the same submission
  bool movable = true;              ///< tasks that run may be moved to other instances
  bool checkpoints = false;         ///< a task that is stopped saves what it has done
  bool distinct_instances = false;  ///< another way to say that `most_an_instance` is 1
  std::optional<std::uint32_t> most_an_instance;  ///< tasks on one at a time; nothing: any number
  std::string constraint;                         ///< on which types (Constraint); empty: on all
  bool done_on_stop = false;  ///< exit code 0 after a request to stop: the task has done its work
  std::vector<std::string> retry_on;  ///< exit codes as texts, and "signal"; none: any failure
  std::string signal;                 ///< "USR1@60": before the time limit; empty: no signal
  std::vector<std::string> after;     ///< "12:any", "prep", "#3": jobs that have to be over before
  std::string begin;                  ///< not before that time; empty: at once
  std::string deadline;               ///< by when it has to be over; empty: never
  bool hold = false;                  ///< it waits until it is released
  std::string on_fail;   ///< "keep": it waits for a resubmission of what failed; empty: skipped
  std::string every;     ///< when it recurs, as cron has it; empty: it does not
  std::string zone;      ///< time zone of `every`; empty: UTC
  bool overlap = false;  ///< of its runs, which begin though the one before is not over
  std::vector<std::string> notify;  ///< https://... and mail addresses that are told of its end
  std::string notify_on;            ///< a word of NotifyOn; empty: "end"
  // Of an elastic job:
  std::string elastic;  ///< "1-8": bounds of its number of workers; empty: it is not elastic
  std::string progress_unit;
  std::vector<double> progress_ends;   ///< where its epochs end, by progress; none: it does not say
  std::vector<double> speedup;         ///< of 1, 2, ... workers against one; none: it does not say
  std::optional<double> rescale_s;     ///< its cost of another width; nothing: kDefaultRescale_s
  std::optional<std::uint32_t> batch;  ///< that training begins with; nothing: it is no training
  std::optional<std::uint32_t> batch_max;        ///< of a step, by all workers
  std::optional<std::uint32_t> local_batch_min;  ///< of one worker at once
  std::optional<std::uint32_t> local_batch_max;
  std::optional<RequestService> service;  ///< of a service; nothing: it has an end
};

/// Assumed cost of a change of an elastic job's width without its own statement: somewhat more than
/// a warm start costs in the published experiments (20 s).
inline constexpr double kDefaultRescale_s = 30;

/// How many tasks one job may have.
inline constexpr std::uint32_t kMaxTasksPerJob = 100'000;

/// Bytes of a job's command or environment, with their separators, at most: the bound of one text
/// of a process.
inline constexpr std::size_t kMaxCommandBytes = std::size_t{128} << 10;
inline constexpr std::size_t kMaxEnvBytes = std::size_t{128} << 10;
/// How long the text of one request may be, and that of a batch.
inline constexpr std::size_t kMaxRequestBytes = std::size_t{1} << 20;
inline constexpr std::size_t kMaxBatchBytes = std::size_t{8} << 20;
/// How many requests a batch may have.
inline constexpr std::size_t kMaxJobsPerBatch = 10'000;

/// Reads a request; every error at once, each with file:line:column or source, the field, and what
/// would be right.
Expected<JobRequest, ConfigError> load_job_file(const std::filesystem::path& file);
Expected<JobRequest, ConfigError> job_request_from_toml(std::string_view text,
                                                        const std::string& source);
Expected<JobRequest, ConfigError> job_request_from_json(std::string_view text,
                                                        const std::string& source);

/// Reads what POST /v1/jobs takes: one request, or {"jobs": [...]} with up to kMaxJobsPerBatch.
/// Fields in errors are then named like /jobs/3/cpus. Names in `after` become places.
Expected<std::vector<JobRequest>, ConfigError> job_requests_from_json(std::string_view text,
                                                                      const std::string& source);

/// Reads what a job file may be: one request, or several as a list `jobs` (in TOML [[jobs]]). Names
/// in `after` stay, for they may be of jobs in other files (config::settle_after()).
Expected<std::vector<JobRequest>, ConfigError> job_requests_from_file(std::string_view text,
                                                                      const std::string& source,
                                                                      bool json);

/// GiB from "4", or from what parse_bytes() takes: "4G", "512MiB"; nothing when it is no such
/// amount.
std::optional<double> parse_memory_gib(std::string_view text);

/// The request as JSON, with only what differs from the defaults.
std::string to_json(const JobRequest& request);

/// The job that is asked for; ids are not set yet. The request has to be one that was read or
/// checked. Name and class that were left out are made up from the command.
Job make_job(const JobRequest& request);

/// Request for one task of the job, without its gang, its array and its token.
JobRequest request_of(const Job& job);

/// Faults of a request that was put together otherwise; empty when it is right. Each is "field:
/// what is wrong".
std::vector<std::string> faults(const JobRequest& request);

/// Every key of a request as a Markdown table; docs/jobs.md has it.
std::string describe_job_request();

}  // namespace muster
