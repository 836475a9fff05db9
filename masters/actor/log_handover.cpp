#include "masters/actor/log_handover.hpp"

#include <algorithm>
#include <utility>

namespace muster {
namespace {

/// Bounds of the time that an answer may take, and of the pause after the disk took nothing.
constexpr Duration kLeastPatience = std::chrono::seconds{1};
constexpr Duration kMostPatience = std::chrono::minutes{1};
constexpr Duration kLeastPause = std::chrono::milliseconds{100};
constexpr Duration kMostPause = std::chrono::seconds{4};
/// Number of pauses that the longest hold has at least.
constexpr int kPausesInHold = 8;
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

LogHandover::LogHandover(LogSink& sink, Bounds bounds, Host host)
    : sink_(sink), bounds_(bounds), host_(std::move(host)), holds_(bounds.hold) {}

LogHandover::Coming& LogHandover::add(const LogName& name, InstanceId on) {
  Coming& coming = coming_[name];
  coming.on = on;
  coming.serial = ++serial_;
  turns_.add(name, on);
  kept_.take(name, on, coming.log);
  return coming;
}

void LogHandover::note_end(Coming& coming, const WorkerReport& report) {
  if (std::exchange(coming.over, true) || texts_ >= kMaxTexts) return;
  coming.log.add_whole(report);
  if (coming.log.has_text()) ++texts_;
}

void LogHandover::fill(const LogName& name, InstanceId on, const LogEnds& ends) {
  if (const auto known = coming_.find(name); known != coming_.end()) {
    if (known->second.on == on) known->second.log.fill(ends);
    return;
  }
  Coming& coming = add(name, on);
  coming.step = Step::waiting;
  coming.log.fill(ends);
  set_aside(coming_.find(name));
}

void LogHandover::note(const WorkerReport& report) {
  const auto known = coming_.find({report.task, report.attempt});
  if (known != coming_.end()) {
    if (known->second.on == report.instance) return note_end(known->second, report);
    drop(known);  // the worker that named it before had no right to
  }
  note_end(add({report.task, report.attempt}, report.instance), report);
}

bool LogHandover::note_unsure(const WorkerReport& report) {
  const auto known = coming_.find({report.task, report.attempt});
  if (known == coming_.end()) {
    Coming& coming = add({report.task, report.attempt}, report.instance);
    note_end(coming, report);
    coming.step = Step::unsure;
    return true;
  }
  // It was there when its files filled.
  if (known->second.on == report.instance) note_end(known->second, report);
  return false;
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
  if (entry == coming_.end() || entry->second.on != on || !entry->second.over) return false;
  if (entry->second.step == Step::unsure) return true;
  // A part of it may be under way: the rest follows.
  entry->second.log.end();
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
  if (!coming.log.wants()) return set_aside(entry);
  if (const auto stream = coming.log.unknown()) return look_up(name, coming, *stream);
  const ComingLog::Cursor before = coming.log.at();
  auto request = coming.log.question(name);
  if (!request) return take(coming.log.from_report(name), coming, before);
  request->number = host_.number();
  const Instant due = host_.now() + bounds_.patience();
  asked_.open(request->number, name, due);
  coming.question = request->number;
  if (host_.ask(coming.on, *request)) return host_.wake(due);
  asked_.close(coming.question);
  leave_active(coming, Step::stalled);
}

/// Finds out up to where a stream is kept already, as it may be since before a restart.
void LogHandover::look_up(const LogName& name, const Coming& coming, std::size_t stream) {
  const auto next = [this, name, stream, serial = coming.serial,
                     alive = std::weak_ptr<const bool>(alive_)](std::uint64_t kept) {
    if (alive.expired()) return;
    const auto entry = coming_.find(name);
    if (entry == coming_.end() || entry->second.serial != serial) return;
    entry->second.log.know(stream, kept);
    go_on(name);
  };
  const bool waits = sink_.read({name, stream == 1, 0, 0},
                                [post = host_.post, next](const std::optional<KeptLog>& kept) {
                                  // A log that is whole is brought anew, as by a worker that was
                                  // not told that it is.
                                  const std::uint64_t end = kept && kept->open ? kept->end : 0;
                                  post([next, end] { next(end); });
                                });
  if (!waits) wait_again(coming_.find(name), bounds_.pause());
}

/// Its turn is over, or is yet to come: it waits for the next one, if something is to come now.
void LogHandover::set_aside(Entry entry) {
  const auto& [name, coming] = *entry;
  if (coming.log.wants()) {
    turns_.wait(name, coming.on);
    leave_active(entry->second, Step::waiting);
  } else if (coming.over) {
    leave_active(entry->second, Step::noted);
  } else {
    kept_.add(name, coming.on, coming.log);
    drop(entry);
  }
  pump();
}

/// Goes on when the keeper has dealt with it. One that has too much to do gets it later.
void LogHandover::take(LogDelivery delivery, Coming& coming, const ComingLog::Cursor& before) {
  const LogName name = delivery.name;
  coming.closed = delivery.last;
  coming.part = delivery.part;
  const auto next = [this, name, serial = coming.serial,
                     alive = std::weak_ptr<const bool>(alive_)](bool written) {
    if (!alive.expired()) on_taken(name, serial, written);
  };
  const bool waits = sink_.take(std::move(delivery), [post = host_.post, next](bool written) {
    post([next, written] { next(written); });
  });
  if (waits) return;
  coming.log.go_back(before);
  wait_again(coming_.find(name), bounds_.pause());
}

/// A piece that the disk did not take begins anew behind the last part: the worker has it still.
void LogHandover::on_taken(const LogName& name, std::uint64_t serial, bool written) {
  const auto entry = coming_.find(name);
  if (entry == coming_.end() || entry->second.serial != serial) return;
  Coming& coming = entry->second;
  coming.refused = !written;
  turns_.written(coming.on, written);
  if (!written) {
    coming.log.begin_anew();
    turns_.rest_all(host_.now() + bounds_.pause());
    return wait_again(entry, bounds_.pause());
  }
  if (coming.closed) return finish(entry);
  if (coming.part) {
    // Others have their turn before the next part.
    coming.log.part_kept();
    return set_aside(entry);
  }
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
  if (!asked) return false;
  const LogName& name = *asked;
  Coming& coming = coming_.at(name);
  if (answer.instance != coming.on) return true;
  asked_.close(coming.question);
  turns_.answered(coming.on);
  const ComingLog::Cursor before = coming.log.at();
  LogDelivery delivery = coming.log.hear(name, answer, {bounds_.stream_bytes});
  if (delivery.pieces.empty() && !delivery.last && !delivery.part) {
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
    asked_.close(coming.question);
    leave_active(coming, Step::stalled);
  }
  pump();
}

void LogHandover::met(InstanceId id) {
  holds_.met(id);
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
  asked_.close(coming.question);
  leave_active(coming, Step::noted);
  if (coming.log.has_text()) --texts_;
  coming_.erase(entry);
  turns_.remove(name, on);
  free_if_done(on);
}

void LogHandover::free_if_done(InstanceId id) {
  if (!turns_.has(id) && !holds_.expects(id) && holds_.let_go(id)) host_.free(id);
}

void LogHandover::lose(InstanceId id, const std::string& reason) {
  holds_.forget(id);
  kept_.forget(id);
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
void LogHandover::lose(const LogName& name, const Coming& coming, const std::string& reason) {
  sink_.take(coming.log.lose(name, reason), {});
}

bool LogHandover::holds(InstanceId id, Instant now) {
  if (!turns_.has(id) && !holds_.expects(id)) return false;
  const Instant until = holds_.hold(id, now);
  host_.wake(until);
  return until > now;
}

std::optional<Instant> LogHandover::next_due() const {
  std::optional<Instant> next;
  for (const auto& due : {holds_.next_due(), asked_.next_due(), turns_.next_rest()}) {
    if (due) next = next ? std::min(*next, *due) : *due;
  }
  return next;
}

void LogHandover::on_time(Instant now) {
  for (const InstanceId id : holds_.overdue(now)) {
    const bool silent = turns_.is_silent(id);
    lose(id, std::string(silent ? "its worker did not answer; " : "") +
                 "it was not across when its instance had been kept for it as long as "
                 "logs.handover_s allows");
    host_.free(id);
  }
  while (const auto name = asked_.overdue(now)) {
    const auto entry = coming_.find(*name);
    asked_.close(entry->second.question);
    turns_.left_open(entry->second.on);
    wait_again(entry, bounds_.patience());
  }
  turns_.end_rests(now);
  pump();
}

std::optional<InstanceId> LogHandover::place_of(const LogName& name) const {
  const auto entry = coming_.find(name);
  return entry == coming_.end() ? std::nullopt : std::optional(entry->second.on);
}

}  // namespace muster
