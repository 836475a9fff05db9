#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "actors/job_watch.hpp"
#include "actors/messages/byte_cut.hpp"
#include "actors/messages/interfaces.hpp"
#include "actors/messages/orders_first.hpp"
#include "actors/time/clock.hpp"
#include "config/site_settings.hpp"
#include "model/rng.hpp"
#include "schedulers/site/ended_jobs.hpp"
#include "schedulers/site/handoff_queue.hpp"
#include "schedulers/site/job_classifier_service.hpp"
#include "schedulers/site/known_submissions.hpp"
#include "schedulers/site/open_cancels.hpp"
#include "schedulers/site/recent_jobs.hpp"
#include "schedulers/site/routing.hpp"
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

/// What a site scheduler is made of besides its settings: what it works with, and which site it is.
struct SiteDependencies {
  std::vector<MasterPlace> masters;           ///< all of the cluster, at least one
  std::vector<SitePlace> sites{SitePlace{}};  ///< all of the cluster, this one too
  std::uint32_t number = 0;                   ///< of this one: its jobs are numbered apart
  /// Those of all sites that there ever were are lower; 0: unknown.
  std::uint32_t site_numbers = 0;
  std::uint64_t seed = 1;
  ClockOrigin origin;
  SiteStore* store = nullptr;
  /// Tells short jobs from long ones; nothing: nobody does.
  std::optional<JobClassifierService> classifier;
  bool train_apart = false;          ///< in a thread of its own, while jobs go on to be classified
  Duration accept_timeout{};         ///< how long a master may take to accept a job
  Duration cancel_wait{};            ///< an answer waits so long for everybody to confirm
  std::size_t hand_batch = 500;      ///< jobs handed to a master at once
  std::size_t max_ended = 10'000;    ///< jobs that ended here, as many as the store keeps
  std::size_t max_cancels = 10'000;  ///< open ones; more are refused
  std::size_t max_watches = kMaxWatches;  ///< jobs that are watched, by all who watch together
  /// Is told what its user should know of; nothing: nobody is.
  std::function<void(const std::string&)> note{};
};

/// Takes jobs in at one place of the world (HCoop, Algorithm 3): leaves them to the nearest site
/// that is not heavily loaded, or splits them and hands the parts to masters. The site answers for
/// a job, over restarts, until those that were chosen for it have it. The choice is durable before
/// anything is sent and is never made again, so that nothing runs twice.
class SiteScheduler : public OrdersFirst<SiteActor::base, SiteOrders> {
 public:
  SiteScheduler(caf::actor_config& config, const SiteSettings& settings, SiteDependencies parts);
  const char* name() const override { return "muster.site"; }
  void on_exit() override;

 protected:
  behavior_type make_behavior() override;

 private:
  /// Jobs of which a part was terminated, as far as they are remembered.
  static constexpr std::size_t kMaxBroken = 100'000;
  /// Of these, left to the sites that have numbered them; as many as a master tells of.
  static constexpr std::size_t kMaxLeft = 1'000;
  /// Jobs that are known to be over, as far as that is remembered.
  static constexpr std::size_t kMaxOver = 10'000;
  /// Tasks of the jobs of one message, unless a single one has more: alike ones take hardly a byte
  /// there, and each its room with who gets them.
  static constexpr std::size_t kMaxTasks = 100'000;
  /// An answer that waits until those who are to have its jobs have them.
  struct PendingReply {
    caf::typed_response_promise<std::vector<SubmitVerdict>> answer;
    std::vector<SubmitVerdict> verdicts;
    std::size_t writes = 0;  ///< of the store, whose fate it shares
    std::string trouble{};   ///< why one of them has failed
    std::size_t open = 0;    ///< jobs or parts on their way
    bool given = false;
  };
  /// A job or a part of one on its way.
  struct PendingHandoff {
    Job job;
    std::shared_ptr<PendingReply> promise;  ///< null after a restart
    bool sent = false;                      ///< whoever is to have it may have it
    std::size_t bytes = 0;                  ///< of the job in a message
    bool ending = false;                    ///< it is being written down that nobody will have it
    bool alone = false;                     ///< was handed over by itself and not confirmed
    std::uint32_t failures = 0;             ///< messages with it that were not confirmed
  };
  /// Jobs that are handed over by one message.
  struct HandoffBatch {
    bool take(PendingHandoff& each, std::size_t most);

    std::vector<Job> jobs{};
    std::vector<JobId> ids{};
    std::vector<JobId> fresh{};  ///< of these, those that were never sent before
    ByteCut cut{};
    std::size_t tasks = 0;
  };
  /// Somebody who waits for a cancel.
  struct CancelAnswer {
    caf::typed_response_promise<CancelReport> promise;
    bool due = false;  ///< has waited long enough
    bool given = false;
  };
  /// What becomes of an open cancel here.
  struct Cancelling {
    bool durable = false;
    std::string trouble{};  ///< why it is not, if that is known
    std::vector<std::shared_ptr<CancelAnswer>> answers{};
  };
  /// A job, or a part of one, as a query shows it.
  struct Shown {
    const Job* job;
    const HandoffTarget* to;                  ///< null when it ended here
    const EndedHandoff* ended;                ///< null when it is on its way
    const PendingHandoff* waiting = nullptr;  ///< null when it ended here
  };
  /// The way to a master or to another site.
  struct HandoffPeer {
    HandoffTarget to;
    MasterForSites master{};  ///< null on the way to a site
    SiteForSites site{};      ///< null on the way to a master
    HandoffQueue<PendingHandoff> waiting{};
    std::size_t most = 0;          ///< jobs of the next message: fewer after one that failed
    std::deque<JobId> alone{};     ///< those that go alone, the one whose turn comes next first
    bool was_alone = false;        ///< the last message was one of these
    bool busy = false;             ///< it has been handed jobs and has not answered
    std::uint64_t given = 0;       ///< jobs given to it since it was heard
    std::set<JobId> unanswered{};  ///< watched here, and it has not said whether they are over
    bool asks_again = false;       ///< about these, or will after a pause
    LoadReport load{};
    std::map<JobId, FailedPart> failed{};  ///< of its parts, put together of several reports
    JobId failed_after{};                  ///< those of higher jobs are asked for next
    Heard heard{};
  };
  /// A job that is watched, as far as masters have said that parts of it are over.
  struct JobSubscription {
    std::vector<std::uint32_t> parts{};  ///< by their first tasks
    std::uint32_t tasks = 0;             ///< of these
    JobOutcome outcome = JobOutcome::completed;
  };
  /// A watch that waits for what masters say of it.
  struct PendingWatch {
    caf::typed_response_promise<std::vector<JobEnd>> answer;
    JobListener listener;
    std::vector<JobEnd> ends{};  ///< of jobs that turned out to be over
    std::size_t open = 0;        ///< masters that have not answered
  };
  using Verdicts = std::vector<SubmitVerdict>;
  using Answer = caf::typed_response_promise<Verdicts>;
  using Ends = std::vector<JobEnd>;
  using Endings = std::vector<EndedHandoff>;
  /// What is made of jobs that come in together.
  struct Intake {
    KnownSubmissions::Write write;  ///< number of the write that is to keep the news
    Verdicts verdicts{};
    SiteNews news{};
    /// The writes that have to succeed before the verdicts hold.
    std::set<KnownSubmissions::Write> writes{};

    void add_known(const KnownSubmissions::Known& known);
  };

  Instant now() const { return timer_.now(); }
  HandoffPeer& peer(const HandoffTarget& to);

  caf::result<Verdicts> submit(std::vector<Job> jobs, bool forwarded);
  void take(std::vector<Job> jobs, bool forwarded, const Answer& answer);
  std::optional<Intake> tokens_of_others(const std::vector<Job>& jobs,
                                         const std::vector<std::uint64_t>& digests) const;
  Intake intake_of(std::vector<Job> jobs, const std::vector<std::uint64_t>& digests);
  Intake intake_of_forwarded(std::vector<Job> jobs);
  void persist(Intake intake, const Answer& answer);
  void persist_news(SiteNews news, std::function<void(const std::string& trouble)> then);
  void written(KnownSubmissions::Write write, const std::string& trouble);
  void on_persisted(const std::shared_ptr<PendingReply>& promise);
  bool has_room(std::size_t more) const;

  std::size_t choose_site(const Job& job);
  std::vector<Handoff> parts_of(Job job);
  std::size_t least_busy_master();
  double own_load() const;

  void send_handoffs(const HandoffTarget& to);
  void send_handoffs_later(const HandoffTarget& to);
  static HandoffBatch next_batch(HandoffPeer& out);
  static void take_alone(HandoffPeer& out, HandoffBatch& batch);
  void on_failed_batch(const HandoffTarget& to, const std::vector<JobId>& jobs);
  void taken(const HandoffTarget& to, const Verdicts& verdicts);
  void mark_unsent(const HandoffTarget& to, const std::vector<JobId>& jobs);
  static void arrived(const PendingHandoff& handoff);
  static void settle(PendingReply& promise);
  void classify(Job& job);
  void train_if_due();
  void ask_loads();
  void on_load(HandoffPeer& peer, const LoadReport& report);
  static void take_failed(HandoffPeer& from, const LoadReport& report);
  void load_answered();
  caf::result<Ends> watch(const JobListener& listener, const std::vector<JobId>& jobs);
  void watch_at(std::size_t master, std::vector<JobId> jobs, std::shared_ptr<PendingWatch> asking);
  void watch_again(std::size_t master, const std::vector<JobId>& jobs);
  void answered(PendingWatch& asking);
  void over(const JobEnd& end, PendingWatch* asking);
  void drop_listener(const caf::actor_addr& listener);
  void unwatch(const std::vector<JobId>& jobs);
  void part_ended_here(const EndedHandoff& ended, PendingWatch* asking);

  bool is_mine_to_cancel(JobId job) const;
  std::optional<CancelStanding> known_standing(JobId job) const;
  caf::result<CancelReport> cancel(JobId id);
  void cancel_broken(JobId job);
  void cancel_what_others_left();
  std::vector<JobId> with_too_many_failed(const LoadReport& report) const;
  void end_rest_of(JobId job);
  void begin_cancel(JobId id);
  void cancel_kept(JobId id);
  void write_cancel(JobId id);
  void ask_all_cancels();
  void ask_cancels(const HandoffTarget& to);
  void on_cancels(const HandoffTarget& from, const std::vector<OpenCancels::Asked>& asked,
                  const std::vector<CancelVerdict>& verdicts);
  void ask_after_rest(const HandoffTarget& whom);
  void end_cancel(JobId id);
  void answer_cancels(JobId id);
  caf::result<std::vector<CancelVerdict>> cancel_here(const std::vector<JobId>& jobs);
  void end_what_is_here(const std::vector<JobId>& jobs,
                        const std::function<void(const std::vector<CancelVerdict>&)>& then);
  EndedHandoff ending_of(PendingHandoff& handoff, const HandoffTarget& to, JobOutcome outcome,
                         std::string reason);
  void end_handoffs(SiteNews news, std::function<void(const Endings& ended, bool durable)> then);
  void resend_handoffs(const Endings& ended);
  void refuse(const HandoffTarget& by, const Verdicts& verdicts);
  std::string target_name(const HandoffTarget& target) const;
  bool has_given(JobId job) const;
  void learn_numbers();
  void note_conflict(JobId job);
  bool learn_of_conflict(JobId job);
  void on_conflicts(const LoadReport& report);
  void on_newest_numbers(const HandoffPeer& from, const LoadReport& report);
  void persist_numbers();
  std::string who_is_learnt_from() const;
  bool is_of_another(const Job& job) const;
  void note(const std::string& text) const;
  std::size_t jobs_in_hand() const;
  SiteFigures figures() const;
  JobsView shown_jobs(const JobsQuestion& wanted) const;
  std::vector<Shown> page_shown(const JobsQuestion& wanted) const;
  std::vector<Shown> parts_shown(JobId job) const;
  JobView view_of_part(const Shown& each) const;
  static void put_rest(JobsView& list, const std::vector<Shown>& rest);

  SiteSettings settings_;
  SiteDependencies parts_;
  ActorTimer<SiteActor, SiteScheduler> timer_;
  const Instant started_;
  Alarm<SiteActor, SiteScheduler> ask_alarm_;
  Duration ask_pause_{};           ///< from the last asking for loads to the next
  std::size_t asked_ = 0;          ///< masters and sites that have not answered it
  bool heard_news_ = false;        ///< something has changed since the asking before
  bool masters_may_work_ = false;  ///< some master has jobs, or has not answered
  std::vector<std::function<void()>> awaiting_loads_;  ///< in the order in which they came
  std::size_t unrouted_ = 0;                           ///< jobs in these
  Rng rng_;
  JobWatch listeners_;
  std::map<JobId, JobSubscription> subscriptions_;  ///< of which there are listeners
  std::vector<HandoffPeer> masters_;
  std::vector<HandoffPeer> sites_;               ///< the own one stays empty
  std::size_t own_ = 0;                          ///< its place among the sites
  std::map<HandoffTarget, std::size_t> places_;  ///< of peers, by whom they lead to
  KnownSubmissions known_;
  std::map<KnownSubmissions::Write, std::vector<std::shared_ptr<PendingReply>>> awaiting_;
  KnownSubmissions::Write last_write_ = 0;
  std::string store_trouble_;  ///< why the last write failed; empty: it did not
  EndedJobs ended_;
  OpenCancels cancels_;
  std::map<JobId, Cancelling> cancelling_;  ///< of each open cancel
  std::map<HandoffTarget, bool>
      asked_to_cancel_;              ///< has been asked and has not answered, or rests
  std::set<HandoffTarget> resting_;  ///< of these, those that rest
  RecentJobs broken_{kMaxBroken};    ///< of which some part was terminated
  RecentJobs left_{kMaxLeft};        ///< of these, whose cancels are others' or could not be kept
  RecentJobs over_{kMaxOver};        ///< all of which has ended
  RecentJobs conflicts_{kMaxOver};   ///< whose numbers are others' as well: not to be cancelled
  RecentJobs conflicts_of_others_{kMaxLeft};  ///< of these, those that other sites have numbered
  std::uint64_t next_job_ = 1;
  bool learns_ = false;             ///< next_job_ may be too low: nothing is numbered
  std::set<HandoffTarget> untold_;  ///< who has to be heard before it is right
  std::uint64_t handed_ = 0;        ///< jobs and parts that masters have taken
  bool training_ = false;
};

}  // namespace muster
