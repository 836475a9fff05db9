#include "masters/actor/master_logs.hpp"

#include <optional>
#include <utility>

namespace muster {
namespace {

/// When those who read for a claim had too much to do.
constexpr Duration kLookAgain = std::chrono::milliseconds{200};

}  // namespace

MasterLogs::MasterLogs(const LogCare& care, const Master& master, const AttemptPlaces& places,
                       PartHost& host, Workers workers)
    : sink_(care.sink),
      master_(master),
      host_(host),
      workers_(std::move(workers)),
      alarm_(host, [this] { tend(); }),
      readers_({master.settings().log_readers, master.name(), sink_ != nullptr}, places,
               readers_host()) {
  if (sink_ == nullptr) return;
  handover_ = std::make_unique<LogHandover>(*sink_, care.bounds, handover_host());
  claims_ = std::make_unique<LogClaims>(*handover_, places, claims_host());
}

LogHandover::Host MasterLogs::handover_host() {
  LogHandover::Host host;
  host.ask = [this](InstanceId on, const LogRequest& request) {
    const bool there = workers_.can_ask(on);
    if (there) workers_.ask(on, request);
    return there;
  };
  host.acknowledge = workers_.acknowledge;
  host.free = workers_.free;
  host.post = host_.post();
  host.number = [this] { return ++next_; };
  host.now = [this] { return host_.now(); };
  host.wake = [this](Instant when) { alarm_.at(when); };
  return host;
}

LogClaims::Host MasterLogs::claims_host() {
  LogClaims::Host host;
  host.is_kept = [this](const LogName& name, const std::function<void(bool)>& then) {
    return read_kept({name, false, 0, 0}, host_.post(), [then](const std::optional<KeptLog>& kept) {
      then(kept && !kept->none && !kept->open);
    });
  };
  host.go_on_later = [this] { alarm_.after(kLookAgain); };
  return host;
}

LogReaders::Host MasterLogs::readers_host() {
  LogReaders::Host host;
  host.can_ask = workers_.can_ask;
  host.ask = workers_.ask;
  host.number = [this] { return ++next_; };
  host.now = [this] { return host_.now(); };
  host.place_of = [this](const LogName& name) { return handover_->place_of(name); };
  host.read_kept = [this](const LogSink::Place& place, LogSink::Use use) {
    return read_kept(place, host_.post_first(), std::move(use));
  };
  host.has_removed = [sink = sink_] { return sink->has_removed(); };
  return host;
}

/// The keeper answers from any thread; `use` is called in the actor.
bool MasterLogs::read_kept(const LogSink::Place& place, PartHost::Post post, LogSink::Use use) {
  return sink_->read(place,
                     [post = std::move(post), use = std::move(use)](std::optional<KeptLog> kept) {
                       post([use, kept = std::move(kept)] { use(kept); });
                     });
}

void MasterLogs::begin() {
  if (!handover_) return;
  for (const InstanceRow& row : master_.state().instances()) {
    if (row.up && row.phase == InstancePhase::terminating) handover_->expect(row.id);
  }
}

void MasterLogs::note(const WorkerReport& report) {
  if (claims_) claims_->note(report);
}

void MasterLogs::hear(const FilledLogs& said) {
  if (claims_) claims_->note(said);
}

bool MasterLogs::take(const LogName& name, InstanceId on) {
  return handover_ && handover_->begin(name, on);
}

void MasterLogs::hear(const LogAnswer& answer) {
  if (handover_ && handover_->hear(answer)) return;
  readers_.hear(answer);
}

void MasterLogs::read(const LogRequest& request, PartAnswer<LogAnswer> answer) {
  readers_.read(request, std::move(answer));
}

void MasterLogs::cut(InstanceId id) {
  readers_.cut(id);
  if (handover_) handover_->cut(id);
}

void MasterLogs::met(InstanceId id) {
  if (handover_) handover_->met(id);
}

void MasterLogs::lose(InstanceId id) {
  const InstanceRow* row = master_.state().find(id);
  if (!handover_ || row == nullptr) return;
  const bool spot = row->market == Market::spot;
  const std::string reason = (spot ? "spot instance " : "instance ") + std::to_string(id.value) +
                             " was gone before it was across";
  for (const Slot slot : row->occupants) {
    const TaskRow& task = master_.state().task(slot);
    const LogName name{task.id, task.attempt};
    if (!handover_->place_of(name)) handover_->lose(name, reason);
  }
  handover_->lose(id, reason);
}

bool MasterLogs::holds(InstanceId id) {
  return handover_ && handover_->holds(id, host_.now());
}

void MasterLogs::let_go(InstanceId id) {
  if (handover_) handover_->let_go(id);
}

void MasterLogs::close() {
  readers_.clear();
  claims_.reset();
  handover_.reset();
}

void MasterLogs::tend() {
  if (!handover_) return;
  handover_->on_time(host_.now());
  claims_->go_on();
  if (const auto next = handover_->next_due()) alarm_.at(*next);
}

}  // namespace muster
