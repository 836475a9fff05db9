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
    } else if (!out.value("over_s", json()).is_null()) {
      out["over_s"] = nullptr;
      out["state"] = "unknown";
    }
  } else {
    out["tasks_total"] = known;
  }
  put_failures(out, first_failed(parts));
  return out;
}

}  // namespace

json jobs(const Documents& parts, std::uint32_t limit, bool over_only, bool complete) {
  std::map<std::uint64_t, std::vector<json>, std::greater<>> by_id;
  for (const json& part : parts) {
    const auto list = part.find("jobs");
    if (list == part.end() || !list->is_array()) continue;
    for (const json& one : *list) by_id[count(one, "job")].push_back(one);
  }
  json list = json::array();
  for (const auto& [id, each] : by_id) {
    if (over_only && tasks_in(each) < count(each.front(), "whole_tasks")) continue;
    list.push_back(merged(each, complete));
  }
  if (limit == 0 || list.size() <= limit) return list;
  // Each master has left out by this order what it does not show.
  const auto rank = [](const json& job) {
    const json over_s = job.value("over_s", json());
    return over_s.is_number() ? over_s.get<double>() : std::numeric_limits<double>::infinity();
  };
  std::stable_sort(list.begin(), list.end(),
                   [&](const json& a, const json& b) { return rank(a) > rank(b); });
  list.erase(list.begin() + static_cast<std::ptrdiff_t>(limit), list.end());
  std::sort(list.begin(), list.end(),
            [](const json& a, const json& b) { return count(a, "job") > count(b, "job"); });
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

std::optional<json> job(const Documents& parts, bool complete) {
  std::vector<json> found;
  std::vector<json> tasks;
  bool explained = false;
  for (const json& part : parts) {
    if (part.contains("missing")) continue;
    explained = part.contains("job") && part["job"].is_object();
    found.push_back(explained ? part["job"] : part);
    found.back().erase("tasks");
    const json list = part.value("tasks", json::array());
    tasks.insert(tasks.end(), list.begin(), list.end());
  }
  if (found.empty()) return std::nullopt;
  std::stable_sort(tasks.begin(), tasks.end(), [](const json& a, const json& b) {
    return count(a, "task") < count(b, "task");
  });
  json whole = merged(found, complete);
  if (explained) return json{{"job", std::move(whole)}, {"tasks", std::move(tasks)}};
  whole["tasks"] = std::move(tasks);
  return whole;
}

}  // namespace muster::merge
