#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "storage/stores/site_store.hpp"

namespace muster {

/// Submissions that a site scheduler has been given: those of users, by scope and token
/// (model/submission_key.hpp), as many as its store keeps (the oldest go first), and the numbers of
/// all jobs that other sites ever left to it: these repeat themselves after any time, and masters
/// would be drawn anew.
class KnownSubmissions {
 public:
  /// A write to the store, by its number from 1; 0: it is durable.
  using Write = std::uint64_t;
  /// The job of a submission, and the write that will make it durable.
  struct Known {
    JobId job;
    Write write = 0;
    std::optional<std::uint64_t> digest{};  ///< of what was said of the job, if that is known

    bool is_of(std::uint64_t other) const { return !digest || *digest == other; }
  };

  /// `own_site`: by which the jobs of the site are numbered.
  KnownSubmissions(std::size_t most, std::uint32_t own_site) : most_(most), own_site_(own_site) {}

  /// All jobs that other sites have left to this one, as far as the store has them as numbers.
  void recall_forwarded(NumberSet jobs) { forwarded_ = std::move(jobs); }
  /// One that the store has; the oldest has to come first. One of before users were kept has none:
  /// such a token is everybody's, since the job that it stands for must not run twice. Jobs that
  /// other sites had left to this one stood among the tokens then, as "forwarded N".
  void recall(KnownToken known);
  /// One that `write` is to make durable.
  void add(KnownToken known, Write write);
  /// The submissions of `write` are durable.
  void written(Write write);
  /// The submissions of `write` are unknown again.
  void failed(Write write);

  /// The known submission of the job; nothing for an empty token. One that was kept before tokens
  /// had scopes is found by the job's user, until it goes by age.
  std::optional<Known> find(const Job& job) const;
  /// By scope, or user, and token alone.
  std::optional<Known> find(const std::string& user, const std::string& token) const;
  std::optional<Known> find_forwarded(JobId job) const;
  /// Of all jobs that other sites have left to this one, the newest of each site.
  std::vector<JobId> newest_forwarded() const;
  /// Of users.
  std::size_t size() const { return by_age_.size(); }

 private:
  using Age = std::uint64_t;  ///< counts what came in
  struct Entry {
    KnownToken known;
    Write write = 0;
  };

  /// Submissions that a write is to keep.
  struct Writing {
    std::vector<Age> submissions{};
    std::vector<JobId> forwarded{};
  };

  void insert(KnownToken known, Write write);
  void erase(Age age);
  void shrink();
  Known at(Age age) const;

  const std::size_t most_;
  const std::uint32_t own_site_;
  Age next_ = 0;
  std::map<Age, Entry> by_age_;
  std::map<std::pair<std::string, std::string>, Age> tokens_;  ///< by user and token
  std::map<std::string, Age> ownerless_;                       ///< by token alone
  NumberSet forwarded_;                                        ///< durable
  std::map<JobId, Write> forwarded_by_write_;                  ///< not durable yet
  std::map<Write, Writing> writing_;
};

}  // namespace muster
