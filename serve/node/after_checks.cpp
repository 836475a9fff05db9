#include "serve/node/after_checks.hpp"

#include <fmt/format.h>

#include <optional>
#include <set>
#include <string>
#include <utility>

namespace muster {
namespace {

using api::refusal;

/// Jobs of other requests that the jobs of one wait for: all are looked up.
constexpr std::size_t kMostAwaited = 250;

/// A job that waits for one of its submission which is another user's.
std::optional<std::string> of_another_user(const std::vector<Job>& jobs) {
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    for (const AfterJob& each : jobs[i].after) {
      if (each.place == 0 || each.place > jobs.size()) continue;
      const Job& other = jobs[each.place - 1];
      if (other.user == jobs[i].user) continue;
      return fmt::format("/jobs/{}/after: the job is of {:.64}, and #{} of another user", i,
                         jobs[i].user, each.place);
    }
  }
  return std::nullopt;
}

}  // namespace

void check_after(JobLooks& looks, std::vector<Job> jobs, api::Reply reply, AfterChecks go_on) {
  std::set<JobId> asked;
  for (const Job& job : jobs) {
    for (const AfterJob& each : job.after) {
      if (each.place == 0) asked.insert(each.job);
    }
  }
  if (const auto fault = of_another_user(jobs)) return reply(refusal(422, "invalid", *fault));
  if (asked.empty()) return go_on(std::move(jobs), reply);
  if (asked.size() > kMostAwaited) {
    return reply(refusal(422, "too large",
                         fmt::format("after: the jobs of one request wait for at most {} jobs of "
                                     "other requests",
                                     kMostAwaited)));
  }
  const auto use = [jobs = std::move(jobs), reply, go_on](const JobLooks::Users& users,
                                                          bool all_answered) {
    for (std::size_t i = 0; i < jobs.size(); ++i) {
      const std::string field = jobs.size() == 1 ? "after" : fmt::format("/jobs/{}/after", i);
      for (const AfterJob& each : jobs[i].after) {
        if (each.place > 0) continue;
        const auto found = users.find(each.job);
        // Whether there is a job of somebody else's is not said, either.
        if (found != users.end() && found->second.user == jobs[i].user) {
          if (!found->second.recurs) continue;
          return reply(refusal(422, "invalid",
                               fmt::format("{}: job {} recurs, and is never over; its runs are "
                                           "jobs of their own",
                                           field, each.job.value)));
        }
        if (found == users.end() && !all_answered) {
          return reply(refusal(503, "unreachable",
                               fmt::format("{}: no node that answers at present knows job {}",
                                           field, each.job.value)));
        }
        return reply(refusal(422, "invalid",
                             fmt::format("{}: {:.64} has no job {}, or it is over for longer than "
                                         "the history goes back",
                                         field, jobs[i].user, each.job.value)));
      }
    }
    go_on(jobs, reply);
  };
  looks.find_users({asked.begin(), asked.end()}, use);
}

}  // namespace muster
