// Jobs that come in by the API: those that are new (submit), those of which only a dry run is asked
// (plan), and those that are submitted again (resubmit).

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string_view>
#include <utility>

#include "actors/messages/byte_cut.hpp"
#include "model/live_ids.hpp"
#include "model/submission_key.hpp"
#include "schedulers/packing/types/never_fits.hpp"
#include "serve/machines/task_user.hpp"
#include "serve/node/actor_backend.hpp"
#include "serve/node/after_checks.hpp"
#include "serve/node/backend_answers.hpp"
#include "serve/node/json_text.hpp"
#include "serve/node/resubmission.hpp"
#include "serve/node/service_looks.hpp"
#include "serve/node/service_orders.hpp"
#include "serve/node/view_json.hpp"

namespace muster {
namespace {

using api::Answer;
using api::refusal;
using backend::from_error;
using backend::ok;

/// Threads that look at work folders and programs at a time, at the most: one on a file system that
/// does not answer keeps a thread for as long.
constexpr std::uint32_t kMostLookers = 16;
/// Different constraints of the jobs of one request.
constexpr std::size_t kMostConstraints = 32;

/// As many jobs as the site has room for wait there: the same may be sent again.
Answer not_submitted(const caf::error& error, const caf::actor_system& system) {
  if (error != ActorError::too_many) return from_error(error, system, "such site");
  return refusal(
      503, "busy",
      "the site's limit of waiting jobs is reached (site.max_waiting; of which a user has half, "
      "site.max_dependent of jobs that wait for others or for a time and notify.most of jobs whose "
      "ends are to be told; or site.max_recurring of a user that recur)");
}

/// Token of a resubmission at its site. More tasks may have failed when the request is repeated, so
/// the token of the site names the request, not its result.
std::string token_of(const api::Again& what) {
  if (what.token.empty()) return {};
  constexpr char kBetween = '\x1e';
  std::string token = "resubmit";
  token += kBetween + std::to_string(what.job.value);
  token += kBetween + std::string(what.failed_only ? "failed" : "all");
  if (what.max_fails) token += kBetween + std::to_string(*what.max_fails);
  return scoped_token(what.scope, token + kBetween + what.token);
}

/// A job's number in a refusal is that of another job, which has the token.
Answer not_accepted(const SubmitVerdict& verdict) {
  return verdict.job.valid() ? refusal(409, "token", verdict.reason)
                             : refusal(422, "invalid", verdict.reason);
}

/// The jobs, or the first one that is not accepted. `again`: one that was made before is fine.
Answer submitted(const std::vector<SubmitVerdict>& verdicts, bool again,
                 const std::vector<std::string>& warnings) {
  JsonText out;
  out.begin_object().key("jobs").begin_list();
  for (const SubmitVerdict& verdict : verdicts) {
    const bool made_before = again && verdict.job.valid();
    if (!verdict.accepted && !made_before) return not_accepted(verdict);
    out.begin_object().field("job", verdict.job).end_object();
  }
  out.end_list();
  if (!warnings.empty()) {
    out.key("warnings").begin_list();
    for (const std::string& warning : warnings) out.value(warning);
    out.end_list();
  }
  return {201, out.end_object().take()};
}

/// Nodes that speak to each other over the loopback are of one computer, and so are the machines of
/// their cloud.
bool has_machines_here(const ClusterConfig& config) {
  return std::any_of(config.nodes.begin(), config.nodes.end(), [](const NodeConfig& node) {
    return node.cloud && is_loopback(node.address);
  });
}

/// A work folder or a program with which tasks could not start, where instances are processes of
/// this computer; the first such job. Elsewhere the attempt says so.
std::optional<std::string> barred(const std::vector<Job>& jobs, const LiveWorkerConfig& tasks) {
  machines::WorkFolders folders(tasks);
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    const std::string why = folders.fault(jobs[i].program, jobs[i].user);
    if (why.empty()) continue;
    return jobs.size() == 1 ? why : "/jobs/" + std::to_string(i) + ": " + why;
  }
  return std::nullopt;
}

/// More than one request may ask for. Constraints are compared with all types on a thread of the
/// server.
std::optional<std::string> why_too_much(const std::vector<Job>& jobs) {
  std::set<std::string_view> constraints;
  for (const Job& job : jobs) constraints.insert(job.constraint);
  constraints.erase("");
  if (constraints.size() <= kMostConstraints) return why_too_large(jobs);
  return fmt::format("the jobs of one request have at most {} different constraints",
                     kMostConstraints);
}

/// The first job that no master could ever run, for all have one catalog; with the reason.
std::optional<std::string> impossible(const ClusterHandles& cluster, const std::vector<Job>& jobs) {
  if (cluster.catalog == nullptr) return std::nullopt;
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    auto why = why_never_fits(jobs[i], *cluster.catalog, cluster.fleet);
    if (!why) {
      const auto gang = why_gang_never_fits(jobs[i], *cluster.catalog, cluster.largest_share);
      if (gang) why = gang_sentence(*gang);
    }
    if (!why) continue;
    return jobs.size() == 1 ? *why : "/jobs/" + std::to_string(i) + ": " + *why;
  }
  return std::nullopt;
}

/// The answer to jobs that cannot be taken as they are.
std::optional<Answer> refused(const ClusterHandles& cluster, const std::vector<Job>& jobs) {
  if (cluster.post != nullptr) {
    const auto why = notify::why_not_told(jobs, cluster.post->rules());
    if (why) return refusal(422, "notify", *why);
  }
  if (const auto why = why_too_much(jobs)) return refusal(422, "too large", *why);
  if (const auto why = impossible(cluster, jobs)) return refusal(422, "fits no type", *why);
  return std::nullopt;
}

/// Of each job that could not run though nothing else did, until somebody changes the caps.
std::vector<std::string> beyond_caps(const ClusterHandles& cluster, const ClusterConfig& config,
                                     const std::vector<Job>& jobs) {
  // The caps do not count the instances of a fleet.
  if (cluster.catalog == nullptr || !config.fleet.parts.empty()) return {};
  const RentCaps caps{config.master.caps.max_instances, config.master.caps.max_usd_h};
  std::vector<std::string> warnings;
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    const auto why = why_beyond_caps(jobs[i], *cluster.catalog, caps);
    if (!why) continue;
    warnings.push_back(jobs.size() == 1 ? *why : "/jobs/" + std::to_string(i) + ": " + *why);
  }
  return warnings;
}

/// Its number is apart from all that exist.
void number_for_plan(Job& job) {
  constexpr std::uint32_t kNoSite = 1'000;
  job.id = job_id_of(kNoSite, 1);
  for (std::uint32_t i = 0; i < job.tasks.size(); ++i) job.tasks[i].id = task_id_of(job.id, i);
}

/// The users of the jobs that were taken, in the order of the jobs.
void note_owners(const std::vector<SubmitVerdict>& verdicts, const std::vector<std::string>& users,
                 JobOwners& owners) {
  for (std::size_t i = 0; i < std::min(users.size(), verdicts.size()); ++i) {
    if (verdicts[i].accepted) owners.add(verdicts[i].job, users[i]);
  }
}

/// Why a job cannot be submitted again that is not, or not all, with the masters.
Answer not_submitted_again(const FoundJob& found, JobId job, const ClusterConfig& config) {
  if (found.all_answered && found.over_at_site && !found.waits_at && found.masters.empty()) {
    return refusal(409, "not known",
                   "job " + std::to_string(job.value) +
                       " was over before a master had it, and its site does not keep how "
                       "it was submitted: submit it anew");
  }
  if (found.all_answered && (found.over_at_site ? !found.waits_at : !found.masters.empty())) {
    return refusal(409, "not known",
                   "not every task of job " + std::to_string(job.value) +
                       " is known to a master: submit it anew");
  }
  if (found.masters.empty()) return not_found(found, job, config);
  return refusal(503, "unreachable", "not every part of the cluster can be reached at present");
}

}  // namespace

void ActorBackend::submit(std::vector<Job> jobs, api::Reply reply) {
  const auto take = [this](std::vector<Job> known, const api::Reply& answer) {
    check(std::move(known), false, answer);
  };
  check_service_names(job_asks(), std::move(jobs), std::move(reply),
                      [this, take](std::vector<Job> named, api::Reply answer) {
                        check_after(looks_, std::move(named), std::move(answer), take);
                      });
}

void ActorBackend::change_service(api::ServiceChange what, api::Reply reply) {
  const auto submit = [this](std::vector<Job> jobs, api::Reply answer) {
    check(std::move(jobs), false, std::move(answer));
  };
  muster::change_service({job_asks(), submit}, std::move(what), std::move(reply));
}

/// Hands in what can run. The look at work folders and programs has a thread of its own, as it
/// waits for disks and processes. At the bound of looks no job waits: a fault that is not found
/// here appears at the attempt.
void ActorBackend::check(std::vector<Job> jobs, bool again, api::Reply reply) {
  const bool looks =
      has_machines_here(config_) && std::any_of(jobs.begin(), jobs.end(), [](const Job& job) {
        return machines::WorkFolders::looks_at(job.program);
      });
  const auto go_on = [this, again](std::vector<Job> fine, const api::Reply& answer) {
    if (auto no = refused(handles_, fine)) return answer(*std::move(no));
    hand_in(std::move(fine), again, answer);
  };
  if (!looks) return go_on(std::move(jobs), reply);
  if (lookers_.fetch_add(1) >= kMostLookers) {
    lookers_.fetch_sub(1);
    return go_on(std::move(jobs), reply);
  }
  system_.spawn<caf::detached>([this, go_on, reply, tasks = config_.worker,
                                jobs = std::move(jobs)](caf::event_based_actor*) {
    const auto why = barred(jobs, tasks);
    lookers_.fetch_sub(1);
    if (why) return reply(refusal(422, "barred", *why));
    go_on(jobs, reply);
  });
}

/// `again`: the token alone says what is asked for, so the job that has it is the answer.
void ActorBackend::hand_in(std::vector<Job> jobs, bool again, api::Reply reply) {
  std::vector<std::string> users;
  for (const Job& job : jobs) users.push_back(job.user);
  const std::vector<std::string> warnings = beyond_caps(handles_, config_, jobs);
  ask<std::vector<SubmitVerdict>>(
      system_, handles_.own_site, timeout_,
      [this, again, reply, users,
       warnings](const caf::expected<std::vector<SubmitVerdict>>& verdicts) {
        if (!verdicts) return reply(not_submitted(verdicts.error(), system_));
        note_owners(*verdicts, users, owners_);
        reply(submitted(*verdicts, again, warnings));
      },
      hand_atom_v, std::move(jobs));
}

/// The submission of a job stays among the nodes: its environment is for its tasks alone.
void ActorBackend::resubmit(const api::Again& what, api::Reply reply) {
  ask_all<RequestView>(
      system_, handles_.masters, timeout_,
      [this, what, reply](Answers<RequestView> masters) {
        const std::string name = "job " + std::to_string(what.job.value);
        auto job = submitted_again(heard(std::move(masters)), what.failed_only);
        if (job) {
          job->token = token_of(what);
          job->again_of = what.job;
          // An admin may have given the first one more than its user may give.
          if (what.max_priority) job->priority = std::min(job->priority, *what.max_priority);
          if (what.max_fails) job->max_fails = what.max_fails;
          return check_service_names(job_asks(), {std::move(job).value()}, reply,
                                     [this](std::vector<Job> named, api::Reply answer) {
                                       check(std::move(named), true, std::move(answer));
                                     });
        }
        if (job.error().code == ResubmitError::nothing) {
          return reply(refusal(409, "nothing failed", "no task of " + name + " has failed"));
        }
        say_what_is_missing(what.job, reply);
      },
      RequestQuestion{what.job});
}

/// Of a job that is not, or not all, with the masters.
void ActorBackend::say_what_is_missing(JobId job, const api::Reply& reply) {
  find_job(places(), job, 0, [this, job, reply](const FoundJob& found) {
    reply(not_submitted_again(found, job, config_));
  });
}

/// Any master that answers will do: each has the same policy and catalog.
void ActorBackend::plan(Job job, api::Reply reply) {
  if (const auto why = why_too_large(job)) return reply(refusal(422, "too large", *why));
  number_for_plan(job);
  ask_first<PlanView>(
      system_, handles_.masters, timeout_,
      [this, reply](const caf::expected<PlanView>& answer) {
        if (answer) return reply(ok(view_json::document(*answer)));
        // It is there and takes jobs in: links that are lost say so at once.
        if (answer.error() == caf::sec::request_timeout) {
          return reply(
              refusal(503, "busy",
                      fmt::format("the master has not made the plan within {:.3g} s: it is "
                                  "busy with a round for what waits; ask again later",
                                  to_seconds(timeout_))));
        }
        const bool is_told = answer.error() == ActorError::busy ||
                             answer.error() == ActorError::planner_failed ||
                             answer.error() == ActorError::too_large;
        reply(is_told ? from_error(answer.error(), system_, "such master")
                      : backend::none_answers(false));
      },
      plan_atom_v, std::move(job));
}

}  // namespace muster
