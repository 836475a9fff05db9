#include "schedulers/site/site_actor.hpp"

#include <algorithm>
#include <thread>
#include <utility>

#include "model/live_ids.hpp"
#include "schedulers/site/split.hpp"

// Intake: what comes in, and who gets it. The ways out are in site_lanes.cpp, the ends of jobs in
// site_watch.cpp.

namespace muster {
namespace {

/// What a forwarded job is known by, so that it is taken once.
std::string token_of_forwarded(JobId id) {
  return "forwarded " + std::to_string(id.value);
}

}  // namespace

SiteScheduler::SiteScheduler(caf::actor_config& config, SiteSetup setup)
    : SiteActor::base(config),
      setup_(std::move(setup)),
      timer_(this, setup_.epoch),
      rng_(setup_.seed + setup_.index),
      listeners_(setup_.life.max_watches) {
  set_down_handler([this](const caf::down_msg& down) { drop_listener(down.source); });
  for (std::uint32_t i = 0; i < setup_.masters.size(); ++i) masters_.push_back({{false, i}});
  for (std::uint32_t i = 0; i < setup_.sites.size(); ++i) sites_.push_back({{true, i}});
  SiteMemory memory = setup_.book->recall();
  next_job_ = std::max<std::uint64_t>(1, memory.next_job);
  for (KnownToken& known : memory.tokens) tokens_[std::move(known.token)] = known.job;
  for (Handoff& handoff : memory.handoffs) {
    const std::size_t known = handoff.to.site ? sites_.size() : masters_.size();
    if (handoff.to.index < known) lane(handoff.to).waiting.push_back({std::move(handoff.job), {}});
  }
}

void SiteScheduler::on_exit() {
  listeners_.clear();
  watched_.clear();
  masters_.clear();
  sites_.clear();
  setup_.masters.clear();
  setup_.sites.clear();
}

SiteActor::behavior_type SiteScheduler::make_behavior() {
  if (setup_.load_every > Duration::zero()) ask_loads();
  for (const Lane& each : masters_) hand_over(each.to);
  for (const Lane& each : sites_) hand_over(each.to);
  return {
      [this](hand_atom, std::vector<Job>& jobs) { return take(std::move(jobs)); },
      [this](forward_atom, std::vector<Job>& jobs) { return take_forwarded(std::move(jobs)); },
      [this](watch_atom, const JobListener& listener, const std::vector<JobId>& jobs) {
        return watch(listener, jobs);
      },
      [this](cancel_atom, JobId id) { cancel(id); },
      [this](over_atom, const JobEnd& end) { over(end, nullptr); },
      [this](load_atom) {
        LoadReport report;
        report.active_jobs = jobs_in_hand();
        report.load = own_load();
        return report;
      },
      [this](const Query& query) { return answer(query); },
      [](const Wakeup& wakeup) { wakeup.run(); },
  };
}

bool SiteScheduler::has_room(std::size_t more) const {
  return jobs_in_hand() + more <= setup_.life.max_waiting;
}

caf::result<SiteScheduler::Verdicts> SiteScheduler::take(std::vector<Job> jobs) {
  if (!has_room(jobs.size())) return ActorError::not_connected;
  Verdicts verdicts;
  SiteNews news;
  for (Job& job : jobs) {
    if (job.tasks.empty()) {
      verdicts.push_back({{}, false, "the job has no tasks"});
      continue;
    }
    if (const auto known = tokens_.find(job.token); known != tokens_.end()) {
      verdicts.push_back({known->second, true, {}});  // submitted before
      continue;
    }
    number_job(job, job_id_of(setup_.index, next_job_++));
    verdicts.push_back({job.id, true, {}});
    if (!job.token.empty()) {
      tokens_[job.token] = job.id;
      news.tokens.push_back({job.token, job.id});
    }
    const std::uint32_t site = choose_site(job);
    if (site != setup_.index) {
      ++sites_[site].given;
      news.handoffs.push_back({std::move(job), {true, site}});
      continue;
    }
    for (Handoff& part : parts_of(std::move(job))) news.handoffs.push_back(std::move(part));
  }
  news.next_job = next_job_;
  return keep(std::move(verdicts), std::move(news));
}

/// Another site has promised these and left them to this one, maybe more than once.
caf::result<SiteScheduler::Verdicts> SiteScheduler::take_forwarded(std::vector<Job> jobs) {
  if (!has_room(jobs.size())) return ActorError::not_connected;
  Verdicts verdicts;
  SiteNews news;
  for (Job& job : jobs) {
    verdicts.push_back({job.id, true, {}});
    const std::string token = token_of_forwarded(job.id);
    if (!tokens_.emplace(token, job.id).second) continue;
    news.tokens.push_back({token, job.id});
    for (Handoff& part : parts_of(std::move(job))) news.handoffs.push_back(std::move(part));
  }
  return keep(std::move(verdicts), std::move(news));
}

/// Promises, when the news are durable here and, if that does not take too long, with those who are
/// to have the jobs.
caf::result<SiteScheduler::Verdicts> SiteScheduler::keep(Verdicts verdicts, SiteNews news) {
  auto promise = std::make_shared<Promise>();
  promise->answer = make_response_promise<Verdicts>();
  promise->verdicts = std::move(verdicts);
  const auto answer = promise->answer;
  if (news.handoffs.empty() && news.tokens.empty()) {
    settle(*promise);
    return answer;
  }
  SiteNews kept_news = news;
  auto then = [this, promise, news = std::move(news)](const std::string& trouble) mutable {
    if (trouble.empty()) return kept(promise, std::move(news.handoffs));
    for (const KnownToken& token : news.tokens) tokens_.erase(token.token);
    promise->answer.deliver(caf::make_error(ActorError::store_failed, trouble));
  };
  // The book may answer from its own thread, to which this actor is a stranger.
  setup_.book->keep(
      std::move(kept_news),
      [then = std::make_shared<decltype(then)>(std::move(then)), here = std::this_thread::get_id(),
       address = caf::actor_cast<caf::weak_actor_ptr>(this)](const std::string& trouble) {
        if (std::this_thread::get_id() == here) return (*then)(trouble);
        if (auto self = caf::actor_cast<SiteActor>(address.lock())) {
          caf::anon_send(self, Wakeup{[then, trouble] { (*then)(trouble); }});
        }
      });
  return answer;
}

void SiteScheduler::kept(const std::shared_ptr<Promise>& promise, std::vector<Handoff> handoffs) {
  promise->open = handoffs.size();
  std::set<HandTarget> targets;
  for (Handoff& handoff : handoffs) {
    lane(handoff.to).waiting.push_back({std::move(handoff.job), promise});
    targets.insert(handoff.to);
  }
  if (promise->open == 0 || setup_.life.promise_wait <= Duration::zero()) {
    settle(*promise);
  } else {
    timer_.at(now() + setup_.life.promise_wait, [promise] { settle(*promise); });
  }
  for (const HandTarget& to : targets) hand_over(to);
}

/// Gives the answer, once.
void SiteScheduler::settle(Promise& promise) {
  if (promise.given) return;
  promise.given = true;
  promise.answer.deliver(std::move(promise.verdicts));
}

std::uint32_t SiteScheduler::choose_site(const Job& job) {
  if (sites_.size() == 1) return setup_.index;
  std::vector<SiteStanding> standings;
  for (const Lane& each : sites_) {
    standings.push_back({setup_.sites[each.to.index].position, each.heard});
  }
  standings[setup_.index].heard = {own_load(), now()};
  const GeoPoint user = job.origin.value_or(setup_.sites[setup_.index].position);
  return nearest_light_site(standings, setup_.index, user, setup_.rules, now());
}

/// Splits the job among masters that are not heavily loaded.
std::vector<Handoff> SiteScheduler::parts_of(Job job) {
  sort(job);
  std::vector<std::uint32_t> chosen;
  if (setup_.rules.masters_per_job <= 1) {
    chosen = {least_busy_master()};
  } else {
    std::vector<Heard> heard;
    std::vector<std::uint64_t> given;
    for (const Lane& each : masters_) {
      heard.push_back(each.heard);
      given.push_back(each.given);
    }
    chosen = draw_masters(heard, given, setup_.rules, now(), rng_);
  }
  std::vector<Handoff> parts;
  for (Job& part : split_job(std::move(job), static_cast<std::uint32_t>(chosen.size()))) {
    const std::uint32_t master = chosen[parts.size()];
    ++masters_[master].given;
    parts.push_back({std::move(part), {false, master}});
  }
  return parts;
}

/// The master with the fewest jobs of those that answer; of all when none does.
std::uint32_t SiteScheduler::least_busy_master() {
  std::uint32_t best = 0;
  const auto rank = [this](const Lane& each) {
    const bool lost = !present_load(each.heard, now(), setup_.rules.stale_after);
    return std::pair(lost, each.load.active_jobs + each.given);
  };
  for (std::uint32_t i = 1; i < masters_.size(); ++i) {
    if (rank(masters_[i]) < rank(masters_[best])) best = i;
  }
  return best;
}

}  // namespace muster
