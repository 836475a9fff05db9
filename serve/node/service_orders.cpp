// Changes of services: another number of replicas, and another revision, which is a job of its own.

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "model/submission_key.hpp"
#include "serve/node/actor_backend.hpp"
#include "serve/node/backend_answers.hpp"
#include "serve/node/merge_services.hpp"
#include "serve/node/resubmission.hpp"

namespace muster {
namespace {

using api::refusal;
using backend::ok;

/// Revisions of a service that are not over at once: each one that is replaced has still to leave.
constexpr std::size_t kMostRevisions = 4;

/// The newest revision that is not given up; null: the service is over.
const ServiceView* newest_of(const std::vector<ServiceView>& revisions) {
  const ServiceView* newest = nullptr;
  for (const ServiceView& each : revisions) {
    const bool counts = each.standing != "given up";
    const auto rank = [](const ServiceView& one) { return std::pair(one.revision, one.job); };
    if (counts && (newest == nullptr || rank(each) > rank(*newest))) newest = &each;
  }
  return newest;
}

/// Token of a revision that is as an earlier one was: of the request, not of its result.
std::string token_of(const api::Revision& what) {
  if (what.token.empty()) return {};
  constexpr char kBetween = '\x1e';
  std::string token = "restart";
  token += kBetween + std::to_string(what.job.value);
  return scoped_token(what.scope, token + kBetween + what.token);
}

/// Makes the job the next revision of the service.
void follow(Job& job, const std::vector<ServiceView>& revisions, bool keeps_replicas) {
  const ServiceView& newest = *newest_of(revisions);
  auto& spec = std::get<ServiceSpec>(job.kind);
  spec.replaces = newest.job;
  spec.master = newest.master;
  spec.revision = 0;
  // Also after those that were given up: no two revisions have one number.
  for (const ServiceView& each : revisions) {
    spec.revision = std::max({spec.revision, each.revision, each.last_revision});
  }
  ++spec.revision;
  if (!keeps_replicas) return;
  const auto tasks = static_cast<std::uint32_t>(job.tasks.size());
  const std::uint32_t spare = std::max(1U, spec.surge);
  const std::uint32_t most = tasks > spare ? tasks - spare : 1;
  spec.replicas = std::clamp(newest.wanted, 1U, most);
}

}  // namespace

void ActorBackend::scale(JobId job, std::uint32_t replicas, api::Reply reply) {
  find(job, 0, [this, job, replicas, reply](const Found& found) {
    if (found.masters.empty()) return reply(not_found(found, job));
    const std::string name = "job " + std::to_string(job.value);
    ask<JobId>(
        system_, handles_.masters[found.masters.front()], timeout_,
        [this, job, replicas, name, reply](const caf::expected<JobId>& answer) {
          if (answer) return reply(ok("job", job.value));
          if (answer.error() == ActorError::unknown) {
            return reply(refusal(409, "no service", name + " is no service, or it is over"));
          }
          if (answer.error() == ActorError::too_many) {
            return reply(refusal(422, "too many",
                                 fmt::format("{} may not have {} replicas: its most_replicas "
                                             "allows fewer; update it with a larger one",
                                             name, replicas)));
          }
          reply(backend::from_error(answer.error(), system_, name));
        },
        scale_atom_v, job, replicas);
  });
}

void ActorBackend::revise(api::Revision what, api::Reply reply) {
  if (what.as) {
    Job job = *std::exchange(what.as, std::nullopt);
    return hand_in_revision(std::move(job), what, true, std::move(reply));
  }
  ask_all<RequestView>(
      system_, handles_.masters, timeout_,
      [this, what, reply](Answers<RequestView> masters) {
        auto job = submitted_again(heard(std::move(masters)), false);
        if (!job) return say_what_is_missing(what.job, reply);
        if (job->service() == nullptr) {
          return reply(
              refusal(409, "no service", fmt::format("job {} is no service", what.job.value)));
        }
        job->token = token_of(what);
        if (what.max_priority) job->priority = std::min(job->priority, *what.max_priority);
        api::Revision of = what;
        of.keeps_replicas = true;
        hand_in_revision(std::move(job).value(), of, false, reply);
      },
      RequestQuestion{what.job});
}

/// The service goes by its name and its user: the job says which these are.
void ActorBackend::hand_in_revision(Job job, const api::Revision& what, bool known_job,
                                    api::Reply reply) {
  ServicesQuestion wanted{job.name, job.user, true};
  ask_all<ServicesView>(
      system_, handles_.masters, timeout_,
      [this, job = std::move(job), what, known_job,
       reply = std::move(reply)](Answers<ServicesView> masters) {
        const Answered who = answered(masters);
        const bool all_answered = std::ranges::find(who, false) == who.end();
        const ServicesView known = merge::services(heard(std::move(masters)));
        const bool is_there = newest_of(known.services) != nullptr;
        if (!is_there && !all_answered) {
          return reply(refusal(503, "unreachable",
                               fmt::format("a master that may have the service '{:.64}' does not "
                                           "answer at present",
                                           job.name)));
        }
        if (!is_there) {
          return reply(refusal(409, "no service",
                               fmt::format("there is no service '{:.64}' of {:.64} that is not "
                                           "over: submit it anew",
                                           job.name, job.user)));
        }
        const bool is_revision =
            std::ranges::find(known.services, what.job, &ServiceView::job) != known.services.end();
        if (known_job && !is_revision) {
          return reply(refusal(409, "no service",
                               fmt::format("job {} is no revision of the service '{:.64}'",
                                           what.job.value, job.name)));
        }
        const auto repeated = std::ranges::find_if(known.services, [&](const ServiceView& each) {
          return !job.token.empty() && each.token == job.token;
        });
        // The request was carried out before: it is no further revision.
        if (repeated != known.services.end()) {
          return reply({201, fmt::format(R"({{"jobs":[{{"job":{}}}]}})", repeated->job.value)});
        }
        if (known.services.size() >= kMostRevisions) {
          return reply(refusal(409, "busy",
                               fmt::format("{} revisions of '{:.64}' are not over yet: wait until "
                                           "the earlier ones have left",
                                           known.services.size(), job.name)));
        }
        Job next = job;
        follow(next, known.services, what.keeps_replicas);
        std::vector<Job> jobs;
        jobs.push_back(std::move(next));
        check(std::move(jobs), false, reply);
      },
      wanted);
}

}  // namespace muster
