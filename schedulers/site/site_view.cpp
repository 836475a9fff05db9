// A site scheduler as its users are shown it.

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "schedulers/site/site_actor.hpp"

namespace muster {
namespace {

using nlohmann::json;

constexpr std::uint32_t kShownJobs = 100;
constexpr std::uint32_t kMostShownJobs = 10'000;

/// Which jobs somebody asks for: what a query's text says, as for masters.
struct ShownJobs {
  std::uint64_t id = 0;  ///< 0: all
  bool active = true;
  bool over = true;
  std::string user{};
  std::size_t most = kShownJobs;

  explicit ShownJobs(const Query& query) : id(query.id) {
    if (query.limit > 0) most = std::min(query.limit, kMostShownJobs);
    const json wanted = json::parse(query.text.empty() ? "{}" : query.text, nullptr, false);
    if (!wanted.is_object()) return;
    const std::string state = wanted.value("state", "all");
    active = state != "over";
    over = state != "active";
    user = wanted.value("user", "");
  }
  bool takes(const Job& job) const { return user.empty() || job.user == user; }
};

/// A job, or a part of one, that no master has yet.
json on_its_way(const Job& job) {
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

/// The jobs that were asked for, the newest first. Only those that are shown are written out.
json SiteScheduler::shown_jobs(const Query& query) const {
  const ShownJobs wanted(query);
  std::vector<const Job*> found;
  for (const std::vector<Lane>* lanes : {&masters_, &sites_}) {
    for (const Lane& each : *lanes) {
      if (wanted.id != 0) {
        const OnItsWay* one = each.waiting.find(JobId{wanted.id});
        if (one != nullptr) found.push_back(&one->job);
        continue;
      }
      if (!wanted.active) continue;
      std::size_t left = wanted.most;
      each.waiting.newest_first([&](const OnItsWay& one) {
        if (!wanted.takes(one.job)) return true;
        found.push_back(&one.job);
        return --left > 0;
      });
    }
  }
  std::stable_sort(found.begin(), found.end(),
                   [](const Job* a, const Job* b) { return a->id > b->id; });
  json list = json::array();
  std::size_t jobs = 0;
  const Job* last = nullptr;
  for (const Job* job : found) {
    const bool another = last == nullptr || last->id != job->id;
    if (another && ++jobs > wanted.most) break;  // the parts of a job stay together
    last = job;
    list.push_back(on_its_way(*job));
  }
  return list;
}

std::string SiteScheduler::answer(const Query& query) const {
  const auto standing = [this](const Lane& each) {
    const auto load = present_load(each.heard, now(), setup_.rules.stale_after);
    return json{{"number", each.to.index},
                {"connected", load.has_value()},
                {"load", load ? json(*load) : json(nullptr)},
                {"active_jobs", each.load.active_jobs},
                {"pending_tasks", each.load.pending_tasks}};
  };
  json masters = json::array();
  json sites = json::array();
  for (const Lane& each : masters_) masters.push_back(standing(each));
  for (const Lane& each : sites_) {
    if (each.to.index != setup_.number) sites.push_back(standing(each));
  }
  json sorting;
  if (setup_.desk) {
    const JobSorter& sorter = setup_.desk->sorter();
    sorting = {{"by", name_of(sorter.params().by)},
               {"model", sorter.classifier() != nullptr},
               {"shorts", setup_.desk->shorts()},
               {"sorted", setup_.desk->sorted()}};
  }
  return json{{"site", setup_.sites[own_].name},
              {"load", own_load()},
              {"jobs", query.what == "load" ? json::array() : shown_jobs(query)},
              {"masters", std::move(masters)},
              {"sites", std::move(sites)},
              {"sorting", std::move(sorting)},
              {"waiting", jobs_in_hand()},
              {"handed_over", handed_}}
      .dump(-1, ' ', false, json::error_handler_t::replace);
}

}  // namespace muster
