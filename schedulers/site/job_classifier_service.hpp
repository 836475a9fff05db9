#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "learning/job_classifier.hpp"

namespace muster {

/// Classifies a site's jobs as they come in, and learns from what is heard of them later: the
/// classifier with a memory of what it was shown.
class JobClassifierService {
 public:
  /// Number of open jobs that are remembered; when more are open, the oldest are forgotten first.
  static constexpr std::size_t kMaxOpen = 10'000;
  static constexpr std::size_t kMaxOpenTasks = 1'000'000;

  explicit JobClassifierService(JobClassifier classifier) : classifier_(std::move(classifier)) {}

  /// Writes into the job what is expected of it (HCoop, Algorithm 3), and remembers it.
  Classification classify(Job& job, const SystemUse& use, Instant now = {});

  /// Some of the job's tasks have run, together for that time. With the last of them it is learnt
  /// from.
  void heard(JobId id, std::uint32_t tasks, Duration together);
  /// The job will not be completed: there is nothing to learn.
  void forget(JobId id);

  JobClassifier& classifier() { return classifier_; }
  const JobClassifier& classifier() const { return classifier_; }
  /// Jobs classified as short, and all.
  std::uint64_t shorts() const { return shorts_; }
  std::uint64_t classified() const { return classified_; }

 private:
  struct Open {
    std::uint64_t age = 0;
    Job job;
    SystemUse use;
    Instant submitted{};
    std::uint32_t tasks = 0;  ///< that have been heard of
    Duration together{};
  };

  JobClassifier classifier_;
  std::map<JobId, Open> open_;
  std::map<std::uint64_t, JobId> by_age_;  ///< of the open ones, oldest first
  std::size_t open_tasks_ = 0;
  std::uint64_t shorts_ = 0;
  std::uint64_t classified_ = 0;
};

}  // namespace muster
