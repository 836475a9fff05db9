#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "learning/calibration.hpp"
#include "learning/job_features.hpp"
#include "learning/sigmoid_machine.hpp"

namespace muster {

/// The predicted length of a job, and its probability.
struct LengthAnswer {
  JobLength length = JobLength::long_run;
  double confidence = 0.5;  ///< the probability that the job is of that length

  friend bool operator==(const LengthAnswer&, const LengthAnswer&) = default;
};

/// Tells short jobs from long ones before they run (HCoop III-C): a support vector machine with the
/// sigmoid kernel over the scaled features of Table I, or, from a history that shows no difference,
/// one answer for all. A value: it can be copied, sent and used from any thread.
class LengthClassifier {
 public:
  /// Answers every job alike.
  static LengthClassifier always(const LengthAnswer& answer);
  LengthClassifier(const FeatureScale& scale, SigmoidMachine machine,
                   const Calibration& calibration);

  /// The length is the side of the machine's decision. The confidence comes from the calibration,
  /// which knows how frequent either length is: where a rare length was given more weight in the
  /// training, it may be below one half.
  LengthAnswer classify(const JobFeatures& features) const;

  /// The answer that it gives to every job, if that is all it does.
  const std::optional<LengthAnswer>& constant() const { return constant_; }
  std::size_t support_vectors() const { return machine_.support_vectors(); }

  void write(ModelWriter& out) const;
  static LengthClassifier read(ModelReader& in);
  friend bool operator==(const LengthClassifier&, const LengthClassifier&) = default;

 private:
  LengthClassifier() = default;

  std::optional<LengthAnswer> constant_;
  FeatureScale scale_;
  SigmoidMachine machine_;
  Calibration calibration_;
};

/// The classifier as text, and back. The text has a version and a checksum; any damage to it is an
/// error that names the line.
std::string classifier_text(const LengthClassifier& classifier);
Expected<LengthClassifier, LearnError> parse_classifier(std::string_view text);

}  // namespace muster
