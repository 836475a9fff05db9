#include <algorithm>

#include "storage/records/record_fields.hpp"
#include "storage/records/record_parts.hpp"

// Records of everything but events and snapshots: one encode and one decode each. Members are
// unpacked by structured bindings where all are written, so that a new member of the type is an
// error here and not silently left out. An optional is a flag and a value.

namespace muster {
namespace {

using record_codec::bytes;
using record_codec::decode_record;
using record_codec::encode_record;
using record_codec::from_record;
using record_codec::get;
using record_codec::get_fields;
using record_codec::instant;
using record_codec::nanos;
using record_codec::put;
using record_codec::put_fields;
using record_codec::string_of;
using record_codec::text;
using record_codec::to_record;
using RecordKind = record::Record::Which;

/// Records of versions in which one failed task ended any job do not say which one that was.
void mark_failed(JobHistory& history) {
  if (history.outcome != JobOutcome::failed) return;
  const auto says_so = [](const TaskHistory& task) { return task.failed; };
  // A record that names any failed task is of a version that names all of them.
  if (std::any_of(history.tasks.begin(), history.tasks.end(), says_so)) return;
  for (TaskHistory& task : history.tasks) task.failed = !task.finished && task.failures > 0;
}

}  // namespace

std::string encode_history(const JobHistory& history, const Catalog& catalog) {
  return encode_record([&](record::Record::Builder root) {
    const auto& [job, outcome, accepted_at, over_at, mean_throughput, tasks] = history;
    auto out = root.initHistory();
    put(out.initJob(), job);
    out.setOutcome(to_record(outcome));
    out.setAcceptedAt(nanos(accepted_at));
    out.setOverAt(nanos(over_at));
    out.setMeanThroughput(mean_throughput);
    auto stories = out.initTasks(record_codec::length(tasks));
    for (unsigned i = 0; i < stories.size(); ++i) put(stories[i], tasks[i], catalog);
  });
}

Expected<JobHistory, StoreError> decode_history(std::string_view bytes, const Catalog& catalog) {
  return decode_record<JobHistory>(bytes, RecordKind::HISTORY, [&](record::Record::Reader root) {
    const auto in = root.getHistory();
    JobHistory out{get(in.getJob()),
                   from_record<JobOutcome>(in.getOutcome()),
                   instant(in.getAcceptedAt()),
                   instant(in.getOverAt()),
                   in.getMeanThroughput(),
                   {}};
    for (const auto story : in.getTasks()) out.tasks.push_back(get(story, catalog));
    mark_failed(out);
    for (TaskHistory& task : out.tasks) complete_attempts(task, true);
    return out;
  });
}

std::string encode_handoff(const Handoff& handoff) {
  return encode_record([&](record::Record::Builder root) {
    auto out = root.initHandoff();
    put(out.initJob(), handoff.job);
    out.setIndex(handoff.to.index);
    out.setSite(handoff.to.site);
  });
}

Expected<Handoff, StoreError> decode_handoff(std::string_view bytes) {
  return decode_record<Handoff>(bytes, RecordKind::HANDOFF, [](record::Record::Reader root) {
    const auto in = root.getHandoff();
    return Handoff{get(in.getJob()), {in.getSite(), in.getIndex()}};
  });
}

std::string encode_ended(const EndedHandoff& ended) {
  return encode_record([&](record::Record::Builder root) {
    const auto& [job, to, tasks, outcome, reason, at, conflict] = ended;
    auto out = root.initEnded();
    put(out.initJob(), job);
    out.setIndex(to.index);
    out.setSite(to.site);
    out.setTasks(tasks);
    out.setOutcome(to_record(outcome));
    out.setReason(text(reason));
    out.setAt(nanos(at));
    out.setConflict(conflict);
  });
}

Expected<EndedHandoff, StoreError> decode_ended(std::string_view bytes) {
  return decode_record<EndedHandoff>(bytes, RecordKind::ENDED, [](record::Record::Reader root) {
    const auto in = root.getEnded();
    return EndedHandoff{get(in.getJob()),
                        {in.getSite(), in.getIndex()},
                        in.getTasks(),
                        from_record<JobOutcome>(in.getOutcome()),
                        string_of(in.getReason()),
                        instant(in.getAt()),
                        in.getConflict()};
  });
}

std::string encode_letter(const JobLetter& letter) {
  return encode_record([&](record::Record::Builder root) {
    const auto& [job, name, user, to, on, group, end] = letter;
    auto out = root.initLetter();
    out.setJob(job.value);
    out.setName(text(name));
    out.setUser(text(user));
    auto list = out.initTo(record_codec::length(to));
    for (std::uint32_t i = 0; i < list.size(); ++i) list.set(i, text(to[i]));
    out.setOn(to_record(on));
    out.setGroup(group.value);
    out.setEnded(end.has_value());
    if (!end) return;
    out.setOutcomeSet(end->outcome.has_value());
    if (end->outcome) out.setOutcome(to_record(*end->outcome));
    out.setTasks(end->tasks);
    out.setAt(nanos(end->at));
  });
}

Expected<JobLetter, StoreError> decode_letter(std::string_view bytes) {
  return decode_record<JobLetter>(bytes, RecordKind::LETTER, [](record::Record::Reader root) {
    const auto in = root.getLetter();
    JobLetter out{JobId{in.getJob()},
                  string_of(in.getName()),
                  string_of(in.getUser()),
                  {},
                  from_record<NotifyOn>(in.getOn()),
                  JobId{in.getGroup()},
                  {}};
    for (const auto each : in.getTo()) out.to.push_back(string_of(each));
    if (!in.getEnded()) return out;
    out.end = LetterEnd{{}, in.getTasks(), instant(in.getAt())};
    if (in.getOutcomeSet()) out.end->outcome = from_record<JobOutcome>(in.getOutcome());
    return out;
  });
}

namespace {

void put_runs(capnp::List<std::uint32_t>::Builder list, const std::vector<IndexRun>& runs) {
  std::uint32_t at = 0;
  for (const IndexRun& run : runs) {
    for (const std::uint32_t number : {run.first, run.last, run.step}) list.set(at++, number);
  }
}

/// Numbers that are no run are left out.
std::vector<IndexRun> get_runs(capnp::List<std::uint32_t>::Reader list) {
  std::vector<IndexRun> runs;
  for (std::uint32_t i = 0; i + 2 < list.size(); i += 3) {
    const IndexRun run{list[i], list[i + 1], list[i + 2]};
    if (run.first <= run.last && run.step > 0) runs.push_back(run);
  }
  return runs;
}

}  // namespace

std::string encode_ending(const JobEnding& ending) {
  return encode_record([&](record::Record::Builder root) {
    const auto& [job, user, outcome, over_at, first, tasks, whole, broken, completed, failed] =
        ending;
    auto out = root.initEnding();
    out.setJob(job.value);
    out.setUser(text(user));
    out.setOutcome(to_record(outcome));
    out.setOverAt(nanos(over_at));
    out.setFirst(first);
    out.setTasks(tasks);
    out.setWhole(whole);
    out.setBroken(broken);
    put_runs(out.initCompleted(3 * record_codec::length(completed)), completed);
    put_runs(out.initFailed(3 * record_codec::length(failed)), failed);
  });
}

Expected<JobEnding, StoreError> decode_ending(std::string_view bytes) {
  return decode_record<JobEnding>(bytes, RecordKind::ENDING, [](record::Record::Reader root) {
    const auto in = root.getEnding();
    return JobEnding{
        JobId{in.getJob()},      string_of(in.getUser()), from_record<JobOutcome>(in.getOutcome()),
        instant(in.getOverAt()), in.getFirst(),           in.getTasks(),
        in.getWhole(),           in.getBroken(),          get_runs(in.getCompleted()),
        get_runs(in.getFailed())};
  });
}

std::string encode_token(const KnownToken& token) {
  return encode_record([&](record::Record::Builder root) {
    auto out = root.initToken();
    const auto& [name, job, user, forwarded, digest] = token;
    out.setToken(text(name));
    out.setJob(job.value);
    out.setUserSet(user.has_value());
    out.setUser(text(user.value_or("")));
    out.setForwarded(forwarded);
    out.setDigestSet(digest.has_value());
    out.setDigest(digest.value_or(0));
  });
}

Expected<KnownToken, StoreError> decode_token(std::string_view bytes) {
  return decode_record<KnownToken>(bytes, RecordKind::TOKEN, [](record::Record::Reader root) {
    const auto in = root.getToken();
    KnownToken out{string_of(in.getToken()), JobId{in.getJob()}, {}, in.getForwarded()};
    if (in.getUserSet()) out.user = string_of(in.getUser());
    if (in.getDigestSet()) out.digest = in.getDigest();
    return out;
  });
}

std::string encode_rented(const RentedRecord& rented) {
  return encode_record([&](record::Record::Builder root) {
    const auto& [instance, type, market, zone, max_price, price, ordered_at, up_at, gone_at, notice,
                 refused, ending, machine, reason, charged, priced_at, change] = rented;
    auto out = root.initRented();
    out.setInstance(instance.value);
    out.setType(text(type));
    out.setMarket(to_record(market));
    out.setPrice(price.nano_usd_h());
    out.setOrderedAt(nanos(ordered_at));
    out.setUpSet(up_at.has_value());
    out.setUpAt(nanos(up_at.value_or(Instant{})));
    out.setGoneSet(gone_at.has_value());
    out.setGoneAt(nanos(gone_at.value_or(Instant{})));
    out.setNoticeSet(notice.has_value());
    out.setNotice(nanos(notice.value_or(Instant{})));
    out.setRefused(refused);
    out.setEnding(ending);
    out.setMachine(text(machine));
    out.setZone(text(zone));
    out.setMaxPrice(max_price.nano_usd_h());
    out.setReason(to_record(reason));
    put(out.initCharged(), charged);
    out.setPricedSet(priced_at.has_value());
    out.setPricedAt(nanos(priced_at.value_or(Instant{})));
    out.setChange(change);
  });
}

Expected<RentedRecord, StoreError> decode_rented(std::string_view bytes) {
  return decode_record<RentedRecord>(bytes, RecordKind::RENTED, [](record::Record::Reader root) {
    const auto in = root.getRented();
    RentedRecord out;
    out.instance = InstanceId{in.getInstance()};
    out.type = string_of(in.getType());
    out.market = from_record<Market>(in.getMarket());
    out.price = Price::from_nano_usd_h(in.getPrice());
    out.ordered_at = instant(in.getOrderedAt());
    if (in.getUpSet()) out.up_at = instant(in.getUpAt());
    if (in.getGoneSet()) out.gone_at = instant(in.getGoneAt());
    if (in.getNoticeSet()) out.notice = instant(in.getNotice());
    out.refused = in.getRefused();
    out.ending = in.getEnding();
    out.machine = string_of(in.getMachine());
    out.zone = string_of(in.getZone());
    out.max_price = Price::from_nano_usd_h(in.getMaxPrice());
    out.reason = from_record<CloudReason>(in.getReason());
    out.charged = get(in.getCharged());
    if (in.getPricedSet()) out.priced_at = instant(in.getPricedAt());
    out.change = in.getChange();
    return out;
  });
}

std::string encode_cloud_change(const OfferingChange& change) {
  return encode_record([&](record::Record::Builder root) { put(root.initCloudChange(), change); });
}

Expected<OfferingChange, StoreError> decode_cloud_change(std::string_view bytes) {
  return decode_record<OfferingChange>(
      bytes, RecordKind::CLOUD_CHANGE,
      [](record::Record::Reader root) { return get(root.getCloudChange()); });
}

std::string encode_rented_sums(const RentedSums& sums) {
  return encode_record([&](record::Record::Builder root) {
    auto out = root.initRentedSums();
    put(out.initCharged(), sums.charged);
    out.setLaunched(sums.launched);
    out.setRefused(sums.refused);
    out.setNewest(sums.newest);
  });
}

Expected<RentedSums, StoreError> decode_rented_sums(std::string_view bytes) {
  return decode_record<RentedSums>(bytes, RecordKind::RENTED_SUMS, [](record::Record::Reader root) {
    const auto in = root.getRentedSums();
    return RentedSums{get(in.getCharged()), in.getLaunched(), in.getRefused(), in.getNewest()};
  });
}

std::string encode_meta(const StoreMeta& meta) {
  return encode_record([&](record::Record::Builder root) {
    auto out = root.initMeta();
    out.setKind(text(meta.kind));
    out.setCluster(text(meta.cluster));
    auto types = out.initTypes(record_codec::length(meta.catalog.types()));
    for (unsigned i = 0; i < types.size(); ++i) put_fields(types[i], meta.catalog.types()[i]);
  });
}

Expected<StoreMeta, StoreError> decode_meta(std::string_view bytes) {
  return decode_record<StoreMeta>(bytes, RecordKind::META, [](record::Record::Reader root) {
    const auto in = root.getMeta();
    std::vector<InstanceType> types;
    for (const auto type : in.getTypes()) types.push_back(get_fields<InstanceType>(type));
    return StoreMeta{string_of(in.getKind()), string_of(in.getCluster()),
                     Catalog{std::move(types)}};
  });
}

std::string encode_roster(const ClusterRoster& roster) {
  using List = capnp::List<record::Numbered>::Builder;
  const auto put_all = [](List out, const std::map<std::string, std::uint32_t>& numbers) {
    unsigned at = 0;
    for (const auto& [name, number] : numbers) {
      out[at].setName(text(name));
      out[at++].setNumber(number);
    }
  };
  return encode_record([&](record::Record::Builder root) {
    auto out = root.initRoster();
    put_all(out.initSites(record_codec::length(roster.sites)), roster.sites);
    put_all(out.initMasters(record_codec::length(roster.masters)), roster.masters);
  });
}

Expected<ClusterRoster, StoreError> decode_roster(std::string_view bytes) {
  return decode_record<ClusterRoster>(bytes, RecordKind::ROSTER, [](record::Record::Reader root) {
    ClusterRoster roster;
    for (const auto each : root.getRoster().getSites()) {
      roster.sites.emplace(string_of(each.getName()), each.getNumber());
    }
    for (const auto each : root.getRoster().getMasters()) {
      roster.masters.emplace(string_of(each.getName()), each.getNumber());
    }
    return roster;
  });
}

std::string encode_number(std::uint64_t number) {
  return encode_record([&](record::Record::Builder root) { root.setNumber(number); });
}

Expected<std::uint64_t, StoreError> decode_number(std::string_view bytes) {
  return decode_record<std::uint64_t>(bytes, RecordKind::NUMBER,
                                      [](record::Record::Reader root) { return root.getNumber(); });
}

std::string encode_numbers(const NumberSet& set, std::uint64_t block) {
  return encode_record(
      [&](record::Record::Builder root) { put(root.initNumbers(), block, set.block(block)); });
}

Expected<NumberSet, StoreError> decode_numbers(std::string_view bytes) {
  return decode_record<NumberSet>(bytes, RecordKind::NUMBERS, [](record::Record::Reader root) {
    NumberSet out;
    get(root.getNumbers(), out);
    return out;
  });
}

std::string encode_place(const HistoryPlace& place) {
  return encode_record([&](record::Record::Builder root) {
    const auto& [job, user, name, cost, listed_at, submitted, over_at, outcome, failed, exit_code] =
        place.entry;
    auto out = root.initPlace();
    out.setPlace(place.place);
    out.setJob(job.value);
    out.setUser(text(user));
    out.setName(text(name));
    put(out.initCost(), cost);
    out.setKnown(place.known);
    out.setListedAt(nanos(listed_at));
    out.setSubmitted(nanos(submitted));
    out.setOverAt(nanos(over_at));
    out.setOutcome(to_record(outcome));
    out.setFailed(failed);
    out.setExitCodeSet(exit_code.has_value());
    out.setExitCode(exit_code.value_or(0));
  });
}

Expected<HistoryPlace, StoreError> decode_place(std::string_view bytes) {
  auto place =
      decode_record<HistoryPlace>(bytes, RecordKind::PLACE, [](record::Record::Reader root) {
        const auto in = root.getPlace();
        HistoryPlace out{in.getPlace(),
                         {JobId{in.getJob()}, string_of(in.getUser()), string_of(in.getName()),
                          get(in.getCost())},
                         in.getKnown()};
        out.entry.listed_at = instant(in.getListedAt());
        out.entry.submitted = instant(in.getSubmitted());
        out.entry.over_at = instant(in.getOverAt());
        out.entry.outcome = from_record<JobOutcome>(in.getOutcome());
        out.entry.failed = in.getFailed();
        if (in.getExitCodeSet()) out.entry.exit_code = in.getExitCode();
        return out;
      });
  if (place) return place;
  // Earlier versions kept the place alone; StoreHistory::complete() fills in the rest.
  if (const auto number = decode_number(bytes)) return HistoryPlace{number.value(), {}, false};
  return place;
}

std::string encode_money(Money money) {
  return encode_record([&](record::Record::Builder root) { put(root.initMoney(), money); });
}

Expected<Money, StoreError> decode_money(std::string_view bytes) {
  return decode_record<Money>(bytes, RecordKind::MONEY,
                              [](record::Record::Reader root) { return get(root.getMoney()); });
}

std::string encode_object(std::string_view object) {
  return encode_record([&](record::Record::Builder root) { root.setObject(bytes(object)); });
}

Expected<std::string, StoreError> decode_object(std::string_view bytes) {
  return decode_record<std::string>(bytes, RecordKind::OBJECT, [](record::Record::Reader root) {
    return string_of(root.getObject());
  });
}

}  // namespace muster
