#include "storage/stores/stored_past_ends.hpp"

#include <algorithm>
#include <cstdint>
#include <string>

#include "storage/records/record_codec.hpp"

namespace muster {

StoredNumbers& StoredPastEnds::of(JobOutcome outcome) {
  return by_outcome_.try_emplace(outcome, Family::past, std::string(name_of(outcome)))
      .first->second;
}

StoreTrouble StoredPastEnds::load(const Store& store) {
  StoreTrouble bad;
  const auto use = [&](std::string_view key, std::string_view value) {
    const auto numbers = decode_numbers(value);
    if (!numbers) {
      bad = bad_record(store, Family::past, numbers.error().message);
      return false;
    }
    const auto outcome = named<JobOutcome>(key.substr(std::min(key.size(), sizeof(std::uint64_t))));
    // Else it is one of a later version.
    if (outcome) of(*outcome).recall(numbers.value());
    return true;
  };
  if (auto trouble = store.scan(Family::past, {}, use)) return trouble;
  return bad;
}

PastEnds StoredPastEnds::ends() const {
  PastEnds ends;
  for (const auto& [outcome, numbers] : by_outcome_) ends.emplace(outcome, numbers.numbers());
  return ends;
}

void StoredPastEnds::recall(const EndedHandoff& ended) {
  if (!ended.conflict) of(ended.outcome).recall_old(ended.job.id.value);
}

void StoredPastEnds::add(const EndedHandoff& ended) {
  if (!ended.conflict) of(ended.outcome).add(ended.job.id.value);
}

void StoredPastEnds::put_in(StoreBatch& batch) const {
  for (const auto& [outcome, numbers] : by_outcome_) numbers.put_in(batch);
}

void StoredPastEnds::written() {
  for (auto& [outcome, numbers] : by_outcome_) numbers.written();
}

void StoredPastEnds::put_back(StoreBatch& undo) {
  for (auto& [outcome, numbers] : by_outcome_) numbers.put_back(undo);
}

}  // namespace muster
