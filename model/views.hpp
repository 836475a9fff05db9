#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/catalog.hpp"
#include "model/cluster_state.hpp"
#include "model/enum_words.hpp"
#include "model/event.hpp"
#include "model/job.hpp"
#include "model/job_cursor.hpp"
#include "model/plan.hpp"
#include "model/refusal.hpp"
#include "model/shown_states.hpp"

// Questions to masters, sites and clouds by those who look at the cluster, and their answers. The
// API alone decides how users are shown them: there they become JSON (docs/api.md).

namespace muster {

/// Which jobs of a list somebody asks for. The list is that of JobCursor; of each of its two
/// sections at most `most` are wanted.
struct JobsQuestion {
  static constexpr std::uint32_t kUnlessAsked = 100;
  static constexpr std::uint32_t kMost = 10'000;

  bool active = true;
  bool over = true;
  std::string user{};  ///< empty: anybody's
  std::uint32_t most = kUnlessAsked;
  JobId active_below{};  ///< of those that are not over only lower numbers; none: all
  JobId over_below{};    ///< the same of those that are
  /// Of these all parts, whatever else is said; nothing: of all jobs.
  std::optional<std::vector<JobId>> only{};

  /// All parts of some jobs.
  static JobsQuestion parts_of(std::vector<JobId> jobs);
  /// Only what comes behind the cursor.
  void begin_behind(const JobCursor& cursor);
  bool takes(const Job& job) const { return user.empty() || job.user == user; }
  /// How many are shown, whoever asks for more.
  std::size_t bound() const { return std::clamp<std::size_t>(most, 1, kMost); }
};

/// Which tasks of a job somebody asks for.
struct JobQuestion {
  static constexpr std::uint32_t kUnlessAsked = 1'000;
  static constexpr std::uint32_t kMost = 10'000;

  JobId job;
  bool explained = false;                ///< with why each task waits or is where it is
  std::optional<std::uint32_t> after{};  ///< only those of higher indices
  std::string phase{};                   ///< only those in it; empty: in any
  bool tasks_only = false;               ///< what is said of the job has been heard already
  std::uint32_t most = kUnlessAsked;

  std::size_t bound() const { return std::clamp<std::size_t>(most, 1, kMost); }
};

/// Whether a job is here, and where in it the task of an index is.
struct FindQuestion {
  JobId job;
  std::uint32_t index = 0;
};

/// Asks for the request that a job was made from.
struct RequestQuestion {
  JobId job;
};

/// The parts that costs are split into.
enum class CostSplit : std::uint8_t { user, job, instance };
struct CostQuestion {
  CostSplit by = CostSplit::user;
};

/// Of the instances that a cloud rents or has rented, at most so many.
struct RentedQuestion {
  static constexpr std::uint32_t kUnlessAsked = 1'000;
  std::uint32_t most = kUnlessAsked;
};

/// How wide an elastic job is and may be, and how far it has come.
struct ElasticView {
  std::uint32_t least = 1;
  std::uint32_t most = 1;
  std::uint32_t width = 0;  ///< workers that it is to have now; 0: none, or no master has it
  double done = 0;          ///< by the word of its first worker, when it was measured last
  double whole = 0;         ///< of all its work; 0: it has not said
  std::string unit{};       ///< of these two; empty: it has not said
};

/// What a job was submitted with: without its command, its token and the values of its variables.
struct SubmissionView {
  Job job;              ///< with one task, which the others are like
  std::string array{};  ///< the indices of its tasks, perhaps cut; empty: only a part is known
};

/// A job, or the part of it that one master or site has.
struct JobView {
  JobId job;
  std::string name;
  std::string user;
  std::string workload_class;
  std::vector<std::string> command;
  MarketChoice market = MarketChoice::any;
  bool gang = false;
  bool movable = true;
  bool checkpoints = false;
  bool distinct_instances = false;
  ShownState state = ShownState::waiting;
  std::uint64_t tasks = 0;  ///< of this part
  std::uint64_t whole = 0;  ///< of the job
  std::uint64_t waiting = 0;
  std::uint64_t held = 0;
  std::uint64_t capped = 0;
  std::uint64_t starting = 0;
  std::uint64_t running = 0;
  std::uint64_t finished = 0;
  std::uint64_t failed = 0;  ///< for good
  std::uint64_t failed_attempts = 0;
  std::optional<Instant> submitted{};
  std::optional<Instant> over{};
  double usd = 0;
  std::optional<std::uint32_t> max_fails{};
  std::optional<std::int32_t> exit_code{};
  std::optional<std::uint32_t> failed_task{};  ///< the lowest index of those that have failed
  std::optional<std::string> failure{};        ///< that task's, for who puts the parts together
  std::optional<std::string> reason{};         ///< why it waits, failed or was refused
  std::string master{};                        ///< who has it; empty: no master
  std::string to{};      ///< of a site: where it is on its way to; empty: nowhere
  bool to_site = false;  ///< that is another site
  std::optional<ElasticView> elastic{};
  std::optional<SubmissionView> submission{};  ///< only of a job that was asked for alone
};

/// Why a task waits or was refused.
struct ReasonView {
  RefusalKind kind = RefusalKind::not_now;
  std::optional<RefusalCode> code{};  ///< nothing: only that it was refused is known any more
  std::string text;
};

/// Failure of the last attempt that did not finish.
struct FailureView {
  FailureKind kind = FailureKind::unknown;
  std::string text;
};

/// A number with its name, as a policy gives it or a task reports it.
struct FigureView {
  std::string name;
  double value = 0;
};

/// A task of a job.
struct TaskView {
  std::uint32_t index = 0;
  ShownPhase phase = ShownPhase::pending;
  Attempt attempt = 0;
  InstanceId instance{};
  std::string instance_type{};  ///< empty: not known
  double usd = 0;
  std::optional<std::int32_t> exit_code{};
  std::optional<ReasonView> reason{};
  std::uint32_t moves = 0;
  std::uint32_t failures = 0;
  std::optional<FailureView> last_failure{};
  std::optional<double> ran_s{};
  std::optional<Instant> started{};
  std::optional<Instant> ended{};
  std::vector<FigureView> metrics{};  ///< what it has reported last, by name
  std::string why{};                  ///< of an explained job
};

/// Jobs of a list, and parts of them.
struct JobsView {
  std::vector<JobView> jobs;
  bool cut = false;  ///< more are wanted, and go on behind the last of these
  std::vector<JobId>
      rest{};  ///< of JobsQuestion::only, where it is cut: those still to be asked for
};

/// A job, or a part of one, with a page of its tasks.
struct JobDetails {
  bool known = false;  ///< otherwise nothing of it is here
  JobView job;
  std::vector<TaskView> tasks{};
  std::uint64_t behind = 0;  ///< tasks that are wanted and come behind these
};

/// Whether a job is here, and where in it the task that was asked for.
struct FoundView {
  bool known = false;
  bool over = false;
  std::optional<std::uint32_t> position{};  ///< of the task in the job
};

/// How a task of a job has ended. What it has to be for a word is for who asks.
struct TaskEnd {
  enum class Kind : std::uint8_t { neither, finished, failed };
  std::uint32_t position = 0;
  std::uint32_t index = 0;
  Kind kind = Kind::neither;
};

/// The request that a job was made from, to submit it again. It has the job's environment, so it
/// goes to the node that serves the API and no further.
struct RequestView {
  bool known = false;
  Job job{};  ///< with one task, which the others are like; none: it cannot be submitted again
  std::uint32_t whole = 0;
  bool over = false;
  std::vector<TaskEnd> tasks{};
};

/// Which task sits on an instance.
struct OccupantView {
  JobId job;
  std::uint32_t index = 0;
};

/// An instance that a master has, or has asked for.
struct InstanceView {
  InstanceId instance;
  std::string type;
  Market market = Market::on_demand;
  InstancePhase phase = InstancePhase::requested;
  bool released = false;
  double usd_h = 0;
  Instant requested;
  std::optional<Instant> up{};
  std::string master;
  std::vector<OccupantView> tasks{};
  std::uint64_t more_tasks = 0;  ///< on it, besides these
  Resources used;
  Resources capacity;
  bool connected = false;
  std::string limits;
  std::string isolation{};
};

/// Instances of a master, by rising numbers.
struct InstancesView {
  std::vector<InstanceView> instances;
  bool more = false;  ///< there are others of higher numbers
};

/// Dollars spent on one thing.
struct CostPart {
  std::string name;
  double usd = 0;
};

/// Dollars spent in all, on instances without tasks by kind of idleness, and by user or job.
struct CostView {
  double total_usd = 0;
  double unsettled_usd = 0;
  double tasks_usd = 0;
  std::vector<CostPart> idle{};
  std::vector<CostPart> by{};
};

/// A round that changed something.
struct DecisionView {
  Instant at;
  std::string master;
  std::uint64_t round = 0;
  std::string choice;
  std::vector<FigureView> figures{};
  std::uint32_t launches = 0;
  std::uint32_t placements = 0;
  std::uint32_t moves = 0;
  std::uint32_t releases = 0;
  std::uint32_t resizes = 0;
};

/// The last rounds of a master that changed something, the newest first.
struct DecisionsView {
  std::vector<DecisionView> decisions;
};

/// How many instances of one kind there are.
struct OfferCount {
  std::string type;
  Market market = Market::on_demand;
  std::uint64_t count = 0;
};

/// Caps of a master; 0: none.
struct CapsView {
  std::uint32_t max_instances = 0;
  double max_usd_h = 0;
  double max_usd_day = 0;
};

/// What a master counts.
enum class CountKind : std::uint8_t {
  job_over,        ///< jobs that ended, by their outcome
  attempt_start,   ///< attempts that started
  attempt_end,     ///< attempts that ended, by how
  move,            ///< tasks that were told to go to another instance
  interruption,    ///< instances that the cloud took back
  launch,          ///< instances that were asked for, by their market
  launch_refused,  ///< of these, those that the cloud did not give, by the reason
  plan_refused     ///< parts of plans that were not carried out, by the reason
};
inline constexpr std::size_t kCountKinds = kEnumerators<CountKind>;

/// How often something happened since the master was started.
struct CountView {
  CountKind kind = CountKind::job_over;
  std::string of;  ///< which of the kind; empty: the kind has no parts
  std::uint64_t count = 0;
};

/// How many values of a distribution are not above a bound, and above the bound before it.
struct BucketView {
  double bound = 0;
  std::uint64_t count = 0;
};

/// A distribution since the master was started.
struct HistogramView {
  std::string name;
  std::vector<BucketView> buckets{};
  std::uint64_t beyond = 0;  ///< values above the last bound
  double sum = 0;
};

/// What a user's running tasks have reported last under a name.
struct MetricView {
  std::string user;
  std::string name;
  std::uint64_t tasks = 0;  ///< that have
  double least = 0;
  double mean = 0;
  double most = 0;
};

/// A master's figures at a moment of its past, for plots.
struct HistorySample {
  Instant at;
  double usd_h = 0;
  double spent_usd = 0;  ///< in all, until then
  std::uint64_t instances = 0;
  std::uint64_t tasks_running = 0;
  std::uint64_t tasks_pending = 0;
  std::uint64_t jobs_waiting = 0;

  friend bool operator==(const HistorySample&, const HistorySample&) = default;
};

/// A master's past, the oldest sample first.
struct HistoryView {
  std::vector<HistorySample> samples;
};

/// A master's figures.
struct CellFigures {
  std::string master;
  std::uint64_t jobs_waiting = 0;
  std::uint64_t jobs_running = 0;
  std::uint64_t jobs_held = 0;
  std::uint64_t active_jobs = 0;
  std::uint64_t over_jobs = 0;
  std::uint64_t pending = 0;  ///< tasks
  std::uint64_t assigned = 0;
  std::uint64_t held = 0;
  std::uint64_t capped = 0;
  std::uint64_t running = 0;
  std::uint64_t elastic_jobs = 0;     ///< that are not over
  std::uint64_t elastic_workers = 0;  ///< that these are wide together
  std::vector<OfferCount> instances{};
  std::uint64_t instance_count = 0;
  double usd_h = 0;
  double total_usd = 0;
  double today_usd = 0;
  std::uint64_t rounds = 0;
  double last_decision_ms = 0;
  CapsView caps{};
  std::string trouble{};
  std::vector<CountView> counts{};
  std::vector<HistogramView> histograms{};
  std::vector<MetricView> metrics{};  ///< by user and name; of so many series at most

  /// Tasks without a place of their own.
  std::uint64_t waiting_tasks() const { return pending + assigned + held + capped; }
};

/// A site's figures.
struct SiteFigures {
  std::string site;
  std::uint64_t waiting = 0;  ///< jobs on their way to a master
  std::string trouble{};
};

/// The plan of a master for one job more; it is not carried out.
struct PlanView {
  struct Launch {
    std::string type;
    Market market = Market::on_demand;
    double usd_h = 0;
  };
  struct Place {
    std::uint32_t task = 0;
    std::string to;
  };
  struct Refusal {
    std::uint32_t task = 0;
    RefusalKind kind = RefusalKind::not_now;
    std::string why;
  };
  std::string master;
  std::vector<Launch> launches{};
  std::vector<Place> places{};
  std::vector<Refusal> refusals{};
  std::uint64_t left_out = 0;  ///< launches, places and refusals besides those listed
  std::uint32_t moves = 0;     ///< of other jobs' tasks
  double usd_h = 0;            ///< of all instances then
  double usd_h_now = 0;
};

/// How far an instance has come in the eyes of its cloud.
enum class RentState : std::uint8_t { ordered, up, ending, gone, refused };
constexpr auto words_of(RentState) {
  using E = RentState;
  return std::to_array<EnumWord<E>>({{E::ordered, "ordered"},
                                     {E::up, "up"},
                                     {E::ending, "ending"},
                                     {E::gone, "gone"},
                                     {E::refused, "refused"}});
}

/// An instance as its cloud sees it.
struct RentedInstance {
  InstanceId instance;
  std::string type;
  Market market = Market::on_demand;
  RentState state = RentState::ordered;
  std::optional<Instant> up{};
  std::optional<Instant> gone{};
  std::optional<Instant> notice{};
  double usd_h = 0;
  double usd = 0;
};

/// The instances of a cloud, those of the present first.
struct RentedView {
  std::vector<RentedInstance> rented;
  double total_usd = 0;        ///< of all instances, also of those that are not shown
  std::uint64_t launched = 0;  ///< instances that came up
};

/// A cloud's figures.
struct CloudFigures {
  std::uint64_t instances = 0;
  std::uint64_t launched = 0;
  std::uint64_t refused = 0;
  std::uint64_t worker_restarts = 0;
  std::string trouble{};
};

}  // namespace muster
