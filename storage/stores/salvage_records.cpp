#include "storage/stores/salvage_records.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "model/cluster_state.hpp"
#include "model/rounded_text.hpp"
#include "storage/stores/history.hpp"
#include "storage/stores/recovery.hpp"
#include "storage/stores/rocks_site_store.hpp"
#include "storage/stores/store_check.hpp"
#include "storage/stores/store_roster.hpp"

// Which records of a damaged store go into the new one. A record goes in whole or not at all.
// Records that its owner would trust are made to fit what is there: the journal ends before its
// first gap, the index of the history is made of the history, and numbers begin where the mark
// says.

namespace muster {
namespace {

constexpr std::string_view kMeta = "store";
/// Bounds the memory of a batch.
constexpr std::size_t kTogetherBytes = std::size_t{1} << 20;

template <class Decoded>
std::string fault_of(const Decoded& decoded) {
  return decoded ? std::string() : decoded.error().message;
}

/// Why the value cannot be used; empty: it can.
std::string fault_of(Family family, std::string_view value, const Catalog& catalog) {
  switch (family) {
    case Family::journal:
      return fault_of(decode_events(value, catalog));
    case Family::snapshot:
      return fault_of(decode_snapshot(value, catalog));
    case Family::history:
      return fault_of(decode_history(value, catalog));
    case Family::place:
      return fault_of(decode_place(value));
    case Family::object:
      return fault_of(decode_object(value));
    case Family::handoff:
      return fault_of(decode_handoff(value));
    case Family::token:
      return fault_of(decode_token(value));
    case Family::instance:
      return fault_of(decode_rented(value));
    case Family::spent:
      return fault_of(decode_money(value));
    case Family::ended:
      return fault_of(decode_ended(value));
    case Family::cancel:
      return fault_of(decode_number(value));
    case Family::charged:
      return fault_of(decode_rented_sums(value));
    case Family::forwarded:
    case Family::past:
      return fault_of(decode_numbers(value));
    case Family::change:
      return fault_of(decode_cloud_change(value));
    case Family::letter:
      return fault_of(decode_letter(value));
    case Family::ending:
      return fault_of(decode_ending(value));
    case Family::meta:
      break;
  }
  return {};
}

/// The key as a reader knows it: its number, or its text.
std::string text_of(const std::string& key) {
  const auto number = number_of(std::string_view(key).substr(0, sizeof(std::uint64_t)));
  return number ? std::to_string(*number) : "\"" + key + "\"";
}

std::string range_text(const std::string& after, const std::string& before) {
  const std::string from = after.empty() ? "from the first one" : "after " + text_of(after);
  const std::string to = before.empty() ? "to the end" : "before " + text_of(before);
  return fmt::format("records {}, {}, cannot be read", from, to);
}

bool is_by_job(Family family) {
  return family == Family::handoff || family == Family::place || family == Family::cancel ||
         family == Family::ending;
}

class Salvager {
 public:
  Salvager(const DamagedTables& tables, const SalvageFacts& facts, const SalvageOrder& order,
           SalvageLosses& losses)
      : tables_(tables), facts_(facts), order_(order), losses_(losses) {}

  Expected<SalvageReport, StoreError> run() {
    if (auto trouble = read_meta()) return *std::move(trouble);
    StoreOptions options;
    options.meta = report_.meta;
    options.fill = [this](Store& made) { return fill(made); };
    const auto made = Store::open(order_.to, options);
    if (!made) return made.error();
    losses_.move_to(report_);
    return std::move(report_);
  }

 private:
  StoreTrouble read_meta();
  StoreTrouble fill(Store& made);
  StoreTrouble copy(Family family, Store& made);
  StoreTrouble copy_history(Store& made);
  StoreTrouble copy_journal(Store& made);
  StoreTrouble settle_journal(Store& made, std::uint64_t snapshot_at);
  StoreTrouble settle_open_jobs(Store& made);
  StoreTrouble scan(Family family, const DamagedTables::Use& use);

  const DamagedTables& tables_;
  const SalvageFacts& facts_;
  const SalvageOrder& order_;
  SalvageLosses& losses_;
  SalvageReport report_;
  std::map<std::string, std::string> meta_;  ///< records of that family
  std::map<JobId, JobOutcome> over_;         ///< jobs that the history, its index or endings know
  bool may_lack_events_ = false;             ///< of a master, beyond those that the mark knows of
};

/// Visits every record that can be used; the others are losses.
StoreTrouble Salvager::scan(Family family, const DamagedTables::Use& use) {
  const std::string where(name_of(family));
  return tables_.scan(
      family,
      [&](std::string_view key, std::string_view value) -> StoreTrouble {
        const std::string why = fault_of(family, value, report_.meta.catalog);
        if (why.empty()) return use(key, value);
        const auto number = number_of(key.substr(0, sizeof(std::uint64_t)));
        std::optional<JobId> job;
        if (number && is_by_job(family)) job = JobId{*number};
        losses_.add({where, fmt::format("record {}: {}", text_of(std::string(key)), why), job});
        return std::nullopt;
      },
      [&](const std::string& after, const std::string& before) {
        losses_.add({where, range_text(after, before)});
      });
}

/// Whose store it is, and the numbers of the cluster's sites and masters: of itself, or of the
/// other store.
StoreTrouble Salvager::read_meta() {
  if (auto trouble = scan(Family::meta, [&](std::string_view key, std::string_view value) {
        meta_[std::string(key)] = value;
        return StoreTrouble{};
      })) {
    return trouble;
  }
  const auto own = meta_.find(std::string(kMeta));
  const bool has_meta = own != meta_.end() && decode_meta(own->second);
  if (has_meta) report_.meta = decode_meta(own->second).value();
  const auto roster = meta_.find("roster");
  const bool has_roster = roster != meta_.end() && decode_roster(roster->second);
  meta_.erase(std::string(kMeta));
  meta_.erase("marked");
  if (has_meta && has_roster) return std::nullopt;
  const std::string what =
      has_meta ? "the numbers of its cluster's sites and masters" : "whose store it is";
  if (order_.like.empty()) {
    return Failure<StoreError>{
        StoreError::corrupt,
        fmt::format("{}: {} cannot be read of it. Say it by another store: --like STORE, {}",
                    order_.from.string(), what,
                    has_meta ? "of the same node" : "an old backup of the same role's store")};
  }
  StoreOptions options;
  options.read_only = true;
  const auto like = Store::open(order_.like, options);
  if (!like) return like.error();
  const StoreMeta& other = like.value()->meta();
  if (has_meta && other.cluster != report_.meta.cluster) {
    return Failure<StoreError>{
        StoreError::wrong_kind,
        fmt::format("{}: is of cluster \"{}\", not of cluster \"{}\"", order_.like.string(),
                    other.cluster, report_.meta.cluster)};
  }
  if (!has_meta) report_.meta = other;
  if (!has_roster) {
    const auto numbers = load_roster(*like.value());
    if (!numbers) return numbers.error();
    meta_["roster"] = encode_roster(numbers.value());
  }
  losses_.add({"meta", what + " is not readable, and was taken from " + order_.like.string()});
  return std::nullopt;
}

StoreTrouble Salvager::fill(Store& made) {
  StoreBatch batch;
  const std::string next_key(kNextJob);
  if (facts_.mark && facts_.mark->reached.jobs > 0) {
    // A number that the mark knows as given out is not given out again.
    const auto found = meta_.contains(next_key) ? decode_number(meta_[next_key])
                                                : Expected<std::uint64_t, StoreError>(0);
    const std::uint64_t next = std::max(found ? found.value() : 0, facts_.mark->reached.jobs);
    meta_[next_key] = encode_number(next);
    batch.reaches({0, next});
  }
  for (const auto& [key, value] : meta_) batch.put(Family::meta, key, value);
  report_.kept[0] = meta_.size() + 1;
  if (auto trouble = made.write(batch, Durability::process)) return trouble;
  for (std::size_t i = 1; i < kFamilies; ++i) {
    const auto family = static_cast<Family>(i);
    if (family == Family::journal || family == Family::snapshot || family == Family::history ||
        family == Family::place || family == Family::spent) {
      continue;
    }
    if (auto trouble = copy(family, made)) return trouble;
  }
  if (auto trouble = copy_history(made)) return trouble;
  if (auto trouble = copy_journal(made)) return trouble;
  return keep_asking(made);
}

StoreTrouble Salvager::copy(Family family, Store& made) {
  StoreBatch batch;
  std::size_t bytes = 0;
  const auto use = [&](std::string_view key, std::string_view value) -> StoreTrouble {
    if (family == Family::ending) {
      // Of jobs that the history has dropped, too.
      const JobEnding ending = decode_ending(value).value();
      if (number_of(key) == ending.job.value) over_.emplace(ending.job, ending.outcome);
    }
    batch.put(family, key, std::string(value));
    ++report_.kept[static_cast<std::size_t>(family)];
    bytes += key.size() + value.size();
    if (bytes < kTogetherBytes) return std::nullopt;
    bytes = 0;
    return made.write(std::exchange(batch, {}), Durability::process);
  };
  if (auto trouble = scan(family, use)) return trouble;
  return made.write(batch, Durability::process);
}

/// The history, with an index that is made of it anew. Of jobs that only the old index has the cost
/// stays in their users' sums.
StoreTrouble Salvager::copy_history(Store& made) {
  std::map<JobId, std::uint64_t> places;
  const Catalog& catalog = report_.meta.catalog;
  const auto take = [&](std::string_view key, std::string_view value) -> StoreTrouble {
    const auto place = number_of(key);
    if (!place) return std::nullopt;
    const HistoryEntry entry = entry_of(decode_history(value, catalog).value());
    StoreBatch batch;
    // A job that is there twice has been added again: the later one counts.
    if (const auto old = places.find(entry.job); old != places.end()) {
      batch.erase(Family::history, muster::key_of(old->second));
    }
    places[entry.job] = *place;
    over_[entry.job] = entry.outcome;
    batch.put(Family::history, key, std::string(value));
    batch.put(Family::place, muster::key_of(entry.job.value), encode_place({*place, entry}));
    return made.write(batch, Durability::process);
  };
  if (auto trouble = scan(Family::history, take)) return trouble;
  std::map<std::string, Money> spent;
  const auto take_spent = [&](std::string_view key, std::string_view value) -> StoreTrouble {
    spent[std::string(key)] = decode_money(value).value();
    return std::nullopt;
  };
  if (auto trouble = scan(Family::spent, take_spent)) return trouble;
  const auto look = [&](std::string_view key, std::string_view value) -> StoreTrouble {
    const auto job = number_of(key);
    if (!job || places.contains(JobId{*job})) return std::nullopt;
    const HistoryPlace place = decode_place(value).value();
    // Records of earlier versions have user and cost, too, but for the first, which have the key.
    if (!place.entry.user.empty()) spent[place.entry.user] += place.entry.cost;
    over_.emplace(*job, place.entry.outcome);
    losses_.add({"history", "a job that is over is in the index only", JobId{*job}});
    return std::nullopt;
  };
  if (auto trouble = scan(Family::place, look)) return trouble;
  StoreBatch batch;
  for (const auto& [user, sum] : spent) batch.put(Family::spent, user, encode_money(sum));
  report_.kept[static_cast<std::size_t>(Family::history)] = places.size();
  report_.kept[static_cast<std::size_t>(Family::place)] = places.size();
  report_.kept[static_cast<std::size_t>(Family::spent)] = spent.size();
  return made.write(batch, Durability::process);
}

/// The newest snapshot that can be read, and the events behind it up to the first gap.
StoreTrouble Salvager::copy_journal(Store& made) {
  std::optional<std::pair<std::uint64_t, std::string>> snapshot;
  const auto take = [&](std::string_view key, std::string_view value) -> StoreTrouble {
    if (const auto at = number_of(key)) snapshot = {*at, std::string(value)};
    return std::nullopt;
  };
  if (auto trouble = scan(Family::snapshot, take)) return trouble;
  std::uint64_t next = snapshot ? snapshot->first : 0;
  bool gap = false;
  StoreBatch batch;
  if (snapshot) {
    batch.put(Family::snapshot, muster::key_of(snapshot->first), snapshot->second);
    report_.kept[static_cast<std::size_t>(Family::snapshot)] = 1;
  }
  if (auto trouble = made.write(std::exchange(batch, {}), Durability::process)) return trouble;
  const auto add = [&](std::string_view key, std::string_view value) -> StoreTrouble {
    const auto first = number_of(key);
    if (!first || *first < next || gap) return std::nullopt;
    if (*first > next) {
      gap = true;
      losses_.add(
          {"journal", fmt::format("events {} to {} are missing: no event after them is used", next,
                                  *first - 1)});
      return std::nullopt;
    }
    next += decode_events(value, report_.meta.catalog).value().size();
    ++report_.kept[static_cast<std::size_t>(Family::journal)];
    StoreBatch events;
    events.put(Family::journal, key, std::string(value));
    return made.write(events, Durability::process);
  };
  if (auto trouble = scan(Family::journal, add)) return trouble;
  report_.next_event = next;
  may_lack_events_ = gap || !facts_.mark || facts_.rebuilt;
  return settle_journal(made, snapshot ? snapshot->first : 0);
}

/// Events that cannot have happened are left out; then it is known how many durable ones are lost.
StoreTrouble Salvager::settle_journal(Store& made, std::uint64_t snapshot_at) {
  StoreReport found = check_store(made);
  if (!found.problems.empty() && report_.next_event > snapshot_at) {
    losses_.add({"journal", "no event after the snapshot is used: " + found.problems.front()});
    StoreBatch batch;
    batch.erase_range(Family::journal, muster::key_of(0), muster::key_of(report_.next_event));
    if (auto trouble = made.write(batch, Durability::process)) return trouble;
    report_.kept[static_cast<std::size_t>(Family::journal)] = 0;
    report_.next_event = snapshot_at;
    may_lack_events_ = true;
    found = check_store(made);
  }
  if (!found.problems.empty()) {
    return Failure<StoreError>{StoreError::corrupt, order_.from.string() +
                                                        ": its readable part "
                                                        "makes no store: " +
                                                        found.problems.front()};
  }
  if (!report_.meta.kind.starts_with("master")) return std::nullopt;
  const std::uint64_t next = report_.next_event;
  const std::uint64_t had = facts_.mark ? facts_.mark->reached.events : next;
  if (had > next) {
    report_.lost_events = had - next;
    losses_.add({"journal", fmt::format("lost: {}, of the numbers {} to {}",
                                        count_text(report_.lost_events, "event"), next, had - 1)});
  }
  if (may_lack_events_ || had > next) return settle_open_jobs(made);
  StoreBatch batch;
  batch.reaches({next, 0});
  return made.write(batch, Durability::process);
}

/// The job is over, by its record: the events that are left lack its end only. Its tasks leave
/// their places as those of a job that is given up do, for a job is over when no task has one.
void end_job(const ClusterState& state, const JobRow& row, const JobFinished& over,
             std::vector<Event>& events, Instant at) {
  const bool completed = over.outcome == JobOutcome::completed;
  if (!row.terminal_outcome) {
    events.push_back(
        {at, JobTerminating{over.job, completed ? JobOutcome::cancelled : over.outcome}});
  }
  for (const muster::Slot slot : row.tasks) {
    const TaskRow& task = state.task(slot);
    if (task.target != kNoSlot) {
      events.push_back({at, TaskUnassigned{task.id, {CauseCode::evicted, 0}}});
    }
    if (task.at == kNoSlot) continue;
    TaskFailed gone{task.id, task.attempt, "its end is lost"};
    gone.blameless = true;
    gone.kind = FailureKind::lost;
    events.push_back({at, gone});
  }
  events.push_back({at, over});
}

/// Each open job could have gone on in the events that are lost. One that the history knows is
/// over. Of another one tasks may have ended, or run elsewhere: no task of it is started again
/// before a user has looked and releases the job.
StoreTrouble Salvager::settle_open_jobs(Store& made) {
  auto found = recover_master(made, report_.meta.catalog);
  if (!found) return found.error();
  ClusterState state =
      found->snapshot ? std::move(found->snapshot->state) : ClusterState(report_.meta.catalog);
  Instant newest = found->snapshot ? found->snapshot->newest : Instant{};
  for (const Event& event : found->tail) {
    state.apply(event);
    newest = std::max(newest, event.at);
  }
  std::vector<Event> events;
  for (const JobRow& row : state.jobs()) {
    if (const auto over = over_.find(row.job.id); over != over_.end()) {
      report_.over.push_back(row.job.id);
      end_job(state, row, {row.job.id, over->second}, events, newest);
      continue;
    }
    if (row.terminal_outcome) continue;
    report_.held.push_back(row.job.id);
    if (!row.held_by_user) events.push_back({newest, JobHeld{row.job.id}});
  }
  StoreBatch batch;
  if (!events.empty()) {
    batch.put(Family::journal, muster::key_of(report_.next_event),
              encode_events(events, report_.meta.catalog));
  }
  batch.reaches({report_.next_event + events.size(), 0});
  return made.write(batch, Durability::process);
}

}  // namespace

void SalvageLosses::add(SalvageLoss loss) {
  if (lost_.size() < SalvageReport::kMostNamed) {
    lost_.push_back(std::move(loss));
  } else {
    ++not_named_;
  }
}

void SalvageLosses::add_changes(const std::string& log, std::uint64_t from, std::uint64_t until) {
  changes_ += until - from;
  add({log, fmt::format("lost: {}, of the numbers {} to {}", count_text(until - from, "change"),
                        from, until - 1)});
}

void SalvageLosses::move_to(SalvageReport& report) {
  report.lost = std::move(lost_);
  report.not_named = not_named_;
  report.lost_changes = changes_;
}

Expected<SalvageReport, StoreError> salvage_records(const DamagedTables& tables,
                                                    const SalvageFacts& facts,
                                                    const SalvageOrder& order,
                                                    SalvageLosses& losses) {
  return Salvager(tables, facts, order, losses).run();
}

}  // namespace muster
