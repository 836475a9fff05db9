#include "model/state_snapshot.hpp"
#include "storage/records/record_parts.hpp"
#include "storage/records/record_rows.hpp"

// A master's snapshot as a record. Rows keep their slots and lists their order, so that a restored
// master decides as the one that was stored; values that can be derived from the rest are left out
// and worked out anew by restore(). Instance types are positions in a table of names, for catalogs
// change between two starts. Members are written from structured bindings, so that one more stops
// the compiler: without a line here it would be gone after a restart.

namespace muster {
namespace {

using record_codec::bytes;
using record_codec::from_record;
using record_codec::get;
using record_codec::instant;
using record_codec::length;
using record_codec::nanos;
using record_codec::put;
using record_codec::string_of;
using record_codec::text;
using record_codec::to_record;

template <class Builder, class Row>
void put_rows(Builder out, const std::vector<Row>& rows) {
  for (unsigned i = 0; i < out.size(); ++i) put(out[i], rows[i]);
}

template <class Row, class Reader>
std::vector<Row> get_rows(Reader in) {
  std::vector<Row> rows;
  rows.reserve(in.size());
  for (const auto row : in) rows.push_back(get(row));
  return rows;
}

/// Offerings as changes have made them, by name.
void put_offerings(record::MasterSnapshot::Builder out, const StateSnapshot& in,
                   const Catalog& catalog) {
  out.setOfferingsKnown(in.offerings_known);
  auto list = out.initOfferings(length(in.offerings));
  auto had_then = out.initOfferingsHad(list.size());
  for (unsigned i = 0; i < list.size(); ++i) {
    const auto& [key, price, available, interruptions_h, told, free, had] = in.offerings[i];
    static_cast<void>(told);  // the list has only those of which a change has told
    const OfferingChange change{0,
                                {},
                                {record_codec::type_name(key.type, catalog), key.market, key.zone,
                                 price, available, interruptions_h, free}};
    put(list[i], change);
    had_then.set(i, had);
  }
}

void get_offerings(record::MasterSnapshot::Reader in, const Catalog& catalog, StateSnapshot& out) {
  out.offerings_known = in.getOfferingsKnown();
  const auto list = in.getOfferings();
  const auto had_then = in.getOfferingsHad();
  for (unsigned i = 0; i < list.size(); ++i) {
    const OfferingChange change = get(list[i]);
    const auto& [name, market, zone, price, available, interruptions_h, free] = change.offering;
    const auto type = catalog.find(name);
    if (!type) continue;
    const std::uint32_t had = i < had_then.size() ? had_then[i] : 0;
    out.offerings.push_back(
        {{*type, market, zone}, price, available, interruptions_h, true, free, had});
  }
}

void put_state(record::MasterSnapshot::Builder out, const StateSnapshot& in) {
  auto names = out.initClassNames(length(in.class_names));
  for (unsigned i = 0; i < names.size(); ++i) names.set(i, text(in.class_names[i]));
  put(out.initIdleClasses(length(in.idle_classes)), in.idle_classes);
  auto shapes = out.initShapes(length(in.shapes));
  for (unsigned i = 0; i < shapes.size(); ++i) {
    const Shape& shape = in.shapes[i];
    put(shapes[i].initDemands(length(shape.demands.entries())), shape.demands);
    if (!shape.constraint.is_empty()) shapes[i].setConstraint(text(shape.constraint.text()));
  }
  put_rows(out.initJobs(length(in.jobs)), in.jobs);
  put_rows(out.initTasks(length(in.tasks)), in.tasks);
  put_rows(out.initInstances(length(in.instances)), in.instances);
  put(out.initFreeJobs(length(in.free_jobs)), in.free_jobs);
  put(out.initFreeTasks(length(in.free_tasks)), in.free_tasks);
  put(out.initFreeInstances(length(in.free_instances)), in.free_instances);
  put(out.initActive(length(in.active)), in.active);
  put(out.initPending(length(in.pending)), in.pending);
  put(out.initAssigned(length(in.assigned)), in.assigned);
  put(out.initLive(length(in.live)), in.live);
}

/// Positions in the record's table of type names become positions in the present catalog.
void translate_types(std::vector<InstanceRow>& rows, capnp::List<capnp::Text>::Reader names,
                     const Catalog& catalog) {
  std::vector<TypeId> present(names.size());
  for (InstanceRow& row : rows) {
    // The number comes from the disk and is used as an index below.
    if (row.type.value >= present.size()) record_codec::refuse("an instance of no type");
    TypeId& known = present[row.type.value];
    // Each name is looked up once, not for each instance.
    if (!known.valid()) {
      known = record_codec::type_named(string_of(names[row.type.value]), catalog);
    }
    row.type = known;
  }
}

ClusterState get_state(record::MasterSnapshot::Reader in, const Catalog& catalog) {
  StateSnapshot snapshot;
  for (const auto name : in.getClassNames()) snapshot.class_names.push_back(string_of(name));
  snapshot.idle_classes = get(in.getIdleClasses());
  for (const auto shape : in.getShapes()) {
    snapshot.shapes.push_back(
        {get(shape.getDemands()), Constraint::of(string_of(shape.getConstraint()))});
  }
  snapshot.jobs = get_rows<JobRow>(in.getJobs());
  snapshot.tasks = get_rows<TaskRow>(in.getTasks());
  snapshot.instances = get_rows<InstanceRow>(in.getInstances());
  translate_types(snapshot.instances, in.getTypes(), catalog);
  snapshot.free_jobs = get(in.getFreeJobs());
  snapshot.free_tasks = get(in.getFreeTasks());
  snapshot.free_instances = get(in.getFreeInstances());
  snapshot.active = get(in.getActive());
  snapshot.pending = get(in.getPending());
  snapshot.assigned = get(in.getAssigned());
  snapshot.live = get(in.getLive());
  get_offerings(in, catalog, snapshot);
  // Checks that rows and lists fit together: the result is a state that events can be applied to.
  auto state = restore(std::move(snapshot), catalog);
  if (!state) record_codec::refuse(state.error().message);
  return std::move(state).value();
}

void put_ledger(record::Ledger::Builder out, const LedgerSnapshot& in) {
  const auto idle = [&](OverheadKind kind) { return in.idle[static_cast<std::size_t>(kind)]; };
  put(out.initTotal(), in.total);
  put(out.initBoot(), idle(OverheadKind::boot));
  put(out.initIdle(), idle(OverheadKind::idle));
  put(out.initDrain(), idle(OverheadKind::drain));
  put(out.initFragmentation(), idle(OverheadKind::fragmentation));
  put(out.initClosedTasks(), in.closed_tasks);
  auto tasks = out.initTasks(length(in.by_task));
  for (unsigned i = 0; i < tasks.size(); ++i) {
    tasks[i].setTask(in.by_task[i].first.value);
    put(tasks[i].initAmount(), in.by_task[i].second);
  }
  auto settled = out.initSettled(length(in.settled_until));
  for (unsigned i = 0; i < settled.size(); ++i) {
    settled[i].setInstance(in.settled_until[i].first.value);
    settled[i].setUntil(nanos(in.settled_until[i].second.until));
    settled[i].setAhead(in.settled_until[i].second.ahead.count());
  }
}

Ledger get_ledger(record::Ledger::Reader in, const ClusterState& state) {
  LedgerSnapshot out;
  const auto idle = [&](OverheadKind kind) -> Money& {
    return out.idle[static_cast<std::size_t>(kind)];
  };
  out.total = get(in.getTotal());
  idle(OverheadKind::boot) = get(in.getBoot());
  idle(OverheadKind::idle) = get(in.getIdle());
  idle(OverheadKind::drain) = get(in.getDrain());
  idle(OverheadKind::fragmentation) = get(in.getFragmentation());
  out.closed_tasks = get(in.getClosedTasks());
  for (const auto task : in.getTasks()) {
    out.by_task.emplace_back(TaskId{task.getTask()}, get(task.getAmount()));
  }
  for (const auto settled : in.getSettled()) {
    out.settled_until.emplace_back(
        InstanceId{settled.getInstance()},
        SettledBill{instant(settled.getUntil()), Duration{settled.getAhead()}});
  }
  return restore(out, state);
}

void put_numbers(capnp::List<record::NumberBlock>::Builder out, const NumberSet& in) {
  unsigned i = 0;
  for (const auto& [block, bits] : in.blocks()) record_codec::put(out[i++], block, bits);
}

/// The master's facts besides its state and ledger.
void put_books(record::MasterSnapshot::Builder out, const MasterSnapshot& in,
               const Catalog& catalog) {
  auto stories = out.initStories(length(in.tasks));
  auto throughput = out.initThroughput(length(in.throughput));
  auto unavailable = out.initUnavailable(length(in.unavailable));
  unsigned i = 0;
  for (const auto& [task, story] : in.tasks) {
    stories[i].setTask(task.value);
    put(stories[i++], story, catalog);
  }
  i = 0;
  for (const auto& [job, sum] : in.throughput) {
    throughput[i].setJob(job.value);
    throughput[i].setSum(sum.sum);
    throughput[i++].setCount(sum.count);
  }
  i = 0;
  for (const auto& [offering, rest] : in.unavailable) {
    unavailable[i].setType(text(record_codec::type_name(offering.type, catalog)));
    unavailable[i].setMarket(to_record(offering.market));
    if (!offering.zone.empty()) unavailable[i].setZone(text(offering.zone));
    const auto& [until, refusals, code] = rest;
    unavailable[i].setRefusals(refusals);
    unavailable[i].setCode(to_record(code));
    unavailable[i++].setUntil(nanos(until));
  }
  i = 0;
  auto gangs = out.initGangs(length(in.gangs.waits));
  for (const auto& [job, wait] : in.gangs.waits) {
    const auto& [since, rest_until, refusals, turns, hopeless] = wait;
    gangs[i].setJob(job.value);
    gangs[i].setSince(nanos(since));
    gangs[i].setRestUntil(nanos(rest_until));
    gangs[i].setRefusals(refusals);
    gangs[i].setTurns(turns);
    gangs[i++].setHopeless(hopeless);
  }
  out.setTurnBegan(nanos(in.gangs.turn_began));
  out.setOthersUntil(nanos(in.gangs.others_until));
  auto terminal = out.initTerminalParts(length(in.terminal_parts));
  for (unsigned k = 0; k < terminal.size(); ++k) terminal.set(k, in.terminal_parts[k].value);
  auto losses = out.initDayLosses(length(in.day_losses));
  unsigned loss = 0;
  for (const auto& [task, ran] : in.day_losses) {
    losses[loss].setTask(task.value);
    losses[loss++].setRan(ran.count());
  }
  auto failed = out.initFailedParts(length(in.failed_parts));
  for (unsigned k = 0; k < failed.size(); ++k) {
    failed[k].setJob(in.failed_parts[k].job.value);
    failed[k].setFailed(in.failed_parts[k].failed);
    failed[k].setAllowed(in.failed_parts[k].allowed);
  }
  put_numbers(out.initAccepted(length(in.accepted.blocks())), in.accepted);
  put_numbers(out.initCompleted(length(in.completed.blocks())), in.completed);
  put_numbers(out.initFailed(length(in.failed.blocks())), in.failed);
  auto lives = out.initLives(length(in.instances));
  unsigned life = 0;
  for (const auto& [id, known] : in.instances) {
    lives[life].setInstance(id.value);
    record_codec::put(lives[life++], known, catalog);
  }
  if (!in.gangs.turn) return;
  out.initTurn().setJob(in.gangs.turn->job.value);
  out.getTurn().setUntil(nanos(in.gangs.turn->until));
}

void get_books(record::MasterSnapshot::Reader in, const Catalog& catalog, MasterSnapshot& out) {
  for (const auto story : in.getStories()) {
    TaskHistory task = get(story, catalog);
    complete_attempts(task, false);
    out.tasks.emplace(TaskId{story.getTask()}, std::move(task));
  }
  for (const auto sum : in.getThroughput()) {
    out.throughput.emplace(JobId{sum.getJob()}, ThroughputSum{sum.getSum(), sum.getCount()});
  }
  for (const auto unavailable : in.getUnavailable()) {
    const auto type = catalog.find(string_of(unavailable.getType()));
    if (!type) continue;
    out.unavailable.emplace(OfferingKey{*type, from_record<Market>(unavailable.getMarket()),
                                        string_of(unavailable.getZone())},
                            OfferingRest{instant(unavailable.getUntil()), unavailable.getRefusals(),
                                         from_record<RefusalCode>(unavailable.getCode())});
  }
  for (const auto gang : in.getGangs()) {
    out.gangs.waits.emplace(JobId{gang.getJob()},
                            GangWait{instant(gang.getSince()), instant(gang.getRestUntil()),
                                     gang.getRefusals(), gang.getTurns(), gang.getHopeless()});
  }
  for (const auto life : in.getLives()) {
    out.instances.emplace(InstanceId{life.getInstance()}, record_codec::get(life, catalog));
  }
  out.gangs.turn_began = instant(in.getTurnBegan());
  out.gangs.others_until = instant(in.getOthersUntil());
  for (const std::uint64_t job : in.getTerminalParts()) out.terminal_parts.push_back(JobId{job});
  for (const auto part : in.getFailedParts()) {
    out.failed_parts.push_back({JobId{part.getJob()}, part.getFailed(), part.getAllowed()});
  }
  for (const auto loss : in.getDayLosses()) {
    out.day_losses.emplace(TaskId{loss.getTask()}, Duration{loss.getRan()});
  }
  for (const auto block : in.getAccepted()) record_codec::get(block, out.accepted);
  for (const auto block : in.getCompleted()) record_codec::get(block, out.completed);
  for (const auto block : in.getFailed()) record_codec::get(block, out.failed);
  if (!in.hasTurn()) return;
  out.gangs.turn = GangTurn{JobId{in.getTurn().getJob()}, instant(in.getTurn().getUntil())};
}

void put_room(record::MasterSnapshot::Builder out, const RoomWaits& in) {
  auto waits = out.initRoomWaits(length(in.waits));
  unsigned i = 0;
  for (const auto& [job, wait] : in.waits) {
    const auto& [task, since, short_of, rest_until, rests, unpaid] = wait;
    waits[i].setJob(job.value);
    waits[i].setTask(task.value);
    waits[i].setSince(nanos(since));
    put(waits[i].initShortOf(), short_of);
    waits[i].setRestUntil(nanos(rest_until));
    waits[i].setUnpaid(unpaid);
    waits[i++].setRests(rests);
  }
  out.setRoomCloudAhead(in.cloud_ahead.count());
  if (!in.claim) return;
  const RoomClaim& claim = *in.claim;
  auto kept = out.initRoomClaim();
  put(kept.initClaimed(),
      {claim.room.place.job, claim.room.task, claim.short_of, claim.room.instances,
       Price::from_nano_usd_h(claim.room.nano_usd_h), claim.room.closed});
  kept.setSince(nanos(claim.since));
  kept.setChosenAt(nanos(claim.chosen_at));
  kept.setFirstRoundSet(claim.first_round.has_value());
  kept.setFirstRound(claim.first_round.value_or(0));
}

void get_room(record::MasterSnapshot::Reader in, MasterSnapshot& out) {
  for (const auto wait : in.getRoomWaits()) {
    const JobId job{wait.getJob()};
    if (out.state.find(job) == nullptr) continue;  // nothing waits of what is over
    out.room.waits.emplace(
        job, RoomWait{TaskId{wait.getTask()}, instant(wait.getSince()), get(wait.getShortOf()),
                      instant(wait.getRestUntil()), wait.getRests(), wait.getUnpaid()});
  }
  out.room.cloud_ahead = Duration{in.getRoomCloudAhead()};
  if (!in.hasRoomClaim()) return;
  const auto kept = in.getRoomClaim();
  const RoomClaimed claimed = get(kept.getClaimed());
  const JobRow* job = out.state.find(claimed.job);
  if (job == nullptr) return;
  RoomClaim& claim = out.room.claim.emplace();
  claim.room = {claimed.task, queue_place_of(*job), claimed.closed, claimed.instances,
                claimed.price.nano_usd_h()};
  claim.short_of = claimed.short_of;
  claim.since = instant(kept.getSince());
  claim.chosen_at = instant(kept.getChosenAt());
  if (kept.getFirstRoundSet()) claim.first_round = kept.getFirstRound();
}

void put_spend(record::MasterSnapshot::Builder out, const DaySpend& in) {
  out.setSpendSet(true);
  auto up = out.initUpSince(length(in.up_since));
  unsigned i = 0;
  for (const auto& [instance, since] : in.up_since) {
    up[i].setInstance(instance.value);
    up[i++].setSince(nanos(since));
  }
  auto days = out.initSpentByDay(length(in.by_day));
  i = 0;
  for (const auto& [day, amount] : in.by_day) {
    days[i].setDay(day);
    put(days[i++].initAmount(), amount);
  }
}

void get_spend(record::MasterSnapshot::Reader in, MasterSnapshot& out) {
  DaySpend& spend = out.spend;
  if (in.getSpendSet()) {
    for (const auto up : in.getUpSince()) {
      const InstanceId instance{up.getInstance()};
      // A bill without an instance would run on for ever: nothing would ever end it.
      if (out.state.find(instance) == nullptr) record_codec::refuse("a bill of no instance");
      spend.up_since.emplace(instance, instant(up.getSince()));
    }
    for (const auto day : in.getSpentByDay()) {
      spend.by_day.emplace(day.getDay(), get(day.getAmount()));
    }
    return;
  }
  // Written when the day was that of the master's own clock: its whole cost is known.
  const std::int64_t day = in.getDay();
  if (day < 0) return;
  out.newest = std::max(out.newest, Instant{day * kCapDay});
  // The day's spending is the difference of two totals; instances that are up are billed on from
  // here, as the total has them up to `newest`.
  spend.by_day[day] = out.ledger.accrued(out.state, out.newest) - get(in.getDayStartTotal());
  for (const InstanceRow& row : out.state.instances()) {
    if (row.up) spend.up(row, out.newest);
  }
}

}  // namespace

std::string encode_snapshot(MasterSnapshot snapshot) {
  const Catalog& catalog = snapshot.state.catalog();
  return record_codec::encode_record([&](record::Record::Builder root) {
    auto out = root.initImage();
    auto types = out.initTypes(length(catalog.types()));
    for (unsigned i = 0; i < types.size(); ++i) types.set(i, text(catalog.types()[i].name));
    // The catalog outlives this move: the state only refers to it.
    const StateSnapshot state = snapshot_of(std::move(snapshot.state));
    put_state(out, state);
    put_offerings(out, state, catalog);
    put_ledger(out.initLedger(), snapshot_of(snapshot.ledger));
    put_books(out, snapshot, catalog);
    put_spend(out, snapshot.spend);
    put_room(out, snapshot.room);
    out.setNextInstance(snapshot.next_instance);
    out.setRounds(snapshot.rounds);
    out.setLearnt(bytes(snapshot.policy_state));
    out.setNewest(nanos(snapshot.newest));
    out.setCappedDay(snapshot.capped_day);
    out.setCappedUsd(snapshot.capped_usd);
    out.setQuiet(snapshot.quiet);
    out.setCalmSet(snapshot.calm.has_value());
    if (!snapshot.calm) return;
    out.setCalmSince(nanos(snapshot.calm->since));
    put(out.initCalm(), snapshot.calm->measured);
  });
}

Expected<MasterSnapshot, StoreError> decode_snapshot(std::string_view bytes,
                                                     const Catalog& catalog) {
  const auto read_image = [&](record::Record::Reader root) {
    const auto in = root.getImage();
    // The state first: ledger and bills are checked against its rows.
    MasterSnapshot snapshot{get_state(in, catalog), {}, {}, {}, {}, 0, 0, {}, {}, 0, {}};
    snapshot.ledger = get_ledger(in.getLedger(), snapshot.state);
    get_books(in, catalog, snapshot);
    snapshot.next_instance = in.getNextInstance();
    snapshot.rounds = in.getRounds();
    snapshot.policy_state = string_of(in.getLearnt());
    snapshot.newest = instant(in.getNewest());
    // After `newest` and the ledger, from both of which an old record's day is worked out.
    get_spend(in, snapshot);
    get_room(in, snapshot);
    snapshot.capped_day = in.getCappedDay();
    snapshot.capped_usd = in.getCappedUsd();
    snapshot.quiet = in.getQuiet();
    if (in.getCalmSet()) snapshot.calm = Calm{instant(in.getCalmSince()), get(in.getCalm())};
    return snapshot;
  };
  return record_codec::decode_record<MasterSnapshot>(bytes, record::Record::IMAGE, read_image);
}

}  // namespace muster
