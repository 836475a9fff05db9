// The ways out of a site scheduler, to masters and to other sites, and what is heard on them.

#include <algorithm>
#include <iterator>
#include <utility>

#include "model/live_ids.hpp"
#include "schedulers/site/actor/site_actor.hpp"

namespace muster {
namespace {

/// As long as a master's pauses between questions to the cloud at its defaults.
constexpr Duration kLongestAskPause = std::chrono::hours{6};

/// Whether the request has come back without having been read. A timeout is not among these:
/// whoever did not answer in time may have the jobs.
bool never_left(const caf::error& error) {
  return error == caf::sec::request_receiver_down || error == caf::sec::no_route_to_receiving_node;
}

}  // namespace

std::size_t SiteScheduler::jobs_in_hand() const {
  std::size_t count = 0;
  for (const HandoffPeer& each : masters_) count += each.waiting.size();
  for (const HandoffPeer& each : sites_) count += each.waiting.size();
  return count;
}

double SiteScheduler::own_load() const {
  return static_cast<double>(jobs_in_hand()) / static_cast<double>(settings_.capacity);
}

/// Takes one more job into the batch, or says that it does not go into the message.
bool SiteScheduler::HandoffBatch::take(PendingHandoff& each, std::size_t most) {
  const bool too_many = !ids.empty() && tasks + each.job.tasks.size() > kMaxTasks;
  if (too_many || ids.size() >= most || !cut.takes_bytes(each.bytes)) return false;
  tasks += each.job.tasks.size();
  jobs.push_back(each.job);
  ids.push_back(each.job.id);
  if (!std::exchange(each.sent, true)) fresh.push_back(each.job.id);
  return true;
}

/// What the peer is handed next: the oldest that go into one message, or in turn with these one of
/// the jobs that have failed by themselves, so that such a job keeps nobody waiting.
SiteScheduler::HandoffBatch SiteScheduler::next_batch(HandoffPeer& out) {
  HandoffBatch batch;
  const bool others_first = out.alone.empty() || std::exchange(out.was_alone, false);
  if (!others_first) take_alone(out, batch);
  if (!batch.ids.empty()) {
    out.was_alone = true;
    return batch;
  }
  out.waiting.oldest_first([&](PendingHandoff& each) {
    // Its end is being written down: nobody is to have it.
    if (each.ending || each.alone) return true;
    return batch.take(each, out.most);
  });
  if (batch.ids.empty()) take_alone(out, batch);
  return batch;
}

/// The next of the jobs that go alone, and of these one after the other.
void SiteScheduler::take_alone(HandoffPeer& out, HandoffBatch& batch) {
  for (std::size_t left = out.alone.size(); left > 0 && batch.ids.empty(); --left) {
    const JobId job = out.alone.front();
    out.alone.pop_front();
    PendingHandoff* found = out.waiting.find(job);
    if (found == nullptr || !found->alone) continue;
    out.alone.push_back(job);
    if (!found->ending) batch.take(*found, 1);
  }
}

/// Hands over the next jobs on the way to a peer, one request at a time, until all are taken.
void SiteScheduler::send_handoffs(const HandoffTarget& to) {
  HandoffPeer& out = peer(to);
  if (out.busy) return;
  HandoffBatch batch = next_batch(out);
  if (batch.ids.empty()) return;
  out.busy = true;
  const auto heard = [this, to](const Verdicts& verdicts) { taken(to, verdicts); };
  const auto failed = [this, to, ids = std::move(batch.ids),
                       fresh = std::move(batch.fresh)](const caf::error& error) {
    if (never_left(error)) {
      mark_unsent(to, fresh);
    } else {
      on_failed_batch(to, ids);
    }
    send_handoffs_later(to);
  };
  if (to.site) {
    request(out.site, parts_.accept_timeout, forward_atom_v, std::move(batch.jobs))
        .then(heard, failed);
  } else {
    request(out.master, parts_.accept_timeout, hand_atom_v, std::move(batch.jobs))
        .then(heard, failed);
  }
}

/// What has failed is never sent again as it was: half as many go next, and a job that has failed
/// by itself goes alone from then on, in turn with all others.
void SiteScheduler::on_failed_batch(const HandoffTarget& to, const std::vector<JobId>& jobs) {
  HandoffPeer& out = peer(to);
  const PendingHandoff* only = jobs.size() == 1 ? out.waiting.find(jobs.front()) : nullptr;
  // That a job which goes alone has failed again says nothing of the others.
  if (only == nullptr || !only->alone) out.most = std::max<std::size_t>(1, jobs.size() / 2);
  for (const JobId job : jobs) {
    PendingHandoff* found = out.waiting.find(job);
    if (found == nullptr) continue;
    ++found->failures;
    if (jobs.size() > 1 || std::exchange(found->alone, true)) continue;
    out.alone.push_back(job);
    out.was_alone = true;  // now it is the others' turn
    note("job " + std::to_string(job.value) + ", of " + std::to_string(found->bytes) +
         " bytes, was handed to " + target_name(to) +
         " alone and is not confirmed: it is handed over again in turn with the others");
  }
}

/// The peer has not seen them, so that a cancel may end them here.
void SiteScheduler::mark_unsent(const HandoffTarget& to, const std::vector<JobId>& jobs) {
  for (const JobId job : jobs) {
    if (PendingHandoff* found = peer(to).waiting.find(job)) found->sent = false;
  }
}

/// Jobs without a verdict stay in the queue. When none of the verdicts is about a job that waits,
/// asking at once would bring no more: the next try is after a pause.
void SiteScheduler::taken(const HandoffTarget& to, const Verdicts& verdicts) {
  HandoffPeer& out = peer(to);
  Verdicts refused;
  bool heard_of_any = false;
  bool cancels_wait = false;  // for a job to be no longer on its way
  for (const SubmitVerdict& verdict : verdicts) {
    if (!verdict.accepted) {
      heard_of_any |= out.waiting.find(verdict.job) != nullptr;
      refused.push_back(verdict);
      continue;
    }
    const auto found = out.waiting.take(verdict.job);
    // A repeated verdict.
    if (!found) continue;
    heard_of_any = true;
    cancels_wait |= cancels_.contains(verdict.job);
    arrived(*found);
    ++handed_;
    // Need not be durable: what is handed over twice is dropped by its number.
    parts_.store->handed_over(verdict.job, to);
  }
  refuse(to, refused);
  if (cancels_wait) ask_after_rest({true, parts_.number});
  if (!heard_of_any) return send_handoffs_later(to);
  out.most = std::min(parts_.hand_batch, 2 * out.most);
  out.busy = false;
  send_handoffs(to);
}

void SiteScheduler::send_handoffs_later(const HandoffTarget& to) {
  timer_.at(now() + settings_.hand_retry, [this, to] {
    peer(to).busy = false;
    send_handoffs(to);
  });
}

/// Nobody waits for this handoff any more; the last one of a submission settles its answer.
void SiteScheduler::arrived(const PendingHandoff& handoff) {
  const auto& promise = handoff.promise;
  if (promise && --promise->open == 0 && promise->writes == 0) settle(*promise);
}

/// Asks again after `load_every` while something goes on, after pauses that double while nobody has
/// anything new to say, and not at all while no master has a job: then the next job in waits for
/// fresh answers.
void SiteScheduler::ask_loads() {
  // The failed tasks of a job are counted here.
  const bool counts = std::any_of(masters_.begin(), masters_.end(),
                                  [](const HandoffPeer& each) { return each.load.counting > 0; });
  const bool news = std::exchange(heard_news_, false) || jobs_in_hand() > 0 || counts || learns_;
  ask_pause_ = news ? settings_.load_every
                    : std::clamp(2 * ask_pause_, settings_.load_every,
                                 std::max(settings_.load_every, kLongestAskPause));
  // Everybody but itself.
  asked_ = masters_.size() + sites_.size() - 1;
  masters_may_work_ = false;
  const auto ask = [this](const auto& whom, HandoffPeer& peer) {
    // A peer that has not answered by the time of the next asking counts as not heard.
    request(whom, settings_.load_every,
            LoadQuestion{peer.load.run, peer.load.completed_to, peer.failed_after})
        .then(
            [this, &peer](const LoadReport& report) {
              on_load(peer, report);
              masters_may_work_ |= peer.master && report.active_jobs > 0;
              load_answered();
            },
            [this, &peer](const caf::error&) {
              masters_may_work_ |= static_cast<bool>(peer.master);
              load_answered();
            });
  };
  for (HandoffPeer& peer : masters_) ask(peer.master, peer);
  for (std::size_t i = 0; i < sites_.size(); ++i) {
    if (i != own_) ask(sites_[i].site, sites_[i]);
  }
  ask_alarm_.at(now() + ask_pause_);
}

/// Everybody has answered, or has not in time: that has to do.
void SiteScheduler::load_answered() {
  if (asked_ == 0 || --asked_ > 0) return;
  cancel_what_others_left();
  if (!awaiting_loads_.empty()) {
    // Of what is taken in now masters will have to tell, also when they have had nothing so far.
    ask_pause_ = settings_.load_every;
    ask_alarm_.at(now() + ask_pause_);
  } else if (!masters_may_work_ && !heard_news_ && jobs_in_hand() == 0 && !learns_) {
    ask_alarm_.disarm();
    ask_pause_ = std::max(settings_.load_every, kLongestAskPause);
  }
  // Moved out first: what is taken in may come to wait again.
  unrouted_ = 0;
  for (const auto& take : std::exchange(awaiting_loads_, {})) take();
}

/// One site is enough: the one that has numbered the job, unless it is not there. One that has not
/// been heard may be: its first answer can come after a master's.
bool SiteScheduler::is_mine_to_cancel(JobId job) const {
  const std::uint32_t number = site_of(job);
  const auto place = places_.find({true, number});
  if (number == parts_.number || place == places_.end()) return true;
  Heard heard = sites_[place->second].heard;
  if (!heard.at) heard.at = started_;
  return !present_load(heard, now(), settings_.load_stale_after);
}

/// Asks nobody before that is durable: a master of which it was asked tells of the job no more.
void SiteScheduler::cancel_broken(JobId job) {
  SiteNews news;
  news.cancels.push_back(job);
  persist_news(std::move(news), [this, job](const std::string& trouble) {
    trouble.empty() ? cancel_kept(job) : static_cast<void>(left_.add(job));
  });
}

/// The site that was to do it may have gone before it was durable there.
void SiteScheduler::cancel_what_others_left() {
  for (const JobId job : left_.oldest_first()) {
    if (!is_mine_to_cancel(job)) continue;
    left_.erase(job);
    cancel_broken(job);
  }
}

/// When one part of a job was terminated, the other masters' parts are for nothing; so is the rest
/// of one of which too many tasks have failed.
void SiteScheduler::on_load(HandoffPeer& from, const LoadReport& report) {
  on_conflicts(report);
  if (learns_) on_newest_numbers(from, report);
  // Compared with the last report: news keep the pause short.
  const auto as_before = [&](auto part) { return from.load.*part == report.*part; };
  heard_news_ |= !as_before(&LoadReport::active_jobs) || !as_before(&LoadReport::pending_tasks) ||
                 !as_before(&LoadReport::instances) || !as_before(&LoadReport::load) ||
                 !as_before(&LoadReport::used) || !report.completed.empty();
  from.load = report;
  take_failed(from, report);
  from.heard = {report.load, now()};
  // The report counts what has been given so far.
  from.given = 0;
  if (parts_.classifier) {
    for (const JobRuntime& ran : report.completed) {
      parts_.classifier->heard(ran.job, ran.tasks, ran.together);
    }
    train_if_due();
  }
  for (JobId job : report.broken) end_rest_of(job);
  for (JobId job : with_too_many_failed(report)) end_rest_of(job);
}

/// A report has the parts of the jobs between the one that was asked for and its last, or all.
void SiteScheduler::take_failed(HandoffPeer& from, const LoadReport& report) {
  const auto begin =
      from.failed_after.valid() ? from.failed.upper_bound(from.failed_after) : from.failed.begin();
  const bool goes_on = report.more_failed && !report.failed.empty();
  const auto end = goes_on ? from.failed.upper_bound(report.failed.back().job) : from.failed.end();
  from.failed.erase(begin, end);
  for (const FailedPart& part : report.failed) from.failed[part.job] = part;
  from.failed_after = goes_on ? report.failed.back().job : JobId{};
}

/// Those of the jobs in the report of which more tasks have failed than may, with all masters.
std::vector<JobId> SiteScheduler::with_too_many_failed(const LoadReport& report) const {
  // Failed tasks are counted over all masters, each of which knows its own part only.
  std::map<JobId, std::uint64_t> failed;
  for (const FailedPart& part : report.failed) failed[part.job] = 0;
  if (failed.empty()) return {};
  for (const HandoffPeer& each : masters_) {
    for (auto& [job, sum] : failed) {
      const auto found = each.failed.find(job);
      if (found != each.failed.end()) sum += found->second.failed;
    }
  }
  std::vector<JobId> jobs;
  for (const FailedPart& part : report.failed) {
    if (failed[part.job] > part.allowed) jobs.push_back(part.job);
  }
  return jobs;
}

/// A part of the job will not be completed, or too many of its tasks have failed.
void SiteScheduler::end_rest_of(JobId job) {
  if (!broken_.add(job)) return;
  if (parts_.classifier) parts_.classifier->forget(job);
  heard_news_ = true;
  if (is_mine_to_cancel(job)) {
    cancel_broken(job);
  } else {
    left_.add(job);
  }
}

}  // namespace muster
