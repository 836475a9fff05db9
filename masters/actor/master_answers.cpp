// What a master tells its users. What has to be read from its store is read apart: meanwhile it
// goes on.

#include <algorithm>
#include <memory>
#include <utility>

#include "actors/messages/byte_cut.hpp"
#include "masters/actor/master_actor.hpp"
#include "masters/view/cell_view.hpp"
#include "model/live_ids.hpp"
#include "model/submission_digest.hpp"

namespace muster {
namespace {

/// Less than the smallest message, with its envelope.
constexpr std::size_t kMostViewBytes = kLeastMessageBytes / 64 * 63;

JobEnd end_of(const JobHistory& known) {
  const Job& job = known.job;
  const std::uint32_t first = job.tasks.empty() ? 0 : position_of(job.tasks.front().id);
  const bool broken = std::any_of(known.tasks.begin(), known.tasks.end(),
                                  [](const auto& task) { return !task.finished && !task.failed; });
  return {job.id,           known.outcome, first, static_cast<std::uint32_t>(job.tasks.size()),
          job.task_count(), broken};
}

/// Of a job that the history has dropped no more is known than that it is over: it has no tasks.
JobEnd forgotten_end(JobId job) {
  JobEnd end;
  end.job = job;
  return end;
}

SubmitVerdict conflict_of(JobId id) {
  return {id, false,
          "the number " + std::to_string(id.value) +
              " is that of another job: its site has lost count of the numbers that it gave out",
          true};
}

}  // namespace

/// Has `read` run where it may wait for the disk, and `then` here with what it gave. False: too
/// many wait already.
template <class Value>
bool MasterActorImpl::read_apart(std::function<Value()> read, std::function<void(Value&&)> then) {
  return setup_.history->read_apart([read = std::move(read), then = std::move(then),
                                     address = caf::actor_cast<caf::weak_actor_ptr>(this)] {
    const auto found = std::make_shared<Value>(read());
    if (auto self = caf::actor_cast<MasterActor>(address.lock())) {
      caf::anon_send<caf::message_priority::high>(
          self, Wakeup{[then, found] { then(std::move(*found)); }});
    }
  });
}

/// A site hands a job over again when it has not heard that it arrived. What has the number of
/// another job is none of that: its site has lost count of its numbers.
SubmitVerdict MasterActorImpl::offer(Job job, std::vector<Job>& in_history) {
  const JobId id = job.id;
  if (const JobRow* row = master_.state().find(id)) {
    return same_submission(row->job, job) ? SubmitVerdict{id, true, {}} : conflict_of(id);
  }
  if (is_over(id)) {
    const History* history = setup_.history;
    // The history is read apart; for a job without a token that is not worth it.
    if (!job.token.empty() && history != nullptr && history->contains(id)) {
      in_history.push_back(std::move(job));
    }
    return {id, true, {}};
  }
  if (master_.submit(std::move(job), now()) != SubmitResult::invalid) return {id, true, {}};
  return {id, false, "the job or a task of it is not valid"};
}

/// Answers when it is known whether these, which are over here, are the jobs that the history has.
void MasterActorImpl::compare_with_history(std::vector<Job> jobs, Verdicts verdicts,
                                           caf::typed_response_promise<Verdicts> promise) {
  if (jobs.empty()) {
    promise.deliver(std::move(verdicts));
    return;
  }
  const bool waits = read_apart<Verdicts>(
      [history = setup_.history, jobs = std::move(jobs), verdicts]() mutable {
        for (const Job& job : jobs) {
          const auto known = history->find(job.id);
          if (!known || same_submission(known->job, job)) continue;
          for (SubmitVerdict& verdict : verdicts) {
            if (verdict.job == job.id) verdict = conflict_of(job.id);
          }
        }
        return verdicts;
      },
      [promise](Verdicts&& all) mutable { promise.deliver(std::move(all)); });
  if (!waits) promise.deliver(caf::make_error(ActorError::store_failed));
}

/// What is unknown is watched too: a part may be on its way here.
caf::result<std::vector<JobEnd>> MasterActorImpl::watch_ends(const JobListener& listener,
                                                             const std::vector<JobId>& jobs) {
  if (!listener) return ActorError::unknown;
  if (!listeners_.has_room(jobs.size())) return ActorError::not_connected;
  std::vector<JobId> over;
  for (JobId job : jobs) {
    if (is_over(job)) {
      over.push_back(job);
    } else if (listeners_.add(listener, job)) {
      monitor(listener);
    }
  }
  auto promise = make_response_promise<std::vector<JobEnd>>();
  // An end is told when it is durable.
  commit([this, over = std::move(over), promise] { notify_ends(over, promise); });
  return promise;
}

void MasterActorImpl::notify_ends(std::vector<JobId> over,
                                  caf::typed_response_promise<std::vector<JobEnd>> promise) {
  using Ends = std::vector<JobEnd>;
  Ends ends;
  std::erase_if(over, [&](JobId job) {
    const JobEnd* end = newest_ends_.find(job);
    if (end != nullptr) ends.push_back(*end);
    return end != nullptr;
  });
  if (over.empty()) {
    promise.deliver(std::move(ends));
    return;
  }
  if (setup_.history == nullptr) {
    for (const JobId job : over) ends.push_back(forgotten_end(job));
    promise.deliver(std::move(ends));
    return;
  }
  const bool waits = read_apart<Ends>(
      [history = setup_.history, over = std::move(over), ends = std::move(ends)]() mutable {
        for (JobId job : over) {
          const auto known = history == nullptr ? std::nullopt : history->find(job);
          ends.push_back(known ? end_of(*known) : forgotten_end(job));
        }
        return ends;
      },
      [promise](Ends&& all) mutable { promise.deliver(std::move(all)); });
  if (!waits) promise.deliver(caf::make_error(ActorError::store_failed));
}

template bool MasterActorImpl::read_apart(std::function<AttemptPlace()>,
                                          std::function<void(AttemptPlace&&)>);

CellView MasterActorImpl::cell_view() {
  CellView view{master_, setup_.history, {}, master_.name(), now()};
  view.decisions = &decisions_;
  view.tally = &tally_;
  view.trouble = setup_.journal->trouble();
  if (view.trouble.empty()) view.trouble = setup_.journal->strain();
  if (!planner_trouble_.empty()) {
    view.trouble += (view.trouble.empty() ? "" : "; ") + planner_trouble_;
  }
  if (!setup_.times->ms.empty()) view.last_decision_ms = setup_.times->ms.back();
  return view;
}

/// The API's node asks every few seconds, also when nothing happens here: so the past has no holes.
CellFigures MasterActorImpl::show_figures() {
  sample_figures();
  return cell_view().figures();
}

/// Keeps the present for the plots when the last sample is a minute old. It needs no timer of its
/// own: between two events and questions nothing of it changes but what has been spent.
void MasterActorImpl::sample_figures() {
  if (!setup_.keep_sample || !past_.is_due(now())) return;
  const HistorySample sample = cell_view().sample();
  past_.add(sample);
  setup_.keep_sample(sample);
}

InstancesView MasterActorImpl::show_instances(InstanceId after) {
  CellView shown = cell_view();
  for (const auto& [id, connection] : workers_) {
    shown.workers[id] = {static_cast<bool>(connection.worker), connection.limits,
                         connection.isolation};
  }
  return shown.instances(after);
}

/// Answers at once, or when what is needed has been read.
template <class View>
caf::result<View> MasterActorImpl::show(CellAnswer<View> answer) {
  // Whatever has been cut too late: an error says more than the end of the link.
  const auto too_large = [](const View& view) { return encoded_bytes(view) > kMostViewBytes; };
  if (!answer.read) {
    if (too_large(answer.view)) return ActorError::too_large;
    return std::move(answer.view);
  }
  auto promise = make_response_promise<View>();
  const auto deliver = [promise, too_large](View&& read) mutable {
    if (too_large(read)) {
      promise.deliver(caf::make_error(ActorError::too_large));
    } else {
      promise.deliver(std::move(read));
    }
  };
  const bool waits = read_apart<View>(std::move(answer.read), deliver);
  if (!waits) promise.deliver(caf::make_error(ActorError::store_failed));
  return promise;
}

template caf::result<JobsView> MasterActorImpl::show(CellAnswer<JobsView>);
template caf::result<JobDetails> MasterActorImpl::show(CellAnswer<JobDetails>);
template caf::result<FoundView> MasterActorImpl::show(CellAnswer<FoundView>);
template caf::result<RequestView> MasterActorImpl::show(CellAnswer<RequestView>);
template caf::result<CostView> MasterActorImpl::show(CellAnswer<CostView>);

}  // namespace muster
