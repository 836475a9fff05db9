#include "masters/log_handover.hpp"

#include <algorithm>
#include <utility>

namespace muster {
namespace {

constexpr std::uint32_t kPieceBytes = 256 * 1024;
/// A worker may cut pieces shorter than it is asked to, but not each to nothing.
constexpr std::uint64_t kSparePieces = 100;
/// Attempts whose output comes across at once.
constexpr std::size_t kMaxActive = 64;
/// Attempts whose little output is kept in memory until its turn comes; that of others is asked
/// for.
constexpr std::size_t kMaxTexts = 10'000;

}  // namespace

LogHandover::LogHandover(LogKeeper& keeper, Bounds bounds, Host host)
    : keeper_(keeper), bounds_(bounds), host_(std::move(host)) {}

LogHandover::Coming& LogHandover::add(const WorkerReport& report) {
  const LogName name{report.task, report.attempt};
  Coming& coming = coming_[name];
  coming.on = report.instance;
  by_instance_[coming.on].insert(name);
  if (texts_ >= kMaxTexts) return coming;
  if (report.out_tail.size() == report.out_bytes) coming.whole[0] = report.out_tail;
  if (report.err_tail.size() == report.err_bytes) coming.whole[1] = report.err_tail;
  if (coming.whole[0] || coming.whole[1]) ++texts_;
  return coming;
}

void LogHandover::note(const WorkerReport& report) {
  const auto known = coming_.find({report.task, report.attempt});
  if (known != coming_.end()) {
    if (known->second.on == report.instance) return;
    drop(known);  // who said so before had no right to
  }
  add(report);
}

bool LogHandover::note_unsure(const WorkerReport& report) {
  if (coming_.contains({report.task, report.attempt})) return false;
  add(report).step = Step::unsure;
  return true;
}

void LogHandover::confirm(const LogName& name, InstanceId on, bool was_there) {
  const auto entry = coming_.find(name);
  if (entry == coming_.end() || entry->second.on != on) return;
  if (entry->second.step != Step::unsure) return;
  if (!was_there) return finish(entry);
  entry->second.step = Step::noted;
  begin(name, on);
}

bool LogHandover::begin(const LogName& name, InstanceId on) {
  const auto entry = coming_.find(name);
  if (entry == coming_.end() || entry->second.on != on) return false;
  if (entry->second.step != Step::noted) return true;
  entry->second.step = Step::waiting;
  waiting_.push_back(name);
  pump();
  return true;
}

void LogHandover::pump() {
  while (active_ < kMaxActive && !waiting_.empty()) {
    const LogName name = waiting_.front();
    waiting_.pop_front();
    const auto entry = coming_.find(name);
    if (entry == coming_.end() || entry->second.step != Step::waiting) continue;
    entry->second.step = Step::active;
    ++active_;
    go_on(name);
  }
}

/// Asks for the next piece, after streams that are here already; or says that there is no more.
void LogHandover::go_on(const LogName& name) {
  const auto entry = coming_.find(name);
  if (entry == coming_.end() || entry->second.step != Step::active) return;
  Coming& coming = entry->second;
  if (coming.stream == kLogStreams || coming.whole[coming.stream]) return take_whole(name, coming);
  LogRequest request;
  request.number = host_.number();
  request.task = name.task;
  request.attempt = name.attempt;
  request.error_stream = coming.stream == 1;
  request.offset = coming.offset;
  request.max_bytes = kPieceBytes;
  asked_[request.number] = name;
  if (host_.ask(coming.on, request)) return;
  asked_.erase(request.number);
  leave_active(coming, Step::stalled);
}

void LogHandover::take_whole(const LogName& name, Coming& coming) {
  LogDelivery delivery{name};
  add_whole(coming, delivery);
  take(std::move(delivery), coming);
}

/// Adds the next streams as far as they came with the report.
void LogHandover::add_whole(Coming& coming, LogDelivery& delivery) {
  for (; coming.stream < kLogStreams && coming.whole[coming.stream]; ++coming.stream) {
    std::string text = std::move(*coming.whole[coming.stream]);
    if (!text.empty()) delivery.pieces.push_back({coming.stream == 1, 0, std::move(text)});
  }
  delivery.last = coming.stream == kLogStreams;
}

/// Goes on when the keeper has dealt with it.
void LogHandover::take(LogDelivery delivery, Coming& coming) {
  coming.closed = delivery.last;
  const auto next = [this, name = delivery.name, last = delivery.last,
                     alive = std::weak_ptr<const bool>(alive_)] {
    if (alive.expired()) return;
    const auto entry = coming_.find(name);
    if (last && entry != coming_.end() && entry->second.closed) return finish(entry);
    go_on(name);
    pump();
  };
  keeper_.take(std::move(delivery), [post = host_.post, next] { post(next); });
}

bool LogHandover::hear(const LogAnswer& answer) {
  const auto asked = asked_.extract(answer.number);
  if (asked.empty()) return false;
  const LogName name = asked.mapped();
  const auto entry = coming_.find(name);
  if (entry == coming_.end() || entry->second.step != Step::active) return true;
  Coming& coming = entry->second;
  coming.taken += answer.text.size();
  LogDelivery delivery{name};
  if (answer.unknown) delivery.lost = "its worker does not have it any more";
  const std::uint64_t most_pieces = kSparePieces + 2 * bounds_.stream_bytes / kPieceBytes;
  if (answer.offset < coming.offset || coming.taken > bounds_.stream_bytes ||
      ++coming.pieces > most_pieces) {
    delivery.lost = "its worker said more than it may keep";
  }
  if (!delivery.lost.empty()) {
    delivery.last = true;
    take(std::move(delivery), coming);
    return true;
  }
  coming.offset = answer.offset + answer.text.size();
  if (!answer.text.empty()) {
    delivery.pieces.push_back({coming.stream == 1, answer.offset, answer.text});
  }
  if (answer.text.empty() || !answer.more_may_come) {
    ++coming.stream;
    coming.offset = coming.taken = coming.pieces = 0;
    add_whole(coming, delivery);
  }
  if (delivery.pieces.empty() && !delivery.last) {
    go_on(name);
  } else {
    take(std::move(delivery), coming);
  }
  return true;
}

void LogHandover::leave_active(Coming& coming, Step next) {
  if (coming.step == Step::active) --active_;
  coming.step = next;
}

/// Questions to it will not be answered.
void LogHandover::cut(InstanceId id) {
  const auto there = by_instance_.find(id);
  if (there == by_instance_.end()) return;
  std::erase_if(asked_, [&](const auto& question) {
    if (!there->second.contains(question.second)) return false;
    leave_active(coming_.at(question.second), Step::stalled);
    return true;
  });
  pump();
}

void LogHandover::met(InstanceId id) {
  expected_.erase(id);
  const auto there = by_instance_.find(id);
  if (there == by_instance_.end()) return free_if_done(id);
  for (const LogName& name : there->second) {
    Coming& coming = coming_.at(name);
    if (coming.step != Step::stalled) continue;
    coming.step = Step::waiting;
    waiting_.push_back(name);
  }
  pump();
}

void LogHandover::finish(Entry entry) {
  host_.settle(entry->second.on, entry->first);
  drop(entry);
  pump();
}

void LogHandover::drop(Entry entry) {
  const LogName name = entry->first;
  Coming& coming = entry->second;
  const InstanceId on = coming.on;
  leave_active(coming, Step::noted);
  if (coming.whole[0] || coming.whole[1]) --texts_;
  coming_.erase(entry);
  const auto there = by_instance_.find(on);
  there->second.erase(name);
  if (there->second.empty()) by_instance_.erase(there);
  free_if_done(on);
}

void LogHandover::free_if_done(InstanceId id) {
  if (!awaits(id) && held_.erase(id) > 0) host_.free(id);
}

void LogHandover::lose(InstanceId id, const std::string& reason) {
  held_.erase(id);
  expected_.erase(id);
  const auto there = by_instance_.find(id);
  if (there == by_instance_.end()) return;
  const std::set<LogName> names = there->second;
  std::erase_if(asked_, [&](const auto& question) { return names.contains(question.second); });
  for (const LogName& name : names) {
    const auto entry = coming_.find(name);
    if (!entry->second.closed && entry->second.step != Step::unsure) {
      lose(name, entry->second, reason);
    }
    host_.settle(id, name);
    drop(entry);
  }
  pump();
}

/// What came with the report is not lost with the instance.
void LogHandover::lose(const LogName& name, Coming& coming, const std::string& reason) {
  LogDelivery delivery{name};
  add_whole(coming, delivery);
  if (!delivery.last) delivery.lost = reason;
  if (coming.stream == 0 && coming.whole[1] && !coming.whole[1]->empty()) {
    delivery.pieces.push_back({true, 0, *coming.whole[1]});
  }
  delivery.last = true;
  keeper_.take(std::move(delivery), {});
}

void LogHandover::lose(const LogName& name, const std::string& reason) {
  keeper_.take({name, {}, true, reason}, {});
}

bool LogHandover::awaits(InstanceId id) const {
  return by_instance_.contains(id) || expected_.contains(id);
}

bool LogHandover::holds(InstanceId id, Instant now) {
  if (!awaits(id)) return false;
  const auto [held, fresh] = held_.try_emplace(id, now + bounds_.hold);
  return held->second > now;
}

void LogHandover::expect(InstanceId id) {
  expected_.insert(id);
}

std::optional<Instant> LogHandover::next_end() const {
  std::optional<Instant> next;
  for (const auto& [id, until] : held_) next = next ? std::min(*next, until) : until;
  return next;
}

void LogHandover::end_holds(Instant now) {
  std::vector<InstanceId> over;
  for (const auto& [id, until] : held_) {
    if (until <= now) over.push_back(id);
  }
  for (const InstanceId id : over) {
    lose(id,
         "it was not across when its instance had been kept for it as long as "
         "logs.handover_s allows");
    host_.free(id);
  }
}

std::optional<InstanceId> LogHandover::place_of(const LogName& name) const {
  const auto entry = coming_.find(name);
  return entry == coming_.end() ? std::nullopt : std::optional(entry->second.on);
}

}  // namespace muster
