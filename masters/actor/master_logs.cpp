// What a master does about the output of its tasks: it has it brought to its own node before an
// instance ends, and reads it to its users from there, or from the worker while it is not across.

#include <algorithm>
#include <utility>

#include "masters/actor/master_actor.hpp"
#include "masters/view/cell_view.hpp"

namespace muster {
namespace {

/// Claims that are looked up at once: users read from the same places.
constexpr std::size_t kMaxOpenClaims = 16;
/// When those who read for it had too much to do.
constexpr Duration kLookAgain = std::chrono::milliseconds{200};

constexpr const char* kOnlyTail = "only the end of it is left";
constexpr const char* kGone = "its instance was gone before it was across";

caf::error no_such_attempt(const AttemptPlace& place) {
  if (place.attempt == 0) return caf::make_error(ActorError::unknown, "it has had no attempt yet");
  return caf::make_error(ActorError::unknown, "there is attempt " + std::to_string(place.attempt));
}

/// The attempt is on its instance now, as far as the master knows.
bool is_on_instance(const TaskRow* row, Attempt attempt) {
  return row != nullptr && row->attempt == attempt && row->at != kNoSlot;
}

/// What is known of the newest attempt's output without any log.
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

void MasterActorImpl::begin_logs() {
  const LogCare& care = setup_.logs;
  if (care.sink == nullptr) return;
  LogHandover::Host host;
  host.ask = [this](InstanceId on, const LogRequest& request) {
    WorkerActor* worker = worker_on(on);
    if (worker != nullptr) send(*worker, request);
    return worker != nullptr;
  };
  host.acknowledge = [this](InstanceId on, const LogName& name) {
    if (WorkerActor* worker = worker_on(on)) {
      send(*worker, ack_atom_v, name.task, name.attempt);
    }
  };
  host.free = [this](InstanceId id) { end_now(id); };
  host.post = [address = caf::actor_cast<caf::weak_actor_ptr>(this)](std::function<void()> step) {
    if (auto self = caf::actor_cast<MasterActor>(address.lock())) {
      caf::anon_send(self, Wakeup{std::move(step)});
    }
  };
  host.number = [this] { return ++next_log_; };
  host.now = [this] { return timer_.now(); };
  host.wake = [this](Instant when) { handover_.at(when); };
  logs_ = std::make_unique<LogHandover>(*care.sink, care.bounds, std::move(host));
  // What was not across when the master ended: their workers say it with their hello.
  for (const InstanceRow& row : master_.state().instances()) {
    if (row.up && row.phase == InstancePhase::terminating) logs_->expect(row.id);
  }
}

/// A worker may hand over the output of attempts that were on its own instance only. Of one that is
/// not there any more, as after a restart, that has to be looked up.
void MasterActorImpl::note_log(const WorkerReport& report) {
  if (!logs_) return;
  const TaskRow* row = master_.state().find(report.task);
  if (is_on_instance(row, report.attempt) && is_there(report.task, report.instance)) {
    return logs_->note(report);
  }
  if (!logs_->note_unsure(report)) return;
  claims_.push_back({{report.task, report.attempt}, report.instance});
  look_up_claims();
}

/// What cannot be looked up now is later; until then the worker keeps it.
void MasterActorImpl::look_up_claims() {
  while (!claims_.empty() && claims_open_ < kMaxOpenClaims) {
    const LogClaim claim = claims_.front();
    if (!look_up(claim)) return handover_.after(kLookAgain);
    claims_.pop_front();
  }
}

/// False: too many wait already for those who read.
bool MasterActorImpl::look_up(const LogClaim& claim) {
  const TaskId task = claim.name.task;
  const History* history = setup_.history;
  if (history == nullptr || master_.state().find(task) != nullptr) {
    const CellView view{master_, history, {}, master_.name(), now()};
    return judge(claim, view.place_of(task, 0));
  }
  const bool waits =
      read_apart<AttemptPlace>([history, task] { return place_of(task, 0, *history); },
                               [this, claim](const AttemptPlace& place) {
                                 --claims_open_;
                                 if (judge(claim, place)) return look_up_claims();
                                 claims_.push_front(claim);
                                 handover_.after(kLookAgain);
                               });
  if (waits) ++claims_open_;
  return waits;
}

/// `place` is of the newest attempt: of an earlier one it is not on record where it was, so the
/// instance that has its output is believed unless there is some already. False: as of look_up().
bool MasterActorImpl::judge(const LogClaim& claim, const AttemptPlace& place) {
  const auto& [name, on] = claim;
  const bool may_be = place.known && name.attempt <= place.attempt;
  if (may_be && name.attempt < place.attempt && master_.state().find(on) != nullptr) {
    return judge_earlier(claim);
  }
  if (may_be && name.attempt == place.attempt && place.on == on) {
    logs_->confirm(name, on);
    return true;
  }
  const std::string lost = "instance " + std::to_string(on.value) +
                           " spoke for it, and it was on instance " +
                           std::to_string(place.on.value);
  const bool is_over = may_be && name.attempt == place.attempt && !place.running;
  logs_->dismiss(name, on, is_over ? lost : "");
  return true;
}

bool MasterActorImpl::judge_earlier(const LogClaim& claim) {
  const std::function<void(bool)> decide = [this, claim](bool is_kept) {
    --claims_open_;
    if (is_kept) {
      logs_->dismiss(claim.name, claim.on, {});
    } else {
      logs_->confirm(claim.name, claim.on);
    }
    look_up_claims();
  };
  ++claims_open_;  // the answer may be quick
  const bool waits = setup_.logs.sink->read(
      {claim.name, false, 0, 0}, [decide, address = caf::actor_cast<caf::weak_actor_ptr>(this)](
                                     const std::optional<KeptLog>& kept) {
        const bool is_kept = kept && !kept->none;
        if (auto self = caf::actor_cast<MasterActor>(address.lock())) {
          caf::anon_send(self, Wakeup{[decide, is_kept] { decide(is_kept); }});
        }
      });
  if (!waits) --claims_open_;
  return waits;
}

/// The instance is gone, and with it what is not across.
void MasterActorImpl::lose_logs(InstanceId id) {
  const InstanceRow* row = master_.state().find(id);
  if (!logs_ || row == nullptr) return;
  const bool spot = row->market == Market::spot;
  const std::string reason = (spot ? "spot instance " : "instance ") + std::to_string(id.value) +
                             " was gone before it was across";
  for (const Slot slot : row->occupants) {
    const TaskRow& task = master_.state().task(slot);
    const LogName name{task.id, task.attempt};
    if (!logs_->place_of(name)) logs_->lose(name, reason);
  }
  logs_->lose(id, reason);
}

/// Whatever is on its way from there.
void MasterActorImpl::end_now(InstanceId id) {
  if (logs_) logs_->let_go(id);
  send(setup_.cloud, end_atom_v, id, MasterForCloud{this});
}

void MasterActorImpl::tend_logs() {
  if (!logs_) return;
  logs_->on_time(timer_.now());
  look_up_claims();
  if (const auto next = logs_->next_due()) handover_.at(*next);
}

caf::result<LogAnswer> MasterActorImpl::read_log(const LogRequest& request) {
  auto promise = make_response_promise<LogAnswer>();
  const History* history = setup_.history;
  if (history == nullptr || master_.state().find(request.task) != nullptr) {
    const CellView view{master_, history, {}, master_.name(), now()};
    send_log(request, view.place_of(request.task, 0), promise);
    return promise;
  }
  const bool waits = read_apart<AttemptPlace>(
      [history, task = request.task] { return place_of(task, 0, *history); },
      [this, request, promise](const AttemptPlace& place) { send_log(request, place, promise); });
  if (!waits) promise.deliver(caf::make_error(ActorError::store_failed));
  return promise;
}

/// `place` is of the newest attempt.
void MasterActorImpl::send_log(const LogRequest& request, const AttemptPlace& place,
                               LogPromise promise) {
  if (!place.known) {
    promise.deliver(caf::make_error(ActorError::unknown));
    return;
  }
  if (request.attempt > place.attempt) {
    promise.deliver(no_such_attempt(place));
    return;
  }
  const Attempt attempt = request.attempt == 0 ? place.attempt : request.attempt;
  const bool runs = is_on_instance(master_.state().find(request.task), attempt);
  InstanceId on;
  if (runs || (!logs_ && attempt == place.attempt)) {
    on = place.on;
  } else if (logs_) {
    on = logs_->place_of({request.task, attempt}).value_or(InstanceId{});
  }
  WorkerActor* worker = on.valid() ? worker_on(on) : nullptr;
  if (worker != nullptr) {
    if (!has_room_for_reader(on)) {
      promise.deliver(caf::make_error(ActorError::busy,
                                      "too many questions for output wait for instance " +
                                          std::to_string(on.value) + ", or for all of master " +
                                          master_.name() + ": ask again in a few seconds"));
      return;
    }
    LogRequest onward = request;
    onward.number = ++next_log_;
    onward.attempt = attempt;
    log_readers_[onward.number] = {promise, request.number, on, attempt, runs, timer_.now()};
    ++readers_of_[on];
    return send(*worker, onward);
  }
  if (attempt == 0 || runs) {
    LogAnswer nothing{on, request.number, request.offset, {}, place.running};
    nothing.attempt = attempt;
    promise.deliver(std::move(nothing));
    return;
  }
  if (logs_ && on.valid()) {
    promise.deliver(caf::make_error(ActorError::not_connected));
    return;
  }
  if (logs_) return send_kept(request, place, promise);
  if (attempt != place.attempt) {
    promise.deliver(no_such_attempt(place));
    return;
  }
  promise.deliver(tail_answer(request, place));
}

/// Whether one more may wait for that worker. Those are dropped for whom nobody waits any more.
bool MasterActorImpl::has_room_for_reader(InstanceId on) {
  const LogReaderBounds& bounds = setup_.settings.log_readers;
  // Numbers rise with time, so the oldest stand first.
  while (!log_readers_.empty() && timer_.now() - log_readers_.begin()->second.since >= bounds.age) {
    LogReader old = take_reader(log_readers_.begin());
    old.promise.deliver(caf::make_error(ActorError::not_connected));
  }
  const auto same = readers_of_.find(on);
  return log_readers_.size() < bounds.most &&
         (same == readers_of_.end() || same->second < bounds.of_instance);
}

MasterActorImpl::LogReader MasterActorImpl::take_reader(
    std::map<std::uint64_t, LogReader>::iterator reader) {
  LogReader taken = std::move(reader->second);
  log_readers_.erase(reader);
  const auto same = readers_of_.find(taken.on);
  if (--same->second == 0) readers_of_.erase(same);
  return taken;
}

void MasterActorImpl::send_kept(const LogRequest& request, const AttemptPlace& place,
                                LogPromise promise) {
  LogSink* sink = setup_.logs.sink;
  const Attempt attempt = request.attempt == 0 ? place.attempt : request.attempt;
  const auto answer = [request, place, attempt, sink](const std::optional<KeptLog>& kept) {
    if (!kept || kept->none) {
      return lost_answer(request, place, sink->has_removed(), kept ? kept->lost : "");
    }
    LogAnswer made{place.on, request.number, kept->offset, kept->text,
                   kept->offset + kept->text.size() < kept->end};
    made.attempt = attempt;
    made.end = kept->end;
    made.lost = kept->lost;
    return made;
  };
  const std::function<void(const std::optional<KeptLog>&)> deliver =
      [promise, answer](const std::optional<KeptLog>& kept) mutable {
        promise.deliver(answer(kept));
      };
  const bool waits = sink->read(
      {{request.task, attempt}, request.error_stream, request.offset, request.max_bytes},
      [deliver, address = caf::actor_cast<caf::weak_actor_ptr>(this)](std::optional<KeptLog> kept) {
        if (auto self = caf::actor_cast<MasterActor>(address.lock())) {
          caf::anon_send<caf::message_priority::high>(
              self, Wakeup{[deliver, kept = std::move(kept)] { deliver(kept); }});
        }
      });
  if (!waits) promise.deliver(caf::make_error(ActorError::store_failed));
}

void MasterActorImpl::on_log(const LogAnswer& answer) {
  if (logs_ && logs_->hear(answer)) return;
  const auto entry = log_readers_.find(answer.number);
  if (entry == log_readers_.end()) return;
  LogReader reader = take_reader(entry);
  LogAnswer onward = answer;
  onward.number = reader.number;
  onward.attempt = reader.attempt;
  onward.unknown = false;
  onward.lost.clear();
  onward.end = std::min(onward.end, LogHandover::kMaxOffset);
  if (answer.offset > LogHandover::kMaxOffset) {  // nobody counts on from there
    onward.offset = 0;
    onward.text.clear();
    onward.more_may_come = false;
    onward.lost = "its worker says what cannot be";
  }
  if (answer.unknown && reader.runs) onward.more_may_come = true;  // its order is on its way
  if (answer.unknown && !reader.runs) onward.lost = kGone;
  if (onward.lost.empty() || logs_) {
    reader.promise.deliver(std::move(onward));
  } else {
    reader.promise.deliver(caf::make_error(ActorError::unknown));
  }
}

/// The worker that was asked is not there any more, and with it the question: nobody waits for its
/// answer.
void MasterActorImpl::end_log_readers(InstanceId id) {
  for (auto reader = log_readers_.begin(); reader != log_readers_.end();) {
    if (reader->second.on != id) {
      ++reader;
      continue;
    }
    const auto lost = reader++;
    take_reader(lost).promise.deliver(caf::make_error(ActorError::not_connected));
  }
}

}  // namespace muster
