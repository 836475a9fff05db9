// The ways out of a site scheduler, to masters and to other sites, and what is heard on them.

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "schedulers/site/site_actor.hpp"

namespace muster {
namespace {

/// Jobs of which a part was given up, as far as they are remembered.
constexpr std::size_t kMaxBroken = 100'000;

/// A job, or a part of one, that no master has yet.
nlohmann::json on_its_way(const Job& job) {
  return {{"job", job.id.value},
          {"name", job.name},
          {"user", job.user},
          {"class", job.workload_class},
          {"state", "handing over"},
          {"master", nullptr},
          {"tasks_total", job.tasks.size()},
          {"whole_tasks", job.task_count()},
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
          {"command", job.program.argv}};
}

}  // namespace

std::size_t SiteScheduler::jobs_in_hand() const {
  std::size_t count = 0;
  for (const Lane& each : masters_) count += each.waiting.size();
  for (const Lane& each : sites_) count += each.waiting.size();
  return count;
}

double SiteScheduler::own_load() const {
  return static_cast<double>(jobs_in_hand()) / static_cast<double>(setup_.room);
}

/// Hands over the next jobs of a lane, one request at a time, until all are taken.
void SiteScheduler::hand_over(const HandTarget& to) {
  Lane& out = lane(to);
  if (out.busy || out.waiting.empty()) return;
  out.busy = true;
  std::vector<Job> batch;
  for (const OnItsWay& each : out.waiting) {
    if (batch.size() == setup_.life.hand_batch) break;
    batch.push_back(each.job);
  }
  const auto heard = [this, to](const Verdicts& verdicts) { taken(to, verdicts); };
  const auto failed = [this, to](const caf::error&) {
    timer_.at(now() + setup_.life.hand_retry, [this, to] {
      lane(to).busy = false;
      hand_over(to);
    });
  };
  if (to.site) {
    request(setup_.sites[to.index].actor, setup_.accept_timeout, forward_atom_v, std::move(batch))
        .then(heard, failed);
  } else {
    request(setup_.masters[to.index], setup_.accept_timeout, hand_atom_v, std::move(batch))
        .then(heard, failed);
  }
}

void SiteScheduler::taken(const HandTarget& to, const Verdicts& verdicts) {
  Lane& out = lane(to);
  out.busy = false;
  for (const AcceptVerdict& verdict : verdicts) {
    const auto found =
        std::find_if(out.waiting.begin(), out.waiting.end(),
                     [&](const OnItsWay& each) { return each.job.id == verdict.job; });
    if (found == out.waiting.end()) continue;
    if (const auto& promise = found->promise; promise && --promise->open == 0) {
      if (promise->writes == 0) settle(*promise);
    }
    out.waiting.erase(found);
    ++handed_;
    setup_.book->handed_over(verdict.job, to);
    if (!cancelled_.contains(verdict.job)) continue;
    if (to.site) {
      send(setup_.sites[to.index].actor, cancel_atom_v, verdict.job);
    } else {
      send(setup_.masters[to.index], cancel_atom_v, verdict.job);
    }
  }
  if (jobs_in_hand() == 0) cancelled_.clear();
  hand_over(to);
}

void SiteScheduler::ask_loads() {
  const auto nothing = [](const caf::error&) {};
  for (std::size_t i = 0; i < masters_.size(); ++i) {
    request(setup_.masters[i], setup_.load_every, load_atom_v)
        .then([this, i](const LoadReport& report) { hear(masters_[i], report); }, nothing);
  }
  for (std::size_t i = 0; i < sites_.size(); ++i) {
    if (i == setup_.index) continue;
    request(setup_.sites[i].actor, setup_.load_every, load_atom_v)
        .then([this, i](const LoadReport& report) { hear(sites_[i], report); }, nothing);
  }
  timer_.at(now() + setup_.load_every, [this] { ask_loads(); });
}

/// When one part of a job was given up, the other masters' parts are for nothing.
void SiteScheduler::hear(Lane& from, const LoadReport& report) {
  from.load = report;
  from.heard = {report.load, now()};
  from.given = 0;
  if (setup_.desk) {
    for (const JobRuntime& ran : report.completed) {
      setup_.desk->heard(ran.job, ran.tasks, ran.together);
    }
    train_if_due();
  }
  for (JobId job : report.broken) {
    if (!broken_.insert(job).second) continue;
    if (setup_.desk) setup_.desk->forget(job);
    for (const MasterActor& master : setup_.masters) send(master, cancel_atom_v, job);
  }
  while (broken_.size() > kMaxBroken) broken_.erase(broken_.begin());
}

void SiteScheduler::cancel(JobId id) {
  for (const std::vector<Lane>* lanes : {&masters_, &sites_}) {
    for (const Lane& each : *lanes) {
      for (const OnItsWay& one : each.waiting) {
        if (one.job.id == id) cancelled_.insert(id);
      }
    }
  }
  for (const MasterActor& master : setup_.masters) send(master, cancel_atom_v, id);
}

std::string SiteScheduler::answer(const Query& query) const {
  using nlohmann::json;
  const auto standing = [this](const Lane& each) {
    const auto load = present_load(each.heard, now(), setup_.rules.stale_after);
    return json{{"index", each.to.index},
                {"connected", load.has_value()},
                {"load", load ? json(*load) : json(nullptr)},
                {"active_jobs", each.load.active_jobs},
                {"pending_tasks", each.load.pending_tasks}};
  };
  json jobs = json::array();
  json masters = json::array();
  json sites = json::array();
  for (const Lane& each : masters_) masters.push_back(standing(each));
  for (const Lane& each : sites_) {
    if (each.to.index != setup_.index) sites.push_back(standing(each));
  }
  for (const std::vector<Lane>* lanes : {&masters_, &sites_}) {
    if (query.what == "load") break;
    for (const Lane& each : *lanes) {
      for (const OnItsWay& one : each.waiting) {
        if (query.id == 0 || one.job.id.value == query.id) jobs.push_back(on_its_way(one.job));
      }
    }
  }
  json sorting;
  if (setup_.desk) {
    const JobSorter& sorter = setup_.desk->sorter();
    sorting = {{"by", name_of(sorter.params().by)},
               {"model", sorter.classifier() != nullptr},
               {"shorts", setup_.desk->shorts()},
               {"sorted", setup_.desk->sorted()}};
  }
  return json{{"site", setup_.sites[setup_.index].name},
              {"load", own_load()},
              {"jobs", std::move(jobs)},
              {"masters", std::move(masters)},
              {"sites", std::move(sites)},
              {"sorting", std::move(sorting)},
              {"waiting", jobs_in_hand()},
              {"handed_over", handed_}}
      .dump(-1, ' ', false, json::error_handler_t::replace);
}

}  // namespace muster
