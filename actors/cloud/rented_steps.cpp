#include "actors/cloud/rented_steps.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

namespace muster {

RentedSteps::RentedSteps(const ConnectorSetup& setup, const RentedParts& parts, Host host)
    : setup_(setup), parts_(parts), host_(std::move(host)) {}

void RentedSteps::take(InstanceId id, Due due, ProviderNews news) {
  if (parts_.book.find(id) == nullptr) return;
  pending_[id].due.try_emplace(due, std::move(news));
  settle(id);
}

void RentedSteps::settle(InstanceId id) {
  // A loop and no recursion: a store that answers at once would nest a call for each step.
  while (true) {
    Rented* rented = parts_.book.find(id);
    const auto pending = pending_.find(id);
    if (rented == nullptr || pending == pending_.end() || parts_.writer.is_writing(id)) return;
    auto& [due, retries_write] = pending->second;
    // Its cost is not known while a change of its price is being written down.
    if (retries_write || due.empty() || parts_.offerings.is_changing(rented->record)) return;
    const auto next = due.extract(due.begin());
    step(*rented, next.key(), next.mapped());
  }
}

void RentedSteps::renew(InstanceId id) {
  if (!pending_[id].due.try_emplace(Due::price).second) return;
  host_.connector->at(now(), [this, id] { settle(id); });
}

bool RentedSteps::is_idle(InstanceId id) const {
  const auto pending = pending_.find(id);
  const bool nothing_due = pending == pending_.end() || pending->second.due.empty();
  return nothing_due && !parts_.writer.is_writing(id);
}

RentedBook::Rented RentedSteps::remove(InstanceId id) {
  Rented rented = parts_.book.remove(id);
  pending_.erase(id);
  host_.forget(id);
  if (const auto asked = interrupting_.extract(id)) {
    const std::string why = "instance " + std::to_string(id.value) + " is gone";
    asked.mapped()(Failure<ActorError>{ActorError::unknown, why});
  }
  return rented;
}

void RentedSteps::step(Rented& rented, Due due, const ProviderNews& news) {
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

void RentedSteps::retry_write(InstanceId id) {
  if (std::exchange(pending_[id].retries_write, true)) return;
  host_.connector->at(now() + setup_.write_retry, [this, id] {
    const auto pending = pending_.find(id);
    if (pending == pending_.end()) return;
    pending->second.retries_write = false;
    settle(id);
  });
}

/// Writes down what a rented instance is to be from now on, and goes on when it is so. When it
/// cannot be written, it is tried again after a while, from the state that the instance is in then.
void RentedSteps::advance(const RentedRecord& record, Due due, const ProviderNews& news,
                          std::function<void(Rented&)> then) {
  parts_.writer.write(record, [this, record, due, news, then = std::move(then)](bool written) {
    if (written) return then(accept(record));
    pending_[record.instance].due.try_emplace(due, news);
    retry_write(record.instance);
  });
}

/// The record is in the store. Prices have changed meanwhile, perhaps.
RentedBook::Rented& RentedSteps::accept(const RentedRecord& record) {
  Rented& rented = parts_.book.at(record.instance);
  rented.record = record;
  rented.change_on_record = record.change;
  parts_.offerings.catch_up(rented.record);
  return rented;
}

void RentedSteps::end(Rented& rented, const ProviderNews& news) {
  if (rented.record.ending) return;
  RentedRecord record = rented.record;
  record.ending = true;
  record.reason = CloudReason::ended;
  advance(record, Due::end, news,
          [this](const Rented& ending) { host_.terminate(ending.record.instance); });
}

void RentedSteps::come_up(Rented& rented, const ProviderNews& news) {
  // A provider that waits for the record (news without a time) brings nothing up any more.
  if (rented.record.up_at || (rented.record.ending && !news.at)) return;
  RentedRecord record = rented.record;
  // A cloud's clock may be behind this one: nothing is billed before it was ordered.
  record.up_at = std::max(news.at.value_or(now()), record.ordered_at);
  parts_.offerings.price_from(record, *record.up_at);
  advance(record, Due::up, news, [this, recorded = news.recorded](const Rented& up) {
    ++setup_.bill->launched;
    parts_.reports.tell_state(up);
    if (recorded) recorded(*up.record.up_at);
  });
}

void RentedSteps::give_notice(Rented& rented, const ProviderNews& news) {
  const InstanceId id = rented.record.instance;
  RentedRecord record = rented.record;
  if (record.ending || record.notice || !record.up_at || !news.at) {
    return answer_interruption(id, record.notice.has_value());
  }
  record.notice = news.at;
  record.reason = news.reason;
  const bool asked = interrupting_.contains(id);
  parts_.writer.write(record, [this, id, record, news, asked](bool written) {
    if (written) {
      const Rented& noticed = accept(record);
      parts_.reports.tell(noticed.master, {id, CloudReportKind::notice, *record.notice});
      if (news.recorded) news.recorded(*record.notice);
    } else if (!asked) {
      pending_[id].due.try_emplace(Due::notice, news);
      // An interruption that was asked for and could not be written is refused, not repeated.
      retry_write(id);
    }
    answer_interruption(id, written);
  });
}

/// The cloud ends it by itself.
void RentedSteps::begin_end(Rented& rented, const ProviderNews& news) {
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

/// A refusal is for good, also over a crash: it is told when it is written down.
void RentedSteps::refuse(Rented& rented, const ProviderNews& news) {
  if (rented.record.up_at) return;
  if (rented.record.ending) return host_.terminate(rented.record.instance);
  RentedRecord record = rented.record;
  record.refused = true;
  record.reason = news.reason;
  advance(record, Due::refused, news, [this](const Rented& refused) {
    ++setup_.bill->refused;
    const Rented over = remove(refused.record.instance);
    parts_.reports.tell_over(over.record, over.master);
    parts_.book.remember(over.record);
  });
}

void RentedSteps::gone(Rented& rented, const ProviderNews& news) {
  RentedRecord record = rented.record;
  // Not in the future, and below not before it came up: a bill is never negative.
  const Instant ended = std::min(now(), news.at.value_or(now()));
  record.gone_at = std::max(ended, record.up_at.value_or(record.ordered_at));
  if (record.reason == CloudReason::not_said) record.reason = news.reason;
  // A change of its price after it was gone does not count for it.
  if (record.up_at && record.priced_at && *record.gone_at < *record.priced_at) {
    parts_.offerings.price_from(record, *record.up_at);
    parts_.offerings.catch_up(record);
  }
  advance(record, Due::gone, news, [this, recorded = news.recorded](const Rented& gone) {
    const Rented over = remove(gone.record.instance);
    setup_.bill->total += charge_of(over.record, *over.record.gone_at);
    parts_.reports.tell_over(over.record, over.master);
    parts_.book.remember(over.record);
    if (recorded) recorded(*over.record.gone_at);
  });
}

void RentedSteps::interrupt(InstanceId id, const InterruptAnswer& answer) {
  const auto fail = [&](const std::string& why) {
    answer(Failure<ActorError>{ActorError::unknown, why});
  };
  const std::string name = "instance " + std::to_string(id.value);
  if (parts_.writer.is_writing(id)) {
    const bool waits = parts_.writer.defer(id, [this, id, answer] { interrupt(id, answer); });
    return waits ? void() : fail(name + " has too many orders at once");
  }
  const Rented* found = parts_.book.find(id);
  if (found == nullptr) return fail(name + " is not rented");
  const RentedRecord& record = found->record;
  if (record.market != Market::spot) {
    return fail(name + " is an on-demand instance; only spot ones are interrupted");
  }
  if (!record.up_at || record.ending) {
    return fail(name + (record.ending ? " is ending already" : " is not up yet"));
  }
  if (record.notice) return answer(id);
  if (interrupting_.contains(id)) return fail(name + " is being interrupted already");
  // Before the call: the provider may tell of the notice within it.
  interrupting_[id] = answer;
  if (setup_.provider->interrupt(id)) return;
  interrupting_.erase(id);
  fail(name + " cannot be interrupted: its cloud does not do that when it is told to");
}

void RentedSteps::answer_interruption(InstanceId id, bool written) {
  const auto asked = interrupting_.extract(id);
  if (asked.empty()) return;
  if (written) return asked.mapped()(id);
  asked.mapped()(Failure<ActorError>{ActorError::store_failed, parts_.writer.trouble()});
}

}  // namespace muster
