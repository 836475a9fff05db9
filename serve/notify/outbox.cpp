#include "serve/notify/outbox.hpp"

#include <algorithm>

#include "config/notify_address.hpp"

namespace muster::notify {
namespace {

/// Letters that are given up in one call for their age.
constexpr std::size_t kDroppedAtOnce = 1'000;

}  // namespace

std::string receiver_of(const std::string& address) {
  if (const auto hook = config::parse_hook(address)) return hook->host;
  return config::in_small_letters(address.substr(address.rfind('@') + 1));
}

void Outbox::add(Letter letter, std::function<void()> settled) {
  const LaneKey key{letter.user, letter.to};
  const auto [lane, fresh] = lanes_.try_emplace(key);
  if (fresh) lane->second.receiver = receiver_of(letter.to);
  lane->second.entries.push_back({std::move(letter), std::move(settled)});
  ++waiting_;
  if (!lane->second.queued && lane->second.under_way == 0) make_ready(key);
}

void Outbox::make_ready(const LaneKey& key) {
  lanes_.at(key).queued = true;
  User& user = users_[key.first];
  user.ready.push_back(key);
  if (user.queued || user.under_way >= bounds_.of_user) return;
  user.queued = true;
  turns_.push_back(key.first);
}

/// The lane goes on when it has rested.
void Outbox::queue(const LaneKey& key, Instant now) {
  Lane& lane = lanes_.at(key);
  if (lane.queued || lane.entries.empty()) return;
  if (lane.rests_until <= now) return make_ready(key);
  // One that fails is tried with one letter at a time.
  if (lane.under_way > 0) return;
  lane.queued = true;
  resting_.emplace(lane.rests_until, key);
}

void Outbox::wake(Instant now) {
  while (!resting_.empty() && resting_.begin()->first <= now) {
    const LaneKey key = resting_.begin()->second;
    resting_.erase(resting_.begin());
    make_ready(key);
  }
}

std::optional<Instant> Outbox::rests_until() const {
  if (resting_.empty()) return std::nullopt;
  return resting_.begin()->first;
}

/// True when there may be more of them.
bool Outbox::drop_old(Lane& lane, Instant now, std::vector<Entry>& given_up) {
  while (!lane.entries.empty() && now - lane.entries.front().letter.at > bounds_.age) {
    if (given_up.size() >= kDroppedAtOnce) return true;
    given_up.push_back(std::move(lane.entries.front()));
    lane.entries.pop_front();
    --waiting_;
  }
  return false;
}

std::optional<Outbox::Entry> Outbox::take(Instant now, std::vector<Entry>& given_up) {
  wake(now);
  // Each turn takes a user out of turns_, or a lane out of those that are ready.
  while (!turns_.empty()) {
    const std::string user = turns_.front();
    turns_.pop_front();
    auto entry = take_of(user, now, given_up);
    User& of = users_.at(user);
    of.queued = !of.ready.empty() && of.under_way < bounds_.of_user;
    if (of.queued) turns_.push_back(user);
    if (entry) return entry;
    if (of.ready.empty() && of.under_way == 0) users_.erase(user);
    if (given_up.size() >= kDroppedAtOnce) return std::nullopt;
  }
  return std::nullopt;
}

/// A letter of the next lane of the user that may send one.
std::optional<Outbox::Entry> Outbox::take_of(const std::string& user, Instant now,
                                             std::vector<Entry>& given_up) {
  User& of = users_.at(user);
  while (!of.ready.empty()) {
    const LaneKey key = of.ready.front();
    Lane& lane = lanes_.at(key);
    if (drop_old(lane, now, given_up)) return std::nullopt;
    of.ready.pop_front();
    // Another letter of the lane may have failed while it was ready.
    const bool rests = lane.rests_until > now;
    if (lane.entries.empty() || rests) {
      lane.queued = rests;
      if (rests) resting_.emplace(lane.rests_until, key);
      // It may have had the place that others wait for.
      const auto at = receivers_.find(lane.receiver);
      if (at != receivers_.end()) unpark(at->second);
      forget_if_empty(key);
      continue;
    }
    Receiver& receiver = receivers_[lane.receiver];
    if (receiver.under_way >= bounds_.at_receiver) {
      receiver.parked[user].push_back(key);
      continue;
    }
    Entry entry = std::move(lane.entries.front());
    lane.entries.pop_front();
    ++lane.under_way;
    ++receiver.under_way;
    ++of.under_way;
    lane.queued = false;
    // Another one at once, but not to a receiver that has just failed.
    if (lane.failures == 0) queue(key, now);
    return entry;
  }
  return std::nullopt;
}

/// A place is free: of the users whose lanes wait for it the next one that may send has it.
void Outbox::unpark(Receiver& receiver) {
  if (receiver.parked.empty()) return;
  auto chosen = receiver.parked.upper_bound(receiver.last);
  auto at = chosen;
  for (std::size_t seen = 0; seen < receiver.parked.size(); ++seen) {
    if (at == receiver.parked.end()) at = receiver.parked.begin();
    const auto user = users_.find(at->first);
    if (user == users_.end() || user->second.under_way < bounds_.of_user) {
      chosen = at;
      break;
    }
    ++at;
  }
  if (chosen == receiver.parked.end()) chosen = receiver.parked.begin();
  receiver.last = chosen->first;
  const LaneKey next = chosen->second.front();
  chosen->second.pop_front();
  if (chosen->second.empty()) receiver.parked.erase(chosen);
  make_ready(next);
}

Duration Outbox::pause_after(Lane& lane, const Delivery& delivery) const {
  Duration pause = bounds_.retry;
  // Ends before the time could overflow.
  for (std::uint32_t i = 0; i < lane.failures && pause < bounds_.retry_longest; ++i) pause *= 2;
  ++lane.failures;
  return std::min(std::max(pause, delivery.pause), bounds_.retry_longest);
}

void Outbox::forget_if_empty(const LaneKey& key) {
  const auto found = lanes_.find(key);
  const Lane& lane = found->second;
  if (!lane.entries.empty() || lane.queued || lane.under_way > 0) return;
  const std::string receiver = lane.receiver;
  lanes_.erase(found);
  const auto at = receivers_.find(receiver);
  if (at == receivers_.end() || at->second.under_way > 0 || !at->second.parked.empty()) return;
  receivers_.erase(at);
}

std::optional<Outbox::Entry> Outbox::put_back(Entry entry, const Delivery& delivery, Instant now) {
  const LaneKey key{entry.letter.user, entry.letter.to};
  Lane& lane = lanes_.at(key);
  --lane.under_way;
  User& user = users_.at(key.first);
  --user.under_way;
  Receiver& receiver = receivers_.at(lane.receiver);
  --receiver.under_way;
  std::optional<Entry> given_up;
  if (delivery.arrived) {
    lane.failures = 0;
    lane.rests_until = {};
    --waiting_;
  } else {
    lane.rests_until = now + pause_after(lane, delivery);
    entry.why = delivery.why;
    if (++entry.tries >= bounds_.tries) {
      --waiting_;
      given_up = std::move(entry);
    } else {
      // Behind the others: one that its receiver will not have keeps no other waiting.
      lane.entries.push_back(std::move(entry));
    }
  }
  queue(key, now);
  unpark(receiver);
  if (!user.queued && !user.ready.empty()) {
    user.queued = true;
    turns_.push_back(key.first);
  }
  const bool gone = user.ready.empty() && user.under_way == 0 && !user.queued;
  forget_if_empty(key);
  if (gone) users_.erase(key.first);
  return given_up;
}

}  // namespace muster::notify
