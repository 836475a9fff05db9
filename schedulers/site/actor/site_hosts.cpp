// How the parts of a site scheduler reach the world and each other.

#include <algorithm>
#include <utility>

#include "schedulers/site/actor/site_actor.hpp"

namespace muster {
namespace {

/// Between questions for counterparts, where loads are not asked for.
constexpr Duration kShortestPause = std::chrono::milliseconds{100};

/// Tells of jobs that come to the waiting room, and leave it.
void lend(JobIntake::Host& host, WaitingRoom& room, WaitingRecords& records) {
  host.waits = [&room](const Job& job) { room.add(job); };
  host.all_wait = [&room] { room.ask(); };
  host.begun = [&room](JobId job) { room.drop(job); };
  host.recurred = [&room](JobId job, JobId run) { room.recurred(job, run); };
  host.may_begin = [&room](JobId job) { return room.may_begin(job); };
  host.kept_for = [&room](JobId failed, JobId again, std::size_t most) {
    return room.kept_for(failed, again, most);
  };
  host.resubmitted = [&room, &records](JobId failed, JobId again) {
    room.resubmitted(failed, again);
    // A write of these records that was on its way, as they were, must not be the last one.
    records.write();
  };
}

/// Whether the request has come back without having been read. A timeout is not among these: a
/// receiver that did not answer in time may have the jobs.
bool never_left(const caf::error& error) {
  return error == caf::sec::request_receiver_down || error == caf::sec::no_route_to_receiving_node;
}

}  // namespace

const MasterForSites& SiteScheduler::master_at(const HandoffTarget& to) const {
  return dependencies_.masters[peers_.place_of(to)].actor;
}

const SiteForSites& SiteScheduler::site_at(const HandoffTarget& to) const {
  return dependencies_.sites[peers_.place_of(to)].actor;
}

std::function<void(std::function<void()>)> SiteScheduler::retrying() {
  return
      [this](std::function<void()> step) { timer_.after(settings_.hand_retry, std::move(step)); };
}

std::function<void(const std::string&)> SiteScheduler::noting() const {
  return [this](const std::string& text) {
    if (dependencies_.note) dependencies_.note("site " + peers_.self().name + ": " + text);
  };
}

/// A message brings the step here from whatever thread. A weak pointer, so that a write does not
/// keep a site alive.
SiteWriter::Post SiteScheduler::poster() {
  return [address = caf::actor_cast<caf::weak_actor_ptr>(this)](std::function<void()> step) {
    if (auto self = caf::actor_cast<SiteActor>(address.lock())) {
      caf::anon_send<caf::message_priority::high>(self, Wakeup{std::move(step)});
    }
  };
}

JobNumbers::Host SiteScheduler::numbers_host() {
  return {retrying(), [this] { rounds_.ask_soon(); }, noting()};
}

double SiteScheduler::own_load() const {
  return static_cast<double>(handoffs_.jobs_in_hand()) / static_cast<double>(settings_.capacity);
}

bool SiteScheduler::has_work() const {
  return handoffs_.jobs_in_hand() > 0 || numbers_.learns();
}

LoadRounds::Host SiteScheduler::rounds_host() {
  LoadRounds::Host host;
  host.ask = [this](const HandoffTarget& to, const LoadQuestion& question,
                    const LoadRounds::Answered& answered) {
    const auto heard = [answered](const LoadReport& report) { answered(&report); };
    const auto failed = [answered](const caf::error&) { answered(nullptr); };
    // A peer that has not answered by the time of the next asking counts as not heard.
    if (to.site) {
      request(site_at(to), settings_.load_every, question).then(heard, failed);
    } else {
      request(master_at(to), settings_.load_every, question).then(heard, failed);
    }
  };
  host.heard = [this](const HandoffTarget& from, const LoadReport& report) {
    on_load(from, report);
  };
  host.all_heard = [this] { broken_.cancel_what_others_left(); };
  host.has_work = [this] { return has_work(); };
  host.wake = [this](Duration wait) { ask_alarm_.after(wait); };
  host.sleep = [this] { ask_alarm_.disarm(); };
  return host;
}

/// When one part of a job was terminated, the other masters' parts are for nothing; so is the rest
/// of one of which too many tasks have failed.
void SiteScheduler::on_load(const HandoffTarget& from, const LoadReport& report) {
  numbers_.hear(from, report.conflicts, report.newest);
  // News keep the pause short.
  if (loads_.take(from, report, now())) rounds_.note_news();
  if (report.awaits) waits_.counterparts.begin();
  for (const JobRuntime& ran : report.completed) {
    classifier_.heard(ran.job, ran.tasks, ran.together);
  }
  classifier_.train_if_due();
  for (JobId job : report.broken) end_rest_of(job);
  for (JobId job : loads_.with_too_many_failed(report)) end_rest_of(job);
}

/// A part of the job will not be completed, or too many of its tasks have failed.
void SiteScheduler::end_rest_of(JobId job) {
  if (!broken_.add(job)) return;
  classifier_.forget(job);
  rounds_.note_news();
  broken_.end_rest_of(job);
}

SiteClassifier::Host SiteScheduler::classifier_host() {
  SiteClassifier::Host host;
  host.train = [this](SiteClassifier::Training train,
                      std::function<void(SiteClassifier::Trained)> adopt) {
    if (!dependencies_.train_apart) return adopt(train());
    // A thread of its own, since training takes seconds, in which no job would be taken in. The
    // result comes as a message: the actor's state is touched in its own thread alone.
    system().spawn<caf::detached + caf::hidden>(
        [train = std::move(train), adopt = std::move(adopt),
         address = caf::actor_cast<caf::weak_actor_ptr>(this)](caf::event_based_actor*) {
          auto trained = train();
          if (auto self = caf::actor_cast<SiteActor>(address.lock())) {
            caf::anon_send(self, Wakeup{[adopt, trained] { adopt(trained); }});
          }
        });
  };
  host.keep = [this](std::string text) {
    dependencies_.store->persist_classifier(std::move(text));
  };
  return host;
}

Handoffs::Host SiteScheduler::handoffs_host() {
  Handoffs::Host host;
  host.hand = [this](const HandoffTarget& to, std::vector<Job> jobs, const Handoffs::Done& settle) {
    const auto heard = [settle](Verdicts& verdicts) { settle(std::move(verdicts)); };
    const auto failed = [settle](const caf::error& error) {
      const bool unread = never_left(error);
      settle(Failure<HandoffFailure>{
          unread ? HandoffFailure::never_left : HandoffFailure::unconfirmed, {}});
    };
    const Duration timeout = dependencies_.accept_timeout;
    if (to.site) {
      request(site_at(to), timeout, forward_atom_v, std::move(jobs)).then(heard, failed);
    } else {
      request(master_at(to), timeout, hand_atom_v, std::move(jobs)).then(heard, failed);
    }
  };
  host.settled = [this](const HandoffTarget& to, const std::vector<JobId>& taken,
                        const Verdicts& refused) {
    // For a job to be no longer on its way.
    const bool cancels_wait = std::any_of(taken.begin(), taken.end(),
                                          [this](JobId job) { return cancels_.is_open(job); });
    ends_.refuse(to, refused);
    if (cancels_wait) cancels_.end_rest(peers_.self().to);
  };
  host.retry = retrying();
  host.note = noting();
  return host;
}

HandoffEnds::Host SiteScheduler::ends_host() {
  HandoffEnds::Host host;
  host.now = [this] { return now(); };
  host.was_forwarded = [this](JobId job) {
    return intake_.known().find_forwarded(job).has_value();
  };
  host.ended = [this](const EndedHandoff& ended) {
    if (peers_.is_self(ended.to)) waits_.room.drop(ended.job.id);
    watches_.ended_here(ended);
  };
  host.cancel_kept = [this](JobId job) { cancels_.on_kept(job); };
  host.retry = retrying();
  host.note = noting();
  return host;
}

JobCancels::Host SiteScheduler::cancels_host() {
  JobCancels::Host host;
  host.ask = [this](const HandoffTarget& to, std::vector<JobId> jobs,
                    const JobCancels::Heard& heard) {
    if (peers_.is_self(to)) return cancel_here(jobs, heard);
    const auto answered = [heard](const JobCancels::Verdicts& verdicts) { heard(verdicts); };
    const auto failed = [heard](const caf::error&) { heard({}); };
    const Duration timeout = dependencies_.accept_timeout;
    if (to.site) {
      request(site_at(to), timeout, cancel_atom_v, std::move(jobs)).then(answered, failed);
    } else {
      request(master_at(to), timeout, cancel_atom_v, std::move(jobs)).then(answered, failed);
    }
  };
  host.after = delayed_by(timer_);
  return host;
}

/// Ends what of the jobs can never have left this site.
void SiteScheduler::cancel_here(
    const std::vector<JobId>& jobs,
    const std::function<void(const std::vector<CancelVerdict>&)>& then) {
  for (const JobId job : jobs) {
    broken_.leave(job);
    classifier_.forget(job);
  }
  ends_.cancel(jobs, then);
}

JobWatches::Host SiteScheduler::watches_host() {
  JobWatches::Host host;
  host.ask = [this](const HandoffTarget& whom, std::vector<JobId> jobs,
                    const JobWatches::Heard& heard) {
    const auto answered = [heard](const JobWatches::Ends& ends) { heard(&ends); };
    const auto failed = [heard](const caf::error&) { heard(nullptr); };
    const Duration timeout = dependencies_.accept_timeout;
    if (whom.site) {
      request(site_at(whom), timeout, watch_atom_v, JobListener{this}, std::move(jobs))
          .then(answered, failed);
    } else {
      request(master_at(whom), timeout, watch_atom_v, JobListener{this}, std::move(jobs))
          .then(answered, failed);
    }
  };
  host.unwatch = [this](const HandoffTarget& master, const std::vector<JobId>& jobs) {
    send(master_at(master), unwatch_atom_v, JobListener{this}, jobs);
  };
  host.tell = [this](const JobListener& listener, const JobEnd& end) {
    send(listener, over_atom_v, end);
  };
  host.monitor = [this](const JobListener& listener) { monitor(listener); };
  host.cancel = [this](JobId job) { cancels_.begin(job); };
  host.over = [this](const JobEnd& whole) {
    cancels_.note_over(whole.job);
    waits_.counterparts.hear(whole);
    waits_.room.hear(whole);
    letters_.hear(whole.job, whole.known ? std::optional(whole.outcome) : std::nullopt,
                  whole.whole);
  };
  host.retry = retrying();
  return host;
}

SiteScheduler::Waits::Waits(SiteScheduler& site)
    : alarm(site.timer_, [this] { room.look_at_clock(); }),
      room({site.settings_.max_dependent, site.settings_.max_recurring}, room_host(site)),
      records({site.peers_, site.writer_, site.handoffs_, room}, room_host(site).later,
              [&site] { return site.now(); }),
      counterparts(site.peers_, site.settings_.max_dependent, counterparts_host(site)) {}

WaitingRoom::Host SiteScheduler::Waits::room_host(SiteScheduler& site) {
  WaitingRoom::Host host;
  host.watch = [&site](const std::vector<JobId>& jobs) { site.watches_.watch_here(jobs); };
  host.unwatch = [&site](const std::vector<JobId>& jobs) {
    site.watches_.unwatch_here(site.waits_.counterparts.unneeded(site.letters_.unneeded(jobs)));
  };
  host.begin = [&site](const std::vector<JobId>& jobs) { site.intake_.begin(jobs); };
  host.skip = [&site](const std::vector<SkippedJob>& jobs) { site.ends_.skip(jobs); };
  host.await_starts = [&site] { site.waits_.counterparts.begin(); };
  host.met = [&site](const WaitingPair& pair) { site.waits_.records.met(pair); };
  host.later = [&site](std::function<void()> step) {
    site.timer_.after(site.settings_.load_stale_after, std::move(step));
  };
  host.wake = [&site](Instant at) { site.waits_.alarm.at(at); };
  host.now = [&site] { return site.now(); };
  return host;
}

Counterparts::Host SiteScheduler::Waits::counterparts_host(SiteScheduler& site) {
  Counterparts::Host host;
  host.ask = [&site](const HandoffTarget& master, const CounterpartQuestion& question,
                     const Counterparts::Heard& heard) {
    const auto answered = [heard](const CounterpartReport& report) { heard(&report); };
    const auto failed = [heard](const caf::error&) { heard(nullptr); };
    site.request(site.master_at(master), site.dependencies_.accept_timeout, question)
        .then(answered, failed);
  };
  host.watch = [&site](const std::vector<JobId>& jobs) { site.watches_.watch_here(jobs); };
  host.unwatch = [&site](const std::vector<JobId>& jobs) {
    site.watches_.unwatch_here(site.waits_.room.unneeded(site.letters_.unneeded(jobs)));
  };
  host.unstarted = [&site](JobId after, std::size_t most) {
    return site.waits_.room.unstarted(after, most);
  };
  host.started = [&site](JobId job) { site.waits_.room.hear_start(job); };
  host.later = [&site](std::function<void()> step) {
    site.timer_.after(std::max(site.settings_.load_every, kShortestPause), std::move(step));
  };
  return host;
}

JobIntake::Host SiteScheduler::intake_host() {
  JobIntake::Host host;
  host.choose_site = [this](const Job& job) { return loads_.choose_site(job, own_load(), now()); };
  host.split = [this](Job job) {
    if (classifier_) classifier_.classify(job, loads_.use(), now());
    if (waits_by_index(job)) waits_.counterparts.begin();
    return loads_.parts_of(std::move(job), now());
  };
  host.after = delayed_by(timer_);
  host.now = [this] { return now(); };
  lend(host, waits_.room, waits_.records);
  host.has_room = [this](const std::vector<Job>& jobs) {
    return waits_.room.has_room(jobs) && letters_.has_room(jobs);
  };
  host.tells = [this](std::vector<JobLetter> letters) { letters_.add(std::move(letters)); };
  return host;
}

}  // namespace muster
