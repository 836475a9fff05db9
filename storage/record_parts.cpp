#include "storage/record_parts.hpp"

namespace muster::record_codec {
TypeId type_named(const std::string& name, const Catalog& catalog) {
  const auto found = catalog.find(name);
  if (!found) refuse("instance type \"" + name + "\" is not in the catalog any more");
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

void put(record::Grant::Builder out, const Grant& in) {
  put(out.initAmount(), in.amount);
  out.setWidth(in.width);
}

Grant get(record::Grant::Reader in) {
  return {get(in.getAmount()), in.getWidth()};
}

void put(record::Money::Builder out, Money in) {
  out.setLow(static_cast<std::uint64_t>(in.units()));
  out.setHigh(static_cast<std::int64_t>(in.units() >> 64));
}

Money get(record::Money::Reader in) {
  return Money{static_cast<Money::Units>(in.getHigh()) * (static_cast<Money::Units>(1) << 64) +
               static_cast<Money::Units>(in.getLow())};
}

namespace {

void put_spec(record::TaskSpec::Builder out, const TaskSpec& in) {
  const auto& [id, demands, image, delays, array_index] = in;
  const auto& [fetch, build, init, stop, upload] = delays;
  out.setId(id.value);
  put(out.initDemands(length(demands.entries())), demands);
  if (!image.empty()) out.setImage(text(image));
  out.setFetch(fetch.count());
  out.setBuild(build.count());
  out.setInit(init.count());
  out.setStop(stop.count());
  out.setUpload(upload.count());
  out.setArrayIndex(array_index);
}

TaskSpec get_spec(record::TaskSpec::Reader in) {
  TaskSpec out;
  out.id = TaskId{in.getId()};
  out.demands = get(in.getDemands());
  out.image = string_of(in.getImage());
  out.delays = {Duration{in.getFetch()}, Duration{in.getBuild()}, Duration{in.getInit()},
                Duration{in.getStop()}, Duration{in.getUpload()}};
  out.array_index = in.getArrayIndex();
  return out;
}

void put_program(record::Program::Builder out, const Program& in) {
  const auto& [argv, env, work_dir, time_limit, stop_grace, alone_progress_s] = in;
  auto words = out.initArgv(length(argv));
  for (unsigned i = 0; i < words.size(); ++i) words.set(i, text(argv[i]));
  auto variables = out.initEnv(length(env));
  for (unsigned i = 0; i < variables.size(); ++i) {
    variables[i].setName(text(env[i].first));
    variables[i].setValue(text(env[i].second));
  }
  out.setWorkDir(text(work_dir));
  out.setTimeLimit(time_limit.count());
  out.setStopGrace(stop_grace.count());
  out.setAloneProgress(alone_progress_s);
}

Program get_program(record::Program::Reader in) {
  Program out;
  for (const auto word : in.getArgv()) out.argv.push_back(string_of(word));
  for (const auto variable : in.getEnv()) {
    out.env.emplace_back(string_of(variable.getName()), string_of(variable.getValue()));
  }
  out.work_dir = string_of(in.getWorkDir());
  out.time_limit = Duration{in.getTimeLimit()};
  out.stop_grace = Duration{in.getStopGrace()};
  out.alone_progress_s = in.getAloneProgress();
  return out;
}

/// A job of neither of the later kinds is a batch job, as all were.
struct PutKind {
  record::Job::Builder out;

  void operator()(const BatchSpec&) {}
  void operator()(const ElasticSpec& in) {
    auto elastic = out.initElastic();
    elastic.setMinWidth(in.min_width);
    elastic.setMaxWidth(in.max_width);
    auto speedup = elastic.initSpeedup(length(in.speedup));
    for (unsigned i = 0; i < speedup.size(); ++i) speedup.set(i, in.speedup[i]);
  }
  void operator()(const ServiceSpec& in) {
    auto service = out.initService();
    service.setReplicas(in.replicas);
    service.setGoal(in.goal);
    auto constraints = service.initConstraints(length(in.constraints));
    for (unsigned i = 0; i < constraints.size(); ++i) constraints.set(i, text(in.constraints[i]));
  }
};

JobKind get_kind(record::Job::Reader in) {
  if (in.hasElastic()) {
    const auto from = in.getElastic();
    ElasticSpec elastic{from.getMinWidth(), from.getMaxWidth(), {}};
    for (const double each : from.getSpeedup()) elastic.speedup.push_back(each);
    return elastic;
  }
  if (!in.hasService()) return BatchSpec{};
  const auto from = in.getService();
  ServiceSpec service{from.getReplicas(), from.getGoal(), {}};
  for (const auto each : from.getConstraints()) service.constraints.push_back(string_of(each));
  return service;
}

}  // namespace

void put(record::Job::Builder out, const Job& in) {
  const auto& [id, name, user, workload_class, priority, gang, runtime_hint, tasks, program,
               markets, max_running, retries, token, kind, prediction, whole_tasks, origin, movable,
               checkpoints, max_fails] = in;
  out.setId(id.value);
  out.setName(text(name));
  out.setUser(text(user));
  out.setWorkloadClass(text(workload_class));
  out.setPriority(priority);
  out.setGang(gang);
  out.setRuntimeHintSet(runtime_hint.has_value());
  out.setRuntimeHint(runtime_hint.value_or(Duration{}).count());
  auto specs = out.initTasks(length(tasks));
  for (unsigned i = 0; i < specs.size(); ++i) put_spec(specs[i], tasks[i]);
  if (!(program == Program{})) put_program(out.initProgram(), program);
  out.setMarkets(to_record(markets));
  out.setMaxRunning(max_running);
  out.setRetriesSet(retries.has_value());
  out.setRetries(retries.value_or(0));
  if (!token.empty()) out.setToken(text(token));
  std::visit(PutKind{out}, kind);
  out.setLength(to_record(prediction.length));
  out.setSpotSafe(prediction.spot_safe);
  out.setPredictedRuntimeSet(prediction.runtime.has_value());
  out.setPredictedRuntime(prediction.runtime.value_or(Duration{}).count());
  out.setConfidence(prediction.confidence);
  out.setWholeTasks(whole_tasks);
  out.setOriginSet(origin.has_value());
  out.setLatitude(origin.value_or(GeoPoint{}).latitude_deg);
  out.setLongitude(origin.value_or(GeoPoint{}).longitude_deg);
  out.setNotMovable(!movable);
  out.setNoCheckpoints(!checkpoints);
  out.setMaxFailsSet(max_fails.has_value());
  out.setMaxFails(max_fails.value_or(0));
}

Job get(record::Job::Reader in) {
  Job out;
  out.id = JobId{in.getId()};
  out.name = string_of(in.getName());
  out.user = string_of(in.getUser());
  out.workload_class = string_of(in.getWorkloadClass());
  out.priority = in.getPriority();
  out.gang = in.getGang();
  if (in.getRuntimeHintSet()) out.runtime_hint = Duration{in.getRuntimeHint()};
  const auto specs = in.getTasks();
  out.tasks.reserve(specs.size());
  for (const auto spec : specs) out.tasks.push_back(get_spec(spec));
  if (in.hasProgram()) out.program = get_program(in.getProgram());
  out.markets = from_record<MarketChoice>(in.getMarkets());
  out.max_running = in.getMaxRunning();
  if (in.getRetriesSet()) out.retries = in.getRetries();
  out.token = string_of(in.getToken());
  out.kind = get_kind(in);
  out.prediction.length = from_record<JobLength>(in.getLength());
  out.prediction.spot_safe = in.getSpotSafe();
  if (in.getPredictedRuntimeSet()) out.prediction.runtime = Duration{in.getPredictedRuntime()};
  out.prediction.confidence = in.getConfidence();
  out.whole_tasks = in.getWholeTasks();
  if (in.getOriginSet()) out.origin = GeoPoint{in.getLatitude(), in.getLongitude()};
  out.movable = !in.getNotMovable();
  out.checkpoints = !in.getNoCheckpoints();
  if (in.getMaxFailsSet()) out.max_fails = in.getMaxFails();
  return out;
}

void put(record::Cause::Builder out, const Cause& in) {
  out.setCode(to_record(in.code));
  out.setGain(in.gain_usd_h);
}

Cause get(record::Cause::Reader in) {
  return {from_record<CauseCode>(in.getCode()), in.getGain()};
}

void put(record::OfferingChange::Builder out, const OfferingChange& in) {
  out.setNumber(in.number);
  out.setAt(nanos(in.at));
  out.setType(text(in.offering.type));
  out.setMarket(to_record(in.offering.market));
  if (!in.offering.zone.empty()) out.setZone(text(in.offering.zone));
  out.setPrice(in.offering.price.nano_usd_h());
  out.setAvailable(in.offering.available);
  out.setInterruptionsH(in.offering.interruptions_h);
}

OfferingChange get(record::OfferingChange::Reader in) {
  return {in.getNumber(), instant(in.getAt()),
          Offering{string_of(in.getType()), from_record<Market>(in.getMarket()),
                   string_of(in.getZone()), Price::from_nano_usd_h(in.getPrice()),
                   in.getAvailable(), in.getInterruptionsH()}};
}

void put(record::Refusal::Builder out, const Refusal& in) {
  const auto& [kind, code, binding, asked, available] = in;
  out.setKind(to_record(kind));
  out.setCode(to_record(code));
  out.setBindingSet(binding.has_value());
  if (binding) out.setBinding(to_record(*binding));
  out.setAsked(asked);
  out.setAvailable(available);
}

Refusal get(record::Refusal::Reader in) {
  Refusal out;
  out.kind = from_record<RefusalKind>(in.getKind());
  out.code = from_record<RefusalCode>(in.getCode());
  if (in.getBindingSet()) out.binding = from_record<Resource>(in.getBinding());
  out.asked = in.getAsked();
  out.available = in.getAvailable();
  return out;
}

void put(record::Measured::Builder out, const Measured& in) {
  out.setQuiet(in.quiet);
  auto tasks = out.initTasks(length(in.samples));
  auto normalized = out.initNormalized(tasks.size());
  for (unsigned i = 0; i < tasks.size(); ++i) {
    tasks.set(i, in.samples[i].task.value);
    normalized.set(i, in.samples[i].normalized);
  }
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
  return out;
}

void put(record::ProcessEnd::Builder out, const ProcessEnd& in) {
  const auto& [exit_code, out_tail, err_tail] = in;
  out.setExitCode(exit_code);
  out.setOutTail(bytes(out_tail));
  out.setErrTail(bytes(err_tail));
}

ProcessEnd get(record::ProcessEnd::Reader in) {
  return {in.getExitCode(), string_of(in.getOutTail()), string_of(in.getErrTail())};
}

void put(capnp::List<record::FamilyDemand>::Builder out, const Demands& in) {
  for (unsigned i = 0; i < out.size(); ++i) {
    const FamilyDemand& entry = in.entries()[i];
    if (!entry.family.empty()) out[i].setFamily(text(entry.family));
    put(out[i].initAmount(), entry.amount);
    out[i].setSpeed(entry.speed);
  }
}

Demands get(capnp::List<record::FamilyDemand>::Reader in) {
  std::vector<FamilyDemand> entries;
  entries.reserve(in.size());
  for (const auto entry : in) {
    entries.push_back({string_of(entry.getFamily()), get(entry.getAmount()), entry.getSpeed()});
  }
  return Demands{std::move(entries)};
}

void put(record::TaskStory::Builder out, const TaskHistory& in, const Catalog& catalog) {
  const auto& [attempts, finished, moves, failures, reason, instance, type, started_at, ended_at,
               end, cost, failure, failed, losses] = in;
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
}

TaskHistory get(record::TaskStory::Reader in, const Catalog& catalog) {
  TaskHistory out;
  out.attempts = in.getAttempts();
  out.finished = in.getFinished();
  out.moves = in.getMoves();
  out.failures = in.getFailures();
  out.reason = string_of(in.getReason());
  out.instance = InstanceId{in.getInstance()};
  out.type = catalog.find(string_of(in.getType())).value_or(TypeId{});
  if (in.getStartedSet()) out.started_at = instant(in.getStartedAt());
  if (in.getEndedSet()) out.ended_at = instant(in.getEndedAt());
  if (in.hasEnd()) out.end = get(in.getEnd());
  out.cost = get(in.getCost());
  out.failure = from_record<FailureKind>(in.getFailure());
  out.failed = in.getFailed();
  out.losses = in.getLosses();
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
  if (words.size() != bits.size()) refuse("a block of numbers of another size");
  for (unsigned i = 0; i < words.size(); ++i) bits[i] = words[i];
  out.set_block(in.getBlock(), bits);
}

}  // namespace muster::record_codec
