#include "masters/actor/log_handover.hpp"

#include <algorithm>
#include <utility>

namespace muster {
namespace {

constexpr std::uint32_t kPieceBytes = 256 * 1024;
/// A worker may cut pieces shorter than it is asked to, but not each to nothing.
constexpr std::uint64_t kSparePieces = 100;
/// Bounds of the time that an answer may take, and of the pause after the disk took nothing.
constexpr Duration kLeastPatience = std::chrono::seconds{1};
constexpr Duration kMostPatience = std::chrono::minutes{1};
constexpr Duration kLeastPause = std::chrono::milliseconds{100};
constexpr Duration kMostPause = std::chrono::seconds{4};
/// Number of pauses that the longest hold has at least.
constexpr int kPausesInHold = 8;
constexpr const char* kTooMuch = "its worker said more than it may keep";
/// Attempts whose little output is kept in memory until its turn comes; that of others is asked
/// for.
constexpr std::size_t kMaxTexts = 10'000;

}  // namespace

Duration LogHandover::Bounds::patience() const {
  return std::clamp<Duration>(hold, kLeastPatience, kMostPatience);
}

Duration LogHandover::Bounds::pause() const {
  return std::clamp<Duration>(hold / kPausesInHold, kLeastPause, kMostPause);
}

std::uint64_t LogHandover::Bounds::most_pieces() const {
  return kSparePieces + 2 * stream_bytes / kPieceBytes;
}

void LogHandover::Coming::add_whole(LogDelivery& delivery) {
  std::size_t& stream = at.stream;
  for (; stream < kLogStreams && whole[stream]; ++stream) {
    const std::string& text = *whole[stream];
    if (!text.empty()) delivery.pieces.push_back({stream == 1, 0, text});
  }
  delivery.last = stream == kLogStreams;
}

LogHandover::LogHandover(LogSink& sink, Bounds bounds, Host host)
    : sink_(sink), bounds_(bounds), host_(std::move(host)) {}

LogHandover::Coming& LogHandover::add(const WorkerReport& report) {
  const LogName name{report.task, report.attempt};
  Coming& coming = coming_[name];
  coming.on = report.instance;
  coming.serial = ++serial_;
  turns_.add(name, coming.on);
  if (texts_ >= kMaxTexts) return coming;
  if (report.out_tail.size() == report.out_bytes) coming.whole[0] = report.out_tail;
  if (report.err_tail.size() == report.err_bytes) coming.whole[1] = report.err_tail;
  if (coming.has_text()) ++texts_;
  return coming;
}

void LogHandover::note(const WorkerReport& report) {
  const auto known = coming_.find({report.task, report.attempt});
  if (known != coming_.end()) {
    if (known->second.on == report.instance) return;
    drop(known);  // the worker that named it before had no right to
  }
  add(report);
}

bool LogHandover::note_unsure(const WorkerReport& report) {
  if (coming_.contains({report.task, report.attempt})) return false;
  add(report).step = Step::unsure;
  return true;
}

void LogHandover::confirm(const LogName& name, InstanceId on) {
  const auto entry = coming_.find(name);
  if (entry == coming_.end() || entry->second.on != on) return;
  if (entry->second.step != Step::unsure) return;
  entry->second.step = Step::noted;
  begin(name, on);
}

void LogHandover::dismiss(const LogName& name, InstanceId on, const std::string& lost) {
  const auto entry = coming_.find(name);
  if (entry == coming_.end() || entry->second.on != on) return;
  if (entry->second.step != Step::unsure) return;
  if (!lost.empty()) lose(name, lost);
  finish(entry);
}

bool LogHandover::begin(const LogName& name, InstanceId on) {
  const auto entry = coming_.find(name);
  if (entry == coming_.end() || entry->second.on != on) return false;
  if (entry->second.step != Step::noted) return true;
  entry->second.step = Step::waiting;
  turns_.wait(name, on);
  pump();
  return true;
}

/// Has those whose turn it is begin.
void LogHandover::pump() {
  const auto waits = [this](const LogName& name, InstanceId on) {
    const auto entry = coming_.find(name);
    return entry != coming_.end() && entry->second.on == on && entry->second.step == Step::waiting;
  };
  while (const auto name = turns_.next(waits)) {
    coming_.at(*name).step = Step::active;
    go_on(*name);
  }
}

/// Asks for the next piece, after streams that are here already; or says that there is no more.
void LogHandover::go_on(const LogName& name) {
  const auto entry = coming_.find(name);
  if (entry == coming_.end() || entry->second.step != Step::active) return;
  Coming& coming = entry->second;
  const Cursor& at = coming.at;
  if (at.stream == kLogStreams || coming.whole[at.stream]) {
    LogDelivery delivery{name};
    const Cursor before = at;
    coming.add_whole(delivery);
    return take(std::move(delivery), coming, before);
  }
  LogRequest request;
  request.number = host_.number();
  request.task = name.task;
  request.attempt = name.attempt;
  request.error_stream = at.stream == 1;
  request.offset = at.offset;
  request.max_bytes = kPieceBytes;
  const Instant due = host_.now() + bounds_.patience();
  asked_[request.number] = {name, due};
  coming.question = request.number;
  if (host_.ask(coming.on, request)) return host_.wake(due);
  end_question(coming);
  leave_active(coming, Step::stalled);
}

/// Goes on when the keeper has dealt with it. One that has too much to do gets it later.
void LogHandover::take(LogDelivery delivery, Coming& coming, const Cursor& before) {
  const LogName name = delivery.name;
  coming.closed = delivery.last;
  const auto next = [this, name, serial = coming.serial,
                     alive = std::weak_ptr<const bool>(alive_)](bool written) {
    if (!alive.expired()) on_taken(name, serial, written);
  };
  const bool waits = sink_.take(std::move(delivery), [post = host_.post, next](bool written) {
    post([next, written] { next(written); });
  });
  if (waits) return;
  coming.at = before;
  wait_again(coming_.find(name), bounds_.pause());
}

/// A piece that the disk did not take begins anew: the worker has it still.
void LogHandover::on_taken(const LogName& name, std::uint64_t serial, bool written) {
  const auto entry = coming_.find(name);
  if (entry == coming_.end() || entry->second.serial != serial) return;
  Coming& coming = entry->second;
  coming.refused = !written;
  turns_.written(coming.on, written);
  if (!written) {
    coming.at = {};
    return wait_again(entry, bounds_.pause());
  }
  if (coming.closed) return finish(entry);
  go_on(name);
  pump();
}

/// The instance is not asked again before the pause is over.
void LogHandover::wait_again(Entry entry, Duration pause) {
  Coming& coming = entry->second;
  const Instant until = host_.now() + pause;
  coming.closed = false;
  turns_.rest(coming.on, until);
  turns_.wait(entry->first, coming.on);
  host_.wake(until);
  leave_active(coming, Step::waiting);
  pump();
}

bool LogHandover::hear(const LogAnswer& answer) {
  const auto asked = asked_.find(answer.number);
  if (asked == asked_.end()) return false;
  const LogName name = asked->second.name;
  Coming& coming = coming_.at(name);
  if (answer.instance != coming.on) return true;
  end_question(coming);
  turns_.answered(coming.on);
  const Cursor before = coming.at;
  Cursor& at = coming.at;
  at.taken += answer.text.size();
  LogDelivery delivery{name};
  if (answer.unknown) delivery.lost = "its worker does not have it any more";
  const bool too_far =
      answer.offset > kMaxOffset || answer.text.size() > kMaxOffset - answer.offset;
  if (answer.offset < at.offset || too_far || at.taken > bounds_.stream_bytes ||
      ++at.pieces > bounds_.most_pieces()) {
    delivery.lost = kTooMuch;
  }
  if (!delivery.lost.empty()) {
    delivery.last = true;
    take(std::move(delivery), coming, before);
    return true;
  }
  at.offset = answer.offset + answer.text.size();
  if (!answer.text.empty()) {
    delivery.pieces.push_back({at.stream == 1, answer.offset, answer.text});
  }
  if (answer.text.empty() || !answer.more_may_come) {
    at = {at.stream + 1};
    coming.add_whole(delivery);
  }
  if (delivery.pieces.empty() && !delivery.last) {
    go_on(name);
  } else {
    take(std::move(delivery), coming, before);
  }
  return true;
}

void LogHandover::leave_active(Coming& coming, Step next) {
  if (std::exchange(coming.step, next) != Step::active) return;
  turns_.leave(coming.on);
}

/// Questions to it will not be answered.
void LogHandover::cut(InstanceId id) {
  if (!turns_.has(id)) return;
  for (const LogName& name : turns_.of(id)) {
    Coming& coming = coming_.at(name);
    if (coming.question == 0) continue;
    end_question(coming);
    leave_active(coming, Step::stalled);
  }
  pump();
}

void LogHandover::met(InstanceId id) {
  expected_.erase(id);
  if (!turns_.has(id)) return free_if_done(id);
  for (const LogName& name : turns_.of(id)) {
    Coming& coming = coming_.at(name);
    if (coming.step != Step::stalled) continue;
    coming.step = Step::waiting;
    turns_.wait(name, id);
  }
  pump();
}

void LogHandover::finish(Entry entry) {
  host_.acknowledge(entry->second.on, entry->first);
  drop(entry);
  pump();
}

void LogHandover::drop(Entry entry) {
  const LogName name = entry->first;
  Coming& coming = entry->second;
  const InstanceId on = coming.on;
  end_question(coming);
  leave_active(coming, Step::noted);
  if (coming.has_text()) --texts_;
  coming_.erase(entry);
  turns_.remove(name, on);
  free_if_done(on);
}

void LogHandover::free_if_done(InstanceId id) {
  if (!awaits(id) && held_.erase(id) > 0) host_.free(id);
}

void LogHandover::lose(InstanceId id, const std::string& reason) {
  held_.erase(id);
  expected_.erase(id);
  if (!turns_.has(id)) return;
  for (const LogName& name : turns_.of(id)) {
    const auto entry = coming_.find(name);
    if (!entry->second.closed && entry->second.step != Step::unsure) {
      lose(name, entry->second, entry->second.refused ? kDiskTookNothing : reason);
    }
    host_.acknowledge(id, name);
    drop(entry);
  }
  pump();
}

/// Output that came with the report is not lost with the instance.
void LogHandover::lose(const LogName& name, Coming& coming, const std::string& reason) {
  LogDelivery delivery{name};
  coming.add_whole(delivery);
  if (!delivery.last) delivery.lost = reason;
  if (coming.at.stream == 0 && coming.whole[1] && !coming.whole[1]->empty()) {
    delivery.pieces.push_back({true, 0, *coming.whole[1]});
  }
  delivery.last = true;
  sink_.take(std::move(delivery), {});
}

bool LogHandover::holds(InstanceId id, Instant now) {
  if (!awaits(id)) return false;
  const auto [held, fresh] = held_.try_emplace(id, now + bounds_.hold);
  if (fresh) host_.wake(held->second);
  return held->second > now;
}

std::optional<Instant> LogHandover::next_due() const {
  std::optional<Instant> next;
  const auto add = [&next](Instant due) { next = next ? std::min(*next, due) : due; };
  for (const auto& [id, until] : held_) add(until);
  if (!asked_.empty()) add(asked_.begin()->second.due);
  if (const auto rest = turns_.next_rest()) add(*rest);
  return next;
}

void LogHandover::on_time(Instant now) {
  end_holds(now);
  while (!asked_.empty() && asked_.begin()->second.due <= now) {
    const auto entry = coming_.find(asked_.begin()->second.name);
    end_question(entry->second);
    turns_.left_open(entry->second.on);
    wait_again(entry, bounds_.patience());
  }
  turns_.end_rests(now);
  pump();
}
void LogHandover::end_holds(Instant now) {
  std::vector<InstanceId> over;
  for (const auto& [id, until] : held_) {
    if (until <= now) over.push_back(id);
  }
  for (const InstanceId id : over) {
    const bool silent = turns_.is_silent(id);
    lose(id, std::string(silent ? "its worker did not answer; " : "") +
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
