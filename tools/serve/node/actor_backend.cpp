#include "tools/serve/node/actor_backend.hpp"

#include <algorithm>
#include <utility>

#include "model/live_ids.hpp"
#include "tools/serve/node/gather.hpp"
#include "tools/serve/node/merge_jobs.hpp"

namespace muster {
namespace {

using api::Answer;
using api::refusal;
using nlohmann::json;
using Texts = std::vector<std::optional<std::string>>;

std::string dump(const json& document) {
  return document.dump(-1, ' ', false, json::error_handler_t::replace);
}

Answer ok(const json& document) {
  return {200, dump(document)};
}

/// The document, and whether everybody has answered who has a part of what it shows.
Answer ok_but_for(json document, const std::vector<std::string>& silent) {
  document["complete"] = silent.empty();
  document["silent"] = silent;
  return ok(document);
}

/// Whether a job's document says that it is over.
bool says_over(const Answer& answer) {
  const json document = json::parse(answer.json, nullptr, false);
  return document.is_object() && document.contains("over_s") && !document["over_s"].is_null();
}

/// Calls `done` once: when the site says that the job is over, or when the time has passed.
void await_end(caf::actor_system& system, const SiteActor& site, JobId job, Duration wait,
               std::function<void()> done) {
  system.spawn<caf::hidden>([=](caf::event_based_actor* self) -> caf::behavior {
    const auto end = [self, done] {
      self->quit();
      done();
    };
    const auto listener = caf::actor_cast<JobListener>(caf::actor{self});
    self->request(site, wait, watch_atom_v, listener, std::vector<JobId>{job})
        .then(
            [end](const std::vector<JobEnd>& ends) {
              if (!ends.empty()) end();
            },
            [](const caf::error&) {});  // then the time has to pass
    self->delayed_send(self, wait, over_atom_v);
    return {[end](over_atom, const JobEnd&) { end(); }, [end](over_atom) { end(); }};
  });
}

/// What is asked for, in words.
std::string name_of(const api::LogQuery& query) {
  const std::string attempt =
      query.attempt == 0 ? "" : "attempt " + std::to_string(query.attempt) + " of ";
  return attempt + "task " + std::to_string(query.index) + " of job " +
         std::to_string(query.job.value);
}

/// What an actor's refusal to answer comes to for a client, who has asked for `what`.
Answer from_error(const caf::error& error, const caf::actor_system& system,
                  const std::string& what) {
  if (error == ActorError::unknown) {
    const caf::message& more = error.context();
    const bool is_told = more.match_elements<std::string>();
    return refusal(404, "not found",
                   "there is no " + what + (is_told ? "; " + more.get_as<std::string>(0) : ""));
  }
  if (error == ActorError::invalid_job) return refusal(422, "invalid", "the job is not valid");
  if (error == ActorError::too_many) {
    return refusal(429, "too many", "as many cancels as may be open wait to be confirmed");
  }
  if (error == ActorError::learns_numbers) {
    const caf::message& more = error.context();
    return refusal(503, "numbers",
                   more.match_elements<std::string>() ? more.get_as<std::string>(0)
                                                      : "the site still learns its numbers");
  }
  if (error == ActorError::store_failed) {
    return refusal(503, "store", "the store takes nothing at present: " + system.render(error));
  }
  return refusal(503, "unreachable",
                 "the part of the cluster that would know cannot be reached at present");
}

/// As many jobs as the site has room for wait there: the same may be sent again.
Answer not_submitted(const caf::error& error, const caf::actor_system& system) {
  if (error != ActorError::too_many) return from_error(error, system, "such site");
  return refusal(503, "busy", "as many jobs as there is room for wait at the site already");
}

/// A job's number in a refusal is that of another job, which has the token.
Answer not_accepted(const AcceptVerdict& verdict) {
  return verdict.job.valid() ? refusal(409, "token", verdict.reason)
                             : refusal(422, "invalid", verdict.reason);
}

}  // namespace

ActorBackend::ActorBackend(caf::actor_system& system, const ClusterConfig& config,
                           ClusterHandles handles, ClusterEpoch epoch)
    : system_(system),
      config_(config),
      handles_(std::move(handles)),
      epoch_(epoch),
      timeout_(config.link.request_timeout / 2) {}

double ActorBackend::now_s() const {
  return to_seconds(epoch_.instant(system_.clock().now()));
}

void ActorBackend::submit(std::vector<Job> jobs, api::Reply reply) {
  ask<std::vector<AcceptVerdict>>(
      system_, handles_.own_site, timeout_,
      [this, reply](const caf::expected<std::vector<AcceptVerdict>>& verdicts) {
        if (!verdicts) return reply(not_submitted(verdicts.error(), system_));
        json list = json::array();
        for (const AcceptVerdict& verdict : *verdicts) {
          if (!verdict.accepted) return reply(not_accepted(verdict));
          list.push_back({{"job", verdict.job.value}});
        }
        reply({201, dump({{"jobs", std::move(list)}})});
      },
      hand_atom_v, std::move(jobs));
}

/// Asks every master, then every site, whose the job is.
void ActorBackend::find(JobId job, std::uint32_t index, std::function<void(const Found&)> done) {
  const Query at_master{"find", job.value, std::to_string(index), 0};
  ask_all<std::string>(
      system_, handles_.masters, timeout_,
      [this, job, done](const Answers<std::string>& answers) {
        Found found;
        found.over = true;
        for (std::size_t i = 0; i < answers.size(); ++i) {
          if (!answers[i]) {
            found.silent.push_back(i);
            continue;
          }
          const json said = json::parse(*answers[i], nullptr, false);
          if (!said.is_object() || said.contains("missing")) continue;
          found.masters.push_back(i);
          found.over &= said.value("over", false);
          if (!said.contains("position")) continue;
          found.of_task = i;
          found.position = said.value("position", 0U);
        }
        found.all_answered = found.silent.empty();
        if (!found.masters.empty()) return done(found);
        ask_all<std::string>(
            system_, handles_.sites, timeout_,
            [found, done](const Answers<std::string>& sites) mutable {
              for (const json& site : merge::parse(sites)) {
                for (const json& part : site.value("jobs", json::array())) {
                  found.at_site |= part.value("over_s", json()).is_null();
                  found.over_at_site = true;
                }
              }
              done(found);
            },
            Query{"job", job.value, {}, 0});
      },
      at_master);
}

Answer ActorBackend::not_found(const Found& found, JobId job) const {
  const std::string name = "job " + std::to_string(job.value);
  if (found.at_site) {
    return refusal(409, "no master yet", name + " is still on its way to a master");
  }
  if (found.over_at_site) return refusal(409, "over", name + " is over");
  if (!found.all_answered) {
    return refusal(503, "unreachable", "not every part of the cluster can be reached at present");
  }
  return refusal(404, "not found", "there is no " + name);
}

/// The site of this API takes the cancel and sees to it that everybody hears of it.
void ActorBackend::cancel_job(JobId job, const api::Reply& reply) {
  ask<CancelReport>(
      system_, handles_.own_site, timeout_,
      [this, job, reply](const caf::expected<CancelReport>& report) {
        const std::string name = "job " + std::to_string(job.value);
        if (!report) return reply(from_error(report.error(), system_, name));
        if (!report->unconfirmed.empty()) {
          const json under_way{{"job", job.value}, {"unconfirmed", report->unconfirmed}};
          return reply({202, dump(under_way)});
        }
        switch (report->standing) {
          case CancelStanding::ended:
            return reply(ok({{"job", job.value}}));
          case CancelStanding::over:
            return reply(refusal(409, "over", name + " is over"));
          default:
            return reply(refusal(404, "not found", "there is no " + name));
        }
      },
      cancel_atom_v, job);
}

void ActorBackend::change_job(JobId job, api::JobChange change, api::Reply reply) {
  if (change == api::JobChange::cancel) return cancel_job(job, reply);
  find(job, 0, [this, job, change, reply](const Found& found) {
    if (found.masters.empty()) return reply(not_found(found, job));
    hold_job(found, job, change == api::JobChange::hold, reply);
  });
}

/// Those that did not say whether they have a part of the job may have one: it is done when
/// everybody has answered. A part that is over meanwhile is no obstacle.
void ActorBackend::hold_job(const Found& found, JobId job, bool held, const api::Reply& reply) {
  const std::string name = "job " + std::to_string(job.value);
  const Answer over = refusal(409, "over", name + " is over");
  if (found.over && found.all_answered) return reply(over);
  std::vector<MasterActor> masters;
  for (std::size_t i : found.masters) masters.push_back(handles_.masters[i]);
  ask_each<JobId>(
      system_, masters, timeout_,
      [this, found, job, name, over, reply](const std::vector<caf::expected<JobId>>& answers) {
        bool any = false;
        std::vector<std::size_t> missing = found.silent;
        for (std::size_t i = 0; i < answers.size(); ++i) {
          any |= answers[i].engaged();
          const bool knows = answers[i] || answers[i].error() == ActorError::unknown;
          if (!knows) missing.push_back(found.masters[i]);
        }
        if (missing.empty()) return reply(any ? ok({{"job", job.value}}) : over);
        reply(refusal(503, "unreachable",
                      "not confirmed by " + master_names(missing) + ", which may have a part of " +
                          name + ": the same may be sent again"));
      },
      hold_atom_v, job, held);
}

/// In the order of the config.
std::string ActorBackend::master_names(std::vector<std::size_t> masters) const {
  std::sort(masters.begin(), masters.end());
  std::string names;
  for (const std::size_t i : masters) {
    names += (names.empty() ? "master " : ", master ") + *config_.masters()[i]->master;
  }
  return names;
}

void ActorBackend::change_instance(InstanceId instance, api::InstanceChange change,
                                   api::Reply reply) {
  const std::string name = "instance " + std::to_string(instance.value);
  const auto done = [this, reply, instance, name](const caf::expected<InstanceId>& answer) {
    reply(answer ? ok({{"instance", instance.value}}) : from_error(answer.error(), system_, name));
  };
  if (change == api::InstanceChange::interrupt) {
    return ask<InstanceId>(system_, handles_.cloud, timeout_, done, interrupt_atom_v, instance);
  }
  const auto number =
      std::find(handles_.numbers.begin(), handles_.numbers.end(), master_of(instance));
  if (number == handles_.numbers.end()) {
    return reply(refusal(404, "not found", "there is no " + name));
  }
  const MasterActor& master =
      handles_.masters[static_cast<std::size_t>(number - handles_.numbers.begin())];
  ask<InstanceId>(system_, master, timeout_, done, drain_atom_v, instance);
}

void ActorBackend::read_log(const api::LogQuery& query, api::Reply reply) {
  find(query.job, query.index, [this, query, reply](const Found& found) {
    if (found.masters.empty()) return reply(not_found(found, query.job));
    if (!found.of_task) {
      return reply(refusal(404, "not found",
                           "job " + std::to_string(query.job.value) + " has no task " +
                               std::to_string(query.index)));
    }
    LogRequest request;
    request.task = task_id_of(query.job, found.position);
    request.attempt = query.attempt;
    request.error_stream = query.error_stream;
    request.offset = query.offset;
    request.max_bytes = query.max;
    ask<LogAnswer>(
        system_, handles_.masters[*found.of_task], timeout_,
        [this, reply, query](const caf::expected<LogAnswer>& part) {
          if (!part) return reply(from_error(part.error(), system_, name_of(query)));
          reply(
              ok({{"offset", part->offset}, {"text", part->text}, {"more", part->more_may_come}}));
        },
        request);
  });
}

/// Any master that answers will do: each has the same policy and catalog.
void ActorBackend::plan(Job job, api::Reply reply) {
  constexpr std::uint32_t kNoSite = 1'000;  // its jobs are numbered apart from all that exist
  job.id = job_id_of(kNoSite, 1);
  for (std::uint32_t i = 0; i < job.tasks.size(); ++i) job.tasks[i].id = task_id_of(job.id, i);
  ask_first<std::string>(
      system_, handles_.masters, timeout_,
      [reply](const std::optional<std::string>& answer) {
        reply(answer ? Answer{200, *answer}
                     : refusal(503, "unreachable", "no master can be reached at present"));
      },
      plan_atom_v, std::move(job));
}

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
        reply(ok_but_for(
            merge::status(merge::parse(masters), merge::parse(sites), now_s(), node_list(masters)),
            silent(masters, sites)));
      });
  }
}

/// The sites first: what leaves them meanwhile is with the masters then.
void ActorBackend::ask_sites_then_masters(
    const Query& query, std::function<void(const Texts& sites, const Texts& masters)> use) {
  ask_all<std::string>(
      system_, handles_.sites, timeout_,
      [this, query, use](const Answers<std::string>& sites) {
        ask_all<std::string>(
            system_, handles_.masters, timeout_,
            [use, sites](const Answers<std::string>& masters) { use(sites, masters); }, query);
      },
      query);
}

void ActorBackend::view_jobs(const api::View& what, api::Reply reply) {
  static constexpr const char* kStates[] = {"active", "over", "all"};
  const json filter{{"state", kStates[static_cast<std::size_t>(what.state)]}, {"user", what.user}};
  ask_sites_then_masters({"jobs", 0, dump(filter), what.limit}, [this, what, reply](
                                                                    const Texts& from_sites,
                                                                    const Texts& from_masters) {
    merge::Documents parts = merge::parse(from_masters);
    if (parts.empty()) {
      return reply(refusal(503, "unreachable", "no master can be reached at present"));
    }
    merge::Documents sites = merge::parse(from_sites);
    merge::drop_arrived(sites, parts);
    for (json& site : sites) parts.push_back(std::move(site));
    const bool over = what.state == api::JobState::over;
    const auto missing = silent(from_masters, from_sites);
    reply(ok_but_for({{"jobs", merge::jobs(parts, what.limit, over, missing.empty())}}, missing));
  });
}

void ActorBackend::view_job(const api::View& what, api::Reply reply) {
  const bool explained = what.kind == api::View::Kind::explain;
  ask_sites_then_masters(
      {explained ? "explain" : "job", what.job.value, {}, 0},
      [this, what, explained, reply](const Texts& from_sites, const Texts& from_masters) {
        merge::Documents parts = merge::parse(from_masters);
        merge::Documents sites = merge::parse(from_sites);
        auto missing = silent(from_masters, from_sites);
        const bool all_answered = missing.empty();
        std::erase_if(parts, [](const json& part) { return part.contains("missing"); });
        merge::drop_arrived(sites, parts);
        for (json& part : merge::as_details(sites, explained)) parts.push_back(std::move(part));
        if (merge::is_whole(parts)) missing.clear();
        if (const auto found = merge::job(parts, missing.empty())) {
          return reply(ok_but_for(*found, missing));
        }
        Found nothing;
        nothing.all_answered = all_answered;
        reply(not_found(nothing, what.job));
      });
}

void ActorBackend::view_job_when_over(const api::View& what, api::Reply reply) {
  view_job(what, [this, what, reply](Answer first) {
    if (first.status != 200 || says_over(first)) return reply(std::move(first));
    await_end(system_, handles_.own_site, what.job, what.wait,
              [this, what, reply] { view_job(what, reply); });
  });
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
        if (parts.size() < masters.size()) {
          return reply(refusal(503, "unreachable", "not every master can be reached at present"));
        }
        if (!by_instance) return reply(ok(merge::cost(parts, std::nullopt)));
        ask<std::string>(
            system_, handles_.cloud, timeout_,
            [this, parts, reply](const caf::expected<std::string>& rented) {
              if (!rented) return reply(from_error(rented.error(), system_, "such cloud"));
              reply(ok(merge::cost(parts, json::parse(*rented, nullptr, false))));
            },
            Query{"rented", 0, {}, 0});
      },
      Query{"cost", 0, kBy[static_cast<std::size_t>(what.by)], 0});
}

void ActorBackend::loads(std::function<void(Texts, Texts)> use) {
  ask_all<std::string>(
      system_, handles_.masters, timeout_,
      [this, use](const Answers<std::string>& masters) {
        ask_all<std::string>(
            system_, handles_.sites, timeout_,
            [use, masters](const Answers<std::string>& sites) { use(masters, sites); },
            Query{"load", 0, {}, 0});
      },
      Query{"load", 0, {}, 0});
}

std::vector<std::string> ActorBackend::silent(const Texts& masters, const Texts& sites) const {
  std::vector<std::string> names;
  const std::vector<const NodeConfig*> with_master = config_.masters();
  for (std::size_t i = 0; i < masters.size(); ++i) {
    if (!masters[i]) names.push_back("master " + *with_master[i]->master);
  }
  const std::vector<const NodeConfig*> with_site = config_.sites();
  for (std::size_t i = 0; i < sites.size(); ++i) {
    if (!sites[i]) names.push_back("site " + *with_site[i]->site);
  }
  return names;
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
  loads([reply](const Texts& masters, const Texts& sites) {
    reply(merge::metrics(merge::parse(masters), merge::parse(sites)));
  });
}

}  // namespace muster
