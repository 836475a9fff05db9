#include "tests/simulation/users.hpp"

#include <fmt/format.h>

#include "model/live_ids.hpp"
#include "tools/serve/node/gather.hpp"

namespace muster::ring {
namespace {

constexpr Duration kPatience = std::chrono::seconds{15};
constexpr Duration kRetry = std::chrono::seconds{12};

}  // namespace

Users::Users(Cluster& cluster, Cluster::Complain complain)
    : cluster_(cluster), complain_(std::move(complain)) {
  for (const Wish& wish : cluster.scenario().wishes) submissions_.push_back({&wish, {}, false, 0});
}

void Users::begin() {
  for (std::size_t i = 0; i < submissions_.size(); ++i) {
    cluster_.timeline().at(submissions_[i].wish->at, [this, i] { submit(i); });
  }
}

void Users::submit(std::size_t index) {
  Submission& submission = submissions_[index];
  ++submission.open;
  ask<std::vector<AcceptVerdict>>(
      cluster_.timeline().system(), cluster_.site_for_users(submission.wish->site), kPatience,
      [this, index](const caf::expected<std::vector<AcceptVerdict>>& answer) {
        heard(index, answer);
      },
      hand_atom_v, std::vector<Job>{submission.wish->job});
}

/// A submission that was not answered is made again, with the same token.
void Users::heard(std::size_t index, const caf::expected<std::vector<AcceptVerdict>>& answer) {
  Submission& submission = submissions_[index];
  --submission.open;
  if (!answer || answer->size() != 1 || !answer->front().accepted) {
    if (!submission.job && submission.open == 0) {
      cluster_.timeline().after(kRetry, [this, index] { submit(index); });
    }
    return;
  }
  const JobId job = answer->front().job;
  if (submission.job && *submission.job != job) {
    complain_(fmt::format("{} is job {} and job {}", submission.wish->job.token,
                          submission.job->value, job.value));
  }
  submission.job = job;
}

void Users::submit_again(std::uint64_t which) {
  const std::size_t index = which % submissions_.size();
  if (submissions_[index].wish->at <= cluster_.now()) submit(index);
}

std::optional<std::size_t> Users::acknowledged(std::uint64_t which) const {
  std::vector<std::size_t> known;
  for (std::size_t i = 0; i < submissions_.size(); ++i) {
    if (submissions_[i].job) known.push_back(i);
  }
  if (known.empty()) return std::nullopt;
  return known[which % known.size()];
}

/// As the API does it: by the site that took it.
void Users::cancel(std::uint64_t which) {
  const auto index = acknowledged(which);
  if (index) cancel_one(submissions_[*index]);
}

void Users::give_up_hopeless() {
  for (Submission& submission : submissions_) {
    if (submission.wish->hopeless && submission.job) cancel_one(submission);
  }
}

void Users::cancel_one(Submission& submission) {
  submission.cancelled = true;
  ask<CancelReport>(
      cluster_.timeline().system(), cluster_.site_for_users(submission.wish->site), kPatience,
      [](const caf::expected<CancelReport>&) {}, cancel_atom_v, *submission.job);
}

void Users::hold(std::uint64_t which, Duration length) {
  const auto index = acknowledged(which);
  if (!index) return;
  const JobId job = *submissions_[*index].job;
  for (std::uint32_t i = 0; i < cluster_.scenario().masters; ++i) {
    held_.insert(job);
    ask<JobId>(
        cluster_.timeline().system(), cluster_.master_for_users(i), kPatience,
        [](const caf::expected<JobId>&) {}, hold_atom_v, job, true);
    cluster_.timeline().after(length, [this, job, i] { release(job, i); });
  }
}

/// Until the master has answered, whatever the answer is.
void Users::release(JobId job, std::uint32_t master) {
  ask<JobId>(
      cluster_.timeline().system(), cluster_.master_for_users(master), kPatience,
      [this, job, master](const caf::expected<JobId>& answer) {
        if (answer || answer.error() == ActorError::unknown) {
          held_.erase(held_.find(job));
        } else {
          cluster_.timeline().after(kRetry, [this, job, master] { release(job, master); });
        }
      },
      hold_atom_v, job, false);
}

std::optional<InstanceId> Users::rented(std::uint64_t which) const {
  std::vector<InstanceId> all;
  for (const auto& [id, record] : cluster_.cloud_disk().records) {
    if (!record.refused && !record.gone_at) all.push_back(id);
  }
  if (all.empty()) return std::nullopt;
  return all[which % all.size()];
}

void Users::drain(std::uint64_t which) {
  const auto instance = rented(which);
  if (!instance) return;
  ask<InstanceId>(
      cluster_.timeline().system(), cluster_.master_for_users(master_of(*instance)), kPatience,
      [](const caf::expected<InstanceId>&) {}, drain_atom_v, *instance);
}

void Users::interrupt(std::uint64_t which) {
  const auto instance = rented(which);
  if (!instance) return;
  ask<InstanceId>(
      cluster_.timeline().system(), cluster_.cloud_for_users(), kPatience,
      [](const caf::expected<InstanceId>&) {}, interrupt_atom_v, *instance);
}

bool Users::content() const {
  if (!held_.empty()) return false;
  for (const Submission& submission : submissions_) {
    if (!submission.job || submission.open > 0) return false;
  }
  return true;
}

std::string Users::trouble() const {
  std::string text;
  for (const Submission& submission : submissions_) {
    if (!submission.job) text += fmt::format("{} is not answered; ", submission.wish->job.token);
  }
  for (const JobId job : held_) text += fmt::format("job {} is held; ", job.value);
  return text;
}

}  // namespace muster::ring
