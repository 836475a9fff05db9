#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "model/job_ending.hpp"
#include "storage/stores/store.hpp"

namespace muster {

/// Which endings of jobs a master's store keeps, up to a bound: for longer than the jobs
/// themselves, since sites that were away, and jobs that wait for others, ask for them late. Beyond
/// the bound the oldest ending goes of the user whose endings take most, so that the jobs of
/// one user push out no others. Some 200 bytes of memory for each.
class KeptEndings {
 public:
  struct Bounds {
    std::size_t most_bytes = 0;  ///< of all endings; a single one may be larger
    Duration max_age{};          ///< since they were over; 0: any
  };
  /// Endings that are known and not written yet; null for one that is to leave the store.
  struct Unwritten {
    std::mutex mutex;
    std::map<JobId, std::shared_ptr<const JobEnding>> by_job;
  };
  /// Changes of the store that an ended job brings.
  class Change {
   public:
    void put_in(StoreBatch& batch) const;
    /// The batch is in the store. May be called when the endings are gone, from any thread.
    void written() const;

   private:
    friend class KeptEndings;
    JobId job_;
    std::shared_ptr<const JobEnding> ending_{};  ///< null: it is not kept
    std::vector<JobId> dropped_{};
    std::shared_ptr<Unwritten> unwritten_{};
  };
  explicit KeptEndings(const Bounds& bounds) : bounds_(bounds) {}

  /// Endings that cannot be read are left out, and `note` is told of each.
  StoreTrouble load(const Store& store, const std::function<void(JobId, const std::string&)>& note);
  bool contains(JobId job) const { return kept_.contains(job); }
  /// That of the job; null where its outcome says it all. O(tasks).
  static std::shared_ptr<const JobEnding> to_keep(const JobHistory& job);
  /// Keeps that ending of the job, and not one that a crash has left of it. Drops what is beyond
  /// the bounds then, at most a thousand. O(log of all) for each.
  Change add(JobId job, std::shared_ptr<const JobEnding> ending, Instant now);
  /// The job has no ending after all. O(log of all).
  Change drop(JobId job);
  /// May be called from any thread. Nothing: it is not kept.
  Expected<std::optional<JobEnding>, StoreError> find(const Store& store, JobId job) const;

 private:
  void enter(const JobEnding& ending);
  void leave(JobId job);
  void note_unwritten(const Change& change) const;
  std::vector<JobId> drop_old(Instant now);

  using ByAge = std::set<std::pair<Instant, JobId>>;
  struct OfUser {
    ByAge by_age{};
    std::size_t bytes = 0;
  };
  struct Kept {
    std::map<std::string, OfUser>::iterator of;
    Instant over_at;
    std::size_t bytes = 0;
  };

  void change_bytes(std::map<std::string, OfUser>::iterator of, std::size_t bytes);

  const Bounds bounds_;
  std::map<JobId, Kept> kept_;
  std::map<std::string, OfUser> users_;
  std::set<std::pair<std::size_t, std::string>> by_bytes_;  ///< the users
  ByAge by_age_;                                            ///< of all users
  std::size_t bytes_ = 0;                                   ///< likewise
  std::shared_ptr<Unwritten> unwritten_ = std::make_shared<Unwritten>();
};

}  // namespace muster
