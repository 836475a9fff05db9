#include "storage/events/log_store.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <charconv>
#include <system_error>
#include <utility>

// The logs of attempts as files, with one thread that writes, reads and removes: a reading never
// meets a file that is half replaced, and neither needs a lock. Sizes are counted in blocks of the
// disk, for most logs are smaller than one.

namespace muster {
namespace {

namespace fs = std::filesystem;

/// Size of a small file on most disks.
constexpr std::uint64_t kDiskBlock = 4096;
/// Longest time between two searches for old logs.
constexpr Duration kLongestWait = std::chrono::hours{1};
/// There once logs have been removed to keep within the bounds.
constexpr const char* kRemovedFile = "removed";

std::uint64_t on_disk(std::uint64_t bytes) {
  return (bytes + kDiskBlock - 1) / kDiskBlock * kDiskBlock;
}

std::optional<LogName> name_from(std::string_view text) {
  LogName name;
  const char* end = text.data() + text.size();
  const auto task = std::from_chars(text.data(), end, name.task.value);
  if (task.ec != std::errc{} || task.ptr == end || *task.ptr != '.') return std::nullopt;
  const auto attempt = std::from_chars(task.ptr + 1, end, name.attempt);
  if (attempt.ec != std::errc{} || attempt.ptr != end) return std::nullopt;
  return name;
}

struct FileFacts {
  std::uint64_t bytes = 0;
  Duration at{};  ///< of its last change
};

std::optional<FileFacts> facts_of(const fs::path& file) {
  struct stat found {};
  if (stat(file.c_str(), &found) != 0) return std::nullopt;
  return FileFacts{
      static_cast<std::uint64_t>(found.st_size),
      std::chrono::seconds{found.st_mtim.tv_sec} + std::chrono::nanoseconds{found.st_mtim.tv_nsec}};
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
  store->scan();
  store->thread_ = std::thread([raw = store.get()] { raw->work(); });
  return store;
}

LogStore::LogStore(fs::path folder, LogStoreOptions options)
    : folder_(std::move(folder)), options_(std::move(options)) {}

LogStore::~LogStore() {
  {
    const std::lock_guard lock(mutex_);
    quit_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

fs::path LogStore::path_of(const LogName& name) const {
  return folder_ / (std::to_string(name.task.value) + "." + std::to_string(name.attempt));
}

/// Lists the files; drafts of an earlier process are removed.
void LogStore::scan() {
  std::error_code ignored;
  has_removed_ = fs::exists(folder_ / kRemovedFile, ignored);
  std::error_code failed;  // of going on: the entries until then are known
  for (fs::directory_iterator at(folder_, failed), end; !failed && at != end;
       at.increment(failed)) {
    const fs::path& file = at->path();
    if (file.extension() == ".draft") {
      fs::remove(file, ignored);
      continue;
    }
    const auto name = name_from(file.filename().string());
    const auto facts = name ? facts_of(file) : std::nullopt;
    // Files of other names are not ours to count or to remove.
    if (facts) remember(*name, facts->at);
  }
  remove_old();
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
      remove_old();
      lock.lock();
    }
  }
}

void LogStore::answer(const Read& read) const {
  auto kept = read_log_file(path_of(read.place.name), read.place);
  if (!kept && refused_.contains(read.place.name)) {
    kept = KeptLog{read.place.offset, {}, 0, kDiskTookNothing, true};
  }
  read.use(std::move(kept));
}

bool LogStore::commit(const LogDelivery& delivery) {
  const bool brings_nothing = delivery.pieces.empty() && delivery.last && !delivery.lost.empty() &&
                              !drafts_.contains(delivery.name);
  // A worker that says a second time that it has lost the log must not replace one that came
  // whole.
  if (brings_nothing && by_name_.contains(delivery.name)) return true;
  auto& draft = drafts_[delivery.name];
  if (!draft) draft = std::make_unique<LogBlockWriter>(path_of(delivery.name));
  for (const LogPiece& piece : delivery.pieces) {
    if (!draft->add(piece)) return refuse(delivery.name);
  }
  if (!delivery.last) return true;
  if (!draft->finish(delivery.lost)) return refuse(delivery.name);
  drafts_.erase(delivery.name);
  // The disk takes something again, so that the next time it does not is news.
  complained_ = false;
  refused_.erase(delivery.name);
  remember(delivery.name, options_.clock());
  remove_old();
  return true;
}

/// The draft goes: later deliveries of that name begin anew.
bool LogStore::refuse(const LogName& name) {
  drafts_.erase(name);
  if (refused_.size() < options_.max_refused) refused_.insert(name);
  if (!std::exchange(complained_, true) && options_.note) {
    options_.note("logs: " + folder_.string() +
                  " takes nothing: output of tasks stays on their "
                  "instances and is lost with them");
  }
  return false;
}

void LogStore::remember(const LogName& name, Duration at) {
  const auto facts = facts_of(path_of(name));
  if (!facts) return;
  if (const auto known = by_name_.find(name); known != by_name_.end()) {
    bytes_ -= known->second->second.bytes;
    files_.erase(known->second);
  }
  by_name_[name] = files_.insert({at, {name, on_disk(facts->bytes)}});
  bytes_ += on_disk(facts->bytes);
}

void LogStore::forget(Files::iterator file) {
  std::error_code ignored;
  // The marker comes before the first removal: a crash in between claims too much and not too
  // little.
  if (!has_removed_.exchange(true)) std::ofstream mark(folder_ / kRemovedFile);
  fs::remove(path_of(file->second.name), ignored);
  bytes_ -= file->second.bytes;
  by_name_.erase(file->second.name);
  files_.erase(file);
}

void LogStore::remove_old() {
  const Duration oldest = options_.clock() - options_.max_age;
  while (!files_.empty() && (bytes_ > options_.max_bytes || files_.begin()->first < oldest)) {
    forget(files_.begin());
  }
}

Duration LogStore::until_next() const {
  if (files_.empty()) return kLongestWait;
  const Duration due = files_.begin()->first + options_.max_age - options_.clock();
  // Not below a second: files of one age would otherwise wake the thread one by one.
  return std::clamp<Duration>(due, std::chrono::seconds{1}, kLongestWait);
}

}  // namespace muster
