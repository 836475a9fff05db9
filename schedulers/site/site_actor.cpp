#include "schedulers/site/site_actor.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <thread>
#include <utility>

#include "model/live_ids.hpp"

namespace muster {

SiteScheduler::SiteScheduler(caf::actor_config& config, SiteSetup setup)
    : SiteActor::base(config), setup_(std::move(setup)), timer_(this, setup_.epoch) {
  masters_.resize(setup_.masters.size());
  SiteMemory memory = setup_.book->recall();
  next_job_ = std::max<std::uint64_t>(1, memory.next_job);
  for (KnownToken& known : memory.tokens) tokens_[std::move(known.token)] = known.job;
  for (Handoff& handoff : memory.handoffs) {
    if (handoff.master < masters_.size()) {
      masters_[handoff.master].waiting.push_back(std::move(handoff.job));
    }
  }
}

void SiteScheduler::on_exit() {
  users_.clear();
  setup_.masters.clear();
}

SiteActor::behavior_type SiteScheduler::make_behavior() {
  if (setup_.life.load_every > Duration::zero()) ask_loads();
  for (std::uint32_t i = 0; i < masters_.size(); ++i) hand_over(i);
  return {
      [this](accept_atom, Job& job, const JobListener& user) {
        return accept(std::move(job), user);
      },
      [this](hand_atom, std::vector<Job>& jobs) { return take(std::move(jobs)); },
      [this](cancel_atom, JobId id) { cancel(id); },
      [this](over_atom, JobId id, JobOutcome outcome) {
        const auto user = users_.find(id);
        if (user == users_.end()) return;
        send(user->second, over_atom_v, id, outcome);
        users_.erase(user);
      },
      [this](const Query& query) { return answer(query); },
      [](const Wakeup& wakeup) { wakeup.run(); },
  };
}

caf::result<JobId> SiteScheduler::accept(Job job, const JobListener& user) {
  auto promise = make_response_promise<JobId>();
  request(setup_.masters.front(), setup_.accept_timeout, accept_atom_v, std::move(job),
          JobListener{this})
      .then(
          [this, promise, user](JobId accepted) mutable {
            if (user) users_[accepted] = user;
            promise.deliver(accepted);
          },
          [promise](caf::error& error) mutable { promise.deliver(std::move(error)); });
  return promise;
}

/// Gives the job its number, or says which one its token has already.
JobId SiteScheduler::number(Job& job) {
  if (!job.token.empty()) {
    const auto known = tokens_.find(job.token);
    if (known != tokens_.end()) return known->second;
  }
  job.id = job_id_of(setup_.life.index, next_job_++);
  for (std::uint32_t i = 0; i < job.tasks.size(); ++i) job.tasks[i].id = task_id_of(job.id, i);
  return job.id;
}

caf::result<std::vector<AcceptVerdict>> SiteScheduler::take(std::vector<Job> jobs) {
  std::size_t waiting = jobs.size();
  for (const Standing& master : masters_) waiting += master.waiting.size();
  if (waiting > setup_.life.max_waiting) return ActorError::not_connected;

  std::vector<AcceptVerdict> verdicts;
  std::vector<Handoff> handoffs;
  for (Job& job : jobs) {
    if (job.tasks.empty()) {
      verdicts.push_back({{}, false, "the job has no tasks"});
      continue;
    }
    const JobId id = number(job);
    verdicts.push_back({id, true, {}});
    if (job.id != id) continue;  // submitted before
    if (!job.token.empty()) tokens_[job.token] = id;
    handoffs.push_back({std::move(job), choose_master()});
  }
  auto promise = make_response_promise<std::vector<AcceptVerdict>>();
  if (handoffs.empty()) {
    promise.deliver(std::move(verdicts));
    return promise;
  }
  std::vector<Handoff> kept = handoffs;
  auto then = [this, promise, verdicts = std::move(verdicts),
               handoffs = std::move(handoffs)](const std::string& trouble) mutable {
    if (!trouble.empty()) {
      for (const Handoff& handoff : handoffs) tokens_.erase(handoff.job.token);
      promise.deliver(caf::make_error(ActorError::store_failed, trouble));
      return;
    }
    for (Handoff& handoff : handoffs) {
      masters_[handoff.master].waiting.push_back(std::move(handoff.job));
    }
    promise.deliver(std::move(verdicts));
    for (std::uint32_t i = 0; i < masters_.size(); ++i) hand_over(i);
  };
  // The book may answer from its own thread, to which this actor is a stranger.
  setup_.book->keep(
      std::move(kept),
      [then = std::make_shared<decltype(then)>(std::move(then)), here = std::this_thread::get_id(),
       address = caf::actor_cast<caf::weak_actor_ptr>(this)](const std::string& trouble) {
        if (std::this_thread::get_id() == here) return (*then)(trouble);
        if (auto self = caf::actor_cast<SiteActor>(address.lock())) {
          caf::anon_send(self, Wakeup{[then, trouble] { (*then)(trouble); }});
        }
      });
  return promise;
}

/// The master with the least to do of those that answer; of all when none does.
std::uint32_t SiteScheduler::choose_master() {
  std::uint32_t best = 0;
  const auto rank = [this](const Standing& master) {
    const bool lost = !master.heard_at || *master.heard_at + setup_.life.load_stale_after < now();
    return std::pair(lost, master.load.active_jobs + master.given);
  };
  for (std::uint32_t i = 1; i < masters_.size(); ++i) {
    if (rank(masters_[i]) < rank(masters_[best])) best = i;
  }
  ++masters_[best].given;
  return best;
}

/// Hands the master the next jobs, one request at a time, until it has taken all.
void SiteScheduler::hand_over(std::uint32_t index) {
  Standing& master = masters_[index];
  if (master.busy || master.waiting.empty()) return;
  master.busy = true;
  const std::size_t count = std::min(master.waiting.size(), setup_.life.hand_batch);
  std::vector<Job> batch(master.waiting.begin(),
                         master.waiting.begin() + static_cast<std::ptrdiff_t>(count));
  request(setup_.masters[index], setup_.accept_timeout, hand_atom_v, std::move(batch))
      .then([this, index](const std::vector<AcceptVerdict>& verdicts) { taken(index, verdicts); },
            [this, index](const caf::error&) {
              timer_.at(now() + setup_.life.hand_retry, [this, index] {
                masters_[index].busy = false;
                hand_over(index);
              });
            });
}

void SiteScheduler::taken(std::uint32_t index, const std::vector<AcceptVerdict>& verdicts) {
  Standing& master = masters_[index];
  master.busy = false;
  for (const AcceptVerdict& verdict : verdicts) {
    const auto job = std::find_if(master.waiting.begin(), master.waiting.end(),
                                  [&](const Job& waiting) { return waiting.id == verdict.job; });
    if (job == master.waiting.end()) continue;
    master.waiting.erase(job);
    ++handed_;
    setup_.book->handed_over(verdict.job);
    if (cancelled_.erase(verdict.job) > 0) {
      send(setup_.masters[index], cancel_atom_v, verdict.job);
    }
  }
  hand_over(index);
}

void SiteScheduler::ask_loads() {
  for (std::uint32_t i = 0; i < masters_.size(); ++i) {
    request(setup_.masters[i], setup_.life.load_every, load_atom_v)
        .then(
            [this, i](const LoadReport& load) {
              masters_[i].load = load;
              masters_[i].given = 0;
              masters_[i].heard_at = now();
            },
            [](const caf::error&) {});
  }
  timer_.at(now() + setup_.life.load_every, [this] { ask_loads(); });
}

void SiteScheduler::cancel(JobId id) {
  for (const Standing& master : masters_) {
    for (const Job& job : master.waiting) {
      if (job.id == id) cancelled_.insert(id);
    }
  }
  for (const MasterActor& master : setup_.masters) send(master, cancel_atom_v, id);
}

std::string SiteScheduler::answer(const Query& query) const {
  using nlohmann::json;
  json jobs = json::array();
  json masters = json::array();
  std::size_t waiting = 0;
  for (std::size_t i = 0; i < masters_.size(); ++i) {
    const Standing& master = masters_[i];
    waiting += master.waiting.size();
    const bool heard = master.heard_at && *master.heard_at + setup_.life.load_stale_after >= now();
    masters.push_back({{"index", i},
                       {"connected", heard},
                       {"active_jobs", master.load.active_jobs},
                       {"pending_tasks", master.load.pending_tasks}});
    if (query.what == "load") continue;
    for (const Job& job : master.waiting) {
      if (query.id != 0 && job.id.value != query.id) continue;
      jobs.push_back({{"job", job.id.value},
                      {"name", job.name},
                      {"user", job.user},
                      {"class", job.workload_class},
                      {"state", "handing over"},
                      {"master", nullptr},
                      {"tasks_total", job.tasks.size()},
                      {"waiting", job.tasks.size()},
                      {"held", 0},
                      {"starting", 0},
                      {"running", 0},
                      {"finished", 0},
                      {"failed_attempts", 0},
                      {"submitted_s", nullptr},
                      {"over_s", nullptr},
                      {"usd", 0},
                      {"market", name_of(job.markets)},
                      {"gang", job.gang},
                      {"exit_code", 0},
                      {"command", job.program.argv}});
    }
  }
  return json{{"site", setup_.life.name},
              {"jobs", std::move(jobs)},
              {"masters", std::move(masters)},
              {"waiting", waiting},
              {"handed_over", handed_}}
      .dump(-1, ' ', false, json::error_handler_t::replace);
}

}  // namespace muster
