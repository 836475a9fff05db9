#include "schedulers/site/actor/site_actor.hpp"

#include <algorithm>
#include <string_view>
#include <thread>
#include <utility>

#include "actors/messages/job_bytes.hpp"
#include "model/check.hpp"
#include "model/live_ids.hpp"
#include "model/submission_digest.hpp"
#include "model/submission_key.hpp"
#include "schedulers/site/split.hpp"

// Intake: what comes in, and who gets it. The ways out are in site_handoffs.cpp, the ends of jobs
// in site_watch.cpp.

namespace muster {
namespace {

/// Of the jobs as they were submitted; 0 for those without a token, which are never compared.
std::vector<std::uint64_t> digests_of(const std::vector<Job>& jobs) {
  std::vector<std::uint64_t> digests;
  digests.reserve(jobs.size());
  for (const Job& job : jobs) digests.push_back(job.token.empty() ? 0 : submission_digest(job));
  return digests;
}

}  // namespace

SiteScheduler::SiteScheduler(caf::actor_config& config, const SiteSettings& settings,
                             SiteDependencies parts)
    : OrdersFirst(config),
      settings_(settings),
      parts_(std::move(parts)),
      timer_(this, parts_.origin),
      started_(timer_.now()),
      ask_alarm_(timer_, [this] { ask_loads(); }),
      // Sites of one seed draw masters differently.
      rng_(parts_.seed + parts_.number),
      listeners_(parts_.max_watches),
      known_(settings_.tokens, parts_.number),
      ended_(parts_.max_ended) {
  set_down_handler([this](const caf::down_msg& down) { drop_listener(down.source); });
  for (const MasterPlace& master : parts_.masters) {
    places_[{false, master.number}] = masters_.size();
    masters_.push_back({{false, master.number}, master.actor});
    masters_.back().most = parts_.hand_batch;
  }
  for (const SitePlace& site : parts_.sites) {
    if (site.number == parts_.number) own_ = sites_.size();
    places_[{true, site.number}] = sites_.size();
    sites_.push_back({{true, site.number}, {}, site.actor});
    sites_.back().most = parts_.hand_batch;
  }
  for (const std::vector<HandoffPeer>* peers : {&sites_, &masters_}) {
    for (const HandoffPeer& each : *peers) cancels_.add_party(each.to);
  }
  SiteMemory memory = parts_.store->recall();
  next_job_ = std::max<std::uint64_t>(1, memory.next_job);
  if (memory.asks_numbers) learn_numbers();
  // Stores of before users were kept have tokens without one; the job, while it is here, knows its
  // user.
  std::map<JobId, std::string> users;
  for (const Handoff& handoff : memory.handoffs) users[handoff.job.id] = handoff.job.user;
  known_.recall_forwarded(std::move(memory.forwarded));
  for (KnownToken& known : memory.tokens) {
    if (const auto user = users.find(known.job); !known.user && user != users.end()) {
      known.user = user->second;
    }
    known_.recall(std::move(known));
  }
  for (Handoff& handoff : memory.handoffs) {
    // `sent`: it may have left before the restart. A cancel must not end here what a master may
    // run.
    const std::size_t bytes = job_bytes(handoff.job);
    peer(handoff.to).waiting.push({std::move(handoff.job), {}, true, bytes});
  }
  for (EndedHandoff& ended : memory.ended) {
    if (ended.conflict) note_conflict(ended.job.id);
    ended_.add(std::move(ended));
  }
  // Asked for again from the beginning: who confirmed before the restart confirms again.
  for (const JobId job : memory.cancels) {
    cancels_.open(job);
    cancelling_[job].durable = true;
  }
}

/// The target has to be known: whoever starts a site makes sure that all are there whom its store
/// names.
SiteScheduler::HandoffPeer& SiteScheduler::peer(const HandoffTarget& to) {
  const auto place = places_.find(to);
  MUSTER_CHECK(place != places_.end(), "a site hands nothing to whom it does not know");
  return to.site ? sites_[place->second] : masters_[place->second];
}

void SiteScheduler::on_exit() {
  // Actors that hold each other's handles would never be freed.
  listeners_.clear();
  subscriptions_.clear();
  awaiting_loads_.clear();
  masters_.clear();
  sites_.clear();
  parts_.masters.clear();
  parts_.sites.clear();
}

// Everything that the store remembers goes on from here: handoffs and cancels are repeated, and
// receivers drop what they have seen.
SiteActor::behavior_type SiteScheduler::make_behavior() {
  if (settings_.load_every > Duration::zero()) ask_loads();
  for (const HandoffPeer& each : masters_) send_handoffs(each.to);
  for (const HandoffPeer& each : sites_) send_handoffs(each.to);
  ask_all_cancels();
  return {
      [this](hand_atom, std::vector<Job>& jobs) { return submit(std::move(jobs), false); },
      [this](forward_atom, std::vector<Job>& jobs) { return submit(std::move(jobs), true); },
      [this](watch_atom, const JobListener& listener, const std::vector<JobId>& jobs) {
        return watch(listener, jobs);
      },
      [this](cancel_atom, JobId id) { return cancel(id); },
      [this](cancel_atom, const std::vector<JobId>& jobs) { return cancel_here(jobs); },
      [this](over_atom, const JobEnd& end) { over(end, nullptr); },
      [this](const LoadQuestion&) {
        LoadReport report;
        report.active_jobs = jobs_in_hand();
        report.load = own_load();
        report.newest = known_.newest_forwarded();
        report.conflicts = conflicts_of_others_.oldest_first();
        return report;
      },
      [this](const JobsQuestion& wanted) { return shown_jobs(wanted); },
      [this](figures_atom) { return figures(); },
      [](const Wakeup& wakeup) { wakeup.run(); },
  };
}

bool SiteScheduler::has_room(std::size_t more) const {
  return jobs_in_hand() + more <= settings_.max_waiting;
}

/// The verdict is that of the first time, and no word of it leaves before that is durable.
void SiteScheduler::Intake::add_known(const KnownSubmissions::Known& known) {
  verdicts.push_back({known.job, true, {}});
  if (known.write != 0) writes.insert(known.write);
}

/// Takes the jobs in, when what is known of the loads is fresh enough to choose by.
caf::result<SiteScheduler::Verdicts> SiteScheduler::submit(std::vector<Job> jobs, bool forwarded) {
  if (learns_ && !forwarded) {
    return caf::make_error(ActorError::learns_numbers, who_is_learnt_from());
  }
  heard_news_ = true;
  const bool fresh = ask_pause_ <= settings_.load_every && awaiting_loads_.empty();
  // Jobs that wait for loads are in memory only: their number is bounded, and who is refused
  // repeats.
  if (!fresh && unrouted_ + jobs.size() > settings_.max_unrouted) return ActorError::too_many;
  const Answer answer = make_response_promise<Verdicts>();
  if (fresh) {
    take(std::move(jobs), forwarded, answer);
    return answer;
  }
  unrouted_ += jobs.size();
  awaiting_loads_.emplace_back([this, forwarded, answer, jobs = std::move(jobs)]() mutable {
    take(std::move(jobs), forwarded, answer);
  });
  if (asked_ == 0) ask_loads();
  return answer;
}

void SiteScheduler::take(std::vector<Job> jobs, bool forwarded, const Answer& answer) {
  // Numbers may have come into doubt while the jobs waited for loads.
  if (learns_ && !forwarded) {
    Answer(answer).deliver(caf::make_error(ActorError::learns_numbers, who_is_learnt_from()));
    return;
  }
  if (!has_room(jobs.size())) {
    Answer(answer).deliver(caf::make_error(ActorError::too_many));
    return;
  }
  if (forwarded) return persist(intake_of_forwarded(std::move(jobs)), answer);
  if (const auto why = why_too_large(jobs)) {
    Answer(answer).deliver(Verdicts(jobs.size(), SubmitVerdict{{}, false, *why}));
    return;
  }
  const std::vector<std::uint64_t> digests = digests_of(jobs);
  auto refused = tokens_of_others(jobs, digests);
  persist(refused ? *std::move(refused) : intake_of(std::move(jobs), digests), answer);
}

/// Refuses all of a submission of which a token stands for another job: its user has made a
/// mistake. The job that has the token has to be durable before anything is said of it.
std::optional<SiteScheduler::Intake> SiteScheduler::tokens_of_others(
    const std::vector<Job>& jobs, const std::vector<std::uint64_t>& digests) const {
  // Two jobs of one submission may have the same token too: equal digests are one job, others are a
  // mistake.
  std::map<std::pair<std::string, std::string>, std::size_t> seen;
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    const Job& job = jobs[i];
    if (job.token.empty()) continue;
    Intake refused{0};
    const SubmissionKey key = submission_key(job);
    const auto known = known_.find(job);
    if (known && !known->is_of(digests[i])) {
      if (known->write != 0) refused.writes.insert(known->write);
      refused.verdicts.assign(jobs.size(), {known->job, false,
                                            "the token \"" + key.token + "\" is that of job " +
                                                std::to_string(known->job.value) +
                                                ", which is another one: nothing was taken"});
      return refused;
    }
    if (jobs.size() == 1) break;
    const auto [place, fresh] = seen.try_emplace({key.scope, key.token}, i);
    if (fresh || digests[place->second] == digests[i]) continue;
    refused.verdicts.assign(
        jobs.size(),
        {{},
         false,
         "the token \"" + key.token + "\" stands for two different jobs: nothing was taken"});
    return refused;
  }
  return std::nullopt;
}

SiteScheduler::Intake SiteScheduler::intake_of(std::vector<Job> jobs,
                                               const std::vector<std::uint64_t>& digests) {
  Intake intake{++last_write_};
  std::size_t place = 0;
  for (Job& job : jobs) {
    const std::uint64_t digest = digests[place++];
    if (job.tasks.empty()) {
      intake.verdicts.push_back({{}, false, "the job has no tasks"});
      continue;
    }
    if (const auto known = known_.find(job)) {
      intake.add_known(*known);
      continue;
    }
    // The number is spent from here on, whether the write succeeds or not.
    number_job(job, job_id_of(parts_.number, next_job_++));
    intake.verdicts.push_back({job.id, true, {}});
    if (!job.token.empty()) {
      SubmissionKey key = submission_key(job);
      intake.news.tokens.push_back(
          {std::move(key.token), job.id, std::move(key.scope), false, digest});
      // Known before it is durable, so that a repetition finds it and waits for the same write.
      known_.add(intake.news.tokens.back(), intake.write);
    }
    const std::size_t site = choose_site(job);
    if (site != own_) {
      ++sites_[site].given;
      intake.news.handoffs.push_back({std::move(job), sites_[site].to});
      continue;
    }
    for (Handoff& part : parts_of(std::move(job))) intake.news.handoffs.push_back(std::move(part));
  }
  intake.news.next_job = next_job_;
  return intake;
}

/// Another site has promised these and left them to this one, maybe more than once.
SiteScheduler::Intake SiteScheduler::intake_of_forwarded(std::vector<Job> jobs) {
  Intake intake{++last_write_};
  for (Job& job : jobs) {
    if (const auto known = known_.find_forwarded(job.id)) {
      if (is_of_another(job)) {
        intake.verdicts.push_back({job.id, false, "its number is that of another job", true});
      } else {
        intake.add_known(*known);
      }
      continue;
    }
    intake.verdicts.push_back({job.id, true, {}});
    intake.news.tokens.push_back({{}, job.id, {}, true});
    // Kept by number, for ever: another site repeats itself after any time.
    known_.add(intake.news.tokens.back(), intake.write);
    for (Handoff& part : parts_of(std::move(job))) intake.news.handoffs.push_back(std::move(part));
  }
  return intake;
}

/// Promises, when the news are durable here and, if that does not take too long, with those who are
/// to have the jobs. What others have submitted before counts as news until it is durable.
void SiteScheduler::persist(Intake intake, const Answer& answer) {
  // Shared by the write's end, by handoffs and by the timer; the first to settle it answers.
  auto promise = std::make_shared<PendingReply>();
  promise->answer = answer;
  promise->verdicts = std::move(intake.verdicts);
  const bool news = !intake.news.handoffs.empty() || !intake.news.tokens.empty();
  if (news) intake.writes.insert(intake.write);
  promise->writes = intake.writes.size();
  for (const auto write : intake.writes) awaiting_[write].push_back(promise);
  if (intake.writes.empty()) settle(*promise);
  if (!news) return;
  auto handoffs = std::make_shared<std::vector<Handoff>>(intake.news.handoffs);
  persist_news(std::move(intake.news),
               [this, promise, handoffs, write = intake.write](const std::string& trouble) {
                 std::set<HandoffTarget> targets;
                 if (!trouble.empty()) handoffs->clear();
                 // Counted before written(), which answers at once when nothing is open.
                 promise->open += handoffs->size();
                 for (Handoff& handoff : *handoffs) {
                   const std::size_t bytes = job_bytes(handoff.job);
                   PendingHandoff part{std::move(handoff.job), promise, false, bytes};
                   // Its master has it waiting already.
                   if (!peer(handoff.to).waiting.push(part)) arrived(part);
                   targets.insert(handoff.to);
                 }
                 written(write, trouble);
                 // Nothing leaves before it is durable: a crash would forget who was chosen, and
                 // draw again.
                 for (const HandoffTarget& to : targets) send_handoffs(to);
               });
}

/// Calls `then` in this actor when the store has answered.
void SiteScheduler::persist_news(SiteNews news,
                                 std::function<void(const std::string& trouble)> then) {
  // What was written last tells how the store is.
  auto answered = [this, then = std::move(then)](const std::string& trouble) {
    store_trouble_ = trouble;
    then(trouble);
  };
  // The store may answer from a thread of its own, which must not touch this actor: a message
  // brings it here. A weak pointer, so that a write does not keep a site alive.
  parts_.store->persist(
      std::move(news),
      [then = std::make_shared<decltype(answered)>(std::move(answered)),
       here = std::this_thread::get_id(),
       address = caf::actor_cast<caf::weak_actor_ptr>(this)](const std::string& trouble) {
        if (std::this_thread::get_id() == here) return (*then)(trouble);
        if (auto self = caf::actor_cast<SiteActor>(address.lock())) {
          caf::anon_send<caf::message_priority::high>(
              self, Wakeup{[then, trouble] { (*then)(trouble); }});
        }
      });
}

/// A write of the store has ended: all who depend on it share its fate.
void SiteScheduler::written(KnownSubmissions::Write write, const std::string& trouble) {
  trouble.empty() ? known_.written(write) : known_.failed(write);
  const auto found = awaiting_.find(write);
  const auto promises = std::move(found->second);
  awaiting_.erase(found);
  for (const std::shared_ptr<PendingReply>& promise : promises) {
    if (!trouble.empty()) promise->trouble = trouble;
    if (--promise->writes == 0) on_persisted(promise);
  }
}

void SiteScheduler::on_persisted(const std::shared_ptr<PendingReply>& promise) {
  if (!promise->trouble.empty()) {
    promise->given = true;
    promise->answer.deliver(caf::make_error(ActorError::store_failed, promise->trouble));
  } else if (promise->open == 0 || settings_.promise_wait <= Duration::zero()) {
    settle(*promise);
  } else {
    // Masters that are slow or away do not hold up the answer: the jobs are durable here.
    timer_.at(now() + settings_.promise_wait, [promise] { settle(*promise); });
  }
}

/// Gives the answer, once.
void SiteScheduler::settle(PendingReply& promise) {
  if (promise.given) return;
  promise.given = true;
  promise.answer.deliver(std::move(promise.verdicts));
}

/// Its place among the sites.
std::size_t SiteScheduler::choose_site(const Job& job) {
  if (sites_.size() == 1) return own_;
  std::vector<SiteStanding> standings;
  for (std::size_t i = 0; i < sites_.size(); ++i) {
    standings.push_back({parts_.sites[i].position, sites_[i].heard});
  }
  // Nobody reports to itself.
  standings[own_].heard = {own_load(), now()};
  const GeoPoint user = job.origin.value_or(parts_.sites[own_].position);
  return nearest_light_site(standings, static_cast<std::uint32_t>(own_), user, settings_, now());
}

/// Splits the job among masters that are not heavily loaded.
std::vector<Handoff> SiteScheduler::parts_of(Job job) {
  classify(job);
  std::vector<std::uint32_t> chosen;  // by their places
  if (settings_.masters_per_job <= 1) {
    chosen = {static_cast<std::uint32_t>(least_busy_master())};
  } else {
    std::vector<Heard> heard;
    std::vector<std::uint64_t> given;
    for (const HandoffPeer& each : masters_) {
      heard.push_back(each.heard);
      given.push_back(each.given);
    }
    chosen = draw_masters(heard, given, settings_, now(), rng_);
  }
  std::vector<Handoff> parts;
  for (Job& part : split_job(std::move(job), static_cast<std::uint32_t>(chosen.size()))) {
    HandoffPeer& master = masters_[chosen[parts.size()]];
    // Counts until the master reports, so that one burst is not given to the same master.
    ++master.given;
    parts.push_back({std::move(part), master.to});
  }
  return parts;
}

/// The master with the fewest jobs of those that answer; of all when none does.
std::size_t SiteScheduler::least_busy_master() {
  std::size_t best = 0;
  const auto rank = [this](const HandoffPeer& each) {
    const bool lost = !present_load(each.heard, now(), settings_.load_stale_after);
    return std::pair(lost, each.load.active_jobs + each.given);
  };
  for (std::size_t i = 1; i < masters_.size(); ++i) {
    if (rank(masters_[i]) < rank(masters_[best])) best = i;
  }
  return best;
}

}  // namespace muster
