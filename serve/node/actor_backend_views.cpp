#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <memory>
#include <mutex>
#include <utility>

#include "serve/node/actor_backend.hpp"
#include "serve/node/backend_answers.hpp"
#include "serve/node/service_looks.hpp"
#include "serve/node/usage_pages.hpp"
#include "serve/node/view_json.hpp"

// Views of the cluster: put together of the answers of masters and sites, with the names of the
// silent ones.

namespace muster {
namespace {

using api::Answer;
using api::refusal;
using backend::none_answers;
using backend::ok;

api::Metric reachable_metric(const std::vector<const NodeConfig*>& nodes,
                             const Answers<CellFigures>& masters) {
  api::Metric reachable{"muster_master_reachable",
                        "Whether the master answers; 0: its part is missing in all others",
                        false,
                        {}};
  for (std::size_t i = 0; i < masters.size(); ++i) {
    reachable.samples.push_back({{{"master", *nodes[i]->master}}, masters[i] ? 1.0 : 0.0});
  }
  return reachable;
}

/// Of the node's own messages to users.
void add_post_figures(api::MetricsInput& all, const notify::PostFigures& post) {
  const auto add = [&](const char* name, const char* help, bool counts, double value) {
    all.metrics.push_back({name, help, counts, {{{}, value}}});
  };
  add("muster_messages_waiting", "Messages to users that wait to be sent, by this node", false,
      static_cast<double>(post.waiting));
  add("muster_messages_sent_total", "Messages to users that have arrived", true,
      static_cast<double>(post.sent));
  add("muster_messages_failed_tries_total", "Tries to send one that have failed", true,
      static_cast<double>(post.failed_tries));
  add("muster_messages_given_up_total", "Messages to users that were given up", true,
      static_cast<double>(post.given_up));
}

std::vector<std::string> roles_of(const NodeConfig& node) {
  std::vector<std::string> roles;
  if (node.site) roles.push_back("site " + *node.site);
  if (node.master) roles.push_back("master " + *node.master);
  if (node.cloud) roles.emplace_back("cloud");
  if (node.api) roles.emplace_back("api");
  return roles;
}

/// A master that has not answered has no load.
NodeLoad load_of(const std::optional<CellFigures>& said, const std::string& policy) {
  if (!said) return {};
  return {said->active_jobs, said->pending, said->instance_count, said->usd_h, policy};
}

}  // namespace

/// Asks all masters, and answers with what `merge` makes of their views.
template <class View, class Merge, class... Question>
void ActorBackend::gather(api::Reply reply, Merge merge, const Question&... question) {
  ask_all<View>(
      system_, handles_.masters, timeout_,
      [this, reply, merge](Answers<View> masters) {
        const Answered who = answered(masters);
        const bool too_large = masters.too_large;
        std::vector<View> parts = heard(std::move(masters));
        if (parts.empty()) return reply(none_answers(too_large));
        reply(ok(view_json::document(merge(std::move(parts)), silent(who, {}))));
      },
      question...);
}

/// Only the master that rented it knows of it.
void ActorBackend::view_life(const api::View& what, api::Reply reply) {
  ask_all<InstanceLife>(
      system_, handles_.masters, timeout_,
      [this, reply, id = what.instance](Answers<InstanceLife> masters) {
        const Silent missing = silent(answered(masters), {});
        for (const InstanceLife& life : heard(std::move(masters))) {
          if (life.known) return reply(ok(view_json::document(life)));
        }
        if (!missing.empty()) {
          return reply(refusal(503, "unreachable",
                               "not every master can be reached at present, and the others do not "
                               "know of the instance"));
        }
        reply(
            refusal(404, "not found",
                    fmt::format("there is no instance {}, nor is it one of the last that are gone",
                                id.value)));
      },
      InstanceQuestion{what.instance});
}

void ActorBackend::view_decisions(const api::View& what, api::Reply reply) {
  const auto has_name = [&](const NodeConfig& node) { return node.master == what.master; };
  if (!what.master.empty() && std::ranges::none_of(config_.nodes, has_name)) {
    return reply(refusal(404, "not found", fmt::format("no master is called {}", what.master)));
  }
  DecisionsQuestion wanted{what.limit, what.job, what.instance, {}};
  if (what.within > Duration::zero()) wanted.since = now() - what.within;
  const auto newest = [limit = what.limit, of = what.master](std::vector<DecisionsView> masters) {
    if (!of.empty()) {
      for (DecisionsView& each : masters) {
        std::erase_if(each.decisions, [&](const DecisionView& one) { return one.master != of; });
      }
    }
    return merge::decisions(std::move(masters), limit);
  };
  gather<DecisionsView>(std::move(reply), newest, decisions_atom_v, wanted);
}

void ActorBackend::view(const api::View& what, api::Reply reply) {
  using api::Operation;
  switch (what.of) {
    case Operation::jobs:
      return looks_.look_at_jobs(what, std::move(reply));
    case Operation::job:
    case Operation::explain:
      return looks_.look_at_job(what, std::move(reply));
    case Operation::services:
    case Operation::service:
    case Operation::endpoints:
      return look_at_services(job_asks(), what, std::move(reply));
    case Operation::instances:
      return view_instances(std::move(reply));
    case Operation::instance:
      return view_life(what, std::move(reply));
    case Operation::usage:
      return look_at_usage(places(), what, std::move(reply));
    case Operation::decisions:
      return view_decisions(what, std::move(reply));
    case Operation::history:
      return gather<HistoryView>(std::move(reply), merge::history, history_atom_v, what.hours);
    case Operation::cost:
      return view_cost(what, std::move(reply));
    case Operation::cost_today:
      return look_at_day_costs(
          asked_, [this](const Answered& masters) { return silent(masters, {}); },
          std::move(reply));
    case Operation::nodes:
      return figures(figures_atom_v, [this, reply](const auto& masters, const auto& sites) {
        reply(ok(view_json::document(NodesView{node_list(masters)},
                                     silent(answered(masters), answered(sites)))));
      });
    case Operation::status:
      return figures(figures_atom_v, [this, reply](const auto& masters, const auto& sites) {
        reply(ok(view_json::document(
            merge::status(heard(masters), heard(sites), now(), node_list(masters)),
            silent(answered(masters), answered(sites)))));
      });
    default:  // of a route that has no view, which a test would find
      return reply(refusal(404, "not found", "there is no such view of the cluster"));
  }
}

/// The next message of a master's instances, until it has told of all; `so_far` is what came. A
/// master that does not answer for all of them counts as silent.
void ActorBackend::add_instances(std::size_t master, std::shared_ptr<InstancesView> so_far,
                                 std::function<void(caf::expected<InstancesView>)> done) {
  InstanceId after;
  if (!so_far->instances.empty()) after = so_far->instances.back().instance;
  ask<InstancesView>(
      system_, handles_.masters[master], timeout_,
      [this, master, so_far, done](caf::expected<InstancesView> piece) {
        if (!piece) return done(std::move(piece));
        const bool more = piece->more && !piece->instances.empty();
        std::move(piece->instances.begin(), piece->instances.end(),
                  std::back_inserter(so_far->instances));
        if (!more) return done(std::move(*so_far));
        add_instances(master, so_far, done);
      },
      instances_atom_v, after);
}

void ActorBackend::view_instances(api::Reply reply) {
  struct Gathered {
    std::mutex mutex{};
    Answers<InstancesView> answers{};
    std::size_t missing = 0;
  };
  const auto all = std::make_shared<Gathered>();
  all->missing = handles_.masters.size();
  all->answers.resize(handles_.masters.size());
  for (std::size_t i = 0; i < handles_.masters.size(); ++i) {
    add_instances(
        i, std::make_shared<InstancesView>(),
        [this, all, i, reply](caf::expected<InstancesView> whole) {
          {
            const std::lock_guard lock(all->mutex);
            all->answers.too_large |= !whole && whole.error() == ActorError::too_large;
            if (whole) all->answers[i] = std::move(*whole);
            if (--all->missing > 0) return;
          }
          const Answered who = answered(all->answers);
          const bool too_large = all->answers.too_large;
          auto parts = heard(std::move(all->answers));
          if (parts.empty()) return reply(none_answers(too_large));
          reply(ok(view_json::document(merge::instances(std::move(parts)), silent(who, {}))));
        });
  }
}

void ActorBackend::view_cost(const api::View& what, api::Reply reply) {
  static constexpr CostSplit kBy[] = {CostSplit::user, CostSplit::job, CostSplit::instance};
  const CostSplit by = kBy[static_cast<std::size_t>(what.by)];
  ask_all<CostView>(
      system_, handles_.masters, timeout_,
      [this, by, reply](Answers<CostView> masters) {
        const Silent missing = silent(answered(masters), {});
        const bool too_large = masters.too_large;
        const std::vector<CostView> parts = heard(std::move(masters));
        if (parts.empty()) return reply(none_answers(too_large));
        if (by != CostSplit::instance) {
          return reply(ok(view_json::document(merge::cost(parts, std::nullopt), missing)));
        }
        ask<RentedView>(
            system_, handles_.cloud, timeout_,
            [this, parts, missing, reply](const caf::expected<RentedView>& rented) {
              if (rented)
                return reply(ok(view_json::document(merge::cost(parts, *rented), missing)));
              Silent without = missing;
              without.push_back({.cloud = config_.cloud_node().name});
              reply(ok(view_json::document(merge::cost(parts, std::nullopt), without)));
            },
            RentedQuestion{});
      },
      CostQuestion{by});
}

template <class Question>
void ActorBackend::figures(Question of_masters,
                           std::function<void(Answers<CellFigures>, Answers<SiteFigures>)> use) {
  ask_all<CellFigures>(
      system_, handles_.masters, timeout_,
      [this, use](const Answers<CellFigures>& masters) {
        last_->on_load(answered(masters), {}, now());
        last_->persist(masters);
        ask_all<SiteFigures>(
            system_, handles_.sites, timeout_,
            [use, masters](const Answers<SiteFigures>& sites) { use(masters, sites); },
            figures_atom_v);
      },
      of_masters);
}

Silent ActorBackend::silent(const Answered& masters, const Answered& sites) {
  return last_->silent(masters, sites, now());
}

std::vector<NodeView> ActorBackend::node_list(const Answers<CellFigures>& masters) const {
  std::vector<NodeView> lines;
  std::size_t next_master = 0;
  for (const NodeConfig& node : config_.nodes) {
    NodeView line{node.name, roles_of(node), handles_.connected(node.name), {}};
    if (node.master) line.load = load_of(masters[next_master++], config_.policy);
    lines.push_back(std::move(line));
  }
  return lines;
}

void ActorBackend::metrics(std::function<void(std::optional<api::MetricsInput>)> reply) {
  figures(series_atom_v, [this, reply](const auto& masters, const auto& sites) {
    const std::vector<CellFigures> parts = heard(masters);
    api::MetricsInput all = merge::metrics(parts, heard(sites));
    all.reachable = !parts.empty();
    if (handles_.post != nullptr) add_post_figures(all, handles_.post->figures());
    all.metrics.insert(all.metrics.begin(), reachable_metric(config_.masters(), masters));
    reply(std::move(all));
  });
}

}  // namespace muster
