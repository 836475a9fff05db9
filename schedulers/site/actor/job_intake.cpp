#include "schedulers/site/actor/job_intake.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "actors/messages/byte_cut.hpp"
#include "actors/messages/job_bytes.hpp"
#include "model/submission_digest.hpp"
#include "model/submission_key.hpp"
#include "model/time_text.hpp"
#include "schedulers/site/letters.hpp"

namespace muster {
namespace {

/// Of the jobs as they were submitted; 0 for those without a token, which are never compared.
std::vector<std::uint64_t> digests_of(const std::vector<Job>& jobs) {
  std::vector<std::uint64_t> digests;
  digests.reserve(jobs.size());
  for (const Job& job : jobs) digests.push_back(job.token.empty() ? 0 : submission_digest(job));
  return digests;
}

/// A job waits for one of its submission that is not there.
bool names_no_job(const std::vector<Job>& jobs) {
  return std::any_of(jobs.begin(), jobs.end(), [&](const Job& job) {
    return std::any_of(job.after.begin(), job.after.end(), [&](const AfterJob& each) {
      return each.place > jobs.size() || (each.place > 0 && jobs[each.place - 1].tasks.empty());
    });
  });
}

}  // namespace

JobIntake::JobIntake(const Parts& parts, const SiteSettings& settings, Host host)
    : parts_(parts),
      settings_(settings),
      host_(std::move(host)),
      known_(settings.tokens, parts.peers.number()),
      starts_(parts, settings, starts_host()) {}

void JobIntake::recall(std::vector<KnownToken> tokens, NumberSet forwarded,
                       std::vector<Handoff> handoffs) {
  // Stores of before users were kept have tokens without one; the job, while it is here, knows its
  // user.
  std::map<JobId, std::string> users;
  for (const Handoff& handoff : handoffs) users[handoff.job.id] = handoff.job.user;
  known_.recall_forwarded(std::move(forwarded));
  for (KnownToken& known : tokens) {
    if (const auto user = users.find(known.job); !known.user && user != users.end()) {
      known.user = user->second;
    }
    known_.recall(std::move(known));
  }
  for (Handoff& handoff : handoffs) {
    if (parts_.peers.is_self(handoff.to)) {
      wait_here(std::move(handoff.job));
      continue;
    }
    const std::size_t bytes = job_bytes(handoff.job);
    parts_.handoffs.push(handoff.to, {std::move(handoff.job), {}, true, bytes});
  }
}

void JobIntake::wait_here(Job job) {
  host_.waits(job);
  const std::size_t bytes = job_bytes(job);
  parts_.handoffs.push(parts_.peers.self().to, {std::move(job), {}, false, bytes});
}

/// The verdict is that of the first time, and no word of it leaves before that is durable.
void JobIntake::News::add_known(const KnownSubmissions::Known& known) {
  verdicts.push_back({known.job, true, {}});
  if (known.write != 0) writes.insert(known.write);
}

void JobIntake::submit(std::vector<Job> jobs, bool forwarded, const SubmitAnswer& answer) {
  const JobNumbers& numbers = parts_.numbers;
  if (numbers.learns() && !forwarded) {
    return answer(Failure<ActorError>{ActorError::learns_numbers, numbers.who_is_learnt_from()});
  }
  LoadRounds& rounds = parts_.rounds;
  rounds.note_news();
  if (rounds.is_fresh()) return take(std::move(jobs), forwarded, answer);
  if (!rounds.has_room(jobs.size())) {
    return answer(Failure<ActorError>{ActorError::too_many, {}});
  }
  const std::size_t count = jobs.size();
  rounds.await(count, [this, forwarded, answer, jobs = std::move(jobs)]() mutable {
    take(std::move(jobs), forwarded, answer);
  });
}

void JobIntake::take(std::vector<Job> jobs, bool forwarded, const SubmitAnswer& answer) {
  const JobNumbers& numbers = parts_.numbers;
  // Numbers may have come into doubt while the jobs waited for loads.
  if (numbers.learns() && !forwarded) {
    return answer(Failure<ActorError>{ActorError::learns_numbers, numbers.who_is_learnt_from()});
  }
  const bool full = parts_.handoffs.jobs_in_hand() + jobs.size() > settings_.max_waiting;
  // Those of another site have waited there.
  if (full || (!forwarded && !host_.has_room(jobs))) {
    return answer(Failure<ActorError>{ActorError::too_many, {}});
  }
  if (forwarded) return persist(news_of_forwarded(std::move(jobs)), answer);
  if (const auto why = why_too_large(jobs)) {
    return answer(Verdicts(jobs.size(), SubmitVerdict{{}, false, *why}));
  }
  if (names_no_job(jobs)) {
    const SubmitVerdict refused{{}, false, "a job waits for one that is not in the submission"};
    return answer(Verdicts(jobs.size(), refused));
  }
  const std::vector<std::uint64_t> digests = digests_of(jobs);
  auto refused = tokens_of_others(jobs, digests);
  if (const std::string why = refused ? "" : why_too_late(jobs); !why.empty()) {
    return answer(Verdicts(jobs.size(), SubmitVerdict{{}, false, why}));
  }
  persist(refused ? *std::move(refused) : news_of(std::move(jobs), digests), answer);
}

/// Refuses all of a submission of which a token stands for another job: its user has made a
/// mistake. The job that has the token has to be durable before anything is said of it.
std::optional<JobIntake::News> JobIntake::tokens_of_others(
    const std::vector<Job>& jobs, const std::vector<std::uint64_t>& digests) const {
  // Two jobs of one submission may have the same token too: equal digests are one job, others are a
  // mistake.
  std::map<std::pair<std::string, std::string>, std::size_t> seen;
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    const Job& job = jobs[i];
    if (job.token.empty()) continue;
    News refused{0};
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

/// A job of which the deadline has passed would end at once. One that was taken before, by its
/// token, is answered as it was then. Empty: there is no such job.
std::string JobIntake::why_too_late(const std::vector<Job>& jobs) const {
  const Instant now = host_.now();
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    if (!jobs[i].deadline || *jobs[i].deadline > now || known_.find(jobs[i])) continue;
    const std::string field = jobs.size() == 1 ? "" : fmt::format("/jobs/{}/", i);
    return fmt::format("{}deadline: has to be later than now, {}; it is {}", field, utc_text(now),
                       utc_text(*jobs[i].deadline));
  }
  return {};
}

JobIntake::News JobIntake::news_of(std::vector<Job> jobs,
                                   const std::vector<std::uint64_t>& digests) {
  News made{++last_write_};
  give_numbers(jobs, digests, made);
  made.news.letters = Letters::of(jobs);
  for (Job& job : jobs) {
    // It is known, or was not taken.
    if (!job.id.valid()) continue;
    for (AfterJob& each : job.after) {
      if (each.place > 0) each.job = made.verdicts[each.place - 1].job;
      each.place = 0;
    }
    add_kept(job, made);
    if (WaitingRoom::is_for(job, host_.now())) {
      made.news.handoffs.push_back({std::move(job), parts_.peers.self().to});
    } else {
      choose(std::move(job), made.news.handoffs);
    }
  }
  made.news.next_job = parts_.numbers.next();
  return made;
}

/// Numbers all jobs of a submission before any is looked at further: they may wait for each other.
void JobIntake::give_numbers(std::vector<Job>& jobs, const std::vector<std::uint64_t>& digests,
                             News& made) {
  std::size_t place = 0;
  for (Job& job : jobs) {
    const std::uint64_t digest = digests[place++];
    job.id = {};
    if (job.tasks.empty()) {
      made.verdicts.push_back({{}, false, "the job has no tasks"});
      continue;
    }
    if (const auto known = known_.find(job)) {
      made.add_known(*known);
      continue;
    }
    // The number is spent from here on, whether the write succeeds or not.
    number_job(job, parts_.numbers.give());
    // A job that is submitted once more brings the time of the one before.
    job.submitted = settings_.says_when ? std::optional(host_.now()) : std::nullopt;
    made.verdicts.push_back({job.id, true, {}});
    if (job.token.empty()) continue;
    SubmissionKey key = submission_key(job);
    made.news.tokens.push_back({std::move(key.token), job.id, std::move(key.scope), false, digest});
    // Known before it is durable, so that a repetition finds it and waits for the same write.
    known_.add(made.news.tokens.back(), made.write);
  }
}

/// Adds jobs that wait for a resubmission of the one that this is: they wait for it from the same
/// write on. Of very many the others have their records written behind it.
void JobIntake::add_kept(const Job& job, News& made) const {
  constexpr std::size_t kMostKept = 500;
  if (!job.again_of.valid()) return;
  // One may wait for several jobs that are known as this one.
  std::map<JobId, ChangedHandoff> changed;
  for (const WaitingPair& each : host_.kept_for(job.again_of, job.id, kMostKept)) {
    const Job* found = parts_.handoffs.waiting_job(each.job);
    if (found == nullptr) continue;
    const ChangedHandoff fresh{{*found, parts_.peers.self().to}, *found};
    each.put_in(changed.try_emplace(each.job, fresh).first->second.handoff.job.after);
  }
  for (auto& [id, each] : changed) made.news.changed.push_back(std::move(each));
}

/// Adds who is to get the job, or its parts.
void JobIntake::choose(Job job, std::vector<Handoff>& handoffs) {
  const HandoffTarget site = host_.choose_site(job);
  if (!parts_.peers.is_self(site)) {
    handoffs.push_back({std::move(job), site});
    return;
  }
  for (Handoff& part : host_.split(std::move(job))) handoffs.push_back(std::move(part));
}

/// Another site has promised these and left them to this one, maybe more than once.
JobIntake::News JobIntake::news_of_forwarded(std::vector<Job> jobs) {
  News made{++last_write_};
  for (Job& job : jobs) {
    if (const auto known = known_.find_forwarded(job.id)) {
      if (parts_.handoffs.holds_another(job)) {
        made.verdicts.push_back({job.id, false, "its number is that of another job", true});
      } else {
        made.add_known(*known);
      }
      continue;
    }
    made.verdicts.push_back({job.id, true, {}});
    made.news.tokens.push_back({{}, job.id, {}, true});
    // Kept by number, for ever: another site repeats itself after any time.
    known_.add(made.news.tokens.back(), made.write);
    add_kept(job, made);
    for (Handoff& part : host_.split(std::move(job))) made.news.handoffs.push_back(std::move(part));
  }
  return made;
}

/// Submissions of others count as news until they are durable.
void JobIntake::persist(News news, const SubmitAnswer& answer) {
  const bool any = !news.news.handoffs.empty() || !news.news.tokens.empty();
  if (any) news.writes.insert(news.write);
  // Shared by the write's end, by handoffs and by the timer; the first to settle it answers.
  auto reply =
      std::make_shared<SubmissionReply>(answer, std::move(news.verdicts), news.writes.size());
  for (const auto write : news.writes) awaiting_[write].push_back(reply);
  if (news.writes.empty()) reply->give();
  if (!any) return;
  auto handoffs = std::make_shared<std::vector<Handoff>>(news.news.handoffs);
  auto letters = news.news.letters;
  parts_.writer.persist(std::move(news.news), [this, reply, handoffs, letters = std::move(letters),
                                               write = news.write](const std::string& trouble) {
    if (!trouble.empty()) handoffs->clear();
    hand_over(std::move(*handoffs), reply, write, trouble);
    if (trouble.empty() && !letters.empty()) host_.tells(letters);
  });
}

/// The write of the jobs has ended.
void JobIntake::hand_over(std::vector<Handoff> handoffs,
                          const std::shared_ptr<SubmissionReply>& reply,
                          KnownSubmissions::Write write, const std::string& trouble) {
  // Counted before written(), which answers at once when nothing is open.
  reply->add_open(handoffs.size());
  const std::set<HandoffTarget> targets = put_on_way(std::move(handoffs), reply);
  written(write, trouble);
  // Nothing leaves before it is durable: a crash would forget who was chosen, and draw again.
  for (const HandoffTarget& to : targets) parts_.handoffs.send(to);
  host_.all_wait();
}

/// The peers to which they are to be sent; `reply` waits for those, if it is there.
std::set<HandoffTarget> JobIntake::put_on_way(std::vector<Handoff> handoffs,
                                              const std::shared_ptr<SubmissionReply>& reply) {
  std::set<HandoffTarget> targets;
  std::set<std::pair<JobId, JobId>> again;  // a split job comes in parts
  for (Handoff& handoff : handoffs) {
    bool is_awaited = false;
    if (handoff.job.again_of.valid()) again.emplace(handoff.job.again_of, handoff.job.id);
    if (parts_.peers.is_self(handoff.to)) {
      wait_here(std::move(handoff.job));
    } else {
      const std::size_t bytes = job_bytes(handoff.job);
      // Where its master has it waiting already, no reply waits for this one.
      is_awaited = parts_.handoffs.push(handoff.to, {std::move(handoff.job), reply, false, bytes});
      targets.insert(handoff.to);
    }
    if (reply && !is_awaited) reply->arrived();
  }
  // The jobs that wait for these have their new conditions by now.
  for (const auto& [failed, job] : again) host_.resubmitted(failed, job);
  return targets;
}

void JobIntake::begin(const std::vector<JobId>& jobs) {
  starts_.begin(jobs);
}

/// The starts use the intake's ways to the world, and its choices.
JobStarts::Host JobIntake::starts_host() {
  JobStarts::Host host;
  host.choose = [this](Job job, std::vector<Handoff>& to) { choose(std::move(job), to); };
  host.send = [this](std::vector<Handoff> handoffs) { return put_on_way(std::move(handoffs), {}); };
  host.after = host_.after;
  host.may_begin = host_.may_begin;
  host.begun = host_.begun;
  host.recurred = host_.recurred;
  host.tells = host_.tells;
  host.now = host_.now;
  return host;
}

/// A write of the store has ended: all who depend on it share its fate.
void JobIntake::written(KnownSubmissions::Write write, const std::string& trouble) {
  trouble.empty() ? known_.written(write) : known_.failed(write);
  const auto found = awaiting_.find(write);
  const auto replies = std::move(found->second);
  awaiting_.erase(found);
  for (const std::shared_ptr<SubmissionReply>& reply : replies) {
    if (!reply->written(trouble)) continue;
    if (settings_.promise_wait <= Duration::zero()) {
      reply->give();
      continue;
    }
    // Masters that are slow or away do not hold up the answer: the jobs are durable here.
    host_.after(settings_.promise_wait, [reply] { reply->give(); });
  }
}

}  // namespace muster
