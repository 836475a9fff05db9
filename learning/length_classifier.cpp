#include "learning/length_classifier.hpp"

#include <utility>

namespace muster {
namespace {

constexpr std::string_view kClassifierKind = "classifier";
constexpr unsigned kClassifierVersion = 1;

}  // namespace

LengthClassifier LengthClassifier::always(const LengthAnswer& answer) {
  LengthClassifier classifier;
  classifier.constant_ = answer;
  return classifier;
}

LengthClassifier::LengthClassifier(const FeatureScale& scale, SigmoidMachine machine,
                                   const Calibration& calibration)
    : scale_(scale), machine_(std::move(machine)), calibration_(calibration) {}

LengthAnswer LengthClassifier::classify(const JobFeatures& features) const {
  if (constant_) return *constant_;
  const double decision = machine_.decision(scale_.apply(features));
  const double p_long = calibration_.probability_of_long(decision);
  // The machine's own side decides; the calibration, fitted on all, may see it otherwise and then
  // says so by a confidence below one half.
  if (decision > 0) return {JobLength::long_run, p_long};
  return {JobLength::short_run, 1 - p_long};
}

void LengthClassifier::write(ModelWriter& out) const {
  out.line("constant").whole(constant_ ? 1 : 0);
  if (constant_) {
    out.whole(position_of(constant_->length)).number(constant_->confidence);
    return;
  }
  out.line("calibration").number(calibration_.a).number(calibration_.b);
  scale_.write(out);
  machine_.write(out);
}

LengthClassifier LengthClassifier::read(ModelReader& in) {
  LengthClassifier classifier;
  in.line("constant");
  if (in.whole(0, 1) == 1) {
    const auto length = in.whole(0, 1) == 0 ? JobLength::short_run : JobLength::long_run;
    classifier.constant_ = {length, in.number(0, 1)};
    return classifier;
  }
  in.line("calibration");
  classifier.calibration_.a = in.number(-kGreatestLearnt, kGreatestLearnt);
  classifier.calibration_.b = in.number(-kGreatestLearnt, kGreatestLearnt);
  classifier.scale_ = FeatureScale::read(in);
  classifier.machine_ = SigmoidMachine::read(in);
  return classifier;
}

std::string classifier_text(const LengthClassifier& classifier) {
  return sealed_text(kClassifierKind, kClassifierVersion, classifier);
}

Expected<LengthClassifier, LearnError> parse_classifier(std::string_view text) {
  return parse_sealed(kClassifierKind, kClassifierVersion, text, LengthClassifier::read);
}

}  // namespace muster
