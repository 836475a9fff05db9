#include "schedulers/site/actor/handoffs.hpp"

#include <algorithm>

#include "model/check.hpp"

namespace muster {

Handoffs::Handoffs(const SitePeers& peers, SiteStore& store, std::size_t most, Host host)
    : peers_(peers), store_(store), most_(most), host_(std::move(host)), ways_(peers) {
  for (const HandoffTarget& each : peers_.all()) ways_.at(each).most = most_;
}

bool Handoffs::push(const HandoffTarget& to, PendingHandoff handoff) {
  return ways_.at(to).waiting.push(std::move(handoff));
}

const PendingHandoff* Handoffs::find(const HandoffTarget& to, JobId job) const {
  return ways_.at(to).waiting.find(job);
}

const HandoffQueue<PendingHandoff>& Handoffs::queue(const HandoffTarget& to) const {
  return ways_.at(to).waiting;
}

std::size_t Handoffs::jobs_in_hand() const {
  std::size_t count = 0;
  for (const Way& each : ways_.masters()) count += each.waiting.size();
  for (const Way& each : ways_.sites()) count += each.waiting.size();
  return count - jobs_waiting();
}

std::size_t Handoffs::jobs_waiting() const {
  return ways_.at(peers_.self().to).waiting.size();
}

Job* Handoffs::waiting_job(JobId job) {
  PendingHandoff* found = ways_.at(peers_.self().to).waiting.find(job);
  return found == nullptr || found->ending || found->sent ? nullptr : &found->job;
}

std::vector<Job> Handoffs::begin_waiting(const std::vector<JobId>& jobs) {
  std::vector<Job> begun;
  for (const JobId job : jobs) {
    PendingHandoff* found = ways_.at(peers_.self().to).waiting.find(job);
    // A cancel that came before ends it.
    if (found == nullptr || found->ending || std::exchange(found->sent, true)) continue;
    begun.push_back(found->job);
  }
  return begun;
}

void Handoffs::end_waiting(JobId job, bool begun) {
  HandoffQueue<PendingHandoff>& waiting = ways_.at(peers_.self().to).waiting;
  if (begun) {
    waiting.take(job);
  } else if (PendingHandoff* found = waiting.find(job)) {
    found->sent = false;
  }
}

bool Handoffs::holds_another(const Job& job) const {
  return std::any_of(ways_.masters().begin(), ways_.masters().end(), [&](const Way& each) {
    const PendingHandoff* found = each.waiting.find(job.id);
    if (found == nullptr) return false;
    return found->job.token != job.token || found->job.user != job.user;
  });
}

/// Takes one more job into the batch, or says that it does not go into the message.
bool Handoffs::Batch::take(PendingHandoff& each, std::size_t most) {
  const bool too_many = !ids.empty() && tasks + each.job.tasks.size() > kMaxTasks;
  if (too_many || ids.size() >= most || !cut.takes_bytes(each.bytes)) return false;
  tasks += each.job.tasks.size();
  jobs.push_back(each.job);
  ids.push_back(each.job.id);
  if (!std::exchange(each.sent, true)) fresh.push_back(each.job.id);
  return true;
}

/// The jobs that the peer is handed next: the oldest that go into one message, or in turn with
/// these one of the jobs that have failed by themselves, so that such a job delays no other.
Handoffs::Batch Handoffs::next_batch(Way& out) {
  Batch batch;
  const bool others_first = out.alone.empty() || std::exchange(out.was_alone, false);
  if (!others_first) take_alone(out, batch);
  if (!batch.ids.empty()) {
    out.was_alone = true;
    return batch;
  }
  out.waiting.oldest_first([&](PendingHandoff& each) {
    // Its end is being written down: it is not to be handed over.
    if (each.ending || each.alone) return true;
    return batch.take(each, out.most);
  });
  if (batch.ids.empty()) take_alone(out, batch);
  return batch;
}

/// The next of the jobs that go alone, and of these one after the other.
void Handoffs::take_alone(Way& out, Batch& batch) {
  for (std::size_t left = out.alone.size(); left > 0 && batch.ids.empty(); --left) {
    const JobId job = out.alone.front();
    out.alone.pop_front();
    PendingHandoff* found = out.waiting.find(job);
    if (found == nullptr || !found->alone) continue;
    out.alone.push_back(job);
    if (!found->ending) batch.take(*found, 1);
  }
}

void Handoffs::send_all() {
  for (const HandoffTarget& each : peers_.all()) send(each);
}

/// One request at a time, until all are taken.
void Handoffs::send(const HandoffTarget& to) {
  if (peers_.is_self(to)) return;  // they wait for other jobs
  Way& out = ways_.at(to);
  if (out.busy) return;
  Batch batch = next_batch(out);
  if (batch.ids.empty()) return;
  out.busy = true;
  host_.hand(to, std::move(batch.jobs),
             [this, to, ids = std::move(batch.ids),
              fresh = std::move(batch.fresh)](const Outcome& outcome) {
               if (outcome) return on_verdicts(to, outcome.value());
               if (outcome.error().code == HandoffFailure::never_left) {
                 mark_unsent(to, fresh);
               } else {
                 on_failed(to, ids);
               }
               send_later(to);
             });
}

/// A batch that has failed is never sent again as it was: half as many go next, and a job that has
/// failed by itself goes alone from then on, in turn with all others.
void Handoffs::on_failed(const HandoffTarget& to, const std::vector<JobId>& jobs) {
  Way& out = ways_.at(to);
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
    host_.note("job " + std::to_string(job.value) + ", of " + std::to_string(found->bytes) +
               " bytes, was handed to " + peers_.name_of(to) +
               " alone and is not confirmed: it is handed over again in turn with the others");
  }
}

/// The peer has not seen them, so that a cancel may end them here.
void Handoffs::mark_unsent(const HandoffTarget& to, const std::vector<JobId>& jobs) {
  for (const JobId job : jobs) {
    if (PendingHandoff* found = ways_.at(to).waiting.find(job)) found->sent = false;
  }
}

/// Jobs without a verdict stay in the queue. When none of the verdicts is about a job that waits,
/// asking at once would bring no more: the next try is after a pause.
void Handoffs::on_verdicts(const HandoffTarget& to, const Verdicts& verdicts) {
  Way& out = ways_.at(to);
  std::vector<JobId> taken;
  Verdicts refused;
  bool heard_of_any = false;
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
    taken.push_back(verdict.job);
    arrived(*found);
    // Need not be durable: a job that is handed over twice is dropped by its number.
    store_.handed_over(verdict.job, to);
  }
  host_.settled(to, taken, refused);
  if (!heard_of_any) return send_later(to);
  out.most = std::min(most_, 2 * out.most);
  out.busy = false;
  send(to);
}

void Handoffs::send_later(const HandoffTarget& to) {
  host_.retry([this, to] {
    ways_.at(to).busy = false;
    send(to);
  });
}

/// The handoff has arrived; the last one of a submission settles its answer.
void Handoffs::arrived(const PendingHandoff& handoff) {
  if (handoff.reply) handoff.reply->arrived();
}

EndedHandoff Handoffs::begin_end(const HandoffTarget& to, JobId job, JobOutcome outcome,
                                 std::string reason) {
  PendingHandoff* found = ways_.at(to).waiting.find(job);
  MUSTER_CHECK(found != nullptr, "only what is on its way can end there");
  found->ending = true;
  EndedHandoff ended{found->job, to, {}, outcome, std::move(reason), {}};
  // Tasks are counted and dropped: the record of the end has no use for them.
  ended.tasks = static_cast<std::uint32_t>(ended.job.tasks.size());
  ended.job.tasks.clear();
  return ended;
}

void Handoffs::end(const HandoffTarget& to, JobId job) {
  if (const auto gone = ways_.at(to).waiting.take(job)) arrived(*gone);
}

void Handoffs::resume(const HandoffTarget& to, JobId job) {
  if (PendingHandoff* found = ways_.at(to).waiting.find(job)) found->ending = false;
  send(to);
}

void Handoffs::clear() {
  for (const HandoffTarget& each : peers_.all()) ways_.at(each) = {};
}

}  // namespace muster
