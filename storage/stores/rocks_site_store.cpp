#include "storage/stores/rocks_site_store.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

// Promises of a site scheduler, in a store. A thread of its own writes what has queued up as one
// batch. Promises wait for the disk; removals of records do not, for they are done again when they
// are lost.

namespace muster {
namespace {

// The key is on disk, under the name that the classifier had when it was chosen.
constexpr std::string_view kClassifier = "sorter";

/// Parts of one job go to different targets.
std::string key_of(JobId job, const HandoffTarget& to) {
  std::string key = muster::key_of(job.value);
  key += to.site ? 's' : 'm';
  return key + muster::key_of(std::uint64_t{to.index});
}

/// Records from before such jobs had a family of their own stand among the tokens. (A user's token
/// that looks like one is taken for a job that no site will forward.)
bool is_forwarded(const KnownToken& token) {
  return token.forwarded ||
         (!token.user && token.token == "forwarded " + std::to_string(token.job.value));
}

/// Calls `use` for each record of the family.
template <class Decode, class Use>
StoreTrouble each_record(const Store& store, Family family, Decode decode, Use use) {
  StoreTrouble bad;
  const auto take = [&](std::string_view, std::string_view value) {
    auto record = decode(value);
    if (!record) {
      bad = bad_record(store, family, record.error().message);
      return false;
    }
    use(std::move(record).value());
    return true;
  };
  if (auto trouble = store.scan(family, {}, take)) return trouble;
  return bad;
}

void put_letter(const JobLetter& letter, StoreBatch& batch) {
  const std::string key = muster::key_of(letter.job.value);
  if (letter.to.empty()) {
    batch.erase(Family::letter, key);
  } else {
    batch.put(Family::letter, key, encode_letter(letter));
  }
}

}  // namespace

Expected<std::unique_ptr<RocksSiteStore>, StoreError> RocksSiteStore::open(
    Store& store, const RocksSiteStoreOptions& options) {
  auto opened = std::unique_ptr<RocksSiteStore>(new RocksSiteStore(store, options));
  if (auto trouble = opened->load()) return *std::move(trouble);
  opened->writer_ = std::thread([raw = opened.get()] { raw->run_writer(); });
  return opened;
}

RocksSiteStore::~RocksSiteStore() {
  {
    const std::lock_guard lock(mutex_);
    ends_ = true;
  }
  wake_.notify_one();
  if (writer_.joinable()) writer_.join();
}

StoreTrouble RocksSiteStore::load() {
  if (auto trouble = load_what_is_open()) return trouble;
  // Before the tokens, among which old records of forwarded jobs are told apart by it.
  if (auto trouble = load_forwarded()) return trouble;
  if (auto trouble = load_tokens()) return trouble;
  if (auto trouble = past_.load(store_)) return trouble;
  memory_.past = past_.ends();
  if (auto trouble = load_ended()) return trouble;
  const auto bytes = store_.get(Family::meta, kNextJob);
  if (!bytes) return bytes.error();
  if (bytes.value()) {
    const auto number = decode_number(*bytes.value());
    if (!number) return bad_record(store_, Family::meta, number.error().message);
    places_.next_job = number.value();
  }
  // A store that has lost its end would give out numbers again that other nodes know as jobs.
  if (places_.next_job < store_.reached().jobs) {
    return bad_record(store_, Family::meta,
                      "its mark says that jobs up to " + std::to_string(store_.reached().jobs - 1) +
                          " had been numbered, the records know less");
  }
  memory_.next_job = places_.next_job;
  const auto asks = store_.get(Family::meta, kAsksNumbers);
  if (!asks) return asks.error();
  memory_.asks_numbers = asks.value().has_value();
  auto classifier = store_.get(Family::meta, kClassifier);
  if (!classifier) return classifier.error();
  memory_.classifier = std::move(classifier).value().value_or("");
  return std::nullopt;
}

StoreTrouble RocksSiteStore::load_what_is_open() {
  const auto add_handoff = [&](Handoff&& each) { memory_.handoffs.push_back(std::move(each)); };
  if (auto bad = each_record(store_, Family::handoff, decode_handoff, add_handoff)) return bad;
  const auto add_cancel = [&](std::uint64_t&& job) { memory_.cancels.push_back(JobId{job}); };
  if (auto bad = each_record(store_, Family::cancel, decode_number, add_cancel)) return bad;
  return each_record(store_, Family::letter, decode_letter,
                     [&](JobLetter&& each) { memory_.letters.push_back(std::move(each)); });
}

StoreTrouble RocksSiteStore::load_tokens() {
  StoreTrouble bad;
  const auto use = [&](std::string_view key, std::string_view value) {
    const auto place = number_of(key);
    auto token = decode_token(value);
    if (!place || !token) {
      bad = bad_record(store_, Family::token, place ? token.error().message : "a key of no place");
      return false;
    }
    if (is_forwarded(token.value())) forwarded_.recall_old(token->job.value);
    // Places are a window [first, next): the oldest are dropped from its start.
    if (memory_.tokens.empty()) places_.first_token = *place;
    places_.next_token = *place + 1;
    memory_.tokens.push_back(std::move(token).value());
    return true;
  };
  if (auto trouble = store_.scan(Family::token, {}, use)) return trouble;
  return bad;
}

StoreTrouble RocksSiteStore::load_forwarded() {
  auto bad = each_record(store_, Family::forwarded, decode_numbers,
                         [&](NumberSet&& numbers) { forwarded_.recall(numbers); });
  memory_.forwarded = forwarded_.numbers();
  return bad;
}

StoreTrouble RocksSiteStore::load_ended() {
  StoreTrouble bad;
  const auto use = [&](std::string_view key, std::string_view value) {
    const auto place = number_of(key);
    auto ended = decode_ended(value);
    if (!place || !ended) {
      bad = bad_record(store_, Family::ended, place ? ended.error().message : "a key of no place");
      return false;
    }
    if (memory_.ended.empty()) places_.first_ended = *place;
    places_.next_ended = *place + 1;
    past_.recall(ended.value());
    memory_.ended.push_back(std::move(ended).value());
    return true;
  };
  if (auto trouble = store_.scan(Family::ended, {}, use)) return trouble;
  return bad;
}

SiteMemory RocksSiteStore::recall() {
  return std::exchange(memory_, {});
}

void RocksSiteStore::persist(SiteNews&& news,
                             std::function<void(const std::string& trouble)> durable) {
  {
    const std::lock_guard lock(mutex_);
    const std::size_t jobs = news.handoffs.size();
    if (queued_jobs_ + jobs <= options_.max_queued_jobs) {
      queued_jobs_ += jobs;
      // An empty `durable` then says that the news were taken; it is called below without the
      // lock.
      queue_.push_back({std::move(news), std::exchange(durable, {})});
    }
  }
  if (durable) return durable("the queue of the site's store is full");
  wake_.notify_one();
}

void RocksSiteStore::handed_over(JobId job, const HandoffTarget& to) {
  {
    const std::lock_guard lock(mutex_);
    queue_.push_back({{}, {}, key_of(job, to)});
  }
  wake_.notify_one();
}

void RocksSiteStore::cancelled(JobId job) {
  {
    const std::lock_guard lock(mutex_);
    queue_.push_back({{}, {}, {}, job});
  }
  wake_.notify_one();
}

void RocksSiteStore::persist_classifier(std::string text) {
  {
    const std::lock_guard lock(mutex_);
    queue_.push_back({{}, {}, {}, {}, std::move(text)});
  }
  wake_.notify_one();
}

void RocksSiteStore::persist_letter(JobLetter letter) {
  {
    const std::lock_guard lock(mutex_);
    queue_.push_back({{}, {}, {}, {}, {}, std::move(letter)});
  }
  wake_.notify_one();
}

void RocksSiteStore::run_writer() {
  std::vector<Entry> group;
  while (take_group(group)) {
    // Before the write, while the store is strained: removals of records still go through and make
    // room.
    refuse_new_jobs(group);
    if (group.empty()) continue;
    const std::string trouble = write_group(group);
    std::size_t jobs = 0;
    for (const Entry& entry : group) jobs += entry.news.handoffs.size();
    {
      const std::lock_guard lock(mutex_);
      // After the write: jobs that are being written count against the bound too.
      queued_jobs_ -= jobs;
    }
    for (const Entry& entry : group) {
      if (entry.durable) entry.durable(trouble);
    }
  }
}

bool RocksSiteStore::take_group(std::vector<Entry>& group) {
  group.clear();
  std::unique_lock lock(mutex_);
  wake_.wait(lock, [this] { return ends_ || !queue_.empty(); });
  std::size_t jobs = 0;
  while (!queue_.empty() && jobs < options_.max_group_jobs) {
    jobs += queue_.front().news.handoffs.size();
    group.push_back(std::move(queue_.front()));
    queue_.pop_front();
  }
  return !group.empty();
}

/// Writes all of the group or nothing; says why when nothing.
std::string RocksSiteStore::write_group(const std::vector<Entry>& group) {
  for (const Entry& entry : group) {
    // Outlives a failed group: the text is not sent again.
    if (!entry.classifier.empty()) classifier_ = entry.classifier;
  }
  if (!undo_.empty()) {
    if (const auto trouble = store_.write(undo_, Durability::machine)) {
      undo_what_is_done(group);
      return trouble->message;
    }
    undo_ = {};
  }
  // batch_of() moves the places on; a failed write takes them back, so that its places are used
  // again.
  const Places before = places_;
  StoreBatch batch = batch_of(group);
  const bool promises = std::any_of(group.begin(), group.end(),
                                    [](const Entry& entry) { return bool(entry.durable); });
  const auto trouble = store_.write(batch, promises ? Durability::machine : Durability::process);
  if (!trouble) {
    forwarded_.written();
    past_.written();
    classifier_.clear();
    return {};
  }
  // A failed write may still be found after a crash: a job that was not promised must not come
  // back. An end or a cancel may: its user was told that it may come true.
  for (const Entry& entry : group) {
    for (const Handoff& handoff : entry.news.handoffs) {
      undo_.erase(Family::handoff, key_of(handoff.job.id, handoff.to));
    }
    for (const JobLetter& letter : entry.news.letters) {
      undo_.erase(Family::letter, muster::key_of(letter.job.value));
    }
    // They wait on: without these they would be lost.
    for (const Handoff& waited : entry.news.begun) {
      undo_.put(Family::handoff, key_of(waited.job.id, waited.to), encode_handoff(waited));
    }
    for (const ChangedHandoff& each : entry.news.changed) {
      if (!each.before) continue;
      const HandoffTarget& to = each.handoff.to;
      undo_.put(Family::handoff, key_of(each.before->id, to), encode_handoff({*each.before, to}));
    }
  }
  undo_what_is_done(group);
  // The tokens of the failed group, which batch_of() has numbered from `before` on.
  undo_.erase_range(Family::token, muster::key_of(before.next_token),
                    muster::key_of(places_.next_token));
  forwarded_.put_back(undo_);
  past_.put_back(undo_);
  places_ = before;
  return trouble->message;
}

/// The rest of a full disk is for the ends of jobs that were taken before.
void RocksSiteStore::refuse_new_jobs(std::vector<Entry>& group) {
  store_.mend();
  const std::string strain = store_.strain();
  if (strain.empty()) return;
  // Only entries with new jobs: all others either shrink the store, are needed to end what it has,
  // or are of jobs that waited in it.
  std::erase_if(group, [&](const Entry& entry) {
    const std::size_t jobs = entry.news.handoffs.size();
    if (jobs == 0 || !entry.news.begun.empty()) return false;
    {
      const std::lock_guard lock(mutex_);
      queued_jobs_ -= jobs;
    }
    if (entry.durable) entry.durable(strain);
    return true;
  });
}

StoreBatch RocksSiteStore::batch_of(const std::vector<Entry>& group) {
  const std::uint64_t job_before = places_.next_job;
  StoreBatch batch;
  for (const Entry& entry : group) {
    put_news(entry.news, batch);
    erase_what_is_done(entry, batch);
  }
  forwarded_.put_in(batch);
  past_.put_in(batch);
  if (!classifier_.empty()) batch.put(Family::meta, kClassifier, classifier_);
  for (; places_.next_token - places_.first_token > options_.max_tokens; ++places_.first_token) {
    batch.erase(Family::token, muster::key_of(places_.first_token));
  }
  for (; places_.next_ended - places_.first_ended > options_.max_ended; ++places_.first_ended) {
    batch.erase(Family::ended, muster::key_of(places_.first_ended));
  }
  if (places_.next_job != job_before) {
    batch.put(Family::meta, kNextJob, encode_number(places_.next_job));
    batch.reaches({0, places_.next_job});
  }
  return batch;
}

/// Hand-offs that others have are forgotten as soon as something can be written again.
void RocksSiteStore::undo_what_is_done(const std::vector<Entry>& group) {
  for (const Entry& entry : group) erase_what_is_done(entry, undo_);
}

void RocksSiteStore::erase_what_is_done(const Entry& entry, StoreBatch& batch) {
  if (!entry.handed_over.empty()) batch.erase(Family::handoff, entry.handed_over);
  if (entry.cancelled) batch.erase(Family::cancel, muster::key_of(entry.cancelled->value));
  if (entry.letter) put_letter(*entry.letter, batch);
}

void RocksSiteStore::put_news(const SiteNews& news, StoreBatch& batch) {
  for (const Handoff& waited : news.begun) {
    batch.erase(Family::handoff, key_of(waited.job.id, waited.to));
  }
  for (const Handoff& handoff : news.handoffs) {
    batch.put(Family::handoff, key_of(handoff.job.id, handoff.to), encode_handoff(handoff));
  }
  for (const ChangedHandoff& each : news.changed) {
    const auto& [job, to] = each.handoff;
    batch.put(Family::handoff, key_of(job.id, to), encode_handoff(each.handoff));
  }
  for (const KnownToken& token : news.tokens) {
    if (token.forwarded) {
      forwarded_.add(token.job.value);
      continue;
    }
    batch.put(Family::token, muster::key_of(places_.next_token++), encode_token(token));
  }
  for (const EndedHandoff& ended : news.ended) {
    batch.erase(Family::handoff, key_of(ended.job.id, ended.to));
    batch.put(Family::ended, muster::key_of(places_.next_ended++), encode_ended(ended));
    past_.add(ended);
  }
  for (const JobLetter& letter : news.letters) put_letter(letter, batch);
  for (const JobId job : news.cancels) {
    batch.put(Family::cancel, muster::key_of(job.value), encode_number(job.value));
  }
  places_.next_job = std::max(places_.next_job, news.next_job);
  if (news.numbers_known) batch.erase(Family::meta, kAsksNumbers);
  if (news.asks_numbers) batch.put(Family::meta, kAsksNumbers, encode_number(1));
}

}  // namespace muster
