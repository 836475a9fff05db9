#include "storage/stores/stored_past_ends.hpp"

#include <algorithm>
#include <string>

#include "storage/records/record_codec.hpp"

namespace muster {
namespace {

std::string past_key(JobOutcome outcome, std::uint64_t block) {
  return muster::key_of(block) + std::string(name_of(outcome));
}

/// Calls `use` for each outcome and block of the sets.
template <class Use>
void each_block(const PastEnds& past, Use use) {
  for (const auto& [outcome, numbers] : past) {
    for (const auto& [block, bits] : numbers.blocks()) use(outcome, block, bits);
  }
}

}  // namespace

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
    if (outcome) {
      for (const auto& [block, bits] : numbers->blocks()) ends_[*outcome].set_block(block, bits);
    }
    return true;
  };
  if (auto trouble = store.scan(Family::past, {}, use)) return trouble;
  return bad;
}

void StoredPastEnds::recall(const EndedHandoff& ended) {
  const auto known = ends_.find(ended.outcome);
  const bool has = known != ends_.end() && known->second.contains(ended.job.id.value);
  if (!ended.conflict && !has) old_.emplace_back(ended.outcome, ended.job.id);
}

/// No bits are set of one that the store lacks.
NumberSet::Bits StoredPastEnds::block_of(JobOutcome outcome, std::uint64_t block) const {
  const auto known = ends_.find(outcome);
  return known == ends_.end() ? NumberSet::Bits{} : known->second.block(block);
}

void StoredPastEnds::put(JobOutcome outcome, JobId job) {
  NumberSet& numbers = group_[outcome];
  const std::uint64_t block = job.value / NumberSet::kBlock;
  if (!numbers.blocks().contains(block)) numbers.set_block(block, block_of(outcome, block));
  numbers.add(job.value);
}

void StoredPastEnds::add(const EndedHandoff& ended) {
  if (ended.conflict) return;
  if (group_.empty()) {
    for (const auto& [outcome, job] : old_) put(outcome, job);
  }
  put(ended.outcome, ended.job.id);
}

void StoredPastEnds::put_in(StoreBatch& batch) const {
  each_block(group_, [&](JobOutcome outcome, std::uint64_t block, const NumberSet::Bits&) {
    batch.put(Family::past, past_key(outcome, block), encode_numbers(group_.at(outcome), block));
  });
}

void StoredPastEnds::written() {
  if (group_.empty()) return;
  each_block(group_, [&](JobOutcome outcome, std::uint64_t block, const NumberSet::Bits& bits) {
    ends_[outcome].set_block(block, bits);
  });
  group_.clear();
  old_.clear();
}

void StoredPastEnds::put_back(StoreBatch& undo) {
  each_block(group_, [&](JobOutcome outcome, std::uint64_t block, const NumberSet::Bits&) {
    NumberSet before;
    before.set_block(block, block_of(outcome, block));
    undo.put(Family::past, past_key(outcome, block), encode_numbers(before, block));
  });
  group_.clear();
}

}  // namespace muster
