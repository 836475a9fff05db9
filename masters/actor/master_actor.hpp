#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "actors/job_watch.hpp"
#include "actors/messages/interfaces.hpp"
#include "actors/messages/orders_first.hpp"
#include "actors/time/clock.hpp"
#include "masters/actor/apart_reads.hpp"
#include "masters/actor/attempt_places.hpp"
#include "masters/actor/cell_answers.hpp"
#include "masters/actor/cloud_link.hpp"
#include "masters/actor/cloud_watch.hpp"
#include "masters/actor/commits.hpp"
#include "masters/actor/exec_questions.hpp"
#include "masters/actor/master_logs.hpp"
#include "masters/actor/metrics_intake.hpp"
#include "masters/actor/part_host.hpp"
#include "masters/actor/planner_seat.hpp"
#include "masters/actor/rounds.hpp"
#include "masters/actor/site_requests.hpp"
#include "masters/actor/stamp_clock.hpp"
#include "masters/actor/usage_questions.hpp"
#include "masters/actor/worker_links.hpp"
#include "masters/actor/worker_news.hpp"
#include "masters/master.hpp"
#include "storage/stores/history.hpp"
#include "storage/stores/journal.hpp"

namespace muster {

/// The parts of a master's actor. Its stores, and its state of before, may be left out.
struct MasterSetup {
  MasterSettings settings;
  MasterDependencies parts;
  Journal* journal = nullptr;
  /// The journal is lost with the master, and gets batches of this number of events at most: one
  /// round may rent a million instances. 0: events that belong together are one batch, as crashes
  /// demand.
  std::size_t batch_events = 0;
  CloudForMasters cloud;
  ClockOrigin origin;
  std::function<Duration()> stopwatch;  ///< any steady clock; measures, never decides
  DecisionTimes* times = nullptr;
  PlannerPlace planner = PlannerPlace::in_master;
  std::size_t max_watches = kMaxWatches;  ///< jobs that are watched, by all who watch together
  History* history = nullptr;
  LogCare logs;
  /// The master's state before it was started again.
  std::optional<MasterSnapshot> snapshot;
  std::vector<Event> tail;
  bool asks_numbers = false;  ///< nothing is rented before the cloud has told which numbers it has
  /// Is given the master's state of `behind` events ago.
  std::function<void(MasterSnapshot, std::uint64_t behind)> save_snapshot;
  /// Is given a sample of the figures a minute while there is something to see; nothing: no past is
  /// kept.
  std::function<void(const HistorySample&)> keep_sample;
  std::vector<HistorySample> past;  ///< the samples before it was started again
  /// Is told news for the user; nothing: news is dropped.
  std::function<void(const std::string&)> note;
  /// Trouble of its node that keeps it from no work; nothing: there never is any.
  std::function<std::string()> node_trouble;
};

/// The actor around a Master: messages in, effects out, rounds at the policy's cadence. Effects and
/// answers leave it when the events that led to them are durable. Orders of users go first, so a
/// cancel may come before its job: the site asks again once it has handed that over.
///
/// It is a table of what it hears and the parts that answer for it: see masters/README.md. Each
/// part is made of those above it, and of what the actor lends it (PartHost).
class MasterActorImpl : public OrdersFirst<MasterActor::base, MasterOrders>, private PartHost {
 public:
  MasterActorImpl(caf::actor_config& config, MasterSetup setup);
  const char* name() const override { return "muster.master"; }
  void on_exit() override;

 protected:
  behavior_type make_behavior() override;

 private:
  // Its parts are lent this.
  Instant now() const override { return timer_.now(); }
  Instant stamp() override;
  void after(Duration wait, Step step) override { timer_.after(wait, std::move(step)); }
  Post post() override { return poster(caf::message_priority::normal); }
  Post post_first() override { return poster(caf::message_priority::high); }
  void commit(Step then) override { commits_.take(master_.commit(), std::move(then)); }
  void want_round() override { rounds_.want(); }
  using PartHost::commit;
  Post poster(caf::message_priority priority);

  // Its parts speak to the rest of the world, and to each other, by these.
  MasterLogs::Workers log_host();
  ExecQuestions::Host exec_host();
  CloudLink::Host link_host();
  WorkerNews::Host worker_host();
  CloudWatch::Host cloud_host();
  PlannerSeat::Setup seat_setup();
  Rounds::Host round_host();
  MetricsIntake::Host metrics_host();
  CellAnswers::Setup answers_setup();
  CellAnswers::Host answers_host();
  SiteRequests::Host site_host();
  Commits::Host commit_host();

  void restore();
  void begin();
  template <class Value, class Ask>
  caf::result<Value> answered(Ask&& ask);
  caf::result<JobId> hold(JobId id, bool held);
  caf::result<InstanceId> drain(InstanceId id);
  void end_now(InstanceId id);
  void perform(const StartTask& effect);
  void perform(const StopTask& effect);
  void perform(const LaunchInstance& effect);
  void perform(const EndInstance& effect);
  void perform(const AcknowledgeAttempt& effect);
  void perform(const TellJobOver& effect);

  MasterSetup setup_;
  Master master_;
  ActorTimer<MasterActor, MasterActorImpl> timer_;
  StampClock clock_;
  ApartReads reads_;
  MasterPlaces places_;
  MasterLogs logs_;
  ExecQuestions execs_;
  UsageQuestions usages_;
  CloudLink link_;
  WorkerLinks links_;
  WorkerNews workers_;
  CloudWatch cloud_;
  PlannerSeat seat_;
  Rounds rounds_;
  MetricsIntake metrics_;
  CellAnswers answers_;
  SiteRequests sites_;
  Commits commits_;
};

}  // namespace muster
