#include "tools/serve/node/merge.hpp"

#include <algorithm>
#include <map>

namespace muster::merge {
namespace {

using nlohmann::json;

double number(const json& object, const std::string& key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_number() ? found->get<double>() : 0;
}
double number(const json& object, const std::string& part, const std::string& key) {
  const auto found = object.find(part);
  return found != object.end() && found->is_object() ? number(*found, key) : 0;
}
std::string text(const json& object, const std::string& key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string{};
}

double sum(const Documents& parts, const std::string& key) {
  double all = 0;
  for (const json& part : parts) all += number(part, key);
  return all;
}
double sum(const Documents& parts, const std::string& part, const std::string& key) {
  double all = 0;
  for (const json& document : parts) all += number(document, part, key);
  return all;
}

/// Sums of what is counted are whole numbers.
std::uint64_t count(const Documents& parts, const std::string& key) {
  return static_cast<std::uint64_t>(sum(parts, key));
}
std::uint64_t count(const Documents& parts, const std::string& part, const std::string& key) {
  return static_cast<std::uint64_t>(sum(parts, part, key));
}

api::Metric gauge(const std::string& name, const std::string& help) {
  return {name, help, false, {}};
}

}  // namespace

Documents parse(const std::vector<std::optional<std::string>>& answers) {
  Documents all;
  for (const auto& answer : answers) {
    if (!answer) continue;
    json document = json::parse(*answer, nullptr, false);
    if (document.is_object()) all.push_back(std::move(document));
  }
  return all;
}

json joined(const Documents& parts, const std::string& name, const std::string& key,
            std::uint32_t limit) {
  std::vector<json> all;
  for (const json& part : parts) {
    const auto list = part.find(name);
    if (list == part.end() || !list->is_array()) continue;
    all.insert(all.end(), list->begin(), list->end());
  }
  std::stable_sort(all.begin(), all.end(),
                   [&](const json& a, const json& b) { return number(a, key) > number(b, key); });
  if (limit > 0 && all.size() > limit) all.resize(limit);
  return json(std::move(all));
}

json cost(const Documents& masters, const std::optional<json>& rented) {
  std::map<std::string, double> by;
  std::map<std::string, double> idle;
  for (const json& master : masters) {
    const json kinds = master.value("idle_usd", json::object());
    for (const auto& [kind, usd] : kinds.items()) {
      if (usd.is_number()) idle[kind] += usd.get<double>();
    }
    for (const json& part : master.value("by", json::array())) {
      by[text(part, "name")] += number(part, "usd");
    }
  }
  if (rented) {
    for (const json& line : rented->value("rented", json::array())) {
      by[std::to_string(line.value("instance", std::uint64_t{0})) + " " + text(line, "type")] +=
          number(line, "usd");
    }
  }
  json list = json::array();
  for (const auto& [name, usd] : by) list.push_back({{"name", name}, {"usd", usd}});
  std::stable_sort(list.begin(), list.end(), [](const json& a, const json& b) {
    return number(a, "usd") > number(b, "usd");
  });
  return {{"total_usd", sum(masters, "total_usd")},
          {"tasks_usd", sum(masters, "tasks_usd")},
          {"unsettled_usd", sum(masters, "unsettled_usd")},
          {"idle_usd", idle},
          {"by", std::move(list)}};
}

json nodes(const std::vector<NodeLine>& lines) {
  json list = json::array();
  for (const NodeLine& line : lines) {
    list.push_back({{"node", line.name},
                    {"roles", line.roles},
                    {"connected", line.connected},
                    {"load", line.load}});
  }
  return {{"nodes", std::move(list)}};
}

json status(const Documents& loads, const Documents& sites, double now_s, const json& node_list) {
  std::map<std::pair<std::string, std::string>, std::uint64_t> counts;
  json caps = json::array();
  json trouble = json::array();
  for (const json& load : loads) {
    for (const json& line : load.value("instances", json::array())) {
      counts[{text(line, "type"), text(line, "market")}] +=
          static_cast<std::uint64_t>(number(line, "count"));
    }
    if (load.contains("caps")) caps.push_back(load["caps"]);
    if (!text(load, "trouble").empty()) {
      trouble.push_back(text(load, "master") + ": " + text(load, "trouble"));
    }
  }
  for (const json& site : sites) {
    if (!text(site, "trouble").empty()) {
      trouble.push_back("site " + text(site, "site") + ": " + text(site, "trouble"));
    }
  }
  for (const json& node : node_list) {
    if (!node.value("connected", false)) trouble.push_back(text(node, "node") + ": not connected");
  }
  json instances = json::array();
  for (const auto& [offer, count] : counts) {
    instances.push_back({{"type", offer.first}, {"market", offer.second}, {"count", count}});
  }
  return {{"now_s", now_s},
          {"jobs",
           {{"handing_over", count(sites, "waiting")},
            {"waiting", count(loads, "jobs", "waiting")},
            {"running", count(loads, "jobs", "running")},
            {"held", count(loads, "jobs", "held")},
            {"over", count(loads, "over_jobs")}}},
          {"tasks",
           {{"pending", count(loads, "tasks", "pending") + count(loads, "tasks", "assigned") +
                            count(loads, "tasks", "held")},
            {"running", count(loads, "tasks", "running")}}},
          {"instances", std::move(instances)},
          {"usd_h", sum(loads, "usd_h")},
          {"total_usd", sum(loads, "total_usd")},
          {"today_usd", sum(loads, "today_usd")},
          {"nodes", node_list},
          {"caps", std::move(caps)},
          {"trouble", std::move(trouble)}};
}

api::MetricsInput metrics(const Documents& loads, const Documents& sites) {
  api::Metric jobs = gauge("muster_jobs", "Jobs by state");
  api::Metric tasks = gauge("muster_tasks", "Tasks of unfinished jobs by phase");
  api::Metric instances = gauge("muster_instances", "Instances that are rented");
  api::Metric rate = gauge("muster_spend_usd_per_hour", "Price of all instances that are up");
  api::Metric spent{"muster_spent_usd_total", "Dollars charged so far", true, {}};
  api::Metric rounds{"muster_rounds_total", "Policy rounds", true, {}};
  api::Metric decision = gauge("muster_decision_seconds", "How long the last decision took");
  for (const json& load : loads) {
    const std::string master = text(load, "master");
    for (const char* state : {"waiting", "running", "held"}) {
      jobs.samples.push_back({{{"state", state}, {"master", master}}, number(load, "jobs", state)});
    }
    for (const char* phase : {"pending", "assigned", "held", "running"}) {
      tasks.samples.push_back(
          {{{"phase", phase}, {"master", master}}, number(load, "tasks", phase)});
    }
    for (const json& line : load.value("instances", json::array())) {
      instances.samples.push_back(
          {{{"type", text(line, "type")}, {"market", text(line, "market")}, {"master", master}},
           number(line, "count")});
    }
    rate.samples.push_back({{{"master", master}}, number(load, "usd_h")});
    spent.samples.push_back({{{"master", master}}, number(load, "total_usd")});
    rounds.samples.push_back({{{"master", master}}, number(load, "rounds")});
    decision.samples.push_back({{{"master", master}}, number(load, "last_decision_ms") / 1e3});
  }
  for (const json& site : sites) {
    jobs.samples.push_back(
        {{{"state", "handing over"}, {"site", text(site, "site")}}, number(site, "waiting")});
  }
  api::MetricsInput all;
  all.metrics = {jobs, tasks, instances, rate, spent, rounds, decision};
  return all;
}

}  // namespace muster::merge
