#include "storage/store_cloud_book.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace muster {
namespace {

bool is_over(const RentedRecord& record) {
  return record.refused || record.gone_at.has_value();
}

}  // namespace

Expected<std::unique_ptr<StoreCloudBook>, StoreError> StoreCloudBook::open(
    Store& store, const StoreCloudBookOptions& options) {
  auto book = std::unique_ptr<StoreCloudBook>(new StoreCloudBook(store, options));
  StoreTrouble bad;
  const auto use = [&](std::string_view, std::string_view value) {
    auto record = decode_rented(value);
    if (!record) {
      bad = {StoreError::corrupt, fmt::format("{}: {}: {}", store.directory().string(),
                                              name_of(Family::instance), record.error().message)};
      return false;
    }
    if (is_over(record.value())) book->gone_.push_back(record->instance);
    book->found_.push_back(std::move(record).value());
    return true;
  };
  if (auto trouble = store.scan(Family::instance, {}, use)) return *std::move(trouble);
  if (bad) return *std::move(bad);
  return book;
}

std::vector<RentedRecord> StoreCloudBook::recall() {
  return std::exchange(found_, {});
}

std::string StoreCloudBook::put(const RentedRecord& record) {
  const std::lock_guard lock(mutex_);
  StoreBatch batch;
  batch.put(Family::instance, key_of(record.instance.value), encode_rented(record));
  const bool newly_over =
      is_over(record) && std::find(gone_.begin(), gone_.end(), record.instance) == gone_.end();
  const bool one_too_many = newly_over && gone_.size() >= options_.max_gone && !gone_.empty();
  if (one_too_many) batch.erase(Family::instance, key_of(gone_.front().value));
  if (const auto trouble = store_.write(batch, Durability::machine)) return trouble->message;
  if (one_too_many) gone_.pop_front();
  if (newly_over) gone_.push_back(record.instance);
  return {};
}

}  // namespace muster
