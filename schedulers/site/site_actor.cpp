#include "schedulers/site/site_actor.hpp"

#include <utility>

namespace muster {

SiteScheduler::SiteScheduler(caf::actor_config& config, SiteSetup setup)
    : SiteActor::base(config), setup_(std::move(setup)) {}

void SiteScheduler::on_exit() {
  users_.clear();
  setup_.master = nullptr;
}

SiteActor::behavior_type SiteScheduler::make_behavior() {
  return {
      [this](accept_atom, Job& job, const JobListener& user) {
        return accept(std::move(job), user);
      },
      [this](cancel_atom, JobId id) { send(setup_.master, cancel_atom_v, id); },
      [this](over_atom, JobId id, JobOutcome outcome) {
        const auto user = users_.find(id);
        if (user == users_.end()) return;
        send(user->second, over_atom_v, id, outcome);
        users_.erase(user);
      },
  };
}

caf::result<JobId> SiteScheduler::accept(Job job, const JobListener& user) {
  auto promise = make_response_promise<JobId>();
  request(setup_.master, setup_.accept_timeout, accept_atom_v, std::move(job), JobListener{this})
      .then(
          [this, promise, user](JobId accepted) mutable {
            if (user) users_[accepted] = user;
            promise.deliver(accepted);
          },
          [promise](caf::error& error) mutable { promise.deliver(std::move(error)); });
  return promise;
}

}  // namespace muster
