#include "storage/stores/stored_numbers.hpp"

#include "storage/records/record_codec.hpp"

namespace muster {

void StoredNumbers::recall(const NumberSet& blocks) {
  for (const auto& [block, bits] : blocks.blocks()) stored_.set_block(block, bits);
}

void StoredNumbers::recall_old(std::uint64_t number) {
  if (stored_.contains(number)) return;
  old_.push_back(number);
  add(number);
}

void StoredNumbers::add(std::uint64_t number) {
  const std::uint64_t block = number / NumberSet::kBlock;
  if (!group_.blocks().contains(block)) group_.set_block(block, stored_.block(block));
  group_.add(number);
}

void StoredNumbers::put_in(StoreBatch& batch) const {
  for (const auto& [block, bits] : group_.blocks()) {
    batch.put(family_, key_of(block), encode_numbers(group_, block));
  }
}

void StoredNumbers::written() {
  recall(group_);
  group_ = {};
  old_.clear();
}

void StoredNumbers::put_back(StoreBatch& undo) {
  for (const auto& [block, bits] : group_.blocks()) {
    undo.put(family_, key_of(block), encode_numbers(stored_, block));
  }
  group_ = {};
  for (const std::uint64_t number : old_) add(number);
}

}  // namespace muster
