#include "storage/stores/store_history.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "model/rounded_text.hpp"
#include "storage/stores/history_page.hpp"

// The history of a master. Jobs lie in the store by their place, the order in which they were
// added, and an index of all of them (entries_, places_) is in memory, so that lists need no disk.
// Jobs beyond max_jobs, and those that are over for longer than max_age, are dropped from both in
// the write that adds a job. Ages are by the end of the job that is added, but by no later time
// than the newest end that was found at opening and what the stopwatch has counted since: a wall's
// clock that is ahead for a while drops nothing. So what ended before a long downtime stays for as
// much longer, until the next opening.

namespace muster {
namespace {

/// Jobs of a history that cannot be decoded.
struct Unreadable {
  std::size_t count = 0;
  std::string first;

  void add(JobId job, const std::string& why) {
    if (count++ == 0) first = fmt::format("job {}: {}", job.value, why);
  }
  std::string text() const {
    return fmt::format("history: {} cannot be read (`muster store check` says why); {}",
                       count_text(count, "job"), first);
  }
};

}  // namespace

void WallBound::note(Instant at) {
  if (!newest_ && stopwatch_) since_ = stopwatch_();
  newest_ = newest_ ? std::max(*newest_, at) : at;
}

Instant WallBound::bounded(Instant now) {
  if (!newest_) note(now);
  return stopwatch_ ? std::min(now, *newest_ + (stopwatch_() - since_)) : now;
}

Expected<std::unique_ptr<StoreHistory>, StoreError> StoreHistory::open(
    Store& store, StoreJournal& journal, const Catalog& catalog,
    const StoreHistoryOptions& options) {
  auto history = std::unique_ptr<StoreHistory>(new StoreHistory(store, journal, catalog, options));
  std::vector<std::uint64_t> bare;
  // The order counts: complete() fills in the entries that load_places() found bare, and the
  // sums by user below need every entry's cost.
  if (auto trouble = history->load_places(bare)) return *std::move(trouble);
  if (auto trouble = history->complete(bare)) return *std::move(trouble);
  if (auto trouble = history->load_spent()) return *std::move(trouble);
  if (auto trouble = history->load_endings()) return *std::move(trouble);
  for (const auto& [place, entry] : history->entries_) {
    // The user of one that cannot be read may be unknown.
    if (!entry.user.empty()) history->kept_[entry.user] += entry.cost;
    history->listed_.emplace(entry.place(), place);
    history->wall_.note(entry.over_at);
  }
  return history;
}

/// Reads the index; `bare` gets the places of which it says no more than whose they are.
StoreTrouble StoreHistory::load_places(std::vector<std::uint64_t>& bare) {
  StoreTrouble bad;
  const auto use = [&](std::string_view key, std::string_view value) {
    const auto job = number_of(key);
    auto found = decode_place(value);
    if (!job || !found) {
      bad = bad_record(store_, Family::place, job ? found.error().message : "a key of no job");
      return false;
    }
    if (!found->known) bare.push_back(found->place);
    found->entry.job = JobId{*job};
    places_.emplace_hint(places_.end(), JobId{*job}, found->place);
    entries_.emplace(found->place, std::move(found->entry));
    return true;
  };
  if (auto trouble = store_.scan(Family::place, {}, use)) return trouble;
  return bad;
}

/// Brings the index of an earlier format up to date, from the jobs themselves.
StoreTrouble StoreHistory::complete(const std::vector<std::uint64_t>& bare) {
  // Bounds the memory of one batch: an old history may have as many bare entries as max_jobs.
  constexpr std::size_t kTogether = 1'000;
  StoreBatch batch;
  std::size_t together = 0;
  Unreadable unreadable;
  for (const std::uint64_t place : bare) {
    const auto bytes = store_.get(Family::history, key_of(place));
    if (!bytes) return bytes.error();
    HistoryEntry& entry = entries_.at(place);
    if (!bytes.value()) {
      return bad_record(store_, Family::history,
                        fmt::format("job {} is in the index only", entry.job.value));
    }
    const auto job = decode_history(*bytes.value(), catalog_);
    if (!job) {
      // As one that the index knows and that cannot be read: a past job keeps no master down.
      unreadable.add(entry.job, job.error().message);
      continue;
    }
    entry = entry_of(job.value());
    batch.put(Family::place, key_of(entry.job.value), encode_place({place, entry}));
    if (++together < kTogether) continue;
    if (auto trouble = store_.write(batch, Durability::machine)) return trouble;
    batch = {};
    together = 0;
  }
  if (unreadable.count > 0 && options_.note) options_.note(unreadable.text());
  return together == 0 ? std::nullopt : store_.write(batch, Durability::machine);
}

StoreTrouble StoreHistory::load_spent() {
  StoreTrouble bad;
  const auto use = [&](std::string_view key, std::string_view value) {
    const auto spent = decode_money(value);
    if (!spent) {
      bad = bad_record(store_, Family::spent, spent.error().message);
      return false;
    }
    dropped_.emplace(std::string(key), spent.value());
    return true;
  };
  if (auto trouble = store_.scan(Family::spent, {}, use)) return trouble;
  return bad;
}

StoreTrouble StoreHistory::load_endings() {
  Unreadable unreadable;
  auto trouble =
      endings_.load(store_, [&](JobId job, const std::string& why) { unreadable.add(job, why); });
  if (unreadable.count > 0 && options_.note) options_.note(unreadable.text());
  return trouble;
}

void StoreHistory::add(JobHistory job) {
  const auto kept = std::make_shared<const JobHistory>(std::move(job));
  const HistoryEntry entry = entry_of(*kept);
  auto to_keep = KeptEndings::to_keep(*kept);
  Dropped dropped;
  KeptEndings::Change ending;
  std::uint64_t place = 0;
  {
    // Place and drops are settled in memory first: a read in between finds the job in `waiting`,
    // and two adds in a row never take the same place.
    const std::lock_guard lock(shared_->mutex);
    place = enter(entry, dropped);
    drop_old(kept->over_at, dropped);
    shared_->waiting.emplace(place, kept);
    ending = endings_.add(entry.job, std::move(to_keep), wall_.bounded(kept->over_at));
  }
  journal_.change(
      [kept, place, entry, ending, dropped, &catalog = catalog_](StoreBatch& batch) {
        ending.put_in(batch);
        batch.put(Family::history, key_of(place), encode_history(*kept, catalog));
        batch.put(Family::place, key_of(entry.job.value), encode_place({place, entry}));
        for (const std::uint64_t old : dropped.places) batch.erase(Family::history, key_of(old));
        for (const JobId old : dropped.jobs) batch.erase(Family::place, key_of(old.value));
        for (const auto& [user, spent] : dropped.spent) {
          batch.put(Family::spent, user, encode_money(spent));
        }
      },
      // Holds `shared_` itself: the journal may call this when the history is gone. Only what
      // the store has by then may leave `waiting`, or at() would find the job in neither.
      [shared = shared_, ending, place] {
        {
          const std::lock_guard lock(shared->mutex);
          shared->waiting.erase(place);
        }
        ending.written();
      });
}

void StoreHistory::drop(JobId job) {
  std::optional<std::uint64_t> place;
  KeptEndings::Change ending;
  {
    const std::lock_guard lock(shared_->mutex);
    const auto known = places_.find(job);
    // A short history may have dropped the job, of which it keeps the ending.
    if (known == places_.end() && !endings_.contains(job)) return;
    ending = endings_.drop(job);
    if (known != places_.end()) {
      place = known->second;
      const HistoryEntry& entry = entries_.at(*place);
      Money& kept = kept_[entry.user];
      kept -= entry.cost;
      if (kept == Money{}) kept_.erase(entry.user);
      take_out(*place);
      last_read_ = {};  // its place may be given again
    }
  }
  journal_.change(
      [job, place, ending](StoreBatch& batch) {
        if (place) batch.erase(Family::history, key_of(*place));
        batch.erase(Family::place, key_of(job.value));
        ending.put_in(batch);
      },
      [ending] { ending.written(); });
}

/// Puts the entry behind all others. After a crash a master may add a job again that it had added
/// before: the new one counts.
std::uint64_t StoreHistory::enter(const HistoryEntry& entry, Dropped& dropped) {
  std::uint64_t place = entries_.empty() ? 0 : entries_.rbegin()->first + 1;
  if (const auto old = places_.find(entry.job); old != places_.end()) {
    // Only the record at the old place goes. The index is by job, so the same batch overwrites
    // its entry, and erasing it after the put would lose the job.
    dropped.places.push_back(old->second);
    const HistoryEntry& before = entries_.at(old->second);
    kept_[before.user] -= before.cost;
    take_out(old->second);
  }
  put_in(place, entry);
  kept_[entry.user] += entry.cost;
  return place;
}

void StoreHistory::put_in(std::uint64_t place, const HistoryEntry& entry) {
  entries_.emplace(place, entry);
  places_[entry.job] = place;
  listed_[entry.place()] = place;
}

void StoreHistory::take_out(std::uint64_t place) {
  const auto found = entries_.find(place);
  places_.erase(found->second.job);
  listed_.erase(found->second.place());
  entries_.erase(found);
}

/// Drops what is too much or too old when a job is added. The places are in the order of adding, so
/// the oldest are those with the lowest.
void StoreHistory::drop_old(Instant now, Dropped& dropped) {
  // Bounds the write of one job: after a shorter max_age was set, several writes drop what is old.
  constexpr std::size_t kTogether = 1'000;
  while (entries_.size() > options_.max_jobs) drop_oldest(dropped);
  if (options_.max_age <= Duration::zero()) return;
  now = wall_.bounded(now);
  while (entries_.size() > 1 && dropped.jobs.size() < kTogether) {
    if (now - entries_.begin()->second.over_at <= options_.max_age) return;
    drop_oldest(dropped);
  }
}

void StoreHistory::drop_oldest(Dropped& dropped) {
  const auto [place, entry] = *entries_.begin();
  dropped.places.push_back(place);
  dropped.jobs.push_back(entry.job);
  Money& kept = kept_[entry.user];
  kept -= entry.cost;
  // Keeps the map to users that have jobs in the history. Money is an exact integer, so the sum
  // does come back to zero.
  if (kept == Money{}) kept_.erase(entry.user);
  // User names are the submitters' choice: without a bound this map, which is kept for good,
  // would grow with them. Past the bound a new user's dropped costs are not remembered.
  if (dropped_.contains(entry.user) || dropped_.size() < options_.max_users) {
    dropped.spent[entry.user] = dropped_[entry.user] += entry.cost;
  }
  take_out(place);
}

std::shared_ptr<const JobHistory> StoreHistory::at(std::uint64_t place) const {
  {
    const std::lock_guard lock(shared_->mutex);
    const auto found = shared_->waiting.find(place);
    // Looked for before the store: a job that leaves `waiting` after this is in the store
    // already.
    if (found != shared_->waiting.end()) return found->second;
  }
  {
    const std::lock_guard lock(shared_->mutex);
    if (last_read_.second && last_read_.first == place) return last_read_.second;
  }
  const auto bytes = store_.get(Family::history, key_of(place));
  // The job may have been dropped since its place was looked up; nothing is wrong then.
  if (!bytes || !bytes.value()) return nullptr;
  auto job = decode_history(*bytes.value(), catalog_);
  if (!job) return nullptr;
  auto read = std::make_shared<const JobHistory>(std::move(job).value());
  const std::lock_guard lock(shared_->mutex);
  last_read_ = {place, read};
  return read;
}

std::size_t StoreHistory::size() const {
  const std::scoped_lock lock(shared_->mutex);
  return entries_.size();
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

Expected<std::optional<JobEnding>, StoreError> StoreHistory::ending(JobId id) const {
  // Before the job itself, which is larger. A read that failed says nothing of the job.
  auto kept = endings_.find(store_, id);
  if (!kept || kept.value()) return kept;
  return History::ending(id);
}

bool StoreHistory::contains(JobId id) const {
  const std::scoped_lock lock(shared_->mutex);
  return places_.contains(id);
}

void StoreHistory::visit(const std::vector<std::uint64_t>& places, const Use& use) const {
  // Without the lock: reading and decoding may take long, and add() must not wait for it.
  for (const std::uint64_t place : places) {
    const auto job = at(place);
    if (job && !use(*job)) return;
  }
}

void StoreHistory::newest(std::size_t limit, const Use& use) const {
  std::vector<std::uint64_t> places;
  {
    const std::lock_guard lock(shared_->mutex);
    for (auto it = entries_.rbegin(); it != entries_.rend() && places.size() < limit; ++it) {
      places.push_back(it->first);
    }
  }
  visit(places, use);
}

void StoreHistory::list(const HistoryPage& page, const Use& use) const {
  if (page.limit == 0) return;
  const JobSieve sieve(page.filter);
  std::vector<std::uint64_t> places;
  std::optional<JobPlace> below = page.below;
  do {
    // The lock is let go between the pieces; a job added meanwhile stands before `below` or is
    // missed by this page, as one added after it would be.
    below = look_on(sieve, page, *below, places);
  } while (below && places.size() < page.limit);
  visit(places, use);
}

/// Adds places of the page's jobs that come later in lists than one. Looks at few enough jobs that
/// a master that adds one meanwhile does not notice; the place where to go on, nothing at the end.
std::optional<JobPlace> StoreHistory::look_on(const JobSieve& sieve, const HistoryPage& page,
                                              const JobPlace& below,
                                              std::vector<std::uint64_t>& places) const {
  // A page of one user may pass over every job of the others.
  constexpr std::size_t kTogether = 2'000;
  const std::lock_guard lock(shared_->mutex);
  auto it = listed_.lower_bound(below);
  for (std::size_t i = 0; it != listed_.begin(); ++i) {
    if (i >= kTogether || places.size() >= page.limit) return it->first;
    --it;
    if (sieve.takes(filtered(entries_.at(it->second)))) places.push_back(it->second);
  }
  return std::nullopt;
}

std::map<std::string, Money> StoreHistory::spent_by_user() const {
  const std::lock_guard lock(shared_->mutex);
  std::map<std::string, Money> spent = kept_;
  for (const auto& [user, money] : dropped_) spent[user] += money;
  return spent;
}

void StoreHistory::newest_entries(std::size_t limit,
                                  const std::function<void(const HistoryEntry&)>& use) const {
  const std::lock_guard lock(shared_->mutex);
  std::size_t left = limit;
  for (auto it = entries_.rbegin(); it != entries_.rend() && left > 0; ++it, --left) {
    use(it->second);
  }
}

bool StoreHistory::read_apart(std::function<void()> read) const {
  return reader_.read(std::move(read));
}

}  // namespace muster
