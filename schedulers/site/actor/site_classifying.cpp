// How a site scheduler tells short jobs from long ones, and learns to.

#include <utility>

#include "schedulers/site/actor/site_actor.hpp"

namespace muster {

/// With what of the masters' instances is in use, as it was heard last.
void SiteScheduler::classify(Job& job) {
  if (!parts_.classifier) return;
  Resources used, capacity;
  for (const HandoffPeer& each : masters_) {
    used += each.load.used;
    capacity += each.load.capacity;
  }
  parts_.classifier->classify(job, SystemUse::of(used, capacity), now());
}

/// Keeps what was learnt, and trains. The classifier that is in use stays in use until there is
/// another.
void SiteScheduler::train_if_due() {
  JobClassifier& classifier = parts_.classifier->classifier();
  if (classifier.due_for_saving()) {
    classifier.saved();
    parts_.store->persist_classifier(classifier.text());
  }
  if (training_ || !classifier.due_for_training()) return;
  training_ = true;
  // Works on copies: the site goes on classifying and learning meanwhile.
  auto train = [history = classifier.history(), params = classifier.params().training] {
    return std::make_shared<const LengthClassifier>(train_classifier(history, params).classifier);
  };
  auto adopt = [this](JobClassifier::Classifier trained) {
    training_ = false;
    parts_.classifier->classifier().adopt(std::move(trained));
    parts_.store->persist_classifier(parts_.classifier->classifier().text());
  };
  if (!parts_.train_apart) return adopt(train());
  // A thread of its own, since training takes seconds, in which no job would be taken in. The
  // result comes as a message: the actor's state is touched in its own thread alone.
  system().spawn<caf::detached + caf::hidden>(
      [train = std::move(train), adopt = std::move(adopt),
       address = caf::actor_cast<caf::weak_actor_ptr>(this)](caf::event_based_actor*) {
        auto trained = train();
        if (auto self = caf::actor_cast<SiteActor>(address.lock())) {
          caf::anon_send(self, Wakeup{[adopt, trained] { adopt(trained); }});
        }
      });
}

}  // namespace muster
