#include "schedulers/site/actor/letters_host.hpp"

#include <utility>

namespace muster {

Letters::Host letters_host(const LetterParts& parts) {
  Letters::Host host;
  host.watch = [&watches = parts.watches](const std::vector<JobId>& jobs) {
    watches.watch_here(jobs);
  };
  host.keep = [&store = parts.store](const JobLetter& letter) { store.persist_letter(letter); };
  if (parts.send) {
    // As writes of the store do, it ends in another thread.
    host.send = [send = parts.send, post = parts.post](Letter letter,
                                                       std::function<void()> settled) {
      send(std::move(letter), [post, settled = std::move(settled)] { post(settled); });
    };
  }
  host.after = parts.after;
  host.now = parts.now;
  return host;
}

}  // namespace muster
