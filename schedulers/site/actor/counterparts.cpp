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
  return end && at.size() == masters &&
         std::all_of(at.begin(), at.end(), [](const auto& each) { return each.second.is_last; });
}

void Counterparts::begin() {
  for (MasterState& each : masters_.masters()) each.answered = false;
  if (!std::exchange(ticks_, true)) tick();
}

/// Until no job waits any more, as far as all masters have said.
bool Counterparts::is_needed() const {
  const auto& masters = masters_.masters();
  return !waiting_.empty() || !host_.unstarted({}, 1).empty() ||
         std::any_of(masters.begin(), masters.end(),
                     [](const MasterState& each) { return !each.answered || each.busy; });
}

void Counterparts::tick() {
  for (const SitePeer& master : peers_.masters()) {
    if (!masters_.at(master.to).busy) ask(master.to);
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
  state.asked.clear();
  for (const CounterpartsAsked& each : question.asked) state.asked.push_back(each.job);
  state.busy = true;
  state.told = question.told;
  host_.ask(master, question, [this, master](const CounterpartReport* report) {
    masters_.at(master).busy = false;
    if (report != nullptr) take(master, *report);
  });
}

/// Goes through the jobs in turn, some hundred at a time.
void Counterparts::put_asked(const HandoffTarget& master, CounterpartQuestion& question) {
  MasterState& state = masters_.at(master);
  state.ended.clear();
  std::set<JobId> unstarted;
  for (const JobId job : host_.unstarted(state.asked_after, kAskedAtOnce)) unstarted.insert(job);
  auto other = state.asked_after.valid() ? others_.upper_bound(state.asked_after) : others_.begin();
  auto start = unstarted.begin();
  while (question.asked.size() < kAskedAtOnce &&
         (other != others_.end() || start != unstarted.end())) {
    const bool is_other =
        other != others_.end() && (start == unstarted.end() || other->first <= *start);
    CounterpartsAsked asked{is_other ? other->first : *start};
    state.asked_after = asked.job;
    if (start != unstarted.end() && *start == asked.job) ++start;
    if (is_other) {
      const Progress& known = other->second.at[master];
      asked.ended = known.ended;
      asked.from = known.next;
      if (other->second.end) state.ended.insert(asked.job);
      ++other;
      if (known.is_last) continue;
    }
    question.asked.push_back(asked);
  }
  if (other == others_.end() && start == unstarted.end()) state.asked_after = JobId{};
}

void Counterparts::put_told(const HandoffTarget& master, CounterpartQuestion& question) {
  ByteCut cut;
  for (auto& [job, waiting] : waiting_) {
    const auto found = waiting.at.find(master);
    if (found == waiting.at.end() || !found->second.news) continue;
    Part& part = found->second;
    const Words words = words_of(waiting);
    std::size_t left = kMostRanges;
    const auto untold = [&](const IndexRanges& tasks) {
      std::vector<IndexRange> some = without(tasks, part.told).list(left);
      left -= some.size();
      return some;
    };
    CounterpartsTold told{job, untold(words.met), {}};
    for (const auto& [lost, tasks] : words.lost) {
      LostTasks more = lost;
      more.tasks = untold(tasks);
      if (!more.tasks.empty()) told.lost.push_back(std::move(more));
    }
    if (told.met.empty() && told.lost.empty()) {
      part.news = false;
      continue;
    }
    if (!cut.takes(told)) return;
    question.told.push_back(std::move(told));
  }
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
  take_told(master, report.unfinished);
  for (const TasksOver& over : report.over) take_over(master, over);
  take_awaiting(master, report);
  MasterState& state = masters_.at(master);
  // It goes on with the first one that was left out.
  std::set<JobId> answered;
  for (const TasksOver& over : report.over) answered.insert(over.job);
  for (std::size_t i = 0; i < state.asked.size(); ++i) {
    if (answered.contains(state.asked[i])) continue;
    if (i > 0) state.asked_after = state.asked[i - 1];
    break;
  }
  if (!report.more_await) state.answered = true;
  // More is to be said at once; a master takes some hundred tasks from one message.
  if (!report.unfinished.empty()) ask(master);
}

/// All that it was told has been heard, but for jobs of which there is more.
void Counterparts::take_told(const HandoffTarget& master, const std::vector<JobId>& unfinished) {
  for (const CounterpartsTold& told : std::exchange(masters_.at(master).told, {})) {
    if (std::find(unfinished.begin(), unfinished.end(), told.job) != unfinished.end()) continue;
    const auto found = waiting_.find(told.job);
    if (found == waiting_.end()) continue;
    const auto part = found->second.at.find(master);
    if (part == found->second.at.end()) continue;
    part->second.told.add(told.met);
    for (const LostTasks& lost : told.lost) part->second.told.add(lost.tasks);
  }
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
  for (const AwaitingJob& each : report.awaiting) add(each.job, each.after, master);
  state.awaiting_after = last;
}

void Counterparts::add(JobId job, const std::vector<AwaitedJob>& after,
                       const HandoffTarget& master) {
  auto found = waiting_.find(job);
  if (found == waiting_.end()) {
    if (waiting_.size() >= most_) return;
    found = waiting_.emplace(job, Waiting{after, {}}).first;
    std::vector<JobId> fresh;
    for (const AwaitedJob& each : after) {
      const auto [other, is_new] = others_.try_emplace(each.job);
      other->second.waiting.insert(job);
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
  for (const AwaitedJob& each : found->second.after) {
    const auto other = others_.find(each.job);
    if (other == others_.end()) continue;
    other->second.waiting.erase(job);
    if (other->second.waiting.empty()) others_.erase(other);
  }
  waiting_.erase(found);
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
