#include "schedulers/site/actor/job_starts.hpp"

#include <algorithm>
#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <utility>

#include "schedulers/site/letters.hpp"

namespace muster {

void JobStarts::begin(const std::vector<JobId>& jobs) {
  to_begin_.insert(to_begin_.end(), jobs.begin(), jobs.end());
  if (!std::exchange(begins_, true)) begin_next();
}

/// Some hundred at a time: others are heard between, and the store takes them.
void JobStarts::begin_next() {
  constexpr std::size_t kAtOnce = 500;
  begins_ = !to_begin_.empty();
  if (!begins_) return;
  const auto end =
      to_begin_.begin() + static_cast<std::ptrdiff_t>(std::min(kAtOnce, to_begin_.size()));
  std::vector<JobId> jobs(to_begin_.begin(), end);
  LoadRounds& rounds = parts_.rounds;
  rounds.note_news();
  if (!rounds.is_fresh() && !rounds.has_room(jobs.size())) {
    rounds.ask_soon();
    return begin_later();
  }
  to_begin_.erase(to_begin_.begin(), end);
  if (rounds.is_fresh()) return place(jobs);
  rounds.await(jobs.size(), [this, jobs] { place(jobs); });
}

void JobStarts::begin_later() {
  host_.after(settings_.hand_retry, [this] { begin_next(); });
}

/// Adds a run of the recurring job, and that it has begun.
void JobStarts::add_run(Job job, SiteNews& news) {
  Job run = job;
  number_job(run, parts_.numbers.give());
  run.submitted = settings_.says_when ? std::optional(host_.now()) : std::nullopt;
  run.recurs = job.id;
  run.token.clear();
  run.begin.reset();
  run.every.clear();
  run.zone.clear();
  run.overlaps = false;
  const JobId number = run.id;
  ChangedHandoff changed{{job, parts_.peers.self().to}, std::move(job)};
  changed.handoff.job.begin = host_.now();
  changed.handoff.job.recurs = number;
  news.changed.push_back(std::move(changed));
  for (JobLetter& letter : Letters::of({run})) news.letters.push_back(std::move(letter));
  host_.choose(std::move(run), news.handoffs);
  news.next_job = parts_.numbers.next();
}

/// In one write they wait no more and are on their way; those that recur wait on.
void JobStarts::place(std::vector<JobId> jobs) {
  if (parts_.numbers.learns()) {
    to_begin_.insert(to_begin_.begin(), jobs.begin(), jobs.end());
    return begin_later();
  }
  // A hold or a deadline may have come between.
  std::erase_if(jobs, [this](JobId job) { return !host_.may_begin(job); });
  SiteNews news;
  std::vector<JobId> leaving;
  for (Job& job : parts_.handoffs.begin_waiting(jobs)) {
    leaving.push_back(job.id);
    if (!job.every.empty()) {
      add_run(std::move(job), news);
      continue;
    }
    news.begun.push_back({job, parts_.peers.self().to});
    host_.choose(std::move(job), news.handoffs);
  }
  if (leaving.empty()) return begin_next();
  const auto kept = std::make_shared<SiteNews>();
  kept->handoffs = news.handoffs;
  kept->changed = news.changed;
  kept->letters = news.letters;
  parts_.writer.persist(std::move(news), [this, leaving, kept](const std::string& trouble) {
    placed(leaving, std::move(*kept), trouble.empty());
  });
}

void JobStarts::placed(const std::vector<JobId>& jobs, SiteNews news, bool durable) {
  std::map<JobId, Job> recurring;
  for (ChangedHandoff& each : news.changed) {
    const JobId id = each.handoff.job.id;
    recurring.emplace(id, std::move(each.handoff.job));
  }
  for (const JobId job : jobs) {
    parts_.handoffs.end_waiting(job, durable && !recurring.contains(job));
  }
  if (!durable) {
    to_begin_.insert(to_begin_.begin(), jobs.begin(), jobs.end());
    return begin_later();
  }
  if (!news.letters.empty()) host_.tells(std::move(news.letters));
  const std::set<HandoffTarget> targets = host_.send(std::move(news.handoffs));
  for (const JobId job : jobs) {
    const auto found = recurring.find(job);
    if (found == recurring.end()) {
      host_.begun(job);
    } else if (Job* there = parts_.handoffs.waiting_job(job)) {
      there->begin = found->second.begin;
      there->recurs = found->second.recurs;
      host_.recurred(job, there->recurs);
    }
  }
  for (const HandoffTarget& to : targets) parts_.handoffs.send(to);
  begin_next();
}

}  // namespace muster
