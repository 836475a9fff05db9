#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "actors/job_watch.hpp"
#include "actors/messages/interfaces.hpp"
#include "actors/messages/orders_first.hpp"
#include "actors/time/alarm.hpp"
#include "actors/time/clock.hpp"
#include "config/site_settings.hpp"
#include "schedulers/site/actor/broken_jobs.hpp"
#include "schedulers/site/actor/counterparts.hpp"
#include "schedulers/site/actor/handoff_ends.hpp"
#include "schedulers/site/actor/handoffs.hpp"
#include "schedulers/site/actor/job_cancels.hpp"
#include "schedulers/site/actor/job_intake.hpp"
#include "schedulers/site/actor/job_watches.hpp"
#include "schedulers/site/actor/load_rounds.hpp"
#include "schedulers/site/actor/peer_loads.hpp"
#include "schedulers/site/actor/site_view.hpp"
#include "schedulers/site/actor/waiting_records.hpp"
#include "schedulers/site/actor/waiting_room.hpp"
#include "schedulers/site/job_classifier_service.hpp"
#include "schedulers/site/job_numbers.hpp"
#include "schedulers/site/letters.hpp"
#include "schedulers/site/site_classifier.hpp"
#include "schedulers/site/site_peers.hpp"
#include "schedulers/site/site_writer.hpp"
#include "storage/stores/site_store.hpp"

namespace muster {

/// A site scheduler of the cluster, as the others see it.
struct SitePlace {
  SiteForSites actor;  ///< of another site; null for the own one
  std::string name;
  GeoPoint position;
  std::uint32_t number = 0;  ///< in ids, as the cluster's roster has it
};

/// A master of the cluster, as sites see it.
struct MasterPlace {
  MasterForSites actor;
  std::string name;
  std::uint32_t number = 0;  ///< in ids, as the cluster's roster has it
};

/// The parts of a site scheduler besides its settings, and which site it is.
struct SiteDependencies {
  std::vector<MasterPlace> masters;           ///< all of the cluster, at least one
  std::vector<SitePlace> sites{SitePlace{}};  ///< all of the cluster, this one too
  std::uint32_t number = 0;                   ///< of this one: its jobs are numbered apart
  /// Those of all sites that there ever were are lower; 0: unknown.
  std::uint32_t site_numbers = 0;
  std::uint64_t seed = 1;
  ClockOrigin origin;
  SiteStore* store = nullptr;
  /// Classifier of short and long jobs; nothing: jobs are not classified.
  std::optional<JobClassifierService> classifier;
  bool train_apart = false;          ///< in a thread of its own, while jobs go on to be classified
  Duration accept_timeout{};         ///< how long a master may take to accept a job
  Duration cancel_wait{};            ///< for which an answer waits for everybody
  std::size_t hand_batch = 500;      ///< jobs handed to a master at once
  std::size_t max_ended = 10'000;    ///< jobs that ended here, as many as the store keeps
  std::size_t max_cancels = 10'000;  ///< open ones; more are refused
  std::size_t max_watches = kMaxWatches;  ///< jobs that are watched, by all who watch together
  /// Is told news for the user; nothing: news is dropped.
  std::function<void(const std::string&)> note{};
  /// Trouble of its node that keeps it from no work; nothing: there never is any.
  std::function<std::string()> node_trouble{};
  /// Sends a letter from another thread, and calls `settled` once when it has arrived or was given
  /// up, from any thread; nothing: the ends of jobs are not told.
  std::function<void(Letter, std::function<void()> settled)> send_letter{};
  std::size_t max_letters = 100'000;  ///< jobs whose ends are to be told; more are refused
};

/// Runs steps after a time, by a timer that outlives it.
template <class Timer>
std::function<void(Duration, std::function<void()>)> delayed_by(Timer& timer) {
  return
      [&timer](Duration wait, std::function<void()> step) { timer.after(wait, std::move(step)); };
}

/// Takes jobs in at one place of the world (HCoop, Algorithm 3): leaves them to the nearest site
/// that is not heavily loaded, or splits them and hands the parts to masters. The site answers for
/// a job, over restarts, until those that were chosen for it have it. The choice is durable before
/// anything is sent and is never made again, so that nothing runs twice.
///
/// The actor sends, hears and keeps time; each of its parts keeps rules of its own and speaks to
/// the others through the functions that it was given here.
class SiteScheduler : public OrdersFirst<SiteActor::base, SiteOrders> {
 public:
  SiteScheduler(caf::actor_config& config, const SiteSettings& settings,
                SiteDependencies dependencies);
  const char* name() const override { return "muster.site"; }
  void on_exit() override;

 protected:
  behavior_type make_behavior() override;

 private:
  using Verdicts = std::vector<SubmitVerdict>;

  /// Jobs that wait here, and their tasks that wait at masters for those of other jobs.
  struct Waits {
    explicit Waits(SiteScheduler& site);
    static WaitingRoom::Host room_host(SiteScheduler& site);
    static Counterparts::Host counterparts_host(SiteScheduler& site);

    Alarm<const ActorTimer<SiteActor, SiteScheduler>> alarm;
    WaitingRoom room;
    WaitingRecords records;
    Counterparts counterparts;
  };

  void recall(SiteMemory memory);

  // Messages.
  caf::result<Verdicts> submit(std::vector<Job> jobs, bool forwarded);
  caf::result<std::vector<JobEnd>> watch(const JobListener& listener,
                                         const std::vector<JobId>& jobs);
  caf::result<CancelReport> cancel(JobId id);
  caf::result<JobId> hold(JobId id, bool held);
  caf::result<std::vector<CancelVerdict>> cancel_for_site(const std::vector<JobId>& jobs);
  LoadReport load_report() const;
  SiteFigures figures() const;

  // How the parts reach the world and each other.
  SiteWriter::Post poster();
  JobNumbers::Host numbers_host();
  LoadRounds::Host rounds_host();
  SiteClassifier::Host classifier_host();
  Handoffs::Host handoffs_host();
  HandoffEnds::Host ends_host();
  JobCancels::Host cancels_host();
  JobWatches::Host watches_host();
  JobIntake::Host intake_host();
  void cancel_here(const std::vector<JobId>& jobs,
                   const std::function<void(const std::vector<CancelVerdict>&)>& then);
  void on_load(const HandoffTarget& from, const LoadReport& report);
  void end_rest_of(JobId job);
  bool has_work() const;
  double own_load() const;
  const MasterForSites& master_at(const HandoffTarget& to) const;
  const SiteForSites& site_at(const HandoffTarget& to) const;
  /// Steps to be run after the pause that follows what has failed.
  std::function<void(std::function<void()>)> retrying();
  std::function<void(const std::string&)> noting() const;
  Instant now() const { return timer_.now(); }

  SiteSettings settings_;
  SiteDependencies dependencies_;
  ActorTimer<SiteActor, SiteScheduler> timer_;
  Alarm<const ActorTimer<SiteActor, SiteScheduler>> ask_alarm_;
  SitePeers peers_;
  SiteWriter writer_;
  JobNumbers numbers_;
  PeerLoads loads_;
  LoadRounds rounds_;
  SiteClassifier classifier_;
  Handoffs handoffs_;
  HandoffEnds ends_;
  JobCancels cancels_;
  BrokenJobs broken_;
  JobWatches watches_;
  Waits waits_;
  Letters letters_;
  JobIntake intake_;
  SiteView view_;
};

}  // namespace muster
