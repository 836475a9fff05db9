#include "masters/actor/commits.hpp"

#include <thread>
#include <utility>

namespace muster {

Commits::Commits(Journal* journal, History* history, PartHost& host, Host hooks)
    : journal_(journal), history_(history), host_(host), hooks_(std::move(hooks)) {}

void Commits::take(Commit commit, PartHost::Step then) {
  for (const EndInstance& end : commit.at_once) hooks_.end_now(end.instance);
  if (commit.events.empty() && commit.effects.empty() && !then) return;
  Pending pending{std::move(commit.effects), std::move(then)};
  if (commit.events.empty() && pending_.empty()) return carry_out(pending);
  hooks_.watch(commit.events);
  hooks_.watched();
  pending_.push_back(std::move(pending));
  if (history_ != nullptr) {
    for (JobHistory& job : commit.over) history_->add(std::move(job));
  }
  // A journal may answer at once or from its own thread, to which the actor is a stranger.
  journal_->append(std::move(commit.events),
                   [this, here = std::this_thread::get_id(), post = host_.post_first()] {
                     if (std::this_thread::get_id() == here) return on_durable();
                     post([this] { on_durable(); });
                   });
  hooks_.appended();
}

void Commits::take_part(std::vector<Event>&& events) {
  hooks_.watch(events);
  journal_->append(std::move(events), [] {});
}

void Commits::on_durable() {
  const Pending durable = std::move(pending_.front());
  pending_.pop_front();
  carry_out(durable);
}

void Commits::carry_out(const Pending& durable) const {
  for (const Effect& effect : durable.effects) hooks_.perform(effect);
  if (durable.then) durable.then();
}

}  // namespace muster
