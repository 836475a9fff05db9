#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <vector>

#include "actors/job_watch.hpp"
#include "actors/messages/interfaces.hpp"
#include "actors/messages/orders_first.hpp"
#include "actors/time/clock.hpp"
#include "masters/actor/log_handover.hpp"
#include "masters/master.hpp"
#include "masters/plan/dry_run_queue.hpp"
#include "masters/plan/planner_host.hpp"
#include "masters/view/cell_view.hpp"
#include "storage/events/log_sink.hpp"
#include "storage/stores/history.hpp"
#include "storage/stores/journal.hpp"

namespace muster {

/// How long each round's decision took.
struct DecisionTimes {
  std::vector<double> ms;
};

/// What a master does about the output of its tasks, if anything.
struct LogCare {
  LogSink* sink = nullptr;
  LogHandover::Bounds bounds;
};

/// What a master's actor is made of. What it keeps, and what it was, may be left out.
struct MasterSetup {
  MasterSettings settings;
  MasterDependencies parts;
  Journal* journal = nullptr;
  /// The journal is lost with the master, and gets batches of so many events at most: one round may
  /// rent a million instances. 0: what belongs together is one batch, as crashes demand.
  std::size_t batch_events = 0;
  CloudForMasters cloud;
  ClockOrigin origin;
  std::function<Duration()> stopwatch;  ///< any steady clock; measures, never decides
  DecisionTimes* times = nullptr;
  PlannerPlace planner = PlannerPlace::in_master;
  std::size_t max_watches = kMaxWatches;  ///< jobs that are watched, by all who watch together
  History* history = nullptr;
  LogCare logs;
  /// What the master was before it was started again.
  std::optional<MasterSnapshot> snapshot;
  std::vector<Event> tail;
  bool asks_numbers = false;  ///< nothing is rented before the cloud has told which numbers it has
  /// Is given what the master was so many events ago.
  std::function<void(MasterSnapshot, std::uint64_t behind)> save_snapshot;
  /// Is given a sample of the figures a minute while there is something to see; nothing: no past is
  /// kept.
  std::function<void(const HistorySample&)> keep_sample;
  std::vector<HistorySample> past;  ///< the samples before it was started again
  /// Is told what its user should know of; nothing: nobody is.
  std::function<void(const std::string&)> note;
};

/// The actor around a Master: messages in, effects out, rounds at the policy's cadence. Effects and
/// answers leave it when the events that led to them are durable. Orders of users go first, so a
/// cancel may come before its job: the site asks again once it has handed that over.
class MasterActorImpl : public OrdersFirst<MasterActor::base, MasterOrders> {
 public:
  MasterActorImpl(caf::actor_config& config, MasterSetup setup);
  const char* name() const override { return "muster.master"; }
  void on_exit() override;

 protected:
  behavior_type make_behavior() override;

 private:
  /// A worker that has said hello.
  struct Connection {
    WorkerActor worker;  ///< null while the link is down
    std::string limits;
    std::string isolation;
    std::uint64_t hello = 0;     ///< number of the last one
    std::uint32_t rejected = 0;  ///< attempts in a row that it has not started
  };
  using Clock = Alarm<MasterActor, MasterActorImpl>;
  /// Somebody who waits for a part of a log.
  struct LogReader {
    caf::typed_response_promise<LogAnswer> promise;
    std::uint64_t number = 0;  ///< in the reader's own count
    InstanceId on;             ///< whose worker was asked
    Attempt attempt = 0;
    bool runs = false;  ///< the attempt did when it was asked
    Instant since{};    ///< when the worker was asked
  };
  /// A worker says that it has the output of an attempt that is not on its instance any more.
  struct LogClaim {
    LogName name;
    InstanceId on;
  };

  Instant now();
  Duration shortest_ask_pause() const;
  LoadReport load_report(const LoadQuestion& asked);
  void put_failed(LoadReport& report, JobId after) const;
  void put_completed(LoadReport& report, const LoadQuestion& asked) const;
  bool is_over(JobId id) const;
  using Verdicts = std::vector<SubmitVerdict>;
  caf::result<std::vector<SubmitVerdict>> submit_all(std::vector<Job> jobs);
  SubmitVerdict offer(Job job, std::vector<Job>& in_history);
  void compare_with_history(std::vector<Job> jobs, Verdicts verdicts,
                            caf::typed_response_promise<Verdicts> promise);
  caf::result<std::vector<JobEnd>> watch_ends(const JobListener& listener,
                                              const std::vector<JobId>& jobs);
  void notify_ends(std::vector<JobId> over,
                   caf::typed_response_promise<std::vector<JobEnd>> promise);
  caf::result<std::vector<CancelVerdict>> cancel(const std::vector<JobId>& jobs);
  void note_cancel(JobId id);
  caf::result<JobId> hold(JobId id, bool held);
  caf::result<InstanceId> drain(InstanceId id);
  void on_hello(const WorkerHello& hello, const WorkerActor& worker);
  void turn_away(const WorkerHello& hello, const WorkerActor& worker);
  void note_rejection(const WorkerReport& report);
  void on_worker(const WorkerReport& report);
  bool is_there(TaskId task, InstanceId instance) const;
  void take_report(const WorkerReport& report);
  void on_cloud(const CloudReport& report);
  void forget_worker(InstanceId id);
  void lose_worker(const caf::actor_addr& address);
  void tick();
  void await_tick();
  void look_again();
  void start_watching();
  void look_at(const std::vector<Event>& events);
  void watch(const std::vector<Event>& events);
  void await_worker(InstanceId id, Duration patience);
  void remind();
  void ask_after_all();
  void ask_later(InstanceId id, Duration pause);
  void ask_due();
  void on_clock(const CloudReport& report);
  void on_offerings(const CloudReport& report);
  void ask_for_changes();
  bool comes_too_early(const CloudReport& end);
  void watch_cap();
  void keep_caps();
  void end_lost();
  void want_round();
  void gather();
  void on_samples(const SampleAnswer& answer);
  void decide();
  template <class Value>
  std::function<void(Value&&)> back_here(std::function<void(Value&&)> use);
  void begin_planning();
  bool decides_at_once() const;
  void order_fleet();
  void await_plan(const RoundWish& wish);
  void on_plan(PlannedRound&& planned);
  void on_failed_plan();
  void note_planner(const PlannedRound& planned);
  void gather_later();
  void carry_on();
  void note_time(Duration took);
  caf::result<PlanView> dry_run(Job job);
  void begin_dry_run(Job job, caf::typed_response_promise<PlanView> promise);
  bool planner_lags() const;
  caf::result<LogAnswer> read_log(const LogRequest& request);
  void on_log(const LogAnswer& answer);
  void end_log_readers(InstanceId id);
  bool has_room_for_reader(InstanceId on);
  LogReader take_reader(std::map<std::uint64_t, LogReader>::iterator reader);
  using LogPromise = caf::typed_response_promise<LogAnswer>;
  void send_log(const LogRequest& request, const AttemptPlace& place, LogPromise promise);
  void send_kept(const LogRequest& request, const AttemptPlace& place, LogPromise promise);
  void begin_logs();
  void note_log(const WorkerReport& report);
  void lose_logs(InstanceId id);
  void end_now(InstanceId id);
  void tend_logs();
  void look_up_claims();
  bool look_up(const LogClaim& claim);
  bool judge(const LogClaim& claim, const AttemptPlace& place);
  bool judge_earlier(const LogClaim& claim);
  CellView cell_view();
  CellFigures show_figures();
  void sample_figures();
  InstancesView show_instances(InstanceId after);
  template <class View>
  caf::result<View> show(CellAnswer<View> answer);
  template <class Value>
  bool read_apart(std::function<Value()> read, std::function<void(Value&&)> then);
  void commit(std::function<void()> then = {});
  void on_durable();
  void save_snapshot_if_due();
  WorkerActor* worker_on(InstanceId id);
  void perform(const StartTask& effect);
  void perform(const StopTask& effect);
  void perform(const LaunchInstance& effect);
  void perform(const EndInstance& effect);
  void perform(const AcknowledgeAttempt& effect);
  void perform(const TellJobOver& effect);

  /// What happens when a batch of events is durable.
  struct Pending {
    std::vector<Effect> effects;
    std::function<void()> then;
  };

  MasterSetup setup_;
  Master master_;
  Cadence cadence_;
  ActorTimer<MasterActor, MasterActorImpl> timer_;
  Clock tick_, reminder_, asker_, cap_, silence_, handover_;
  Instant last_tick_{Duration::min()};  ///< of the last regular round that was asked for
  std::uint64_t quiet_pause_ = 0;  ///< periods from the last look at a calm cluster to the next
  /// When the cloud is asked after which instance, and how long after that again.
  std::set<std::pair<Instant, InstanceId>> asks_;
  std::map<InstanceId, Duration> ask_pauses_;
  std::map<InstanceId, Connection> workers_;     ///< of instances that are not gone
  std::map<caf::actor_addr, InstanceId> links_;  ///< of the workers that are watched
  /// Instances that are up without a worker that can be spoken to, and when they count as lost.
  std::map<InstanceId, Instant> unheard_;
  JobWatch listeners_;  ///< who wants to hear when jobs are over
  NewestEnds newest_ends_;
  std::deque<Pending> pending_;                     ///< in the order of their batches
  std::map<std::uint64_t, LogReader> log_readers_;  ///< by number: the oldest first
  std::map<InstanceId, std::uint32_t> readers_of_;  ///< how many of them wait for whose worker
  std::unique_ptr<LogHandover> logs_;               ///< null: output stays where it is
  std::deque<LogClaim> claims_;  ///< to be looked up: no more than workers keep attempts
  std::size_t claims_open_ = 0;  ///< that are being looked up
  std::set<JobId> seen_to_;      ///< broken parts whose jobs a site cancels: it need not be told
  std::uint64_t next_log_ = 0;
  Instant started_;      ///< what the clock showed then
  Duration set_back_{};  ///< by which stamps were ahead of the clock then
  /// By how much the cloud's clock is ahead of this one at least; nothing: it was not heard yet.
  std::optional<Duration> cloud_ahead_;
  /// The newest change of an offering that was known when the cloud was asked for those after it.
  std::optional<std::uint64_t> gap_after_;
  bool gap_is_answered_ = false;    ///< and has told all that it knows
  bool end_came_early_ = false;     ///< an end was not heard for a gap before it
  bool knows_cloud_clock_ = false;  ///< it was heard since the cloud could be reached last
  bool round_wanted_ = false;
  std::unique_ptr<PlannerHost> seat_;  ///< null: the planner is with the master
  bool planning_ = false;  ///< from a decision to the last slice of its plan; no other begins
  bool snapshot_is_made_ = false;
  DryRunQueue dry_runs_;
  std::uint32_t failed_plans_ = 0;       ///< one after the other, up to now
  Instant not_before_{Duration::min()};  ///< then the planner is asked again
  std::string planner_trouble_;          ///< why its last answer was no plan, or what it lacked
  std::vector<ThroughputSample> samples_;
  std::vector<JobProgress> progress_;
  std::uint64_t sample_round_ = 0;         ///< number of the last asking for samples
  std::set<InstanceId> awaiting_samples_;  ///< asked, and not heard of yet
  DecisionLog decisions_;
  CellTally tally_;
  CellHistory past_;
  std::uint64_t events_since_snapshot_ = 0;
};

}  // namespace muster
