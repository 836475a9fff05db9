#include "serve/node/found_job.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "serve/node/backend_answers.hpp"
#include "serve/node/gather.hpp"

namespace muster {
namespace {

using api::refusal;
using backend::from_error;
using backend::ok;

/// In the order of the config.
std::string master_names(const ClusterConfig& config, std::vector<std::size_t> masters) {
  std::sort(masters.begin(), masters.end());
  std::string names;
  for (const std::size_t i : masters) {
    names += (names.empty() ? "master " : ", master ") + *config.masters()[i]->master;
  }
  return names;
}

/// A job that no master has yet.
void hold_waiting(const JobPlaces& places, const FoundJob& found, const HoldWish& wish,
                  const api::Reply& reply) {
  const JobId job = wish.job;
  ask<JobId>(
      places.system, places.sites[*found.waits_at], places.timeout,
      [places, job, reply](const caf::expected<JobId>& answer) {
        const std::string name = "job " + std::to_string(job.value);
        if (answer) return reply(ok("job", job.value));
        if (answer.error() == ActorError::unknown) {
          return reply(refusal(409, "no master yet", name + " is on its way to a master"));
        }
        reply(from_error(answer.error(), places.system, name));
      },
      hold_atom_v, job, wish.held);
}

/// Those that did not say whether they have a part of the job may have one: it is done when
/// everybody has answered. A part that is over meanwhile is no obstacle.
void hold_job(const JobPlaces& places, const FoundJob& found, const HoldWish& wish,
              const api::Reply& reply) {
  const JobId job = wish.job;
  const std::string name = "job " + std::to_string(job.value);
  const api::Answer over = refusal(409, "over", name + " is over");
  const api::Answer stopping = refusal(409, "stopping", name + " is stopping");
  if (found.over && found.all_answered) return reply(over);
  std::vector<MasterOrders> masters;
  for (std::size_t i : found.masters) masters.push_back(places.masters[i]);
  ask_each<JobId>(
      places.system, masters, places.timeout,
      [places, found, job, name, over, stopping,
       reply](const std::vector<caf::expected<JobId>>& answers) {
        bool any = false;
        bool stops = false;
        std::vector<std::size_t> missing = found.silent;
        for (std::size_t i = 0; i < answers.size(); ++i) {
          any |= answers[i].engaged();
          const bool ends = !answers[i] && answers[i].error() == ActorError::stopping;
          stops |= ends;
          const bool knows = answers[i] || ends || answers[i].error() == ActorError::unknown;
          if (!knows) missing.push_back(found.masters[i]);
        }
        if (missing.empty()) {
          return reply(any ? ok("job", job.value) : stops ? stopping : over);
        }
        reply(refusal(503, "unreachable",
                      "not confirmed by " + master_names(places.config, missing) +
                          ", which may have a part of " + name + ": the same may be sent again"));
      },
      hold_atom_v, job, wish.held);
}

}  // namespace

void find_job(const JobPlaces& places, JobId job, std::uint32_t index,
              std::function<void(const FoundJob&)> done) {
  ask_all<FoundView>(
      places.system, places.masters, places.timeout,
      [places, job, done = std::move(done)](const Answers<FoundView>& answers) {
        FoundJob found;
        found.over = true;
        for (std::size_t i = 0; i < answers.size(); ++i) {
          if (!answers[i]) {
            found.silent.push_back(i);
            continue;
          }
          if (!answers[i]->known) continue;
          found.masters.push_back(i);
          found.over &= answers[i]->over;
          if (!answers[i]->position) continue;
          found.of_task = i;
          found.position = *answers[i]->position;
        }
        found.all_answered = found.silent.empty();
        if (!found.masters.empty()) return done(found);
        ask_all<JobsView>(
            places.system, places.sites, places.timeout,
            [found, done](const Answers<JobsView>& sites) mutable {
              for (std::size_t i = 0; i < sites.size(); ++i) {
                if (!sites[i]) continue;
                for (const JobView& part : sites[i]->jobs) {
                  if (!part.over) found.waits_at = i;
                  found.over_at_site = true;
                }
              }
              done(found);
            },
            JobsQuestion::parts_of({job}));
      },
      FindQuestion{job, index});
}

api::Answer not_found(const FoundJob& found, JobId job, const ClusterConfig& config) {
  const std::string name = "job " + std::to_string(job.value);
  if (found.waits_at) {
    return refusal(409, "no master yet", name + " waits, or is on its way");
  }
  if (found.over_at_site) return refusal(409, "over", name + " is over");
  if (!found.silent.empty()) {
    const char* verb = found.silent.size() == 1 ? " does" : " do";
    return refusal(503, "unreachable",
                   master_names(config, found.silent) + verb + " not answer and may have " + name);
  }
  if (!found.all_answered) {
    return refusal(503, "unreachable", "not every part of the cluster can be reached at present");
  }
  return refusal(404, "not found", "there is no " + name);
}

void hold_found(const JobPlaces& places, const FoundJob& found, const HoldWish& wish,
                const api::Reply& reply) {
  if (!found.masters.empty()) return hold_job(places, found, wish, reply);
  if (!found.waits_at) return reply(not_found(found, wish.job, places.config));
  hold_waiting(places, found, wish, reply);
}

}  // namespace muster
