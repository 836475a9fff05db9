#include "tools/serve/node/merge_jobs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace muster::merge {
namespace {

using nlohmann::json;

constexpr std::array kCounts{"waiting",  "held",   "starting",       "running",
                             "finished", "failed", "failed_attempts"};
/// The first one of them that a part is in is what the job is.
constexpr std::array kStates{"stopping", "running", "starting",  "waiting", "handing over",
                             "held",     "refused", "cancelled", "failed"};

std::uint64_t count(const json& job, const char* key) {
  return job.value(key, std::uint64_t{0});
}

std::string state_of(const std::vector<json>& parts) {
  for (const char* state : kStates) {
    for (const json& part : parts) {
      if (part.value("state", "") == state) return state;
    }
  }
  return parts.front().value("state", "");
}

/// Numbers of what may be null: the extreme one, null when any is missing (`all`) or all are.
json extreme(const std::vector<json>& parts, const char* key, bool largest, bool all) {
  json found;
  for (const json& part : parts) {
    const json value = part.value(key, json());
    if (!value.is_number()) {
      if (all) return nullptr;
      continue;
    }
    const bool better = largest ? value > found : value < found;
    if (found.is_null() || better) found = value;
  }
  return found;
}

std::string masters_of(const std::vector<json>& parts) {
  std::string names;
  for (const json& part : parts) {
    const json master = part.value("master", json());
    if (master.is_string()) names += (names.empty() ? "" : ", ") + master.get<std::string>();
  }
  return names;
}

/// The part with the failed task of the lowest index; null when none has failed for good.
const json* first_failed(const std::vector<json>& parts) {
  const json* first = nullptr;
  for (const json& part : parts) {
    if (!part.value("failed_task", json()).is_number()) continue;
    if (first == nullptr || count(part, "failed_task") < count(*first, "failed_task")) {
      first = &part;
    }
  }
  return first;
}

/// What failed tasks make of the job: its exit code, and of one that has ended its state and
/// reason. A job of which more have failed than may was cancelled for that.
void put_failures(json& job, const json* first) {
  const bool completed = job.value("state", "") == "completed";
  job["exit_code"] = completed ? json(0) : json(nullptr);
  job["failed_task"] = nullptr;
  job.erase("failure");
  if (first == nullptr) return;
  job["exit_code"] = first->value("exit_code", json());
  job["failed_task"] = (*first)["failed_task"];
  const std::uint64_t failed = count(job, "failed");
  const json allowed = job.value("max_fails", json());
  const bool too_many = allowed.is_number() && failed > allowed.get<std::uint64_t>();
  if (too_many && job.value("state", "") == "cancelled") job["state"] = "failed";
  const json text = first->value("failure", json());
  if (job.value("state", "") != "failed" || !text.is_string()) return;
  std::string reason = text.get<std::string>();
  if (failed > 1 || too_many) {
    reason += fmt::format("; {} of {} tasks {} failed", failed, count(job, "tasks_total"),
                          failed == 1 ? "has" : "have");
  }
  if (too_many) reason += fmt::format(", and only {} may", allowed.get<std::uint64_t>());
  job["reason"] = reason;
}

/// Why it waits or is over, where one who has a part says so.
json reason_of(const std::vector<json>& parts) {
  for (const json& part : parts) {
    const json reason = part.value("reason", json());
    if (reason.is_string() && part.value("state", "") == state_of(parts)) return reason;
  }
  return nullptr;
}

/// Calls `use` for each job that a document is about or lists.
template <class Use>
void each_job(const json& document, Use use) {
  if (document.contains("jobs") && document["jobs"].is_array()) {
    for (const json& one : document["jobs"]) use(one);
  } else if (document.contains("job") && document["job"].is_object()) {
    use(document["job"]);
  } else if (document.contains("job")) {
    use(document);
  }
}

std::uint64_t tasks_in(const std::vector<json>& parts) {
  std::uint64_t sum = 0;
  for (const json& part : parts) sum += count(part, "tasks_total");
  return sum;
}

bool is_over(const json& job) {
  return !job.value("over_s", json()).is_null();
}

/// Whether the job stands behind the place in the list.
bool comes_behind(const ListedJob& job, const JobCursor& place) {
  return job.over == place.over ? job.job < place.behind : job.over;
}

/// One job of its parts; tasks of a part that is not among them have finished, when everybody who
/// may have it has answered.
json merged(const std::vector<json>& parts, bool complete) {
  json out = parts.front();
  const std::uint64_t whole = count(out, "whole_tasks");
  out.erase("whole_tasks");
  out.erase("to");
  out.erase("to_site");
  if (parts.size() > 1) {
    for (const char* key : kCounts) {
      std::uint64_t sum = 0;
      for (const json& part : parts) sum += count(part, key);
      out[key] = sum;
    }
    double usd = 0;
    for (const json& part : parts) usd += part.value("usd", 0.0);
    out["usd"] = usd;
    out["state"] = state_of(parts);
    out["submitted_s"] = extreme(parts, "submitted_s", false, false);
    out["over_s"] = extreme(parts, "over_s", true, true);
    out["reason"] = reason_of(parts);
    const std::string masters = masters_of(parts);
    if (!masters.empty()) out["master"] = masters;
  }
  const std::uint64_t known = tasks_in(parts);
  if (whole > known) {
    out["tasks_total"] = whole;
    if (complete) {
      out["finished"] = count(out, "finished") + whole - known;
    } else if (is_over(out)) {
      out["over_s"] = nullptr;
      out["state"] = "unknown";
    }
  } else {
    out["tasks_total"] = known;
  }
  put_failures(out, first_failed(parts));
  return out;
}

/// The tasks that several list, each of them the first of its own by their indices.
class TaskLists {
 public:
  void add(const json& part) {
    const json list = part.value("tasks", json::array());
    tasks_.insert(tasks_.end(), list.begin(), list.end());
    const std::uint64_t behind = count(part, "tasks_behind");
    behind_ += behind;
    // Behind the last one that it lists it has others, which may come before those of the others.
    if (behind > 0 && !list.empty()) known_to_ = std::min(known_to_, count(list.back(), "task"));
  }
  /// The first of all, at most so many (0: any number), and what comes behind them.
  void put_page(json& document, std::size_t limit) {
    std::stable_sort(tasks_.begin(), tasks_.end(), [](const json& a, const json& b) {
      return count(a, "task") < count(b, "task");
    });
    const auto end = std::find_if(tasks_.begin(), tasks_.end(), [&](const json& task) {
      return count(task, "task") > known_to_;
    });
    std::size_t size = static_cast<std::size_t>(end - tasks_.begin());
    if (limit > 0) size = std::min(size, limit);
    behind_ += tasks_.size() - size;
    tasks_.resize(size);
    const bool more = behind_ > 0 && !tasks_.empty();
    document["next"] = more ? json(count(tasks_.back(), "task")) : json(nullptr);
    document["tasks_behind"] = behind_;
    document["tasks"] = std::move(tasks_);
  }

 private:
  std::vector<json> tasks_;
  std::uint64_t behind_ = 0;
  std::uint64_t known_to_ = std::numeric_limits<std::uint64_t>::max();
};

}  // namespace

ListedPage page(const Documents& parts, const std::optional<JobCursor>& after, std::size_t limit) {
  std::map<std::uint64_t, std::vector<json>> by_id;
  for (const json& part : parts) {
    const auto list = part.find("jobs");
    if (list == part.end() || !list->is_array()) continue;
    for (const json& one : *list) by_id[count(one, "job")].push_back(one);
  }
  std::vector<ListedJob> all;
  for (auto& [id, job] : by_id) {
    const bool over = std::all_of(job.begin(), job.end(), is_over);
    ListedJob listed{JobId{id}, over, std::move(job)};
    if (!after || comes_behind(listed, *after)) all.push_back(std::move(listed));
  }
  std::sort(all.begin(), all.end(), [](const ListedJob& a, const ListedJob& b) {
    return a.over != b.over ? b.over : a.job > b.job;
  });
  ListedPage page;
  if (all.size() > limit) {
    all.resize(limit);
    page.next = JobCursor{all.back().over, all.back().job};
  }
  page.jobs = std::move(all);
  return page;
}

std::vector<JobId> in_doubt(const ListedPage& page) {
  std::vector<JobId> jobs;
  for (const ListedJob& job : page.jobs) {
    if (tasks_in(job.parts) < count(job.parts.front(), "whole_tasks")) jobs.push_back(job.job);
  }
  return jobs;
}

void settle(ListedPage& page, const Documents& answers) {
  std::map<std::uint64_t, std::vector<json>> by_id;
  for (const json& answer : answers) {
    each_job(answer, [&](const json& one) { by_id[count(one, "job")].push_back(one); });
  }
  std::erase_if(page.jobs, [&](ListedJob& job) {
    const auto found = by_id.find(job.job.value);
    if (found == by_id.end()) return false;
    std::vector<json>& parts = found->second;
    const bool runs_on = !std::all_of(parts.begin(), parts.end(), is_over);
    if (job.over && runs_on) return true;
    // Somebody may have fallen silent since he told of his part.
    if (tasks_in(parts) >= tasks_in(job.parts)) job.parts = std::move(parts);
    return false;
  });
}

json jobs(const ListedPage& page, bool over_only, bool complete) {
  json list = json::array();
  for (const ListedJob& job : page.jobs) {
    json whole = merged(job.parts, complete);
    if (over_only && !is_over(whole)) continue;
    list.push_back(std::move(whole));
  }
  return list;
}

void drop_arrived(Documents& sites, const Documents& masters) {
  std::set<std::pair<std::uint64_t, std::string>> at_master;
  std::map<std::uint64_t, std::size_t> holders;
  for (const json& master : masters) {
    each_job(master, [&](const json& one) {
      at_master.emplace(count(one, "job"), masters_of({one}));
      ++holders[count(one, "job")];
    });
  }
  for (const json& site : sites) {
    each_job(site, [&](const json& one) { ++holders[count(one, "job")]; });
  }
  for (json& site : sites) {
    json left = json::array();
    each_job(site, [&](const json& one) {
      const json to = one.value("to", json());
      const bool there = to.is_string() && at_master.contains({count(one, "job"), to});
      const bool elsewhere = one.value("to_site", false) && holders[count(one, "job")] > 1;
      if (!there && !elsewhere) left.push_back(one);
    });
    site["jobs"] = std::move(left);
  }
}

Documents as_details(const Documents& sites, bool explained) {
  Documents details;
  for (const json& site : sites) {
    for (const json& one : site.value("jobs", json::array())) {
      json part = one;
      if (explained) part = json{{"job", one}};
      part["tasks"] = json::array();
      details.push_back(std::move(part));
    }
  }
  return details;
}

bool is_whole(const Documents& parts) {
  std::vector<json> jobs;
  for (const json& part : parts) {
    each_job(part, [&jobs](const json& one) { jobs.push_back(one); });
  }
  return jobs.empty() || tasks_in(jobs) >= count(jobs.front(), "whole_tasks");
}

std::optional<json> job(const Documents& parts, bool complete, std::size_t limit) {
  std::vector<json> found;
  TaskLists tasks;
  bool explained = false;
  for (const json& part : parts) {
    if (part.contains("missing")) continue;
    explained = part.contains("job") && part["job"].is_object();
    found.push_back(explained ? part["job"] : part);
    for (const char* key : {"tasks", "tasks_behind"}) found.back().erase(key);
    tasks.add(part);
  }
  if (found.empty()) return std::nullopt;
  json whole = merged(found, complete);
  if (explained) whole = json{{"job", std::move(whole)}};
  tasks.put_page(whole, limit);
  return whole;
}

}  // namespace muster::merge
