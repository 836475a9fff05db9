#include "serve/node/service_looks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <set>
#include <string>
#include <utility>

#include "serve/node/backend_answers.hpp"
#include "serve/node/merge_services.hpp"
#include "serve/node/view_json.hpp"

// Masters have no memory of who waits for a service: a list that is waited for is asked for again
// and again. A client that waits costs a question a pause, whatever the service does.

namespace muster {
namespace {

using api::refusal;
using backend::none_answers;
using backend::ok;

/// Between two questions for a list that is waited for.
constexpr Duration kPause = std::chrono::milliseconds{500};

struct Look {
  JobAsks asks;
  api::View what;
  api::Reply reply;
  Duration left{};  ///< of the wait
};

void look(const std::shared_ptr<Look>& of);

void look_later(const std::shared_ptr<Look>& of) {
  of->left -= kPause;
  of->asks.system.spawn([of](caf::event_based_actor* self) -> caf::behavior {
    self->delayed_send(self, kPause, over_atom_v);
    return {[self, of](over_atom) {
      self->quit();
      look(of);
    }};
  });
}

void answer(const std::shared_ptr<Look>& of, ServicesView all, const Answered& who) {
  const api::View& what = of->what;
  if (what.of == api::Operation::services) {
    return of->reply(ok(view_json::document(all, of->asks.silent(who, {}))));
  }
  const bool all_answered = std::ranges::find(who, false) == who.end();
  if (all.services.empty() && !all_answered) {
    return of->reply(refusal(503, "unreachable",
                             fmt::format("a master that may have the service '{:.64}' does not "
                                         "answer at present",
                                         what.name)));
  }
  if (all.services.empty()) {
    return of->reply(
        refusal(404, "not found", fmt::format("no service of the name '{:.64}'", what.name)));
  }
  if (what.of == api::Operation::service) {
    return of->reply(ok(view_json::document(all, of->asks.silent(who, {}))));
  }
  const auto other = std::ranges::find_if(
      all.services, [&](const ServiceView& each) { return each.user != all.services[0].user; });
  // Clients are never sent to the replicas of whoever happens to have the name as well.
  if (other != all.services.end()) {
    return of->reply(
        refusal(409, "conflict",
                fmt::format("{:.64} and {:.64} both have a service '{:.64}': say whose "
                            "it is with `user`",
                            all.services[0].user, other->user, what.name)));
  }
  const EndpointsView endpoints = *merge::endpoints(all);
  const bool known = !what.revision.empty() && endpoints.revision == what.revision;
  if (known && of->left > Duration::zero()) return look_later(of);
  of->reply(ok(view_json::document(endpoints, of->asks.silent(who, {}))));
}

void look(const std::shared_ptr<Look>& of) {
  ask_all<ServicesView>(
      of->asks.system, of->asks.masters, of->asks.timeout,
      [of](Answers<ServicesView> masters) {
        const Answered who = answered(masters);
        const bool too_large = masters.too_large;
        std::vector<ServicesView> parts = heard(std::move(masters));
        if (parts.empty()) return of->reply(none_answers(too_large));
        answer(of, merge::services(std::move(parts)), who);
      },
      ServicesQuestion{of->what.name, of->what.user});
}

/// Why a service of the jobs cannot have its name; empty: all can.
std::string taken_name(const std::vector<Job>& jobs, const ServicesView& known) {
  std::set<std::pair<std::string, std::string>> names;
  for (const Job& job : jobs) {
    if (job.service() == nullptr) continue;
    if (!names.emplace(job.user, job.name).second) {
      return fmt::format("name: two services of the request are called '{:.64}'", job.name);
    }
    const auto has_name = [&](const ServiceView& each) {
      return each.user == job.user && each.name == job.name;
    };
    // A request that is repeated is answered as before, even where another service has the name by
    // now: while a master was silent.
    const bool repeated = std::ranges::any_of(known.services, [&](const ServiceView& each) {
      return has_name(each) && !job.token.empty() && each.token == job.token;
    });
    const auto taken = std::ranges::find_if(known.services, has_name);
    if (repeated || taken == known.services.end()) continue;
    return fmt::format(
        "name: '{:.64}' is the name of your service that job {} is; cancel that "
        "first, or choose another name",
        job.name, taken->job.value);
  }
  return {};
}

}  // namespace

void check_service_names(const JobAsks& asks, std::vector<Job> jobs, api::Reply reply,
                         std::function<void(std::vector<Job>, api::Reply)> go_on) {
  const auto first = std::ranges::find_if(jobs, [](const Job& job) { return job.service(); });
  if (first == jobs.end()) return go_on(std::move(jobs), std::move(reply));
  // A request of many services asks once for all of their user's.
  ServicesQuestion wanted{.brief = true};
  if (jobs.size() == 1) wanted.name = first->name;
  const bool of_one = std::ranges::all_of(
      jobs, [&](const Job& job) { return job.service() == nullptr || job.user == first->user; });
  if (of_one) wanted.user = first->user;
  ask_all<ServicesView>(
      asks.system, asks.masters, asks.timeout,
      [jobs = std::move(jobs), reply = std::move(reply),
       go_on = std::move(go_on)](Answers<ServicesView> masters) {
        const ServicesView known = merge::services(heard(std::move(masters)));
        const std::string why = taken_name(jobs, known);
        if (why.empty() && known.more > 0) {
          return reply(refusal(503, "busy",
                               "there are too many services to compare the names of these jobs "
                               "with theirs: submit them one by one"));
        }
        if (!why.empty()) return reply(refusal(409, "conflict", why));
        go_on(jobs, reply);
      },
      wanted);
}

void look_at_services(const JobAsks& asks, const api::View& what, api::Reply reply) {
  look(std::make_shared<Look>(Look{asks, what, std::move(reply), what.wait}));
}

}  // namespace muster
