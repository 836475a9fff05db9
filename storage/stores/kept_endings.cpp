#include "storage/stores/kept_endings.hpp"

#include "storage/records/record_codec.hpp"

namespace muster {
namespace {

/// In the store with its key and without runs, rounded up.
constexpr std::size_t kBytesOfEnding = 160;
constexpr std::size_t kBytesOfRun = 12;
/// Bounds the write of one job: after a smaller bound was set, several writes take out the rest.
constexpr std::size_t kTogether = 1'000;

std::size_t bytes_of(const JobEnding& ending) {
  return kBytesOfEnding + ending.user.size() +
         kBytesOfRun * (ending.completed.size() + ending.failed.size());
}

}  // namespace

StoreTrouble KeptEndings::load(const Store& store,
                               const std::function<void(JobId, const std::string&)>& note) {
  return store.scan(Family::ending, {}, [&](std::string_view key, std::string_view value) {
    const auto ending = decode_ending(value);
    const JobId job{number_of(key).value_or(0)};
    if (ending && ending->job == job) {
      enter(ending.value());
    } else {
      note(job, ending ? "of another job" : ending.error().message);
    }
    return true;
  });
}

void KeptEndings::change_bytes(std::map<std::string, OfUser>::iterator of, std::size_t bytes) {
  by_bytes_.erase({of->second.bytes, of->first});
  bytes_ += bytes - of->second.bytes;
  of->second.bytes = bytes;
  if (of->second.by_age.empty()) {
    users_.erase(of);
  } else {
    by_bytes_.emplace(bytes, of->first);
  }
}

std::shared_ptr<const JobEnding> KeptEndings::to_keep(const JobHistory& job) {
  return is_known_by_outcome(job) ? nullptr : std::make_shared<const JobEnding>(ending_of(job));
}

KeptEndings::Change KeptEndings::add(JobId job, std::shared_ptr<const JobEnding> ending,
                                     Instant now) {
  Change change;
  if (ending) {
    enter(*ending);
    change.job_ = job;
    change.ending_ = std::move(ending);
    note_unwritten(change);
  } else if (contains(job)) {
    change = drop(job);
  }
  change.unwritten_ = unwritten_;
  const std::vector<JobId> old = drop_old(now);
  change.dropped_.insert(change.dropped_.end(), old.begin(), old.end());
  return change;
}

KeptEndings::Change KeptEndings::drop(JobId job) {
  leave(job);
  Change change;
  change.job_ = job;
  change.dropped_ = {job};
  change.unwritten_ = unwritten_;
  note_unwritten(change);
  return change;
}

void KeptEndings::note_unwritten(const Change& change) const {
  const std::lock_guard lock(unwritten_->mutex);
  unwritten_->by_job[change.job_] = change.ending_;
}

void KeptEndings::Change::put_in(StoreBatch& batch) const {
  // Before what is dropped, which it may be itself.
  if (ending_) batch.put(Family::ending, muster::key_of(job_.value), encode_ending(*ending_));
  for (const JobId old : dropped_) batch.erase(Family::ending, muster::key_of(old.value));
}

void KeptEndings::Change::written() const {
  if (!job_.valid()) return;
  const std::lock_guard lock(unwritten_->mutex);
  const auto found = unwritten_->by_job.find(job_);
  // Of a job that has ended once more since it is another one.
  if (found == unwritten_->by_job.end() || found->second != ending_) return;
  unwritten_->by_job.erase(found);
}

void KeptEndings::enter(const JobEnding& ending) {
  leave(ending.job);
  const std::size_t bytes = bytes_of(ending);
  const auto of = users_.try_emplace(ending.user).first;
  of->second.by_age.emplace(ending.over_at, ending.job);
  by_age_.emplace(ending.over_at, ending.job);
  kept_.emplace(ending.job, Kept{of, ending.over_at, bytes});
  change_bytes(of, of->second.bytes + bytes);
}

void KeptEndings::leave(JobId job) {
  const auto found = kept_.find(job);
  if (found == kept_.end()) return;
  const Kept kept = found->second;
  kept_.erase(found);
  by_age_.erase({kept.over_at, job});
  kept.of->second.by_age.erase({kept.over_at, job});
  change_bytes(kept.of, kept.of->second.bytes - kept.bytes);
}

std::vector<JobId> KeptEndings::drop_old(Instant now) {
  std::vector<JobId> old;
  while (kept_.size() > 1 && old.size() < kTogether) {
    const auto [over_at, oldest] = *by_age_.begin();
    if (bounds_.max_age > Duration::zero() && now - over_at > bounds_.max_age) {
      old.push_back(oldest);
    } else if (bytes_ > bounds_.most_bytes) {
      old.push_back(users_.at(by_bytes_.rbegin()->second).by_age.begin()->second);
    } else {
      break;
    }
    leave(old.back());
  }
  return old;
}

Expected<std::optional<JobEnding>, StoreError> KeptEndings::find(const Store& store,
                                                                 JobId job) const {
  {
    const std::lock_guard lock(unwritten_->mutex);
    const auto unwritten = unwritten_->by_job.find(job);
    if (unwritten != unwritten_->by_job.end()) {
      return unwritten->second ? std::optional(*unwritten->second) : std::nullopt;
    }
  }
  const auto bytes = store.get(Family::ending, muster::key_of(job.value));
  if (!bytes) return bytes.error();
  if (!bytes.value()) return std::optional<JobEnding>{};
  auto ending = decode_ending(*bytes.value());
  // As one that was left out when the store was opened.
  if (!ending || ending->job != job) return std::optional<JobEnding>{};
  return std::optional(std::move(ending).value());
}

}  // namespace muster
