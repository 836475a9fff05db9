#include "storage/records/record_rows.hpp"

namespace muster::record_codec {

void put(record::JobRow::Builder out, const JobRow& in) {
  const auto& [job, slot, accepted_at, tasks, pending, held, capped, running, finished,
               held_by_user, terminal_outcome, held_from, active, gang, starting, stopping, counted,
               failed, width, done, confined, replicas, settled, progressed_at, failed_update,
               last_revision, wanted, leaving, awaiting, started] = in;
  static_cast<void>(active);  // the list says it
  static_cast<void>(gang);    // derived from the tasks, as the rest
  static_cast<void>(starting);
  static_cast<void>(stopping);
  static_cast<void>(counted);
  static_cast<void>(failed);
  static_cast<void>(confined);
  static_cast<void>(wanted);
  static_cast<void>(leaving);
  static_cast<void>(awaiting);
  static_cast<void>(started);
  put(out.initJob(), job);
  out.setSlot(slot);
  out.setAcceptedAt(nanos(accepted_at));
  put(out.initTasks(length(tasks)), tasks);
  out.setPending(pending);
  out.setHeld(held + capped);  // derived anew when it is read
  out.setRunning(running);
  out.setFinished(finished);
  out.setHeldByUser(held_by_user);
  out.setTerminalOutcomeSet(terminal_outcome.has_value());
  if (terminal_outcome) out.setTerminalOutcome(to_record(*terminal_outcome));
  out.setHeldFrom(held_from);
  out.setWidth(width);
  out.setDone(done);
  out.setReplicas(replicas);
  out.setSettled(settled);
  out.setProgressedAt(nanos(progressed_at));
  out.setFailedUpdate(failed_update.value);
  out.setLastRevision(last_revision);
}

JobRow get(record::JobRow::Reader in) {
  JobRow out;
  out.job = get(in.getJob());
  out.slot = in.getSlot();
  out.accepted_at = instant(in.getAcceptedAt());
  out.tasks = get(in.getTasks());
  out.pending = in.getPending();
  out.held = in.getHeld();
  out.running = in.getRunning();
  out.finished = in.getFinished();
  out.held_by_user = in.getHeldByUser();
  if (in.getTerminalOutcomeSet())
    out.terminal_outcome = from_record<JobOutcome>(in.getTerminalOutcome());
  out.held_from = in.getHeldFrom();
  out.width = in.getWidth();
  out.done = in.getDone();
  out.replicas = in.getReplicas();
  out.settled = in.getSettled();
  out.progressed_at = instant(in.getProgressedAt());
  out.failed_update = JobId{in.getFailedUpdate()};
  out.last_revision = in.getLastRevision();
  return out;
}

void put(record::TaskRow::Builder out, const TaskRow& in) {
  const auto& [id, slot, job, index, cls, shape, phase, attempt, at, target, held, planned, reason,
               seen_load, seen_upload, queue, queued, blocks_gang, told, started_at, ran, fruitless,
               metrics, replica, setbacks, rests_until, wanted, ready_since, awaits] = in;
  static_cast<void>(queue);  // the list says it, and its order
  static_cast<void>(queued);
  static_cast<void>(blocks_gang);  // derived, as what the task was told
  static_cast<void>(told);
  out.setId(id.value);
  out.setSlot(slot);
  out.setJob(job);
  out.setIndex(index);
  out.setClass(cls.value);
  out.setShape(shape.value);
  out.setPhase(to_record(phase));
  out.setAttempt(attempt);
  out.setAt(at);
  out.setTarget(target);
  put(out.initReason(), reason);
  out.setSeenLoad(seen_load.count());
  out.setSeenUpload(seen_upload.count());
  out.setStartedAt(nanos(started_at));
  out.setRan(ran.count());
  out.setFruitless(fruitless);
  // An absent record is the default and takes no room.
  if (!held.is_empty()) put(out.initHeld(), held);
  if (!planned.is_empty()) put(out.initPlanned(), planned);
  if (!metrics.empty()) put(out.initMetrics(length(metrics)), metrics);
  if (replica != nullptr) put(out.initReplica(), *replica);
  out.setSetbacks(setbacks);
  out.setRestsUntil(nanos(rests_until));
  out.setWanted(wanted);
  out.setReadySince(nanos(ready_since));
  out.setAwaits(awaits);
}

TaskRow get(record::TaskRow::Reader in) {
  TaskRow out;
  out.id = TaskId{in.getId()};
  out.slot = in.getSlot();
  out.job = in.getJob();
  out.index = in.getIndex();
  out.cls = ClassId{in.getClass()};
  out.shape = ShapeId{in.getShape()};
  out.phase = from_record<TaskPhase>(in.getPhase());
  out.attempt = in.getAttempt();
  out.at = in.getAt();
  out.target = in.getTarget();
  out.reason = get(in.getReason());
  // Earlier records know one phase for both; the reason tells which it was.
  if (out.phase == TaskPhase::held && out.reason.code == RefusalCode::in_flight_cap) {
    out.phase = TaskPhase::capped;
  }
  out.seen_load = Duration{in.getSeenLoad()};
  out.seen_upload = Duration{in.getSeenUpload()};
  out.started_at = instant(in.getStartedAt());
  out.ran = Duration{in.getRan()};
  out.fruitless = in.getFruitless();
  if (in.hasHeld()) out.held = get(in.getHeld());
  if (in.hasPlanned()) out.planned = get(in.getPlanned());
  out.metrics = get(in.getMetrics());
  out.setbacks = in.getSetbacks();
  out.rests_until = instant(in.getRestsUntil());
  out.wanted = in.getWanted();
  out.ready_since = instant(in.getReadySince());
  out.awaits = in.getAwaits();
  if (in.hasReplica()) out.replica = std::make_shared<const ReplicaState>(get(in.getReplica()));
  return out;
}

void put(record::InstanceRow::Builder out, const InstanceRow& in) {
  const auto& [id, slot, type, market, price, phase, up, released, requested_at, up_at, occupants,
               planned, used, committed, live, zone, max_price, earlier, same_offering, owned,
               own_checkpoints] = in;
  static_cast<void>(live);  // the list says it
  static_cast<void>(same_offering);
  out.setId(id.value);
  out.setSlot(slot);
  out.setType(type.value);
  out.setMarket(to_record(market));
  out.setPrice(price.nano_usd_h());
  out.setPhase(to_record(phase));
  out.setUp(up);
  out.setReleased(released);
  out.setRequestedAt(nanos(requested_at));
  if (up) out.setUpAt(nanos(up_at));
  put(out.initOccupants(length(occupants)), occupants);
  put(out.initPlanned(length(planned)), planned);
  put(out.initUsed(), used);
  put(out.initCommitted(), committed);
  if (!zone.empty()) out.setZone(text(zone));
  out.setMaxPrice(max_price.nano_usd_h());
  out.setOwned(owned);
  out.setOwnCheckpoints(own_checkpoints);
  if (earlier.empty()) return;
  auto steps = out.initEarlierPrices(length(earlier));
  for (unsigned i = 0; i < steps.size(); ++i) {
    steps[i].setUntil(nanos(earlier[i].until));
    steps[i].setPrice(earlier[i].price.nano_usd_h());
  }
}

InstanceRow get(record::InstanceRow::Reader in) {
  InstanceRow out;
  out.id = InstanceId{in.getId()};
  out.slot = in.getSlot();
  out.type = TypeId{in.getType()};
  out.market = from_record<Market>(in.getMarket());
  out.price = Price::from_nano_usd_h(in.getPrice());
  out.phase = from_record<InstancePhase>(in.getPhase());
  out.up = in.getUp();
  out.released = in.getReleased();
  out.requested_at = instant(in.getRequestedAt());
  // Records of versions that had no such member fall back on the time of the request.
  if (out.up) out.up_at = in.getUpAt() != 0 ? instant(in.getUpAt()) : out.requested_at;
  out.occupants = get(in.getOccupants());
  out.planned = get(in.getPlanned());
  out.used = get(in.getUsed());
  out.committed = get(in.getCommitted());
  out.zone = string_of(in.getZone());
  out.max_price = Price::from_nano_usd_h(in.getMaxPrice());
  out.owned = in.getOwned();
  out.own_checkpoints = in.getOwnCheckpoints();
  for (const auto step : in.getEarlierPrices()) {
    out.earlier_prices.push_back(
        {instant(step.getUntil()), Price::from_nano_usd_h(step.getPrice())});
  }
  return out;
}

}  // namespace muster::record_codec
