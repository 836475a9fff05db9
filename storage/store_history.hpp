#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <unordered_map>

#include "storage/history.hpp"
#include "storage/store_journal.hpp"

namespace muster {

/// What a history keeps at most.
struct StoreHistoryOptions {
  std::size_t max_jobs = 100'000;  ///< the oldest go first; from 1
};

/// The finished jobs of a master in its store. What is added rides with the journal's writes and
/// can be found at once. All members may be called from any thread.
class StoreHistory final : public History {
 public:
  /// The store, the journal and the catalog have to outlive the history.
  static Expected<std::unique_ptr<StoreHistory>, StoreError> open(
      Store& store, StoreJournal& journal, const Catalog& catalog,
      const StoreHistoryOptions& options = {});

  void add(JobHistory job) override;
  std::size_t size() const override;
  std::optional<JobHistory> find(JobId id) const override;
  void newest(std::size_t limit, const std::function<bool(const JobHistory&)>& use) const override;

 private:
  /// What is shared with the journal's thread, which may outlive the history.
  struct Shared {
    std::mutex mutex;
    std::map<std::uint64_t, std::shared_ptr<const JobHistory>> waiting;  ///< not yet durable
  };

  StoreHistory(Store& store, StoreJournal& journal, const Catalog& catalog,
               const StoreHistoryOptions& options)
      : store_(store), journal_(journal), catalog_(catalog), options_(options) {}

  std::shared_ptr<const JobHistory> at(std::uint64_t place) const;

  Store& store_;
  StoreJournal& journal_;
  const Catalog& catalog_;
  const StoreHistoryOptions options_;
  std::shared_ptr<Shared> shared_ = std::make_shared<Shared>();
  // Under the shared mutex as well.
  std::map<std::uint64_t, JobId> jobs_;  ///< by place
  std::unordered_map<JobId, std::uint64_t> places_;
};

}  // namespace muster
