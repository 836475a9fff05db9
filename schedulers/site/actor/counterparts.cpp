#include "schedulers/site/actor/counterparts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <string>

#include "actors/messages/byte_cut.hpp"
#include "schedulers/site/after_ends.hpp"

namespace muster {
namespace {

/// Jobs that a master is asked for at once, of each kind.
constexpr std::size_t kAskedAtOnce = 1'000;
/// Ranges of indices of one job that a message has.
constexpr std::size_t kMostRanges = 4'096;
/// Ranges that are gone through for one message, or those of a single job.
constexpr std::size_t kRangesAtOnce = 200'000;
/// Questions for a job that is on its way to a master.
constexpr std::uint32_t kTicksOfBegin = 5;
/// Pauses after which the ends of jobs are asked for anew: masters may have lost count of who
/// watches.
constexpr std::uint32_t kPausesToWatch = 10;

constexpr IndexRange kAllIndices{0, UINT32_MAX};

IndexRanges all_indices() {
  IndexRanges all;
  all.add(kAllIndices);
  return all;
}

/// Why a task cannot begin whose counterpart has come to its own end.
std::string own_end(AfterEnd wanted) {
  return wanted == AfterEnd::fail ? "has completed" : "has failed";
}

/// Why one cannot whose counterpart has no end of its own.
std::string job_end(const JobEnd& end) {
  if (!end.known) return "is over, and how it ended is no longer known";
  return fmt::format("has no end of its own: the job ended as {}", name_of(end.outcome));
}

}  // namespace

bool Counterparts::Other::is_final(std::size_t masters) const {
  if (!end) return false;
  std::size_t last = 0;
  std::uint64_t tasks = 0;
  for (const auto& [master, part] : at) {
    if (!part.is_last) continue;
    ++last;
    tasks += part.tasks;
  }
  // A master that is away cannot have any of it where the others had all.
  return last == masters || (end->whole > 0 && tasks >= end->whole);
}

void Counterparts::begin() {
  for (MasterState& each : masters_.masters()) each.answered = false;
  ticks_left_ = kTicksOfBegin;
  if (!std::exchange(ticks_, true)) tick();
}

/// Until no job waits any more, as far as all masters have said.
bool Counterparts::is_needed() const {
  const auto& masters = masters_.masters();
  return ticks_left_ > 0 || !waiting_.empty() || !host_.unstarted({}, 1).empty() ||
         std::any_of(masters.begin(), masters.end(),
                     [](const MasterState& each) { return !each.answered || each.busy; });
}

void Counterparts::tick() {
  if (ticks_left_ > 0) --ticks_left_;
  // A master that does not answer may be away for long.
  const bool is_idle = ticks_left_ == 0 && waiting_.empty() && host_.unstarted({}, 1).empty();
  const bool rests = is_idle && since_watch_ > 0;
  for (const SitePeer& master : peers_.masters()) {
    const MasterState& state = masters_.at(master.to);
    if (!state.busy && !rests && !(is_idle && state.answered)) ask(master.to);
  }
  if (++since_watch_ >= kPausesToWatch) watch();
  host_.later([this] {
    ticks_ = is_needed();
    if (ticks_) tick();
  });
}

void Counterparts::watch() {
  since_watch_ = 0;
  std::vector<JobId> open;
  for (const auto& [job, other] : others_) {
    if (!other.end) open.push_back(job);
  }
  if (!open.empty()) host_.watch(open);
}

void Counterparts::ask(const HandoffTarget& master) {
  MasterState& state = masters_.at(master);
  CounterpartQuestion question;
  question.site = peers_.number();
  question.after = state.awaiting_after;
  put_asked(master, question);
  put_told(master, question);
  state.busy = true;
  state.told = question.told;
  host_.ask(master, question, [this, master](const CounterpartReport* report) {
    MasterState& of = masters_.at(master);
    of.busy = false;
    if (report != nullptr) return take(master, *report);
    // It may have been heard, and is told again.
    for (const CounterpartsTold& told : std::exchange(of.told, {})) {
      if (Part* part = part_of(told.job, master)) part->news = true;
    }
  });
}

/// Goes through the jobs in turn, some hundred at a time.
void Counterparts::put_asked(const HandoffTarget& master, CounterpartQuestion& question) {
  MasterState& state = masters_.at(master);
  state.ended.clear();
  const std::vector<JobId> unstarted = host_.unstarted(state.asked_after, kAskedAtOnce);
  auto other = state.asked_after.valid() ? others_.upper_bound(state.asked_after) : others_.begin();
  auto start = unstarted.begin();
  JobId last;
  while (question.asked.size() < kAskedAtOnce &&
         (other != others_.end() || start != unstarted.end())) {
    const bool is_other =
        other != others_.end() && (start == unstarted.end() || other->first <= *start);
    CounterpartsAsked asked{is_other ? other->first : *start};
    bool is_known = false;
    last = asked.job;
    const bool starts = start != unstarted.end() && *start == asked.job;
    if (starts) ++start;
    if (is_other) {
      const Progress& known = other->second.at[master];
      asked.ended = known.ended;
      asked.from = known.next;
      if (other->second.end) state.ended.insert(asked.job);
      is_known = known.is_last;
      ++other;
    }
    if (!is_known || starts) question.asked.push_back(asked);
  }
  const bool all = other == others_.end() && start == unstarted.end();
  state.asked_after = all ? JobId{} : last;
}

/// Goes through the jobs that there is news for in turn, as far as one message goes.
void Counterparts::put_told(const HandoffTarget& master, CounterpartQuestion& question) {
  MasterState& state = masters_.at(master);
  ByteCut cut;
  std::size_t ranges = 0;
  auto it = state.told_after.valid() ? waiting_.upper_bound(state.told_after) : waiting_.begin();
  for (; it != waiting_.end(); ++it) {
    auto& [job, waiting] = *it;
    const auto found = waiting.at.find(master);
    if (found == waiting.at.end() || !found->second.news) continue;
    if (ranges > kRangesAtOnce) return;
    for (const AwaitedJob& each : waiting.after) {
      const Other& other = others_.at(each.job);
      ranges += other.completed.size() + other.failed.size() + 1;
    }
    Part& part = found->second;
    part.news = false;
    CounterpartsTold told = told_of(job, waiting, part);
    if (told.met.empty() && told.lost.empty()) continue;
    if (!cut.takes(told)) {
      part.news = true;
      return;
    }
    state.told_after = job;
    question.told.push_back(std::move(told));
  }
  state.told_after = JobId{};
}

/// All that has not been heard, as much as one message takes; where that is less there is news
/// still.
CounterpartsTold Counterparts::told_of(JobId job, const Waiting& waiting, Part& part) const {
  const Words words = words_of(waiting);
  CounterpartsTold told{job, {}, {}};
  std::size_t left = kMostRanges;
  // One that is lost by two of its counterparts is told once.
  IndexRanges known = part.told;
  const auto take = [&](const IndexRanges& tasks) {
    const IndexRanges fresh = without(tasks, known);
    std::vector<IndexRange> list = fresh.list(left);
    if (list.size() < fresh.size()) part.news = true;
    left -= list.size();
    known.add(list);
    return list;
  };
  told.met = take(words.met);
  for (const auto& [lost, tasks] : words.lost) {
    LostTasks more = lost;
    more.tasks = take(tasks);
    if (!more.tasks.empty()) told.lost.push_back(std::move(more));
  }
  return told;
}

/// By what is known of the jobs that it waits for. A task begins when it has all that it waits for,
/// and is lost with the first of its counterparts that did not end as it should have. One without a
/// counterpart goes by the other job as a whole.
Counterparts::Words Counterparts::words_of(const Waiting& waiting) const {
  Words words;
  words.met = all_indices();
  for (const AwaitedJob& each : waiting.after) {
    const Other& other = others_.at(each.job);
    IndexRanges met, lost;
    if (each.end != AfterEnd::fail) met.add(other.completed.list());
    if (each.end != AfterEnd::ok) met.add(other.failed.list());
    if (each.end == AfterEnd::ok) lost = other.failed;
    if (each.end == AfterEnd::fail) lost = other.completed;
    if (!lost.empty()) words.lost.push_back({{each.job, {}, own_end(each.end)}, lost});
    if (other.is_final(peers_.masters().size())) {
      if (!why_not({each.job, each.end}, *other.end)) {
        met.add(without(all_indices(), lost).list());
      } else {
        met.add(lost.list());
        words.lost.push_back({{each.job, {}, job_end(*other.end)}, without(all_indices(), met)});
        met = without(met, lost);
      }
    }
    words.met = common(words.met, met);
  }
  return words;
}

void Counterparts::take(const HandoffTarget& master, const CounterpartReport& report) {
  MasterState& state = masters_.at(master);
  if (report.asked_to.valid()) state.asked_after = report.asked_to;
  take_told(master, report.unfinished);
  for (const TasksOver& over : report.over) take_over(master, over);
  take_awaiting(master, report);
  if (!report.more_await) state.answered = true;
  // More is to be said at once; a master takes some hundred tasks from one message.
  if (!report.unfinished.empty()) ask(master);
}

/// All that it was told has been heard, but for jobs of which there is more.
void Counterparts::take_told(const HandoffTarget& master, const std::vector<JobId>& unfinished) {
  const std::set<JobId> more(unfinished.begin(), unfinished.end());
  for (const CounterpartsTold& told : std::exchange(masters_.at(master).told, {})) {
    Part* part = part_of(told.job, master);
    if (part == nullptr) continue;
    if (more.contains(told.job)) {
      part->news = true;
      continue;
    }
    part->told.add(told.met);
    for (const LostTasks& lost : told.lost) part->told.add(lost.tasks);
  }
}

Counterparts::Part* Counterparts::part_of(JobId job, const HandoffTarget& master) {
  const auto found = waiting_.find(job);
  if (found == waiting_.end()) return nullptr;
  const auto part = found->second.at.find(master);
  return part == found->second.at.end() ? nullptr : &part->second;
}

void Counterparts::take_over(const HandoffTarget& master, const TasksOver& over) {
  if (over.started) host_.started(over.job);
  const auto found = others_.find(over.job);
  if (found == others_.end()) return;
  Other& other = found->second;
  Progress& known = other.at[master];
  // Tasks before the position may have ended since the part was gone through up to there.
  const bool begins_anew = over.over && !known.is_past && known.next > 0;
  if (known.next == 0) known.counted = over.ended;
  known.next = begins_anew ? 0 : over.next;
  known.is_past = over.over;
  known.tasks = over.tasks;
  if (over.next == 0) known.ended = known.counted;
  // A part may have been on its way to the master as long as the job was not over.
  const bool was_over = masters_.at(master).ended.contains(over.job);
  known.is_last = !begins_anew && over.next == 0 && (over.over || (!over.known && was_over));
  other.completed.add(over.completed);
  other.failed.add(over.failed);
  const bool is_final = other.is_final(peers_.masters().size());
  if (is_final || !over.completed.empty() || !over.failed.empty()) note_news(other);
}

void Counterparts::take_awaiting(const HandoffTarget& master, const CounterpartReport& report) {
  MasterState& state = masters_.at(master);
  // Those of the part of the list that it has told, and that are not there any more, have begun.
  const bool is_cut = report.more_await && !report.awaiting.empty();
  const JobId last = is_cut ? report.awaiting.back().job : JobId{};
  std::set<JobId> here;
  for (const AwaitingJob& each : report.awaiting) here.insert(each.job);
  auto it =
      state.awaiting_after.valid() ? waiting_.upper_bound(state.awaiting_after) : waiting_.begin();
  std::vector<JobId> gone;
  for (; it != waiting_.end() && (!last.valid() || it->first <= last); ++it) {
    if (it->second.at.contains(master) && !here.contains(it->first)) gone.push_back(it->first);
  }
  for (const JobId job : gone) leave(job, master);
  for (const AwaitingJob& each : report.awaiting) add(each, master);
  state.awaiting_after = last;
}

void Counterparts::add(const AwaitingJob& waiting, const HandoffTarget& master) {
  auto found = waiting_.find(waiting.job);
  if (found == waiting_.end()) {
    // The others come as these end: the list is told again.
    UserCounts more;
    more.add(waiting.user);
    if (waiting_.size() >= most_ || !of_users_.has_room(more, most_ - most_ / 2)) return;
    of_users_.add(waiting.user);
    found = waiting_.emplace(waiting.job, Waiting{waiting.user, waiting.after, {}}).first;
    std::vector<JobId> fresh;
    for (const AwaitedJob& each : waiting.after) {
      const auto [other, is_new] = others_.try_emplace(each.job);
      other->second.waiting.insert(waiting.job);
      if (is_new) fresh.push_back(each.job);
    }
    if (!fresh.empty()) host_.watch(fresh);
  }
  found->second.at.try_emplace(master);
}

void Counterparts::leave(JobId job, const HandoffTarget& master) {
  const auto found = waiting_.find(job);
  found->second.at.erase(master);
  if (!found->second.at.empty()) return;
  std::vector<JobId> open;
  for (const AwaitedJob& each : found->second.after) {
    const auto other = others_.find(each.job);
    if (other == others_.end()) continue;
    other->second.waiting.erase(job);
    if (!other->second.waiting.empty()) continue;
    if (!other->second.end) open.push_back(each.job);
    others_.erase(other);
  }
  of_users_.take(found->second.user);
  waiting_.erase(found);
  if (!open.empty()) host_.unwatch(open);
}

void Counterparts::note_news(const Other& other) {
  for (const JobId job : other.waiting) {
    for (auto& [master, part] : waiting_.at(job).at) part.news = true;
  }
}

void Counterparts::hear(const JobEnd& whole) {
  const auto found = others_.find(whole.job);
  if (found == others_.end() || found->second.end) return;
  found->second.end = whole;
  note_news(found->second);
}

std::vector<JobId> Counterparts::unneeded(std::vector<JobId> jobs) const {
  std::erase_if(jobs, [this](JobId job) {
    const auto found = others_.find(job);
    return found != others_.end() && !found->second.end;
  });
  return jobs;
}

}  // namespace muster
