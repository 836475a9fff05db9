#include "storage/store_history.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

namespace muster {

Expected<std::unique_ptr<StoreHistory>, StoreError> StoreHistory::open(
    Store& store, StoreJournal& journal, const Catalog& catalog,
    const StoreHistoryOptions& options) {
  auto history = std::unique_ptr<StoreHistory>(new StoreHistory(store, journal, catalog, options));
  StoreTrouble bad;
  const auto use = [&](std::string_view key, std::string_view value) {
    const auto job = number_of(key);
    const auto place = decode_number(value);
    if (!job || !place) {
      bad = {StoreError::corrupt,
             fmt::format("{}: {}: {}", store.directory().string(), name_of(Family::place),
                         job ? place.error().message : "a key of no job")};
      return false;
    }
    history->jobs_.emplace(place.value(), JobId{*job});
    history->places_.emplace(JobId{*job}, place.value());
    return true;
  };
  if (auto trouble = store.scan(Family::place, {}, use)) return *std::move(trouble);
  if (bad) return *std::move(bad);
  return history;
}

void StoreHistory::add(JobHistory job) {
  const auto kept = std::make_shared<const JobHistory>(std::move(job));
  const JobId id = kept->job.id;
  std::vector<std::uint64_t> gone_places;
  std::vector<JobId> gone_jobs;
  std::uint64_t place = 0;
  {
    const std::lock_guard lock(shared_->mutex);
    // After a crash a master may add a job again that it had added before.
    if (const auto old = places_.find(id); old != places_.end()) {
      gone_places.push_back(old->second);
      jobs_.erase(old->second);
    }
    place = jobs_.empty() ? 0 : jobs_.rbegin()->first + 1;
    if (!gone_places.empty()) place = std::max(place, gone_places.back() + 1);
    jobs_.emplace(place, id);
    places_[id] = place;
    while (jobs_.size() > options_.max_jobs) {
      gone_places.push_back(jobs_.begin()->first);
      gone_jobs.push_back(jobs_.begin()->second);
      places_.erase(jobs_.begin()->second);
      jobs_.erase(jobs_.begin());
    }
    shared_->waiting.emplace(place, kept);
  }
  journal_.change(
      [kept, place, gone_places, gone_jobs, &catalog = catalog_](StoreBatch& batch) {
        batch.put(Family::history, key_of(place), encode_history(*kept, catalog));
        batch.put(Family::place, key_of(kept->job.id.value), encode_number(place));
        for (const std::uint64_t old : gone_places) batch.erase(Family::history, key_of(old));
        for (const JobId old : gone_jobs) batch.erase(Family::place, key_of(old.value));
      },
      [shared = shared_, place] {
        const std::lock_guard lock(shared->mutex);
        shared->waiting.erase(place);
      });
}

std::shared_ptr<const JobHistory> StoreHistory::at(std::uint64_t place) const {
  {
    const std::lock_guard lock(shared_->mutex);
    const auto found = shared_->waiting.find(place);
    if (found != shared_->waiting.end()) return found->second;
  }
  const auto bytes = store_.get(Family::history, key_of(place));
  if (!bytes || !bytes.value()) return nullptr;
  auto job = decode_history(*bytes.value(), catalog_);
  if (!job) return nullptr;
  return std::make_shared<const JobHistory>(std::move(job).value());
}

std::size_t StoreHistory::size() const {
  const std::scoped_lock lock(shared_->mutex);
  return jobs_.size();
}

std::optional<JobHistory> StoreHistory::find(JobId id) const {
  std::uint64_t place = 0;
  {
    const std::lock_guard lock(shared_->mutex);
    const auto found = places_.find(id);
    if (found == places_.end()) return std::nullopt;
    place = found->second;
  }
  const auto job = at(place);
  if (!job) return std::nullopt;
  return *job;
}

void StoreHistory::newest(std::size_t limit,
                          const std::function<bool(const JobHistory&)>& use) const {
  std::vector<std::uint64_t> places;
  {
    const std::lock_guard lock(shared_->mutex);
    for (auto it = jobs_.rbegin(); it != jobs_.rend() && places.size() < limit; ++it) {
      places.push_back(it->first);
    }
  }
  for (const std::uint64_t place : places) {
    const auto job = at(place);
    if (job && !use(*job)) return;
  }
}

}  // namespace muster
