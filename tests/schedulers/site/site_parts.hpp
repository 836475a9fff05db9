#pragma once

#include <deque>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "schedulers/site/site_peers.hpp"
#include "schedulers/site/site_writer.hpp"
#include "tests/schedulers/site/open_site_store.hpp"
#include "tests/support/builders.hpp"

// With what a part of a site scheduler is tried out, without the actor.

namespace muster::test {

constexpr HandoffTarget master_at(std::uint32_t index) {
  return {false, index};
}
constexpr HandoffTarget site_at(std::uint32_t index) {
  return {true, index};
}

/// Masters m0 and m1, and the sites tokyo, which is the one that is tried out, and london.
inline SitePeers two_and_two() {
  return {{{master_at(0), "m0"}, {master_at(1), "m1"}},
          {{site_at(0), "tokyo", {35.7, 139.7}}, {site_at(1), "london", {51.5, -0.1}}},
          0};
}

/// Steps that wait to be run.
class Steps {
 public:
  std::function<void(std::function<void()>)> taker() {
    return [this](std::function<void()> step) { steps_.push_back(std::move(step)); };
  }
  std::size_t size() const { return steps_.size(); }
  /// Those that are there now, and not those that come of them.
  void run() {
    for (const auto& step : std::exchange(steps_, {})) step();
  }

 private:
  std::deque<std::function<void()>> steps_;
};

/// A site's peers, and a store that answers at once unless it is slow.
struct SiteParts {
  SitePeers peers = two_and_two();
  OpenSiteStore store;
  Steps posted;
  SiteWriter writer{store, posted.taker()};
  Steps retries;
  std::vector<std::string> notes;

  std::function<void(const std::string&)> noting() {
    return [this](const std::string& text) { notes.push_back(text); };
  }
  /// The oldest write that the slow store was asked for comes to its end.
  void end_write(const std::string& trouble = {}) {
    OpenSiteStore::Waiting write = std::move(store.waiting.front());
    store.waiting.erase(store.waiting.begin());
    store.slow = false;
    store.trouble = trouble;
    store.persist(std::move(write.news), std::move(write.durable));
    store.trouble.clear();
    store.slow = true;
  }
};

/// A job that may be split, with this number.
inline Job job_of(std::uint64_t id, std::size_t tasks = 1) {
  return JobBuilder(id).tasks(tasks).gang(false).build();
}

}  // namespace muster::test
