#include "serve/node/service_orders.hpp"

// Changes of services: another number of replicas, and another revision, which is a job of its own.

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "model/newest_revision.hpp"
#include "model/submission_key.hpp"
#include "serve/node/backend_answers.hpp"
#include "serve/node/merge_services.hpp"
#include "serve/node/resubmission.hpp"

namespace muster {
namespace {

using api::refusal;
using backend::ok;

/// Revisions of a service that are not over at once: each one that is replaced has still to leave.
constexpr std::size_t kMostRevisions = 4;

/// Token of a revision that is as an earlier one was: of the request, not of its result.
std::string token_of(const api::ServiceChange& what) {
  if (what.token.empty()) return {};
  constexpr char kBetween = '\x1e';
  std::string token = "restart";
  token += kBetween + std::to_string(what.job.value);
  return scoped_token(what.scope, token + kBetween + what.token);
}

/// Makes the job the next revision of the service.
void follow(Job& job, const std::vector<ServiceView>& revisions, bool keeps_replicas) {
  const ServiceView& newest = *newest_revision(revisions);
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

/// All masters are asked: one of them has the service.
void scale(const JobAsks& asks, const api::ServiceChange& what, const api::Reply& reply) {
  const std::string name = "job " + std::to_string(what.job.value);
  ask_each<JobId>(
      asks.system, asks.masters, asks.timeout,
      [&system = asks.system, job = what.job, replicas = static_cast<std::uint32_t>(*what.replicas),
       name, reply](const std::vector<caf::expected<JobId>>& answers) {
        const caf::error* why = nullptr;
        for (const caf::expected<JobId>& answer : answers) {
          if (answer) return reply(ok("job", job.value));
          if (why == nullptr || answer.error() != ActorError::unknown) why = &answer.error();
        }
        if (why == nullptr || *why == ActorError::unknown) {
          return reply(refusal(409, "no service", name + " is no service, or it is over"));
        }
        if (*why == ActorError::too_many) {
          return reply(refusal(422, "too many",
                               fmt::format("{} may not have {} replicas: its most_replicas "
                                           "allows fewer; update it with a larger one",
                                           name, replicas)));
        }
        if (*why == ActorError::out_of_range) {
          return reply(refusal(422, "out of range",
                               fmt::format("{} has a goal that chooses the number of its replicas, "
                                           "and {} is not between the min and max of its scale; "
                                           "update it with others",
                                           name, replicas)));
        }
        reply(backend::from_error(*why, system, name));
      },
      scale_atom_v, what.job, static_cast<std::uint32_t>(*what.replicas));
}

/// A revision that is to come.
struct Next {
  ServiceAsks asks;
  api::ServiceChange what;
  bool known = false;  ///< the service has to be one that the job of `what` is a revision of
};

/// The service goes by its name and its user: the job says which these are.
void hand_in(const Next& next, Job job, api::Reply reply) {
  ServicesQuestion wanted{job.name, job.user, true};
  ask_all<ServicesView>(
      next.asks.of.system, next.asks.of.masters, next.asks.of.timeout,
      [next, job = std::move(job), reply = std::move(reply)](Answers<ServicesView> masters) {
        const Answered who = answered(masters);
        const bool all_answered = std::ranges::find(who, false) == who.end();
        const ServicesView known = merge::services(heard(std::move(masters)));
        const bool is_there = newest_revision(known.services) != nullptr;
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
        const bool is_revision = std::ranges::find(known.services, next.what.job,
                                                   &ServiceView::job) != known.services.end();
        if (next.known && !is_revision) {
          return reply(refusal(409, "no service",
                               fmt::format("job {} is no revision of the service '{:.64}'",
                                           next.what.job.value, job.name)));
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
        Job revision = job;
        follow(revision, known.services, next.what.keeps_replicas);
        std::vector<Job> jobs;
        jobs.push_back(std::move(revision));
        next.asks.submit(std::move(jobs), reply);
      },
      wanted);
}

}  // namespace

void change_service(const ServiceAsks& asks, api::ServiceChange what, api::Reply reply) {
  if (what.replicas) {
    const bool fits = *what.replicas > 0 && *what.replicas <= kLargestService;
    if (fits) return scale(asks.of, what, reply);
    return reply(refusal(422, "invalid",
                         fmt::format("replicas: has to be from 1 to {}; it is {}", kLargestService,
                                     *what.replicas)));
  }
  if (what.as && what.as->service() == nullptr) {
    return reply(
        refusal(422, "invalid", "service: has to be there: a service is updated to a service"));
  }
  if (what.as) {
    Job job = *std::exchange(what.as, std::nullopt);
    return hand_in({asks, what, true}, std::move(job), std::move(reply));
  }
  ask_all<RequestView>(
      asks.of.system, asks.of.masters, asks.of.timeout,
      [asks, what, reply](Answers<RequestView> masters) {
        auto job = submitted_again(heard(std::move(masters)), false);
        if (!job) {
          return reply(refusal(409, "not known",
                               fmt::format("job {} is not known, or not any more, to the masters "
                                           "that answer",
                                           what.job.value)));
        }
        if (job->service() == nullptr) {
          return reply(
              refusal(409, "no service", fmt::format("job {} is no service", what.job.value)));
        }
        job->token = token_of(what);
        if (what.max_priority) job->priority = std::min(job->priority, *what.max_priority);
        api::ServiceChange of = what;
        of.keeps_replicas = true;
        hand_in({asks, of, false}, std::move(job).value(), reply);
      },
      RequestQuestion{what.job});
}

}  // namespace muster
