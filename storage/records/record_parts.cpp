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

void put(record::TaskStory::Builder out, const TaskHistory& in, const Catalog& catalog) {
  const auto& [attempts, finished, moves, failures, reason, instance, type, started_at, ended_at,
               end, cost, failure, failed, losses, metrics] = in;
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
}

TaskHistory get(record::TaskStory::Reader in, const Catalog& catalog) {
  TaskHistory out;
  out.attempts = in.getAttempts();
  out.finished = in.getFinished();
  out.moves = in.getMoves();
  out.failures = in.getFailures();
  out.reason = string_of(in.getReason());
  out.instance = InstanceId{in.getInstance()};
  // Not type_named(): a history outlives the catalog, and a type that is not on offer any more
  // must not make an old job unreadable.
  out.type = catalog.find(string_of(in.getType())).value_or(TypeId{});
  if (in.getStartedSet()) out.started_at = instant(in.getStartedAt());
  if (in.getEndedSet()) out.ended_at = instant(in.getEndedAt());
  if (in.hasEnd()) out.end = get(in.getEnd());
  out.cost = get(in.getCost());
  out.failure = from_record<FailureKind>(in.getFailure());
  out.failed = in.getFailed();
  out.losses = in.getLosses();
  out.metrics = get(in.getMetrics());
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
