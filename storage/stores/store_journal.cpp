#include "storage/stores/store_journal.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

// A master's journal in its store. Two threads: the encoder turns snapshots into records, which may
// take long, and the writer writes the queue in its order. Numbers of events are given when they
// are queued, so that they are gapless whatever fails.

namespace muster {

StoreJournal::StoreJournal(Store& store, const Catalog& catalog, const RecoveredMaster& recovered,
                           const StoreJournalOptions& options)
    : store_(store),
      catalog_(catalog),
      options_(options),
      next_event_(recovered.next_event),
      snapshot_at_(recovered.snapshot_at),
      writer_([this] { run_writer(); }),
      encoder_([this] { run_encoder(); }) {}

StoreJournal::~StoreJournal() {
  {
    const std::lock_guard lock(mutex_);
    encoder_ends_ = true;
    snapshot_.reset();
  }
  wake_encoder_.notify_one();
  // Before the writer's deadline is set: a snapshot that is being encoded still gets into the
  // queue and is written with it.
  encoder_.join();
  {
    const std::lock_guard lock(mutex_);
    deadline_ = std::chrono::steady_clock::now() + options_.drain;
  }
  wake_writer_.notify_one();
  writer_.join();
}

void StoreJournal::append(std::vector<Event>&& batch, Durable durable) {
  push({0, std::move(batch), {}, std::move(durable)});
}

void StoreJournal::change(std::function<void(StoreBatch&)> make, Durable durable) {
  push({0, {}, std::move(make), std::move(durable)});
}

void StoreJournal::push(Entry&& entry) {
  {
    const std::lock_guard lock(mutex_);
    entry.first = next_event_;
    // Under the same lock as the push: order in the queue is order of the numbers.
    next_event_ += entry.events.size();
    queued_events_ += entry.events.size();
    queue_.push_back(std::move(entry));
  }
  wake_writer_.notify_one();
}

std::string StoreJournal::trouble() const {
  const std::lock_guard lock(mutex_);
  if (!trouble_.empty()) return trouble_;
  if (queued_events_ < options_.max_queued_events) return {};
  return fmt::format("the queue of the journal is full: {} events wait to be written",
                     queued_events_);
}

void StoreJournal::save_snapshot(MasterSnapshot&& snapshot, std::uint64_t behind) {
  {
    const std::lock_guard lock(mutex_);
    // At once and not when it is durable, so that the next one is not asked for while this is
    // made.
    snapshot_at_ = next_event_ - behind;
    // Replaces one that the encoder has not taken: an older snapshot is of no use then.
    snapshot_.emplace(Snapshot{snapshot_at_, std::move(snapshot)});
  }
  wake_encoder_.notify_one();
}

std::uint64_t StoreJournal::events_since_snapshot() const {
  const std::lock_guard lock(mutex_);
  return next_event_ - snapshot_at_;
}

void StoreJournal::put_object(const std::string& name, std::string_view bytes) {
  change([name, record = encode_object(bytes)](StoreBatch& batch) {
    batch.put(Family::object, name, record);
  });
}

Expected<std::optional<std::string>, StoreError> StoreJournal::get_object(
    const std::string& name) const {
  auto found = store_.get(Family::object, name);
  if (!found || !found.value()) return found;
  auto object = decode_object(*found.value());
  if (!object) return object.error();
  return std::optional<std::string>{std::move(object).value()};
}

void StoreJournal::run_encoder() {
  std::unique_lock lock(mutex_);
  while (true) {
    wake_encoder_.wait(lock, [this] { return encoder_ends_ || snapshot_; });
    if (encoder_ends_) return;
    Snapshot taken = *std::move(snapshot_);
    snapshot_.reset();
    lock.unlock();
    std::string record = encode_snapshot(std::move(taken.snapshot));
    // The events that it stands for are queued before it, so they are durable before this is.
    change([at = taken.at, record = std::move(record)](StoreBatch& batch) {
      batch.erase_range(Family::journal, key_of(0), key_of(at));
      batch.erase_range(Family::snapshot, key_of(0), key_of(at));
      batch.put(Family::snapshot, key_of(at), record);
    });
    lock.lock();
  }
}

void StoreJournal::run_writer() {
  std::vector<Entry> group;
  while (take_group(group)) {
    // The rest of the queue is dropped without its `durable`: no effect of it has left the master.
    if (!write_group(group)) return;
    std::size_t written = 0;
    for (const Entry& entry : group) written += entry.events.size();
    {
      const std::lock_guard lock(mutex_);
      // Before the callbacks: a master that is told that a batch is durable may ask trouble() at
      // once.
      queued_events_ -= written;
    }
    for (const Entry& entry : group) {
      if (entry.durable) entry.durable();
    }
  }
}

/// Waits for something to write; false when there is nothing left and the end has begun.
bool StoreJournal::take_group(std::vector<Entry>& group) {
  group.clear();
  std::unique_lock lock(mutex_);
  const auto wanted = [this] { return deadline_ || !queue_.empty(); };
  // A store that has given up its reserve gets it back even when nothing is written.
  while (!wanted() && !store_.strain().empty()) {
    if (wake_writer_.wait_for(lock, options_.retry, wanted)) break;
    lock.unlock();
    store_.mend();
    lock.lock();
  }
  wake_writer_.wait(lock, wanted);
  std::size_t events = 0;
  while (!queue_.empty() && events < options_.max_group_events) {
    events += queue_.front().events.size();
    group.push_back(std::move(queue_.front()));
    queue_.pop_front();
  }
  return !group.empty();
}

/// Writes the group, however often it takes; false when the end came first.
bool StoreJournal::write_group(const std::vector<Entry>& group) {
  StoreBatch batch;
  for (const Entry& entry : group) {
    // A key for each batch, by its first event: a batch is read back as it was appended.
    if (!entry.events.empty()) {
      batch.put(Family::journal, key_of(entry.first), encode_events(entry.events, catalog_));
      batch.reaches({entry.first + entry.events.size(), 0});
    }
    if (entry.make) entry.make(batch);
  }
  while (true) {
    const StoreTrouble trouble = store_.write(batch, Durability::machine);
    if (!trouble) break;
    if (!wait_to_retry(*trouble)) return false;
  }
  const std::lock_guard lock(mutex_);
  trouble_.clear();
  return true;
}

bool StoreJournal::wait_to_retry(const Failure<StoreError>& trouble) {
  std::unique_lock lock(mutex_);
  trouble_ = trouble.message;
  auto until = std::chrono::steady_clock::now() + options_.retry;
  if (deadline_) until = std::min(until, *deadline_);
  // Woken by every append; only the beginning of the end changes how long to wait.
  while (std::chrono::steady_clock::now() < until) {
    wake_writer_.wait_until(lock, until);
    if (deadline_) until = std::min(until, *deadline_);
  }
  return !deadline_ || std::chrono::steady_clock::now() < *deadline_;
}

}  // namespace muster
