// A site scheduler as its users are shown it.

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "schedulers/site/site_actor.hpp"
#include "storage/job_filter.hpp"

namespace muster {
namespace {

using nlohmann::json;

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
          {"failed", 0},
          {"failed_attempts", 0},
          {"submitted_s", nullptr},
          {"over_s", nullptr},
          {"usd", 0},
          {"market", name_of(job.markets)},
          {"gang", job.gang},
          {"movable", job.movable},
          {"checkpoints", job.checkpoints},
          {"max_fails", job.max_fails ? json(*job.max_fails) : json(nullptr)},
          {"exit_code", nullptr},
          {"failed_task", nullptr},
          {"command", job.program.argv},
          {"reason", nullptr}};
}

/// A job, or a part of one, that ended here.
json over_here(const EndedHandoff& ended) {
  json out = on_its_way(ended.job);
  out["state"] = name_of(ended.outcome);
  out["reason"] = ended.reason;
  out["tasks_total"] = ended.tasks;
  out["whole_tasks"] = std::max(ended.job.whole_tasks, ended.tasks);
  out["waiting"] = 0;
  out["over_s"] = to_seconds(ended.at);
  return out;
}

}  // namespace

/// The jobs that were asked for, in the order of JobCursor. Only those that are shown are written
/// out; the parts of a job stay together.
json SiteScheduler::shown_jobs(const Query& query) const {
  const JobFilter wanted(query.text, query.limit);
  std::vector<Shown> found;
  if (query.id != 0) {
    found = parts_shown(JobId{query.id});
  } else if (wanted.only) {
    for (const JobId job : *wanted.only) {
      for (const Shown& part : parts_shown(job)) found.push_back(part);
    }
  } else {
    found = page_shown(wanted);
  }
  const auto place = [](const Shown& shown) {
    return std::pair(shown.ended != nullptr, shown.job->id);
  };
  std::stable_sort(found.begin(), found.end(), [&](const Shown& a, const Shown& b) {
    const auto [a_over, a_job] = place(a);
    const auto [b_over, b_job] = place(b);
    return a_over != b_over ? b_over : a_job > b_job;
  });
  json list = json::array();
  std::size_t jobs = 0;
  const Shown* last = nullptr;
  for (const Shown& each : found) {
    if (last == nullptr || place(*last) != place(each)) ++jobs;
    if (last != nullptr && place(*last).first != place(each).first) jobs = 1;
    last = &each;
    if (jobs > wanted.most) continue;
    list.push_back(each.ended != nullptr ? over_here(*each.ended) : on_its_way(*each.job));
    list.back()["to_site"] = each.to != nullptr && each.to->site;
    list.back()["to"] = each.to != nullptr ? json(target_name(*each.to)) : json(nullptr);
  }
  return list;
}

/// Of each way out, and of what ended here, as many jobs as may be shown.
std::vector<SiteScheduler::Shown> SiteScheduler::page_shown(const JobFilter& wanted) const {
  std::vector<Shown> found;
  std::size_t jobs = 0;
  JobId last;
  const auto use = [&](const Job& job, const HandTarget* to, const EndedHandoff* ended) {
    if (!wanted.takes(job)) return true;
    if (std::exchange(last, job.id) != job.id && ++jobs > wanted.most) return false;
    found.push_back({&job, to, ended});
    return true;
  };
  for (const std::vector<Lane>* lanes : {&masters_, &sites_}) {
    for (const Lane& each : *lanes) {
      if (!wanted.active) continue;
      jobs = 0;
      last = {};
      each.waiting.highest_first(wanted.active_below, [&](const OnItsWay& one) {
        return use(one.job, &each.to, nullptr);
      });
    }
  }
  if (!wanted.over) return found;
  jobs = 0;
  last = {};
  ended_.highest_first(wanted.over_below,
                       [&](const EndedHandoff& one) { return use(one.job, nullptr, &one); });
  return found;
}

std::vector<SiteScheduler::Shown> SiteScheduler::parts_shown(JobId job) const {
  std::vector<Shown> found;
  for (const std::vector<Lane>* lanes : {&masters_, &sites_}) {
    for (const Lane& each : *lanes) {
      const OnItsWay* one = each.waiting.find(job);
      if (one != nullptr) found.push_back({&one->job, &each.to, nullptr});
    }
  }
  ended_.parts_of(job, [&](const EndedHandoff& one) {
    found.push_back({&one.job, nullptr, &one});
  });
  return found;
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
  std::string trouble = store_trouble_;
  if (learns_) trouble += (trouble.empty() ? "" : "; ") + who_is_learnt_from();
  return json{{"site", setup_.sites[own_].name},
              {"load", own_load()},
              {"jobs", query.what == "load" ? json::array() : shown_jobs(query)},
              {"masters", std::move(masters)},
              {"sites", std::move(sites)},
              {"sorting", std::move(sorting)},
              {"waiting", jobs_in_hand()},
              {"handed_over", handed_},
              {"trouble", std::move(trouble)}}
      .dump(-1, ' ', false, json::error_handler_t::replace);
}

}  // namespace muster
