#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "storage/stores/site_store.hpp"
#include "storage/stores/store.hpp"
#include "storage/stores/stored_numbers.hpp"
#include "storage/stores/stored_past_ends.hpp"

namespace muster {

/// In Family::meta of a site's store: a number that none of its own jobs has, nor a later one.
inline constexpr std::string_view kNextJob = "next job";

/// Bounds of what a site store keeps.
struct RocksSiteStoreOptions {
  std::size_t max_tokens = 100'000;       ///< submissions of users; the oldest go first; from 1
  std::size_t max_ended = 10'000;         ///< jobs that ended here; the oldest go first; from 1
  std::size_t max_queued_jobs = 100'000;  ///< not yet durable; beyond, keep() refuses; from 1
  std::size_t max_group_jobs = 5'000;     ///< written with one wait for the disk; from 1
};

/// A site scheduler's promises, in a store. A thread of its own writes: everything that was kept
/// while the disk was busy goes with one wait for it.
class RocksSiteStore final : public SiteStore {
 public:
  /// The store has to outlive this object. A record that cannot be decoded is an error.
  static Expected<std::unique_ptr<RocksSiteStore>, StoreError> open(
      Store& store, const RocksSiteStoreOptions& options = {});
  /// Writes what is queued, or says why it could not.
  ~RocksSiteStore() override;

  SiteMemory recall() override;
  /// The classifier of recall(), before that was called.
  const std::string& classifier() const { return memory_.classifier; }
  void persist(SiteNews&& news, std::function<void(const std::string& trouble)> durable) override;
  void handed_over(JobId job, const HandoffTarget& to) override;
  void cancelled(JobId job) override;
  void persist_classifier(std::string text) override;
  void persist_letter(JobLetter letter) override;

 private:
  /// One entry of the queue: news to keep, or a job that another has.
  struct Entry {
    SiteNews news;
    std::function<void(const std::string& trouble)> durable;
    std::string handed_over{};  ///< its key; empty: no hand-off
    std::optional<JobId> cancelled{};
    std::string classifier{};  ///< empty: no classifier
    std::optional<JobLetter> letter{};
  };

  RocksSiteStore(Store& store, const RocksSiteStoreOptions& options)
      : store_(store), options_(options) {}

  StoreTrouble load();
  StoreTrouble load_what_is_open();
  StoreTrouble load_tokens();
  StoreTrouble load_forwarded();
  StoreTrouble load_ended();
  void run_writer();
  bool take_group(std::vector<Entry>& group);
  void refuse_new_jobs(std::vector<Entry>& group);
  std::string write_group(const std::vector<Entry>& group);
  StoreBatch batch_of(const std::vector<Entry>& group);
  void undo_what_is_done(const std::vector<Entry>& group);
  static void erase_what_is_done(const Entry& entry, StoreBatch& batch);
  void put_news(const SiteNews& news, StoreBatch& batch);

  Store& store_;
  const RocksSiteStoreOptions options_;
  SiteMemory memory_;  ///< as found at the start

  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<Entry> queue_;
  std::size_t queued_jobs_ = 0;
  bool ends_ = false;

  // The writer's own.
  /// State that a failed write leaves as it was: the places of the tokens and ends that are kept.
  struct Places {
    std::uint64_t first_token = 0, next_token = 0;
    std::uint64_t first_ended = 0, next_ended = 0;
    std::uint64_t next_job = 0;
  };
  Places places_;
  StoreBatch undo_;  ///< removals that have to be written before anything else
  StoredNumbers forwarded_{Family::forwarded};
  StoredPastEnds past_;
  std::string classifier_;  ///< the newest one that is not written yet; empty: no such classifier

  std::thread writer_;
};

}  // namespace muster
