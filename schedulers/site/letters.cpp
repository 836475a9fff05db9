#include "schedulers/site/letters.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "learning/fnv.hpp"

namespace muster {
namespace {

/// Jobs that are asked after again at a time.
constexpr std::size_t kAskedAtOnce = 1'000;

/// Whether the user wants to hear of an end like that.
bool is_wanted(NotifyOn on, const std::optional<JobOutcome>& outcome) {
  if (on != NotifyOn::fail || !outcome) return true;
  return *outcome == JobOutcome::failed || *outcome == JobOutcome::refused ||
         *outcome == JobOutcome::skipped || *outcome == JobOutcome::expired;
}

/// Somebody is told of its end. A recurring job has none: each of its runs is told of.
bool has_letter(const Job& job) {
  return !job.notify.empty() && job.every.empty();
}

std::string id_of(JobId job, std::string_view what, const std::string& address) {
  // The addresses of one job differ, and may change their places while some are settled.
  const auto mark = static_cast<std::uint32_t>(Fnv().add(address).value());
  return fmt::format("{}-{}-{:08x}", job.value, what, mark);
}

}  // namespace

std::vector<JobLetter> Letters::of(const std::vector<Job>& jobs) {
  std::vector<JobLetter> letters;
  // The first job of each user and addresses that are told of together.
  std::map<std::pair<std::string, std::vector<std::string>>, JobId> firsts;
  for (const Job& job : jobs) {
    if (!has_letter(job) || !job.id.valid()) continue;
    JobLetter letter{job.id, job.name, job.user, job.notify, job.notify_on, {}, {}};
    if (job.notify_on == NotifyOn::all) {
      letter.group = firsts.try_emplace({job.user, job.notify}, job.id).first->second;
    }
    letters.push_back(std::move(letter));
  }
  return letters;
}

bool Letters::has_room(const std::vector<Job>& jobs) const {
  UserCounts more;
  std::size_t wanted = 0;
  for (const Job& job : jobs) {
    if (!has_letter(job)) continue;
    ++wanted;
    more.add(job.user);
  }
  if (wanted == 0) return true;
  return letters_.size() + wanted <= bounds_.most &&
         of_users_.has_room(more, bounds_.most - bounds_.most / 2);
}

void Letters::put(JobLetter letter) {
  const JobId job = letter.job;
  const auto [at, fresh] = letters_.try_emplace(job, std::move(letter));
  if (!fresh) return;
  of_users_.add(at->second.user);
  const bool is_open = !at->second.end;
  open_ += is_open;
  if (is_open) unasked_.push_back(job);
  if (!at->second.group.valid()) return;
  Group& group = groups_[at->second.group];
  group.jobs.push_back(job);
  group.open += is_open;
}

void Letters::add(std::vector<JobLetter> letters) {
  recall(std::move(letters));
  ask();
}

void Letters::recall(std::vector<JobLetter> letters) {
  if (!host_.send) return;
  for (JobLetter& letter : letters) put(std::move(letter));
}

void Letters::begin() {
  for (const auto& [job, letter] : letters_) {
    if (letter.end && !letter.group.valid()) send_to_all(letter);
  }
  for (const auto& [first, group] : groups_) {
    if (group.open == 0) end_of_group(first);
  }
  ask();
}

/// Asks after those that were added. Goes on by itself while any is not over.
void Letters::ask() {
  if (!unasked_.empty()) host_.watch(std::exchange(unasked_, {}));
  look_again();
}

/// Masters that began anew may have lost count of who asked them. All are asked after in turn, some
/// at a time, and no sooner again than the bound says.
void Letters::look_again() {
  if (looks_ || open_ == 0) return;
  looks_ = true;
  const Duration pause =
      open_ <= kAskedAtOnce
          ? bounds_.look_again
          : std::max<Duration>(std::chrono::seconds{1}, bounds_.look_again * kAskedAtOnce / open_);
  host_.after(pause, [this] {
    looks_ = false;
    auto it = letters_.upper_bound(looked_at_);
    for (std::size_t seen = 0; seen < kAskedAtOnce && it != letters_.end(); ++seen, ++it) {
      if (!it->second.end) unasked_.push_back(it->first);
    }
    looked_at_ = it == letters_.end() ? JobId{0} : std::prev(it)->first;
    ask();
  });
}

bool Letters::waits(JobId job) const {
  const auto found = letters_.find(job);
  return found != letters_.end() && !found->second.end;
}

std::vector<JobId> Letters::unneeded(std::vector<JobId> jobs) const {
  std::erase_if(jobs, [this](JobId job) { return waits(job); });
  return jobs;
}

void Letters::hear(JobId job, std::optional<JobOutcome> outcome, std::uint32_t whole) {
  const auto found = letters_.find(job);
  if (found == letters_.end() || found->second.end) return;
  JobLetter& letter = found->second;
  letter.end = LetterEnd{outcome, whole, host_.now()};
  --open_;
  if (letter.group.valid()) {
    // Kept: the others may be over only after a restart.
    host_.keep(letter);
    Group& group = groups_.at(letter.group);
    if (--group.open == 0) end_of_group(letter.group);
    return;
  }
  if (!is_wanted(letter.on, letter.end->outcome)) return forget(found);
  // Its age counts over restarts.
  host_.keep(letter);
  send_to_all(letter);
}

void Letters::send_to_all(const JobLetter& letter) {
  for (const std::string& to : letter.to) {
    host_.send({id_of(letter.job, "end", to), letter.user, to, letter.end->at,
                JobIsOver{letter.job, letter.name, *letter.end}},
               [this, job = letter.job, to] { settled(job, to); });
  }
}

void Letters::settled(JobId job, const std::string& address) {
  const auto found = letters_.find(job);
  if (found == letters_.end()) return;
  std::erase(found->second.to, address);
  if (found->second.to.empty()) return forget(found);
  host_.keep(found->second);
}

/// The last of them is over. The first one's addresses are those of all.
void Letters::end_of_group(JobId first) {
  const Group& group = groups_.at(first);
  JobsAreOver over{first, static_cast<std::uint32_t>(group.jobs.size())};
  Instant last{};
  for (const JobId job : group.jobs) {
    const LetterEnd& end = *letters_.at(job).end;
    last = std::max(last, end.at);
    if (end.outcome == JobOutcome::completed || end.outcome == JobOutcome::replaced) {
      ++over.completed;
    } else if (end.outcome == JobOutcome::failed || end.outcome == JobOutcome::refused) {
      ++over.failed;
    } else {
      ++over.others;
    }
  }
  const JobLetter& letter = letters_.at(group.jobs.front());
  for (const std::string& to : letter.to) {
    host_.send({id_of(first, "all", to), letter.user, to, last, over},
               [this, first, to] { group_settled(first, to); });
  }
}

/// The letters of a group stay until all is told, so that a restart counts all of them again.
void Letters::group_settled(JobId first, const std::string& address) {
  const auto found = groups_.find(first);
  if (found == groups_.end()) return;
  const std::vector<JobId> jobs = found->second.jobs;
  JobLetter& letter = letters_.at(jobs.front());
  std::erase(letter.to, address);
  if (!letter.to.empty()) return host_.keep(letter);
  groups_.erase(found);
  // The first one goes last: it alone says which addresses are told already.
  for (auto job = jobs.rbegin(); job != jobs.rend(); ++job) forget(letters_.find(*job));
}

void Letters::forget(ByJob::iterator at) {
  JobLetter gone = std::move(at->second);
  letters_.erase(at);
  of_users_.take(gone.user);
  gone.to.clear();
  host_.keep(gone);
}

}  // namespace muster
