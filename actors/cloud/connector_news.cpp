// What a connector asks of its provider, and what becomes of what the provider tells.

#include <algorithm>
#include <memory>

#include "actors/cloud/connector_host.hpp"

// A provider's answers and news become due steps of an instance, which are written in the order of
// Due and one at a time, whatever the order in which they came. Only what is on record is told to
// masters.

namespace muster {

Duration CloudConnector::pause_after(std::uint32_t tries) const {
  constexpr std::uint32_t kMostDoublings = 20;  // the longest pause is reached long before
  // `tries` is 1 or more.
  const Duration pause = setup_.retries.pause * (1 << std::min(tries - 1, kMostDoublings));
  return std::min(pause, std::max(setup_.retries.longest, setup_.retries.pause));
}

void CloudConnector::order_launch(InstanceId id) {
  Rented& rented = rented_.at(id);
  rented.launching = true;
  const auto answered = [this, id, host = host_](LaunchAnswer answer) {
    host->run([this, id, answer = std::move(answer)] { on_launched(id, answer); });
  };
  setup_.provider->launch(rented.record, answered);
}

void CloudConnector::on_launched(InstanceId id, const LaunchAnswer& answer) {
  const auto found = rented_.find(id);
  if (found == rented_.end()) return;
  Rented& rented = found->second;
  rented.launching = false;
  const LaunchResult result = answer.result;
  const bool unsure = result == LaunchResult::throttled || result == LaunchResult::failed;
  if (unsure && !rented.record.ending) {
    if (++rented.tries >= setup_.retries.launch_tries) return on_doubt(id, answer);
    return host_->at(timer_.now() + pause_after(rented.tries), [this, id] {
      const auto again = rented_.find(id);
      if (again == rented_.end() || again->second.launching) return;
      const RentedRecord& record = again->second.record;
      if (!record.up_at && !record.ending) order_launch(id);
    });
  }
  // The end was ordered while the launch was under way.
  if (rented.record.ending) return terminate(id);
  if (result == LaunchResult::granted) return;
  refuse_for(id, answer);
}

void CloudConnector::refuse_for(InstanceId id, const LaunchAnswer& answer) {
  ProviderNews news;
  news.text = answer.text;
  news.reason = reason_of(answer.result);
  take(id, Due::refused, std::move(news));
}

/// The tries are used up. The last answers may have got lost, so the cloud is asked what exists
/// before the order is refused for good: for as long as it does not say, nobody knows.
void CloudConnector::on_doubt(InstanceId id, const LaunchAnswer& answer) {
  // Keeps terminate() away until it is known what exists.
  rented_.at(id).launching = true;
  setup_.provider->list([this, id, answer, host = host_](FoundInstances found) {
    host->run([this, id, answer, found = std::move(found)] {
      const auto rented = rented_.find(id);
      if (rented == rented_.end()) return;
      if (!found.complete) {
        return host_->at(timer_.now() + pause_after(++rented->second.tries), [this, id, answer] {
          if (rented_.contains(id)) on_doubt(id, answer);
        });
      }
      rented->second.launching = false;
      if (rented->second.record.ending) return terminate(id);
      const auto& all = found.instances;
      if (std::find(all.begin(), all.end(), id) == all.end()) refuse_for(id, answer);
    });
  });
}

/// Not before the launch is answered: what the cloud does not know yet could still come.
void CloudConnector::terminate(InstanceId id) {
  const auto found = rented_.find(id);
  if (found == rented_.end() || found->second.launching) return;
  setup_.provider->terminate(id, [this, id, host = host_](EndResult result) {
    host->run([this, id, result] { on_terminated(id, result); });
  });
}

void CloudConnector::on_terminated(InstanceId id, EndResult result) {
  const auto found = rented_.find(id);
  if (found == rented_.end() || result == EndResult::accepted) return;
  if (result == EndResult::absent) return take(id, Due::gone, {});
  // It costs money until it is ended, so this is tried for as long as it takes.
  host_->at(timer_.now() + pause_after(++found->second.end_tries), [this, id] { terminate(id); });
}

/// Compares what exists with what is on record.
void CloudConnector::look() {
  // A launch that is under way may exist or not: nothing is concluded from either.
  std::set<InstanceId> expected;
  for (const auto& [id, rented] : rented_) {
    if (!rented.launching) expected.insert(id);
  }
  setup_.provider->list([this, expected, host = host_](FoundInstances found) {
    host->run([this, expected, found = std::move(found)] { on_found(expected, found); });
  });
}

void CloudConnector::look_later(Duration wait) {
  if (std::exchange(looks_later_, true)) return;
  host_->at(timer_.now() + wait, [this] {
    looks_later_ = false;
    look();
  });
}

void CloudConnector::on_found(const std::set<InstanceId>& expected, const FoundInstances& found) {
  if (!found.complete) return look_later(pause_after(++looks_));
  looks_ = 0;
  const std::set<InstanceId> exists(found.instances.begin(), found.instances.end());
  for (const InstanceId id : exists) {
    if (rented_.contains(id)) continue;
    note("instance " + std::to_string(id.value) + " is nobody's: it is ended");
    setup_.provider->terminate(id, [](EndResult) {});  // a later look repeats it
  }
  for (const InstanceId id : expected) {
    const auto rented = rented_.find(id);
    if (rented == rented_.end() || exists.contains(id) || rented->second.launching) continue;
    const RentedRecord& record = rented->second.record;
    if (!record.up_at && !record.ending) {
      // The order had not come to the cloud; what is tried again is so by itself.
      if (!is_being_written(id) && rented->second.due.empty() && rented->second.tries == 0) {
        order_launch(id);
      }
      // Nothing to conclude: it was never up as far as anybody knows.
      continue;
    }
    ProviderNews news;
    news.reason = record.ending ? CloudReason::ended : CloudReason::failed;
    take(id, Due::gone, std::move(news));
  }
  if (setup_.list_every > Duration::zero()) look_later(setup_.list_every);
}

void CloudConnector::on_news(ProviderNews news) {
  const InstanceId id = news.instance;
  switch (news.kind) {
    case ProviderNewsKind::restarted:
      ++restarts_;
      [[fallthrough]];
    case ProviderNewsKind::note:
      return note("instance " + std::to_string(id.value) + ": " + news.text);
    case ProviderNewsKind::offering:
      return on_offering({news.offering, news.at});
    case ProviderNewsKind::up:
      return take(id, Due::up, std::move(news));
    case ProviderNewsKind::machine:
      return take(id, Due::machine, std::move(news));
    case ProviderNewsKind::notice:
      return take(id, Due::notice, std::move(news));
    case ProviderNewsKind::ending:
      return take(id, Due::ending, std::move(news));
    case ProviderNewsKind::gone:
      return take(id, Due::gone, std::move(news));
  }
}

/// Has it written down when its turn has come. What is told again is already due or outdated.
void CloudConnector::take(InstanceId id, Due due, ProviderNews news) {
  const auto found = rented_.find(id);
  if (found == rented_.end()) return;
  // The first news of a kind counts.
  found->second.due.try_emplace(due, std::move(news));
  settle(id);
}

/// Writes down what is due of the instance, one after the other.
void CloudConnector::settle(InstanceId id) {
  // A loop and no recursion: a store that answers at once would nest a call for each step.
  while (true) {
    const auto found = rented_.find(id);
    if (found == rented_.end() || is_being_written(id)) return;
    Rented& rented = found->second;
    // What it costs is not known while a change of its price is being written down.
    if (rented.retries_write || rented.due.empty() || changing_ == key_of(rented.record)) return;
    const auto due = rented.due.extract(rented.due.begin());
    step(rented, due.key(), due.mapped());
  }
}

void CloudConnector::step(Rented& rented, Due due, const ProviderNews& news) {
  switch (due) {
    case Due::end:
      return end(rented, news);
    case Due::up:
      return come_up(rented, news);
    case Due::machine: {
      RentedRecord record = rented.record;
      record.machine = news.text;
      if (record == rented.record) return;
      return advance(record, due, news, [](const Rented&) {});
    }
    case Due::notice:
      return give_notice(rented, news);
    case Due::ending:
      return begin_end(rented, news);
    case Due::refused:
      return refuse(rented, news);
    case Due::gone:
      return gone(rented, news);
    case Due::price:
      return advance(rented.record, due, news, [](const Rented&) {});
  }
}

void CloudConnector::retry_write(InstanceId id) {
  const auto found = rented_.find(id);
  if (found == rented_.end() || std::exchange(found->second.retries_write, true)) return;
  host_->at(now() + setup_.write_retry, [this, id] {
    const auto rented = rented_.find(id);
    if (rented == rented_.end()) return;
    rented->second.retries_write = false;
    settle(id);
  });
}

/// Writes down what a rented instance is to be from now on, and goes on when it is so. When it
/// cannot be written, it is tried again after a while, from the state that the instance is in then.
void CloudConnector::advance(const RentedRecord& record, Due due, const ProviderNews& news,
                             std::function<void(Rented&)> then) {
  write(record, [this, record, due, news, then = std::move(then)](bool written) {
    Rented& rented = rented_.at(record.instance);
    if (!written) {
      rented.due.try_emplace(due, news);
      return retry_write(record.instance);
    }
    rented.record = record;
    rented.change_on_record = record.change;
    catch_up(rented.record);
    then(rented);
  });
}

void CloudConnector::end(Rented& rented, const ProviderNews& news) {
  if (rented.record.ending) return;
  RentedRecord record = rented.record;
  record.ending = true;
  record.reason = CloudReason::ended;
  advance(record, Due::end, news,
          [this](const Rented& ending) { terminate(ending.record.instance); });
}

void CloudConnector::come_up(Rented& rented, const ProviderNews& news) {
  // A provider that waits for the record (news without a time) brings nothing up any more.
  if (rented.record.up_at || (rented.record.ending && !news.at)) return;
  RentedRecord record = rented.record;
  // A cloud's clock may be behind this one: nothing is billed before it was ordered.
  record.up_at = std::max(news.at.value_or(now()), record.ordered_at);
  price_from(record, *record.up_at);
  advance(record, Due::up, news, [this, recorded = news.recorded](const Rented& up) {
    ++setup_.bill->launched;
    notify_state(up);
    if (recorded) recorded(*up.record.up_at);
  });
}

void CloudConnector::give_notice(Rented& rented, const ProviderNews& news) {
  const InstanceId id = rented.record.instance;
  RentedRecord record = rented.record;
  if (record.ending || record.notice || !record.up_at || !news.at) {
    return answer_interruption(id, record.notice.has_value());
  }
  record.notice = news.at;
  record.reason = news.reason;
  const bool asked = interrupting_.contains(id);
  write(record, [this, id, record, news, asked](bool written) {
    if (written) {
      Rented& noticed = rented_.at(id);
      noticed.record = record;
      noticed.change_on_record = record.change;
      catch_up(noticed.record);
      tell(noticed.master, {id, CloudReportKind::notice, *record.notice});
      if (news.recorded) news.recorded(*record.notice);
    } else if (!asked) {
      rented_.at(id).due.try_emplace(Due::notice, news);
      // An interruption that was asked for and could not be written is refused, not repeated.
      retry_write(id);
    }
    answer_interruption(id, written);
  });
}

/// The cloud ends it by itself.
void CloudConnector::begin_end(Rented& rented, const ProviderNews& news) {
  if (rented.record.ending) {
    if (news.recorded) news.recorded(now());
    return;
  }
  RentedRecord record = rented.record;
  record.ending = true;
  record.reason = news.reason;
  advance(record, Due::ending, news, [this, recorded = news.recorded](const Rented&) {
    if (recorded) recorded(now());
  });
}

/// What is refused is so for good, also over a crash: it is told when it is written down.
void CloudConnector::refuse(Rented& rented, const ProviderNews& news) {
  if (rented.record.up_at) return;
  if (rented.record.ending) return terminate(rented.record.instance);
  RentedRecord record = rented.record;
  record.refused = true;
  record.reason = news.reason;
  advance(record, Due::refused, news, [this](const Rented& refused) {
    ++setup_.bill->refused;
    const Rented over = remove(refused.record.instance);
    notify_over(over.record, over.master);
    remember(over.record);
  });
}

void CloudConnector::gone(Rented& rented, const ProviderNews& news) {
  RentedRecord record = rented.record;
  // Not in the future, and below not before it came up: a bill is never negative.
  const Instant ended = std::min(now(), news.at.value_or(now()));
  record.gone_at = std::max(ended, record.up_at.value_or(record.ordered_at));
  if (record.reason == CloudReason::not_said) record.reason = news.reason;
  // What changed its price after it was gone is none of it.
  if (record.up_at && record.priced_at && *record.gone_at < *record.priced_at) {
    price_from(record, *record.up_at);
    catch_up(record);
  }
  advance(record, Due::gone, news, [this, recorded = news.recorded](const Rented& gone) {
    const Rented over = remove(gone.record.instance);
    setup_.bill->total += charge_of(over.record, *over.record.gone_at);
    notify_over(over.record, over.master);
    remember(over.record);
    if (recorded) recorded(*over.record.gone_at);
  });
}

}  // namespace muster
