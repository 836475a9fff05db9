#include "storage/stores/recovery.hpp"

#include <fmt/format.h>

#include <iterator>
#include <utility>

// Reads a master back from its store: the newest snapshot, then the batches behind it. Every gap is
// an error: events missing in the middle would give a state that no master ever had.

namespace muster {
namespace {

Failure<StoreError> corrupt(const Store& store, Family family, std::uint64_t number,
                            const Failure<StoreError>& why) {
  return {why.code, fmt::format("{}: {}, record {}: {}", store.directory().string(),
                                name_of(family), number, why.message)};
}

Failure<StoreError> bad_key(const Store& store, Family family) {
  return {StoreError::corrupt, fmt::format("{}: {}: a key that is not a number",
                                           store.directory().string(), name_of(family))};
}

/// Decodes the newest snapshot, when there is one.
StoreTrouble read_snapshot(const Store& store, const Catalog& catalog, RecoveredMaster& out) {
  StoreTrouble trouble;
  const auto use = [&](std::string_view key, std::string_view value) {
    const auto number = number_of(key);
    if (!number) {
      trouble = bad_key(store, Family::snapshot);
      return false;
    }
    auto snapshot = decode_snapshot(value, catalog);
    if (snapshot) {
      out.snapshot.emplace(std::move(snapshot).value());
      out.snapshot_at = *number;
    } else {
      trouble = corrupt(store, Family::snapshot, *number, snapshot.error());
    }
    return false;
  };
  if (auto failed = store.scan(Family::snapshot, {"", "", ScanOrder::falling}, use)) return failed;
  return trouble;
}

/// Snapshots of earlier versions do not say which jobs were ever accepted: then it is those of the
/// state, and those that the history still has.
StoreTrouble learn_accepted(const Store& store, MasterSnapshot& snapshot) {
  if (!snapshot.accepted.empty()) return std::nullopt;
  for (const JobRow& row : snapshot.state.jobs()) snapshot.accepted.add(row.job.id.value);
  StoreTrouble trouble;
  const auto use = [&](std::string_view key, std::string_view) {
    const auto job = number_of(key);
    if (job) {
      snapshot.accepted.add(*job);
    } else {
      trouble = bad_key(store, Family::place);
    }
    return job.has_value();
  };
  if (auto failed = store.scan(Family::place, {}, use)) return failed;
  return trouble;
}

StoreTrouble read_batches(
    const Store& store, const Catalog& catalog, std::uint64_t from,
    const std::function<void(std::uint64_t first, std::vector<Event>&& batch)>& use) {
  StoreTrouble trouble;
  // Empty for the first record: read_journal() begins wherever the snapshots have cut the
  // journal.
  std::optional<std::uint64_t> expected;
  const auto use_record = [&](std::string_view key, std::string_view value) {
    const auto number = number_of(key);
    if (!number) {
      trouble = bad_key(store, Family::journal);
      return false;
    }
    if (expected && *number != *expected) {
      trouble =
          corrupt(store, Family::journal, *number,
                  {StoreError::corrupt, fmt::format("events from {} on are missing", *expected)});
      return false;
    }
    auto batch = decode_events(value, catalog);
    if (!batch) {
      trouble = corrupt(store, Family::journal, *number, batch.error());
      return false;
    }
    // Keys are numbers of first events, so each batch says where the next one has to begin.
    expected = *number + batch->size();
    use(*number, std::move(batch).value());
    return true;
  };
  if (auto failed =
          store.scan(Family::journal, {key_of(from), "", ScanOrder::rising}, use_record)) {
    return failed;
  }
  return trouble;
}

}  // namespace

Expected<RecoveredMaster, StoreError> recover_master(const Store& store, const Catalog& catalog) {
  RecoveredMaster out;
  if (auto trouble = read_snapshot(store, catalog, out)) return *std::move(trouble);
  if (out.snapshot) {
    if (auto trouble = learn_accepted(store, *out.snapshot)) return *std::move(trouble);
  }
  out.next_event = out.snapshot_at;
  StoreTrouble gap;
  const auto trouble = read_batches(
      store, catalog, out.snapshot_at, [&](std::uint64_t first, std::vector<Event>&& batch) {
        // read_batches() checks the batches against each other; here the first of them is
        // checked against the snapshot.
        if (first != out.next_event && !gap) {
          gap = corrupt(
              store, Family::journal, first,
              {StoreError::corrupt, fmt::format("events from {} on are missing", out.next_event)});
        }
        out.next_event = first + batch.size();
        out.tail.insert(out.tail.end(), std::make_move_iterator(batch.begin()),
                        std::make_move_iterator(batch.end()));
      });
  if (trouble) return *trouble;
  if (gap) return *gap;
  // Batches missing at the end leave no gap; only the mark knows that there were more.
  if (out.next_event < store.reached().events) {
    return bad_record(store, Family::journal,
                      fmt::format("its mark says that there were events up to {}, it has them up "
                                  "to {}",
                                  store.reached().events, out.next_event));
  }
  return out;
}

StoreTrouble read_journal(
    const Store& store, const Catalog& catalog,
    const std::function<void(std::uint64_t first, std::vector<Event>&& batch)>& use) {
  return read_batches(store, catalog, 0, use);
}

}  // namespace muster
