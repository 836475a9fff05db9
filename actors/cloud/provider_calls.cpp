#include "actors/cloud/provider_calls.hpp"

#include <algorithm>
#include <string>
#include <utility>

namespace muster {

ProviderCalls::ProviderCalls(const ConnectorSetup& setup, const RentedBook& book, Host host)
    : setup_(setup), book_(book), host_(std::move(host)) {}

Duration ProviderCalls::pause_after(std::uint32_t tries) const {
  constexpr std::uint32_t kMostDoublings = 20;  // the longest pause is reached long before
  // `tries` is 1 or more.
  const Duration pause = setup_.retries.pause * (1 << std::min(tries - 1, kMostDoublings));
  return std::min(pause, std::max(setup_.retries.longest, setup_.retries.pause));
}

void ProviderCalls::after(Duration wait, std::function<void()> step) const {
  host_.connector->at(host_.connector->now() + wait, std::move(step));
}

bool ProviderCalls::is_launching(InstanceId id) const {
  const auto calls = calls_.find(id);
  return calls != calls_.end() && calls->second.launching;
}

void ProviderCalls::launch(InstanceId id) {
  calls_[id].launching = true;
  const auto answered = [this, id, connector = host_.connector](LaunchAnswer answer) {
    connector->run([this, id, answer = std::move(answer)] { on_launched(id, answer); });
  };
  setup_.provider->launch(book_.find(id)->record, answered);
}

void ProviderCalls::on_launched(InstanceId id, const LaunchAnswer& answer) {
  const RentedBook::Rented* rented = book_.find(id);
  if (rented == nullptr) return;
  Calls& calls = calls_[id];
  calls.launching = false;
  const LaunchResult result = answer.result;
  const bool unsure = result == LaunchResult::throttled || result == LaunchResult::failed;
  if (unsure && !rented->record.ending) {
    if (++calls.tries >= setup_.retries.launch_tries) return on_doubt(id, answer);
    return after(pause_after(calls.tries), [this, id] {
      const RentedBook::Rented* again = book_.find(id);
      if (again == nullptr || is_launching(id)) return;
      if (!again->record.up_at && !again->record.ending) launch(id);
    });
  }
  // The end was ordered while the launch was under way.
  if (rented->record.ending) return terminate(id);
  if (result == LaunchResult::granted) return;
  refuse_for(id, answer);
}

void ProviderCalls::refuse_for(InstanceId id, const LaunchAnswer& answer) {
  ProviderNews news;
  news.text = answer.text;
  news.reason = reason_of(answer.result);
  host_.refused(id, std::move(news));
}

/// The tries are used up. The last answers may have got lost, so the cloud is asked whether the
/// instance exists before the order is refused for good: until it answers, the outcome is unknown.
void ProviderCalls::on_doubt(InstanceId id, const LaunchAnswer& answer) {
  // Keeps terminate() away until it is known what exists.
  calls_[id].launching = true;
  setup_.provider->list([this, id, answer, connector = host_.connector](FoundInstances found) {
    connector->run(
        [this, id, answer, found = std::move(found)] { on_doubt_list(id, answer, found); });
  });
}

void ProviderCalls::on_doubt_list(InstanceId id, const LaunchAnswer& answer,
                                  const FoundInstances& found) {
  const RentedBook::Rented* rented = book_.find(id);
  if (rented == nullptr) return;
  Calls& calls = calls_[id];
  if (!found.complete || found.unknown.contains(id)) {
    return after(pause_after(++calls.tries), [this, id, answer] {
      if (book_.find(id) != nullptr) on_doubt(id, answer);
    });
  }
  calls.launching = false;
  if (rented->record.ending) return terminate(id);
  const auto& all = found.instances;
  if (std::find(all.begin(), all.end(), id) == all.end()) refuse_for(id, answer);
}

void ProviderCalls::terminate(InstanceId id) {
  if (book_.find(id) == nullptr || is_launching(id)) return;
  setup_.provider->terminate(id, [this, id, connector = host_.connector](EndResult result) {
    connector->run([this, id, result] { on_terminated(id, result); });
  });
}

void ProviderCalls::on_terminated(InstanceId id, EndResult result) {
  if (book_.find(id) == nullptr || result == EndResult::accepted) return;
  if (result == EndResult::absent) return host_.gone(id, {});
  // It costs money until it is ended, so this is tried for as long as it takes.
  after(pause_after(++calls_[id].end_tries), [this, id] { terminate(id); });
}

void ProviderCalls::look() {
  // A launch that is under way may exist or not: nothing is concluded from either.
  std::set<InstanceId> expected;
  for (const auto& [id, rented] : book_.rented()) {
    if (!is_launching(id)) expected.insert(id);
  }
  setup_.provider->list([this, expected, connector = host_.connector](FoundInstances found) {
    connector->run([this, expected, found = std::move(found)] { on_found(expected, found); });
  });
}

void ProviderCalls::look_later(Duration wait) {
  if (std::exchange(looks_later_, true)) return;
  after(wait, [this] {
    looks_later_ = false;
    look();
  });
}

void ProviderCalls::on_found(const std::set<InstanceId>& expected, const FoundInstances& found) {
  const bool whole = found.complete && !found.partial;
  if (!whole) look_later(pause_after(++looks_));
  if (!found.complete) return;
  if (whole) looks_ = 0;
  const std::set<InstanceId> exists(found.instances.begin(), found.instances.end());
  for (const InstanceId id : exists) {
    if (book_.find(id) != nullptr) continue;
    host_.connector->note("instance " + std::to_string(id.value) +
                          " is not in the store: it is ended");
    setup_.provider->terminate(id, [](EndResult) {});  // a later look repeats it
  }
  for (const InstanceId id : expected) {
    const RentedBook::Rented* rented = book_.find(id);
    if (exists.contains(id) || found.unknown.contains(id)) continue;
    if (rented != nullptr && !is_launching(id)) miss(id, rented->record);
  }
  if (setup_.list_every > Duration::zero()) look_later(setup_.list_every);
}

/// The instance is on record and does not exist.
void ProviderCalls::miss(InstanceId id, const RentedRecord& record) {
  if (!record.up_at && !record.ending) {
    // The order had not come to the cloud; an order with tries left is tried again by itself.
    // Otherwise there is nothing to conclude: it was never up as far as anybody knows.
    if (host_.is_idle(id) && calls_[id].tries == 0) launch(id);
    return;
  }
  ProviderNews news;
  news.reason = record.ending ? CloudReason::ended : CloudReason::failed;
  host_.gone(id, std::move(news));
}

}  // namespace muster
