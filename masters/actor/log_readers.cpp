#include "masters/actor/log_readers.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace muster {
namespace {

constexpr const char* kOnlyTail = "only the end of it is left";
constexpr const char* kGone = "its instance was gone before it was across";

caf::error no_such_attempt(const AttemptPlace& place) {
  if (place.attempt == 0) return caf::make_error(ActorError::unknown, "it has had no attempt yet");
  return caf::make_error(ActorError::unknown, "there is attempt " + std::to_string(place.attempt));
}

/// The newest attempt's output as far as it is known without any log.
LogAnswer tail_answer(const LogRequest& request, const AttemptPlace& place) {
  const std::string& tail = request.error_stream ? place.end.err_tail : place.end.out_tail;
  const std::size_t from = std::min<std::size_t>(request.offset, tail.size());
  LogAnswer answer{place.on, request.number, from, tail.substr(from), place.running};
  answer.attempt = place.attempt;
  answer.end = tail.size();
  return answer;
}

/// Nothing of the attempt was kept but, perhaps, its end. An empty reason: it is not known.
LogAnswer lost_answer(const LogRequest& request, const AttemptPlace& place, bool has_removed,
                      const std::string& reason) {
  const bool newest = request.attempt == 0 || request.attempt == place.attempt;
  AttemptPlace known = place;
  if (!newest) known.end = {};
  LogAnswer answer = tail_answer(request, known);
  answer.attempt = newest ? place.attempt : request.attempt;
  answer.more_may_come = false;
  if (!reason.empty()) {
    answer.lost = answer.end > 0 ? std::string(kOnlyTail) + ": " + reason : reason;
    return answer;
  }
  answer.lost = answer.end > 0 ? kOnlyTail : kGone;
  if (has_removed) answer.lost += ", or it was removed to keep logs.keep_mib and logs.keep_days";
  return answer;
}

}  // namespace

LogReaders::LogReaders(Setup setup, const AttemptPlaces& places, Host host)
    : setup_(std::move(setup)), places_(places), host_(std::move(host)) {}

void LogReaders::read(const LogRequest& request, PartAnswer<LogAnswer> answer) {
  if (const auto place = places_.known(request.task)) return send(request, *place, answer);
  const bool waits = places_.read(request.task, [this, request, answer](const AttemptPlace& place) {
    send(request, place, answer);
  });
  if (!waits) answer(caf::make_error(ActorError::store_failed));
}

/// `place` is of the newest attempt.
void LogReaders::send(const LogRequest& request, const AttemptPlace& place,
                      const PartAnswer<LogAnswer>& answer) {
  if (!place.known) return answer(caf::make_error(ActorError::unknown));
  if (request.attempt > place.attempt) return answer(no_such_attempt(place));
  const Attempt attempt = request.attempt == 0 ? place.attempt : request.attempt;
  const bool runs = places_.runs_on(request.task, attempt).has_value();
  InstanceId on;
  if (runs || (!setup_.is_kept && attempt == place.attempt)) {
    on = place.on;
  } else if (setup_.is_kept) {
    on = host_.place_of({request.task, attempt}).value_or(InstanceId{});
  }
  if (on.valid() && (setup_.is_kept || host_.can_ask(on))) {
    Reader reader{answer, request, on, runs};
    reader.request.attempt = attempt;
    return begin(std::move(reader));
  }
  if (attempt == 0 || runs) {
    LogAnswer nothing{on, request.number, request.offset, {}, place.running};
    nothing.attempt = attempt;
    return answer(std::move(nothing));
  }
  if (setup_.is_kept) return send_kept(request, place, answer);
  if (attempt != place.attempt) return answer(no_such_attempt(place));
  answer(tail_answer(request, place));
}

/// Kept parts first: they do not come and go with the worker.
void LogReaders::begin(Reader reader) {
  if (!setup_.is_kept) return go_on(std::move(reader));
  const LogRequest& request = reader.request;
  const LogSink::Place from{
      {request.task, request.attempt}, request.error_stream, request.offset, request.max_bytes};
  const bool waits = host_.read_kept(from, [this, reader](const std::optional<KeptLog>& kept) {
    Reader next = reader;
    if (kept && kept->open) next.kept = *kept;
    go_on(std::move(next));
  });
  if (!waits) go_on(std::move(reader));
}

void LogReaders::go_on(Reader reader) {
  if (host_.can_ask(reader.on)) return ask(std::move(reader));
  if (!reader.kept.text.empty()) return answer_kept(reader, 0);
  if (!reader.runs) return reader.answer(caf::make_error(ActorError::not_connected));
  LogAnswer nothing{reader.on, reader.request.number, reader.request.offset, {}, true};
  nothing.attempt = reader.request.attempt;
  reader.answer(std::move(nothing));
}

/// The kept parts alone; `end` is of the stream, as far as its worker has said.
void LogReaders::answer_kept(const Reader& reader, std::uint64_t end) {
  LogAnswer made{reader.on, reader.request.number, reader.kept.offset, reader.kept.text, true};
  made.attempt = reader.request.attempt;
  made.end = std::max(end, reader.kept.end);
  reader.answer(std::move(made));
}

void LogReaders::ask(Reader reader) {
  const InstanceId on = reader.on;
  if (!readers_.has_room(on, setup_.bounds, host_.now())) {
    if (!reader.kept.text.empty()) return answer_kept(reader, 0);
    return reader.answer(
        caf::make_error(ActorError::busy, "too many questions for output wait for instance " +
                                              std::to_string(on.value) + ", or for all of master " +
                                              setup_.master + ": ask again in a few seconds"));
  }
  LogRequest onward = reader.request;
  onward.number = host_.number();
  if (!reader.kept.text.empty() && !reader.has_gap()) {
    onward.offset = reader.kept_end();
    const std::size_t kept = std::min<std::size_t>(reader.kept.text.size(), onward.max_bytes);
    onward.max_bytes -= static_cast<std::uint32_t>(kept);
  }
  reader.since = host_.now();
  readers_.add(onward.number, std::move(reader));
  host_.ask(on, onward);
}

void LogReaders::send_kept(const LogRequest& request, const AttemptPlace& place,
                           const PartAnswer<LogAnswer>& answer) {
  const Attempt attempt = request.attempt == 0 ? place.attempt : request.attempt;
  const auto use = [request, place, attempt, answer,
                    has_removed = host_.has_removed](const std::optional<KeptLog>& kept) {
    if (!kept || kept->none) {
      return answer(lost_answer(request, place, has_removed(), kept ? kept->lost : ""));
    }
    LogAnswer made{place.on, request.number, kept->offset, kept->text,
                   kept->offset + kept->text.size() < kept->end};
    made.attempt = attempt;
    made.end = kept->end;
    made.lost = kept->open ? kGone : kept->lost;
    answer(std::move(made));
  };
  const bool waits = host_.read_kept(
      {{request.task, attempt}, request.error_stream, request.offset, request.max_bytes}, use);
  if (!waits) answer(caf::make_error(ActorError::store_failed));
}

void LogReaders::hear(const LogAnswer& answer) {
  if (readers_.find(answer.number) == nullptr) return;
  Reader reader = readers_.take(answer.number);
  const bool has_kept = !reader.kept.text.empty();
  LogAnswer onward = answer;
  onward.number = reader.request.number;
  onward.attempt = reader.request.attempt;
  onward.unknown = false;
  onward.lost.clear();
  onward.end = std::min(onward.end, LogHandover::kMaxOffset);
  const bool impossible = answer.offset > LogHandover::kMaxOffset;
  if (has_kept && (answer.unknown || impossible)) return answer_kept(reader, 0);
  if (reader.has_gap() && answer.offset >= reader.kept.offset) {
    return answer_kept(reader, onward.end);
  }
  if (has_kept && !reader.has_gap()) {
    if (answer.offset != reader.kept_end()) return answer_kept(reader, onward.end);
    onward.offset = reader.kept.offset;
    onward.text.insert(0, reader.kept.text);
  }
  // Files that have come across since the keep was asked may have gone from the worker meanwhile.
  const bool has_gap = !has_kept && !impossible && answer.offset > reader.request.offset;
  if (has_gap && setup_.is_kept && !std::exchange(reader.again, true)) {
    return begin(std::move(reader));
  }
  if (impossible) {  // no reader counts on from there
    onward.offset = 0;
    onward.text.clear();
    onward.more_may_come = false;
    onward.lost = "its worker gave an impossible answer";
  }
  if (answer.unknown && reader.runs) onward.more_may_come = true;  // its order is on its way
  if (answer.unknown && !reader.runs) onward.lost = kGone;
  if (onward.lost.empty() || setup_.is_kept) return reader.answer(std::move(onward));
  reader.answer(caf::make_error(ActorError::unknown));
}

void LogReaders::cut(InstanceId id) {
  readers_.cut(id);
}

void LogReaders::clear() {
  readers_.clear();
}

}  // namespace muster
