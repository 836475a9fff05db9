#include "storage/records/record_parts.hpp"

#include "storage/records/record_fields.hpp"

// Parts of records that are set by hand: those whose form on disk differs from the type's members,
// and thin wrappers for those that record_fields.hpp does by itself.

namespace muster::record_codec {
TypeId type_named(const std::string& name, const Catalog& catalog) {
  const auto found = catalog.find(name);
  if (!found)
    refuse("instance type \"" + name + "\" is not in the catalog any more, and records name it");
  return *found;
}

void put(record::Amounts::Builder out, const Resources& in) {
  out.setGpu(in[Resource::gpu]);
  out.setCpu(in[Resource::cpu]);
  out.setMemory(in[Resource::memory]);
  out.setStorage(in[Resource::storage]);
  out.setNetwork(in[Resource::network]);
  out.setSpare(in[Resource::spare]);
}

Resources get(record::Amounts::Reader in) {
  Resources out;
  out[Resource::gpu] = in.getGpu();
  out[Resource::cpu] = in.getCpu();
  out[Resource::memory] = in.getMemory();
  out[Resource::storage] = in.getStorage();
  out[Resource::network] = in.getNetwork();
  out[Resource::spare] = in.getSpare();
  return out;
}

// Money is 128 bits wide, for which Cap'n Proto has no type. The low half is taken without a
// sign, the high half carries it.
void put(record::Money::Builder out, Money in) {
  out.setLow(static_cast<std::uint64_t>(in.units()));
  out.setHigh(static_cast<std::int64_t>(in.units() >> 64));
}

Money get(record::Money::Reader in) {
  return Money{static_cast<Money::Units>(in.getHigh()) * (static_cast<Money::Units>(1) << 64) +
               static_cast<Money::Units>(in.getLow())};
}

void put(record::Grant::Builder out, const Grant& in) {
  put_fields(out, in);
}
Grant get(record::Grant::Reader in) {
  return get_fields<Grant>(in);
}
void put(record::Job::Builder out, const Job& in) {
  put_fields(out, in);
}
Job get(record::Job::Reader in) {
  return get_fields<Job>(in);
}
void put(record::Refusal::Builder out, const Refusal& in) {
  put_fields(out, in);
}
Refusal get(record::Refusal::Reader in) {
  return get_fields<Refusal>(in);
}
void put(record::ReplicaState::Builder out, const ReplicaState& in) {
  put_fields(out, in);
}
ReplicaState get(record::ReplicaState::Reader in) {
  return get_fields<ReplicaState>(in);
}
void put(record::RoomClaimed::Builder out, const RoomClaimed& in) {
  put_fields(out, in);
}
RoomClaimed get(record::RoomClaimed::Reader in) {
  return get_fields<RoomClaimed>(in);
}
void put(record::OfferingChange::Builder out, const OfferingChange& in) {
  put_fields(out, in);
}
OfferingChange get(record::OfferingChange::Reader in) {
  return get_fields<OfferingChange>(in);
}
void put(record::ProcessEnd::Builder out, const ProcessEnd& in) {
  put_fields(out, in);
}
ProcessEnd get(record::ProcessEnd::Reader in) {
  return get_fields<ProcessEnd>(in);
}

void put(record::Measured::Builder out, const Measured& in) {
  out.setQuiet(in.quiet);
  auto tasks = out.initTasks(length(in.samples));
  // Two lists side by side instead of a list of structs: a sample takes 16 bytes with no header.
  auto normalized = out.initNormalized(tasks.size());
  for (unsigned i = 0; i < tasks.size(); ++i) {
    tasks.set(i, in.samples[i].task.value);
    normalized.set(i, in.samples[i].normalized);
  }
  // Lists that nothing is in take no room.
  if (!in.progress.empty()) {
    auto progress = out.initProgress(length(in.progress));
    for (unsigned i = 0; i < progress.size(); ++i) put_fields(progress[i], in.progress[i]);
  }
  if (in.metrics.empty()) return;
  auto metrics = out.initMetrics(length(in.metrics));
  for (unsigned i = 0; i < metrics.size(); ++i) put_fields(metrics[i], in.metrics[i]);
}

Measured get(record::Measured::Reader in) {
  const auto tasks = in.getTasks();
  const auto normalized = in.getNormalized();
  if (tasks.size() != normalized.size()) refuse("measured throughputs that are not one a task");
  Measured out;
  out.quiet = in.getQuiet();
  out.samples.reserve(tasks.size());
  for (unsigned i = 0; i < tasks.size(); ++i) {
    out.samples.push_back({TaskId{tasks[i]}, normalized[i]});
  }
  for (const auto each : in.getProgress()) out.progress.push_back(get_fields<JobProgress>(each));
  for (const auto each : in.getMetrics()) out.metrics.push_back(get_fields<TaskMetrics>(each));
  return out;
}

void put(capnp::List<record::Figure>::Builder out, const Metrics& in) {
  for (unsigned i = 0; i < out.size(); ++i) {
    out[i].setName(text(in[i].first));
    out[i].setValue(in[i].second);
  }
}
Metrics get(capnp::List<record::Figure>::Reader in) {
  Metrics out;
  out.reserve(in.size());
  for (const auto each : in) out.emplace_back(string_of(each.getName()), each.getValue());
  return out;
}

void put(capnp::List<record::FamilyDemand>::Builder out, const Demands& in) {
  for (unsigned i = 0; i < out.size(); ++i) put_fields(out[i], in.entries()[i]);
}
Demands get(capnp::List<record::FamilyDemand>::Reader in) {
  std::vector<FamilyDemand> entries;
  entries.reserve(in.size());
  for (const auto entry : in) entries.push_back(get_fields<FamilyDemand>(entry));
  return Demands{std::move(entries)};
}

namespace {

/// Not type_named(): a history outlives the catalog, and a type that is not on offer any more must
/// not make an old job unreadable.
TypeId type_if_known(const std::string& name, const Catalog& catalog) {
  return catalog.find(name).value_or(TypeId{});
}

void put_attempt(record::AttemptStory::Builder out, const AttemptHistory& in,
                 const Catalog& catalog) {
  const auto& [number, instance, type, market, sent_at, started_at, ended_at, end, leaves, gone,
               exit_code, reason, cost, used] = in;
  out.setNumber(number);
  out.setInstance(instance.value);
  if (type.valid()) out.setType(text(type_name(type, catalog)));
  out.setMarketSet(market.has_value());
  if (market) out.setMarket(to_record(*market));
  out.setSentSet(sent_at.has_value());
  out.setSentAt(nanos(sent_at.value_or(Instant{})));
  out.setStartedSet(started_at.has_value());
  out.setStartedAt(nanos(started_at.value_or(Instant{})));
  out.setEndedSet(ended_at.has_value());
  out.setEndedAt(nanos(ended_at.value_or(Instant{})));
  out.setEnd(to_record(end));
  out.setLeavesSet(leaves.has_value());
  if (leaves) out.setLeaves(to_record(*leaves));
  out.setGoneSet(gone.has_value());
  if (gone) out.setGone(to_record(*gone));
  out.setExitSet(exit_code.has_value());
  out.setExitCode(exit_code.value_or(0));
  if (!reason.empty()) out.setReason(text(reason));
  if (!(cost == Money{})) put(out.initCost(), cost);
  out.setCpu(used.cpu.count());
  out.setPeakBytes(used.peak_bytes);
}

AttemptHistory get_attempt(record::AttemptStory::Reader in, const Catalog& catalog) {
  AttemptHistory out;
  out.number = in.getNumber();
  out.instance = InstanceId{in.getInstance()};
  out.type = type_if_known(string_of(in.getType()), catalog);
  if (in.getMarketSet()) out.market = from_record<Market>(in.getMarket());
  if (in.getSentSet()) out.sent_at = instant(in.getSentAt());
  if (in.getStartedSet()) out.started_at = instant(in.getStartedAt());
  if (in.getEndedSet()) out.ended_at = instant(in.getEndedAt());
  out.end = from_record<AttemptEnd>(in.getEnd());
  if (in.getLeavesSet()) out.leaves = from_record<CauseCode>(in.getLeaves());
  if (in.getGoneSet()) out.gone = from_record<CloudReason>(in.getGone());
  if (in.getExitSet()) out.exit_code = in.getExitCode();
  out.reason = string_of(in.getReason());
  if (in.hasCost()) out.cost = get(in.getCost());
  out.used = {Duration{in.getCpu()}, in.getPeakBytes()};
  return out;
}

/// The earlier attempts that are kept, and the newest one behind them.
void put_attempts(record::TaskStory::Builder out, const TaskHistory& in, const Catalog& catalog) {
  if (in.newest.number == 0) return;
  auto list = out.initAttemptList(length(in.earlier) + 1);
  for (unsigned i = 0; i < in.earlier.size(); ++i) put_attempt(list[i], in.earlier[i], catalog);
  put_attempt(list[list.size() - 1], in.newest, catalog);
  if (!(in.paid == Money{})) put(out.initPaid(), in.paid);
  out.setRanSet(in.ran.has_value());
  out.setRan(in.ran.value_or(Duration{}).count());
}

void get_attempts(TaskHistory& out, record::TaskStory::Reader in, const Catalog& catalog) {
  const auto list = in.getAttemptList();
  if (list.size() == 0) return;
  for (unsigned i = 0; i + 1 < list.size(); ++i)
    out.earlier.push_back(get_attempt(list[i], catalog));
  out.newest = get_attempt(list[list.size() - 1], catalog);
  if (in.hasPaid()) out.paid = get(in.getPaid());
  out.ran = in.getRanSet() ? std::optional(Duration{in.getRan()}) : std::nullopt;
}

}  // namespace

void put(record::TaskStory::Builder out, const TaskHistory& in, const Catalog& catalog) {
  const auto& [attempts, finished, moves, failures, reason, instance, type, started_at, ended_at,
               end, cost, failure, failed, losses, metrics, newest, earlier, paid, ran, used] = in;
  static_cast<void>(newest);  // these four by put_attempts()
  static_cast<void>(earlier);
  static_cast<void>(paid);
  static_cast<void>(ran);
  out.setAttempts(attempts);
  out.setFinished(finished);
  out.setMoves(moves);
  out.setFailures(failures);
  if (!reason.empty()) out.setReason(text(reason));
  out.setInstance(instance.value);
  if (type.valid()) out.setType(text(type_name(type, catalog)));
  out.setStartedSet(started_at.has_value());
  out.setStartedAt(nanos(started_at.value_or(Instant{})));
  out.setEndedSet(ended_at.has_value());
  out.setEndedAt(nanos(ended_at.value_or(Instant{})));
  if (!(end == ProcessEnd{})) put(out.initEnd(), end);
  put(out.initCost(), cost);
  out.setFailure(to_record(failure));
  out.setFailed(failed);
  out.setLosses(losses);
  if (!metrics.empty()) put(out.initMetrics(length(metrics)), metrics);
  out.setCpu(used.cpu.count());
  out.setPeakBytes(used.peak_bytes);
  put_attempts(out, in, catalog);
}

TaskHistory get(record::TaskStory::Reader in, const Catalog& catalog) {
  TaskHistory out;
  out.attempts = in.getAttempts();
  out.finished = in.getFinished();
  out.moves = in.getMoves();
  out.failures = in.getFailures();
  out.reason = string_of(in.getReason());
  out.instance = InstanceId{in.getInstance()};
  out.type = type_if_known(string_of(in.getType()), catalog);
  if (in.getStartedSet()) out.started_at = instant(in.getStartedAt());
  if (in.getEndedSet()) out.ended_at = instant(in.getEndedAt());
  if (in.hasEnd()) out.end = get(in.getEnd());
  out.cost = get(in.getCost());
  out.failure = from_record<FailureKind>(in.getFailure());
  out.failed = in.getFailed();
  out.losses = in.getLosses();
  out.metrics = get(in.getMetrics());
  out.used = {Duration{in.getCpu()}, in.getPeakBytes()};
  get_attempts(out, in, catalog);
  return out;
}

namespace {

/// A time that is not known.
constexpr std::int64_t kNoTime = -1;

std::int64_t nanos_or_none(const std::optional<Instant>& at) {
  return at ? nanos(*at) : kNoTime;
}
std::optional<Instant> instant_or_none(std::int64_t nanos) {
  return nanos == kNoTime ? std::nullopt : std::optional(instant(nanos));
}

}  // namespace

void put(record::InstanceLife::Builder out, const InstanceHistory& in, const Catalog& catalog) {
  const auto& [type, market, zone, price, requested_at, up_at, ready_at, released_at, ended_at,
               rented_for, released_for, gone, bill, visits_before, visits] = in;
  if (type.valid()) out.setType(text(type_name(type, catalog)));
  out.setMarket(to_record(market));
  if (!zone.empty()) out.setZone(text(zone));
  out.setPrice(price.nano_usd_h());
  out.setRequestedAt(nanos(requested_at));
  out.setUpAt(nanos_or_none(up_at));
  out.setReadyAt(nanos_or_none(ready_at));
  out.setReleasedAt(nanos_or_none(released_at));
  out.setEndedAt(nanos_or_none(ended_at));
  out.setRentedSet(rented_for.has_value());
  if (rented_for) out.setRentedFor(to_record(*rented_for));
  out.setReleasedSet(released_for.has_value());
  if (released_for) out.setReleasedFor(to_record(*released_for));
  out.setGoneSet(gone.has_value());
  if (gone) out.setGone(to_record(*gone));
  if (!(bill == Money{})) put(out.initBill(), bill);
  out.setVisitsBefore(visits_before);
  auto list = out.initVisits(length(visits));
  for (unsigned i = 0; i < list.size(); ++i) {
    list[i].setJob(visits[i].job.value);
    list[i].setIndex(visits[i].index);
    list[i].setAttempt(visits[i].attempt);
    list[i].setSentAt(nanos(visits[i].sent_at));
    list[i].setEndedAt(nanos_or_none(visits[i].ended_at));
    list[i].setEnd(to_record(visits[i].end));
  }
}

InstanceHistory get(record::InstanceLife::Reader in, const Catalog& catalog) {
  InstanceHistory out;
  out.type = type_if_known(string_of(in.getType()), catalog);
  out.market = from_record<Market>(in.getMarket());
  out.zone = string_of(in.getZone());
  out.price = Price::from_nano_usd_h(in.getPrice());
  out.requested_at = instant(in.getRequestedAt());
  out.up_at = instant_or_none(in.getUpAt());
  out.ready_at = instant_or_none(in.getReadyAt());
  out.released_at = instant_or_none(in.getReleasedAt());
  out.ended_at = instant_or_none(in.getEndedAt());
  if (in.getRentedSet()) out.rented_for = from_record<CauseCode>(in.getRentedFor());
  if (in.getReleasedSet()) out.released_for = from_record<CauseCode>(in.getReleasedFor());
  if (in.getGoneSet()) out.gone = from_record<CloudReason>(in.getGone());
  if (in.hasBill()) out.bill = get(in.getBill());
  out.visits_before = in.getVisitsBefore();
  for (const auto each : in.getVisits()) {
    out.visits.push_back({JobId{each.getJob()}, each.getIndex(), each.getAttempt(),
                          instant(each.getSentAt()), instant_or_none(each.getEndedAt()),
                          from_record<AttemptEnd>(each.getEnd())});
  }
  return out;
}

void put(record::NumberBlock::Builder out, std::uint64_t block, const NumberSet::Bits& in) {
  out.setBlock(block);
  auto words = out.initBits(length(in));
  for (unsigned i = 0; i < words.size(); ++i) words.set(i, in[i]);
}

void get(record::NumberBlock::Reader in, NumberSet& out) {
  NumberSet::Bits bits{};
  const auto words = in.getBits();
  // Anything shorter would leave out numbers that were once given, and a job would be taken
  // twice.
  if (words.size() != bits.size()) refuse("a block of numbers of another size");
  for (unsigned i = 0; i < words.size(); ++i) bits[i] = words[i];
  out.set_block(in.getBlock(), bits);
}

}  // namespace muster::record_codec
