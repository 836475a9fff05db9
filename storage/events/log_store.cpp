#include "storage/events/log_store.hpp"

#include <algorithm>
#include <fstream>
#include <system_error>
#include <utility>
#include <vector>

// The logs of attempts as files, with one thread that writes, reads and removes: a reading never
// meets a file that is half replaced, and neither needs a lock.

namespace muster {
namespace {

namespace fs = std::filesystem;

/// Longest time between two searches for old logs.
constexpr Duration kLongestWait = std::chrono::hours{1};
/// There once logs have been removed to keep within the bounds.
constexpr const char* kRemovedFile = "removed";

/// Cuts off the front of a piece what is kept already; false: all of it is.
bool cut_to(LogPiece& piece, std::uint64_t kept) {
  if (piece.offset >= kept) return true;
  const std::uint64_t known = kept - piece.offset;
  if (known >= piece.text.size()) return false;
  piece.text.erase(0, known);
  piece.offset = kept;
  return true;
}

/// The streams of a draft, as parts.
std::vector<LogPart> parts_in(const LogIndex& index) {
  std::vector<LogPart> parts;
  for (std::size_t i = 0; i < kLogStreams; ++i) {
    const auto& blocks = index.streams[i];
    if (blocks.empty()) continue;
    parts.push_back({i == 1, blocks.front().offset, blocks.back().offset + blocks.back().bytes});
  }
  return parts;
}

}  // namespace

Expected<std::unique_ptr<LogStore>, StoreError> LogStore::open(const fs::path& folder,
                                                               LogStoreOptions options) {
  std::error_code failed;
  // Output of tasks is for the node's owner alone.
  if (fs::create_directories(folder, failed)) {
    fs::permissions(folder, fs::perms::owner_all, failed);
  }
  if (failed) {
    return Failure<StoreError>{StoreError::unwritable, folder.string() + ": " + failed.message()};
  }
  auto store = std::unique_ptr<LogStore>(new LogStore(folder, std::move(options)));
  std::error_code ignored;
  store->has_removed_ = fs::exists(folder / kRemovedFile, ignored);
  store->files_.scan();
  store->remove_old({});
  store->thread_ = std::thread([raw = store.get()] { raw->work(); });
  return store;
}

LogStore::LogStore(fs::path folder, LogStoreOptions options)
    : options_(std::move(options)), files_(std::move(folder)) {}

LogStore::~LogStore() {
  {
    const std::lock_guard lock(mutex_);
    quit_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

bool LogStore::take(LogDelivery delivery, Done done) {
  {
    const std::lock_guard lock(mutex_);
    // Each holds pieces of output: the bound is one of memory.
    if (deliveries_.size() >= options_.max_deliveries) return false;
    deliveries_.push_back({std::move(delivery), std::move(done)});
  }
  changed_.notify_one();
  return true;
}

bool LogStore::read(const Place& place, Use use) {
  {
    const std::lock_guard lock(mutex_);
    if (reads_.size() >= options_.max_reads) return false;
    reads_.push_back({place, std::move(use)});
  }
  changed_.notify_one();
  return true;
}

/// Readers and deliveries in turn, while there are both: for either somebody waits.
void LogStore::work() {
  std::unique_lock lock(mutex_);
  bool read_last = false;
  while (true) {
    if (!reads_.empty() && !(read_last && !deliveries_.empty())) {
      read_last = true;
      const Read next = std::move(reads_.front());
      reads_.pop_front();
      lock.unlock();
      answer(next);
      lock.lock();
    } else if (!deliveries_.empty()) {
      read_last = false;
      const Delivery next = std::move(deliveries_.front());
      deliveries_.pop_front();
      lock.unlock();
      const bool written = commit(next.what);
      if (next.done) next.done(written);
      lock.lock();
    } else if (quit_) {
      return;
    } else {
      const Duration wait = until_next();
      changed_.wait_for(lock, wait);
      lock.unlock();
      remove_old({});
      lock.lock();
    }
  }
}

void LogStore::answer(const Read& read) const {
  auto kept = files_.read(read.place);
  if (!kept && refused_.contains(read.place.name)) {
    kept = KeptLog{read.place.offset, {}, 0, kDiskTookNothing, true};
  }
  read.use(std::move(kept));
}

bool LogStore::commit(const LogDelivery& delivery) {
  const LogName& name = delivery.name;
  const bool brings_nothing =
      delivery.pieces.empty() && delivery.last && !delivery.lost.empty() && !drafts_.contains(name);
  // A worker that says a second time that it has lost the log must not replace one that came
  // whole.
  if (brings_nothing && files_.has_rest(name)) return true;
  auto& draft = drafts_[name];
  if (!draft) draft = std::make_unique<LogBlockWriter>(files_.draft_of(name));
  for (LogPiece piece : delivery.pieces) {
    const std::uint64_t kept = files_.end_of_parts(name, piece.error_stream);
    if (cut_to(piece, kept) && !draft->add(piece)) return refuse(name);
  }
  if (!delivery.last && !delivery.part) return true;
  if (!finish(delivery)) return refuse(name);
  // The disk takes something again, so that the next time it does not is news.
  complained_ = false;
  refused_.erase(name);
  remove_old(name);
  return true;
}

/// The draft becomes a part or the rest. One that has pieces of both streams is no part yet.
bool LogStore::finish(const LogDelivery& delivery) {
  LogFileId id{delivery.name, {}};
  const auto draft = drafts_.find(delivery.name);
  if (!delivery.last) {
    const std::vector<LogPart> parts = parts_in(draft->second->index());
    if (parts.empty()) drafts_.erase(draft);
    if (parts.size() != 1) return true;
    id.part = parts.front();
  }
  if (!draft->second->finish(files_.path_of(id), delivery.lost)) return false;
  drafts_.erase(draft);
  files_.add(id, options_.clock());
  bytes_ = files_.bytes();
  return true;
}

/// The draft goes: later deliveries of that name begin anew.
bool LogStore::refuse(const LogName& name) {
  drafts_.erase(name);
  if (refused_.size() < options_.max_refused) refused_.insert(name);
  if (!std::exchange(complained_, true) && options_.note) {
    options_.note("logs: " + files_.folder().string() +
                  " takes nothing: output of tasks stays on their "
                  "instances and is lost with them");
  }
  return false;
}

void LogStore::remove(const LogFileId& id) {
  std::error_code ignored;
  // The marker comes before the first removal: a crash in between claims too much and not too
  // little.
  if (!has_removed_.exchange(true)) std::ofstream mark(files_.folder() / kRemovedFile);
  fs::remove(files_.path_of(id), ignored);
  files_.remove(id);
}

/// One attempt that writes much, whose output is the newest, does not push out that of all others.
void LogStore::remove_old(const std::optional<LogName>& newest) {
  const Duration oldest = options_.clock() - options_.max_age;
  while (const auto at = files_.oldest_at()) {
    const bool too_old = *at < oldest;
    if (!too_old && files_.bytes() <= options_.max_bytes) break;
    std::optional<LogFileId> gone = files_.oldest();
    if (!too_old && newest && files_.bytes_of(*newest) > options_.max_bytes / 2) {
      if (const auto own = files_.oldest_part_of(*newest)) gone = own;
    }
    remove(*gone);
  }
  bytes_ = files_.bytes();
}

Duration LogStore::until_next() const {
  const auto at = files_.oldest_at();
  if (!at) return kLongestWait;
  const Duration due = *at + options_.max_age - options_.clock();
  // Not below a second: files of one age would otherwise wake the thread one by one.
  return std::clamp<Duration>(due, std::chrono::seconds{1}, kLongestWait);
}

}  // namespace muster
