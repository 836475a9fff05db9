#include "schedulers/site/site_classifier.hpp"

#include <utility>

namespace muster {

SiteClassifier::SiteClassifier(std::optional<JobClassifierService> service, Host host)
    : service_(std::move(service)), host_(std::move(host)) {}

void SiteClassifier::classify(Job& job, const SystemUse& use, Instant now) {
  if (job.service() != nullptr) {
    // It runs until its user ends it, and nothing is to be learnt from when that is.
    job.prediction = {};
    job.prediction.length = JobLength::long_run;
    return;
  }
  if (service_) service_->classify(job, use, now);
}

void SiteClassifier::heard(JobId job, std::uint32_t tasks, Duration together) {
  if (service_) service_->heard(job, tasks, together);
}

void SiteClassifier::forget(JobId job) {
  if (service_) service_->forget(job);
}

void SiteClassifier::train_if_due() {
  if (!service_) return;
  JobClassifier& classifier = service_->classifier();
  if (classifier.due_for_saving()) {
    classifier.saved();
    host_.keep(classifier.text());
  }
  if (training_ || !classifier.due_for_training()) return;
  training_ = true;
  // Works on copies: the site goes on classifying and learning meanwhile.
  auto train = [history = classifier.history(),
                params = classifier.params().training]() -> Trained {
    return std::make_shared<const LengthClassifier>(train_classifier(history, params).classifier);
  };
  host_.train(std::move(train), [this](Trained trained) {
    training_ = false;
    service_->classifier().adopt(std::move(trained));
    host_.keep(service_->classifier().text());
  });
}

}  // namespace muster
