#include <algorithm>
#include <utility>

#include "tools/serve/node/actor_backend.hpp"
#include "tools/serve/node/backend_answers.hpp"
#include "tools/serve/node/gather.hpp"

// What the API shows of the cluster: put together of what masters and sites say, with a word of
// those who say nothing.

namespace muster {
namespace {

using api::refusal;
using backend::ok;
using backend::ok_but_for;
using nlohmann::json;
using Texts = std::vector<std::optional<std::string>>;

}  // namespace

void ActorBackend::view(const api::View& what, api::Reply reply) {
  using Kind = api::View::Kind;
  switch (what.kind) {
    case Kind::jobs:
      return view_jobs(what, std::move(reply));
    case Kind::job:
      return what.wait > Duration::zero() ? view_job_when_over(what, std::move(reply))
                                          : view_job(what, std::move(reply));
    case Kind::explain:
      return view_job(what, std::move(reply));
    case Kind::instances:
      return view_list({"instances", 0, {}, 0}, "instances", "requested_s", std::move(reply));
    case Kind::decisions:
      return view_list({"decisions", 0, {}, what.limit}, "decisions", "at_s", std::move(reply));
    case Kind::cost:
      return view_cost(what, std::move(reply));
    case Kind::nodes:
      return loads([this, reply](const Texts& masters, const Texts&) {
        reply(ok({{"nodes", node_list(masters)}}));
      });
    case Kind::status:
      return loads([this, reply](const Texts& masters, const Texts& sites) {
        reply(ok_but_for(merge::status(merge::parse(masters), merge::parse(sites),
                                       to_seconds(now()), node_list(masters)),
                         silent(masters, sites)));
      });
  }
}

void ActorBackend::view_list(const Query& query, const std::string& name, const std::string& key,
                             api::Reply reply) {
  ask_all<std::string>(
      system_, handles_.masters, timeout_,
      [this, name, key, limit = query.limit, reply](const Answers<std::string>& masters) {
        const merge::Documents parts = merge::parse(masters);
        if (parts.empty()) {
          return reply(refusal(503, "unreachable", "no master can be reached at present"));
        }
        reply(ok_but_for({{name, merge::joined(parts, name, key, limit)}}, silent(masters, {})));
      },
      query);
}

void ActorBackend::view_cost(const api::View& what, api::Reply reply) {
  static constexpr const char* kBy[] = {"user", "job", "instance"};
  const bool by_instance = what.by == api::CostBy::instance;
  ask_all<std::string>(
      system_, handles_.masters, timeout_,
      [this, by_instance, reply](const Answers<std::string>& masters) {
        const merge::Documents parts = merge::parse(masters);
        if (parts.empty()) {
          return reply(refusal(503, "unreachable", "no master can be reached at present"));
        }
        json missing = silent(masters, {});
        if (!by_instance) {
          return reply(ok_but_for(merge::cost(parts, std::nullopt), std::move(missing)));
        }
        ask<std::string>(
            system_, handles_.cloud, timeout_,
            [this, parts, missing, reply](const caf::expected<std::string>& rented) {
              json bill = rented ? json::parse(*rented, nullptr, false) : json();
              if (bill.is_object()) return reply(ok_but_for(merge::cost(parts, bill), missing));
              json silent = missing;
              silent.push_back({{"cloud", config_.cloud().name}});
              reply(ok_but_for(merge::cost(parts, std::nullopt), std::move(silent)));
            },
            Query{"rented", 0, {}, 0});
      },
      Query{"cost", 0, kBy[static_cast<std::size_t>(what.by)], 0});
}

void ActorBackend::loads(std::function<void(Texts, Texts)> use) {
  ask_all<std::string>(
      system_, handles_.masters, timeout_,
      [this, use](const Answers<std::string>& masters) {
        last_->hear(masters, {}, now(), true);
        ask_all<std::string>(
            system_, handles_.sites, timeout_,
            [use, masters](const Answers<std::string>& sites) { use(masters, sites); },
            Query{"load", 0, {}, 0});
      },
      Query{"load", 0, {}, 0});
}

json ActorBackend::silent(const Texts& masters, const Texts& sites) {
  const Instant heard = now();
  last_->hear(masters, sites, heard, false);
  return last_->silent(masters, sites, heard);
}

json ActorBackend::node_list(const Texts& masters) const {
  std::vector<merge::NodeLine> lines;
  std::size_t next_master = 0;
  for (const NodeConfig& node : config_.nodes) {
    merge::NodeLine line;
    line.name = node.name;
    line.connected = handles_.connected(node.name);
    if (node.site) line.roles.push_back("site " + *node.site);
    if (node.master) {
      line.roles.push_back("master " + *node.master);
      const auto& said = masters[next_master++];
      const json load = said ? json::parse(*said, nullptr, false) : json();
      if (load.is_object()) {
        line.load = {{"jobs", load.value("active_jobs", 0)},
                     {"pending_tasks", load.value("tasks", json::object()).value("pending", 0)},
                     {"instances", load.value("instance_count", 0)},
                     {"usd_h", load.value("usd_h", 0.0)},
                     {"policy", config_.policy}};
      }
    }
    if (node.cloud) line.roles.push_back("cloud");
    if (node.api) line.roles.push_back("api");
    lines.push_back(std::move(line));
  }
  return merge::nodes(lines)["nodes"];
}

void ActorBackend::metrics(std::function<void(std::optional<api::MetricsInput>)> reply) {
  loads([this, reply](const Texts& masters, const Texts& sites) {
    const merge::Documents parts = merge::parse(masters);
    api::MetricsInput all = merge::metrics(parts, merge::parse(sites));
    all.reachable = !parts.empty();
    api::Metric reachable{"muster_master_reachable",
                          "Whether the master answers; 0: its part is missing in all others",
                          false,
                          {}};
    const std::vector<const NodeConfig*> nodes = config_.masters();
    for (std::size_t i = 0; i < masters.size(); ++i) {
      reachable.samples.push_back({{{"master", *nodes[i]->master}}, masters[i] ? 1.0 : 0.0});
    }
    all.metrics.insert(all.metrics.begin(), std::move(reachable));
    reply(std::move(all));
  });
}

}  // namespace muster
