#include "tests/simulation/pipeline_users.hpp"

#include <fmt/format.h>

#include "serve/node/gather.hpp"

namespace muster::ring {
namespace {

constexpr Duration kAnswerWait = std::chrono::seconds{15};
constexpr Duration kOnceMore = std::chrono::seconds{12};
/// Pause between two looks for jobs that wait for a resubmission.
constexpr Duration kLook = std::chrono::minutes{1};
/// Resubmissions of a job before its user gives up what waits for it.
constexpr std::size_t kMostAgain = 8;

}  // namespace

bool is_met(AfterEnd wanted, JobOutcome outcome) {
  if (wanted == AfterEnd::any) return true;
  if (wanted == AfterEnd::ok) return outcome == JobOutcome::completed;
  return outcome == JobOutcome::failed || outcome == JobOutcome::refused ||
         outcome == JobOutcome::expired;
}

void PipelineUsers::begin() {
  for (const PipelineOrder& order : cluster_.scenario().orders) {
    cluster_.timeline().at(order.at,
                           [this, &order] { host_.say([this, &order] { obey(order); }); });
  }
  cluster_.timeline().after(kLook, [this] { look(); });
}

void PipelineUsers::taken(std::size_t index) {
  const Wish& wish = *host_.submissions()[index].wish;
  if (!wish.let_go) return;
  held_.insert(index);
  holds_.insert(index);
  cluster_.timeline().at(*wish.let_go, [this, index] { release(index); });
}

const std::vector<std::size_t>& PipelineUsers::again(std::size_t first, std::uint32_t site) const {
  static const std::vector<std::size_t> kNone;
  const auto found = again_.find({first, site});
  return found == again_.end() ? kNone : found->second;
}

void PipelineUsers::look() {
  const std::size_t count = host_.submissions().size();
  for (std::size_t i = 0; i < count; ++i) look_at(i);
  cluster_.timeline().after(kLook, [this] { look(); });
}

/// A job that is kept waiting for others: those that did not end as they had to are submitted
/// again.
void PipelineUsers::look_at(std::size_t index) {
  const Submission& waiting = host_.submissions()[index];
  if (!waiting.wish->job.keeps_waiting || !waiting.job || waiting.told > 0) return;
  // A cancellation that was never answered may have been lost: its user goes on.
  if (waiting.cancel_kept) return;
  const auto after = waiting.wish->after;
  const std::uint32_t site = waiting.wish->site;
  for (const auto& [before, end] : after) {
    const std::vector<std::size_t>& known = again(before, site);
    const std::size_t newest = known.empty() ? before : known.back();
    const auto outcome = host_.submissions()[newest].outcome;
    // One that was skipped is not resubmitted, and skips those that wait for it.
    if (!outcome || is_met(end, *outcome) || *outcome == JobOutcome::skipped) continue;
    if (known.size() >= kMostAgain) return host_.cancel(index);
    submit_again(before, newest, index, end);
  }
}

/// As the API makes it of what masters know of the job: without what it waited for.
void PipelineUsers::submit_again(std::size_t first, std::size_t newest, std::size_t waiting,
                                 AfterEnd end) {
  const std::vector<Submission>& all = host_.submissions();
  const std::uint32_t site = all[waiting].wish->site;
  Wish wish;
  wish.job = all[first].wish->job;
  wish.site = site;
  wish.at = cluster_.now();
  std::vector<std::size_t>& known = again_[{first, site}];
  wish.job.token += fmt::format(" once more {} at {}", known.size(), site);
  // Users may know the first number alone.
  const std::size_t named = cluster_.scenario().seed % 2 == 0 ? first : newest;
  wish.job.again_of = *all[named].job;
  wish.job.after.clear();
  wish.job.begin.reset();
  wish.job.deadline.reset();
  wish.job.held = wish.job.keeps_waiting = false;
  for (TaskSpec& task : wish.job.tasks) {
    task.image = end == AfterEnd::fail ? kFailingImage : wish.job.workload_class;
  }
  known.push_back(host_.submit(std::move(wish)));
}

void PipelineUsers::obey(const PipelineOrder& order) {
  if (order.cancels) return cancel_all(cluster_.scenario().wishes[order.wish].pipeline);
  hold(order.wish, order.length);
}

/// As the command does it: the last ones first.
void PipelineUsers::cancel_all(std::uint32_t pipeline) {
  for (std::size_t i = cluster_.scenario().wishes.size(); i-- > 0;) {
    if (cluster_.scenario().wishes[i].pipeline != pipeline) continue;
    if (host_.submissions()[i].job) host_.cancel(i);
  }
}

void PipelineUsers::hold(std::size_t index, Duration length) {
  const Submission& submission = host_.submissions()[index];
  if (!submission.job) return;
  held_.insert(index);
  ask<JobId>(
      cluster_.timeline().system(), cluster_.site_for_holds(submission.wish->site), kAnswerWait,
      [this, index, before = releases_[index]](const caf::expected<JobId>& answer) {
        if (answer && releases_[index] == before) holds_.insert(index);
      },
      hold_atom_v, *submission.job, true);
  cluster_.timeline().after(length, [this, index] { release(index); });
}

/// Until the site has answered: a job that does not wait there is not held there, either.
void PipelineUsers::release(std::size_t index) {
  ++releases_[index];
  holds_.erase(index);
  const Submission& submission = host_.submissions()[index];
  ask<JobId>(
      cluster_.timeline().system(), cluster_.site_for_holds(submission.wish->site), kAnswerWait,
      [this, index](const caf::expected<JobId>& answer) {
        if (answer || answer.error() == ActorError::unknown) {
          held_.erase(held_.find(index));
        } else {
          cluster_.timeline().after(kOnceMore, [this, index] { release(index); });
        }
      },
      hold_atom_v, *submission.job, false);
}

}  // namespace muster::ring
