#pragma once

#include <functional>
#include <optional>
#include <string>

#include "schedulers/site/job_classifier_service.hpp"

namespace muster {

/// How a site tells short jobs from long ones, and when it learns to: keeps what was learnt and has
/// the classifier trained anew. The classifier that is in use stays in use until there is another.
class SiteClassifier {
 public:
  using Trained = JobClassifier::Classifier;
  /// Takes seconds, and works on copies, so that it may run in any thread.
  using Training = std::function<Trained()>;
  struct Host {
    /// Runs the training and then `adopt` where the site lives, at once or later.
    std::function<void(Training train, std::function<void(Trained)> adopt)> train;
    /// Keeps what was learnt, in place of what was kept before.
    std::function<void(std::string text)> keep;
  };
  /// Without a service jobs are not classified, and all calls do nothing.
  SiteClassifier(std::optional<JobClassifierService> service, Host host);

  explicit operator bool() const { return service_.has_value(); }
  /// With what of the masters' instances is in use.
  void classify(Job& job, const SystemUse& use, Instant now);
  /// Some of the job's tasks have run, for `together` in all.
  void heard(JobId job, std::uint32_t tasks, Duration together);
  /// The job will not be completed.
  void forget(JobId job);
  /// Keeps what was learnt, and trains, where it is time to. One training at a time.
  void train_if_due();

 private:
  std::optional<JobClassifierService> service_;
  Host host_;
  bool training_ = false;
};

}  // namespace muster
