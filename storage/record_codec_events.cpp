#include "storage/record_parts.hpp"

namespace muster {
namespace {

using record_codec::bytes;
using record_codec::from_record;
using record_codec::get;
using record_codec::instant;
using record_codec::nanos;
using record_codec::put;
using record_codec::string_of;
using record_codec::text;
using record_codec::to_record;

/// Writes the body of an event: one operator() a kind.
struct BodyWriter {
  record::Event::Builder out;
  const Catalog& catalog;

  void operator()(const JobAccepted& e) { put(out.initJobAccepted(), e.job); }
  void operator()(const TaskRefused& e) {
    auto body = out.initTaskRefused();
    body.setTask(e.task.value);
    put(body.initRefusal(), e.refusal);
  }
  void operator()(const RoundDecided& e) {
    auto body = out.initRoundDecided();
    body.setQuiet(e.quiet);
    body.setSettled(e.settled);
    body.setRound(e.round);
    body.setChoice(text(e.note.choice));
    auto figures = body.initFigures(record_codec::length(e.note.figures));
    for (unsigned i = 0; i < figures.size(); ++i) {
      figures[i].setName(text(e.note.figures[i].first));
      figures[i].setValue(e.note.figures[i].second);
    }
  }
  void operator()(const PlanPartRefused& e) {
    auto body = out.initPlanPartRefused();
    body.setTask(e.task.value);
    body.setInstance(e.instance.value);
    put(body.initRefusal(), e.refusal);
  }
  void operator()(const LaunchRequested& e) {
    auto body = out.initLaunchRequested();
    body.setInstance(e.instance.value);
    body.setType(text(record_codec::type_name(e.type, catalog)));
    body.setMarket(to_record(e.market));
    body.setPrice(e.price.nano_usd_h());
    put(body.initCause(), e.cause);
    if (!e.zone.empty()) body.setZone(text(e.zone));
    body.setMaxPrice(e.max_price.nano_usd_h());
  }
  void operator()(const LaunchRefused& e) {
    auto body = out.initLaunchRefused();
    body.setInstance(e.instance.value);
    put(body.initRefusal(), e.refusal);
    body.setReason(to_record(e.reason));
  }
  void moment(record::InstanceMoment::Builder body, InstanceId id,
              const std::optional<Instant>& billed) {
    body.setInstance(id.value);
    body.setBilledSet(billed.has_value());
    body.setBilled(nanos(billed.value_or(Instant{})));
  }
  void operator()(const InstanceUp& e) {
    moment(out.initInstanceUp(), e.instance, e.billed_from);
    out.getInstanceUp().setAhead(e.ahead.count());
  }
  void operator()(const InstanceReady& e) { out.setInstanceReady(e.instance.value); }
  void operator()(const ReleaseDecided& e) {
    auto body = out.initReleaseDecided();
    body.setInstance(e.instance.value);
    put(body.initCause(), e.cause);
    body.setCappedDay(e.capped_day);
    body.setCappedUsd(e.capped_usd);
  }
  void operator()(const TerminateIssued& e) { out.setTerminateIssued(e.instance.value); }
  void operator()(const InstanceGone& e) {
    moment(out.initInstanceGone(), e.instance, e.billed_until);
    out.getInstanceGone().setReason(to_record(e.reason));
  }
  void operator()(const TaskAssigned& e) {
    auto body = out.initTaskAssigned();
    body.setTask(e.task.value);
    body.setTo(e.to.value);
    put(body.initCause(), e.cause);
    if (e.grant) put(body.initGrant(), *e.grant);
  }
  void operator()(const TaskUnassigned& e) {
    auto body = out.initTaskUnassigned();
    body.setTask(e.task.value);
    put(body.initCause(), e.cause);
  }
  void operator()(const StartIssued& e) {
    auto body = out.initStartIssued();
    body.setTask(e.task.value);
    body.setInstance(e.instance.value);
    body.setAttempt(e.attempt);
    if (e.grant) put(body.initGrant(), *e.grant);
  }
  void operator()(const TaskStarted& e) {
    auto body = out.initTaskStarted();
    body.setTask(e.task.value);
    body.setAttempt(e.attempt);
    body.setFetch(e.fetch.count());
    body.setBuild(e.build.count());
  }
  void operator()(const StopIssued& e) {
    auto body = out.initStopIssued();
    body.setTask(e.task.value);
    body.setAttempt(e.attempt);
  }
  void operator()(const TaskLeft& e) {
    auto body = out.initTaskLeft();
    body.setTask(e.task.value);
    body.setAttempt(e.attempt);
    body.setUpload(e.upload.count());
    put_end(body, e.end);
  }
  void operator()(const TaskFinished& e) {
    auto body = out.initTaskFinished();
    body.setTask(e.task.value);
    body.setAttempt(e.attempt);
    put_end(body, e.end);
  }
  void operator()(const TaskFailed& e) {
    auto body = out.initTaskFailed();
    body.setTask(e.task.value);
    body.setAttempt(e.attempt);
    body.setReason(text(e.reason));
    put_end(body, e.end);
    body.setBlameless(e.blameless);
    body.setKind(to_record(e.kind));
    body.setForGood(e.for_good);
  }
  void put_end(auto& body, const ProcessEnd& end) {
    if (!(end == ProcessEnd{})) put(body.initEnd(), end);
  }
  void operator()(const JobFinished& e) {
    auto body = out.initJobFinished();
    body.setJob(e.job.value);
    body.setOutcome(to_record(e.outcome));
    body.setMeanThroughput(e.mean_throughput);
    body.setThroughputSamples(e.throughput_samples);
  }
  void operator()(const TaskReleased& e) { out.setTaskReleased(e.task.value); }
  void operator()(const JobHeld& e) { out.setJobHeld(e.job.value); }
  void operator()(const JobReleased& e) { out.setJobReleased(e.job.value); }
  void operator()(const JobGivenUp& e) {
    auto body = out.initJobGivenUp();
    body.setJob(e.job.value);
    body.setOutcome(to_record(e.outcome));
  }
  void operator()(const Measured& e) { put(out.initMeasured(), e); }
  void operator()(const GangTurn& e) {
    auto body = out.initGangTurn();
    body.setJob(e.job.value);
    body.setUntil(nanos(e.until));
  }
  void operator()(const OfferingChanged& e) { put(out.initOfferingChanged(), e.change); }
};

std::optional<Instant> billed(record::InstanceMoment::Reader in) {
  if (!in.getBilledSet()) return std::nullopt;
  return instant(in.getBilled());
}

JobAccepted read(record::Job::Reader in) {
  return {get(in)};
}
TaskRefused read(record::TaskRefused::Reader in) {
  return {TaskId{in.getTask()}, get(in.getRefusal())};
}
RoundDecided read(record::RoundDecided::Reader in) {
  RoundDecided out{in.getRound(), {string_of(in.getChoice()), {}}, in.getQuiet(), in.getSettled()};
  for (const auto figure : in.getFigures()) {
    out.note.figures.emplace_back(string_of(figure.getName()), figure.getValue());
  }
  return out;
}
PlanPartRefused read(record::PlanPartRefused::Reader in) {
  return {TaskId{in.getTask()}, InstanceId{in.getInstance()}, get(in.getRefusal())};
}
LaunchRequested read(record::LaunchRequested::Reader in, const Catalog& catalog) {
  return {InstanceId{in.getInstance()},
          record_codec::type_named(string_of(in.getType()), catalog),
          from_record<Market>(in.getMarket()),
          Price::from_nano_usd_h(in.getPrice()),
          get(in.getCause()),
          string_of(in.getZone()),
          Price::from_nano_usd_h(in.getMaxPrice())};
}
LaunchRefused read(record::LaunchRefused::Reader in) {
  return {InstanceId{in.getInstance()}, get(in.getRefusal()),
          from_record<CloudReason>(in.getReason())};
}
ReleaseDecided read(record::ReleaseDecided::Reader in) {
  return {InstanceId{in.getInstance()}, get(in.getCause()), in.getCappedDay(), in.getCappedUsd()};
}
/// What an event of earlier versions does not say.
template <class Record>
std::optional<Grant> read_grant(Record in) {
  return in.hasGrant() ? std::optional(get(in.getGrant())) : std::nullopt;
}
TaskAssigned read(record::TaskAssigned::Reader in) {
  return {TaskId{in.getTask()}, InstanceId{in.getTo()}, get(in.getCause()), read_grant(in)};
}
TaskUnassigned read(record::TaskUnassigned::Reader in) {
  return {TaskId{in.getTask()}, get(in.getCause())};
}
StartIssued read(record::StartIssued::Reader in) {
  return {TaskId{in.getTask()}, InstanceId{in.getInstance()}, in.getAttempt(), read_grant(in)};
}
TaskStarted read(record::TaskStarted::Reader in) {
  return {TaskId{in.getTask()}, in.getAttempt(), Duration{in.getFetch()}, Duration{in.getBuild()}};
}
StopIssued read(record::StopIssued::Reader in) {
  return {TaskId{in.getTask()}, in.getAttempt()};
}
TaskLeft read(record::TaskLeft::Reader in) {
  return {TaskId{in.getTask()}, in.getAttempt(), Duration{in.getUpload()}, get(in.getEnd())};
}
TaskFinished read(record::TaskFinished::Reader in) {
  return {TaskId{in.getTask()}, in.getAttempt(), get(in.getEnd())};
}
TaskFailed read(record::TaskFailed::Reader in) {
  return {TaskId{in.getTask()}, in.getAttempt(),   string_of(in.getReason()),
          get(in.getEnd()),     in.getBlameless(), from_record<FailureKind>(in.getKind()),
          in.getForGood()};
}
JobFinished read(record::JobFinished::Reader in) {
  return {JobId{in.getJob()}, from_record<JobOutcome>(in.getOutcome()), in.getMeanThroughput(),
          in.getThroughputSamples()};
}
JobGivenUp read(record::JobGivenUp::Reader in) {
  return {JobId{in.getJob()}, from_record<JobOutcome>(in.getOutcome())};
}
EventBody read_body(record::Event::Reader in, const Catalog& catalog) {
  using Kind = record::Event::Which;
  switch (in.which()) {
    case Kind::JOB_ACCEPTED:
      return read(in.getJobAccepted());
    case Kind::TASK_REFUSED:
      return read(in.getTaskRefused());
    case Kind::ROUND_DECIDED:
      return read(in.getRoundDecided());
    case Kind::PLAN_PART_REFUSED:
      return read(in.getPlanPartRefused());
    case Kind::LAUNCH_REQUESTED:
      return read(in.getLaunchRequested(), catalog);
    case Kind::LAUNCH_REFUSED:
      return read(in.getLaunchRefused());
    case Kind::INSTANCE_UP:
      return InstanceUp{InstanceId{in.getInstanceUp().getInstance()}, billed(in.getInstanceUp()),
                        Duration{in.getInstanceUp().getAhead()}};
    case Kind::INSTANCE_READY:
      return InstanceReady{InstanceId{in.getInstanceReady()}};
    case Kind::RELEASE_DECIDED:
      return read(in.getReleaseDecided());
    case Kind::TERMINATE_ISSUED:
      return TerminateIssued{InstanceId{in.getTerminateIssued()}};
    case Kind::INSTANCE_GONE:
      return InstanceGone{InstanceId{in.getInstanceGone().getInstance()},
                          billed(in.getInstanceGone()),
                          from_record<CloudReason>(in.getInstanceGone().getReason())};
    case Kind::TASK_ASSIGNED:
      return read(in.getTaskAssigned());
    case Kind::TASK_UNASSIGNED:
      return read(in.getTaskUnassigned());
    case Kind::START_ISSUED:
      return read(in.getStartIssued());
    case Kind::TASK_STARTED:
      return read(in.getTaskStarted());
    case Kind::STOP_ISSUED:
      return read(in.getStopIssued());
    case Kind::TASK_LEFT:
      return read(in.getTaskLeft());
    case Kind::TASK_FINISHED:
      return read(in.getTaskFinished());
    case Kind::TASK_FAILED:
      return read(in.getTaskFailed());
    case Kind::JOB_FINISHED:
      return read(in.getJobFinished());
    case Kind::TASK_RELEASED:
      return TaskReleased{TaskId{in.getTaskReleased()}};
    case Kind::JOB_HELD:
      return JobHeld{JobId{in.getJobHeld()}};
    case Kind::JOB_RELEASED:
      return JobReleased{JobId{in.getJobReleased()}};
    case Kind::JOB_GIVEN_UP:
      return read(in.getJobGivenUp());
    case Kind::MEASURED:
      return get(in.getMeasured());
    case Kind::GANG_TURN:
      return GangTurn{JobId{in.getGangTurn().getJob()}, instant(in.getGangTurn().getUntil())};
    case Kind::OFFERING_CHANGED:
      return OfferingChanged{get(in.getOfferingChanged())};
  }
  record_codec::refuse("an event of a kind that is not known to this version");
}

}  // namespace

std::string encode_events(std::span<const Event> events, const Catalog& catalog) {
  return record_codec::encode_record([&](record::Record::Builder root) {
    auto list = root.initEvents().initEvents(record_codec::length(events));
    for (unsigned i = 0; i < list.size(); ++i) {
      list[i].setAt(nanos(events[i].at));
      std::visit(BodyWriter{list[i], catalog}, events[i].body);
    }
  });
}

Expected<std::vector<Event>, StoreError> decode_events(std::string_view bytes,
                                                       const Catalog& catalog) {
  const auto read_batch = [&](record::Record::Reader root) {
    std::vector<Event> events;
    const auto list = root.getEvents().getEvents();
    if (list.size() == 0) record_codec::refuse("a batch without an event");
    events.reserve(list.size());
    for (const auto event : list) {
      events.push_back({instant(event.getAt()), read_body(event, catalog)});
    }
    return events;
  };
  return record_codec::decode_record<std::vector<Event>>(bytes, record::Record::EVENTS, read_batch);
}

}  // namespace muster
