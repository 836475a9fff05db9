#pragma once

#include <cstdint>
#include <vector>

#include "learning/goodput_model.hpp"
#include "model/elastic.hpp"

namespace muster {

/// Goodput of the jobs of one class, learnt from all of them together: one model of a step's time,
/// and the noise of the gradient in each epoch, which tell the speed of any width in any epoch.
/// Jobs of a class go through the same epochs.
class ClassGoodput {
 public:
  /// `ends`: the progress at the end of each epoch, rising, at least one.
  ClassGoodput(const BatchLimits& limits, std::vector<double> ends);

  /// Learns from a step that was made at that progress. False when the sample is impossible.
  bool observe(double done, const TrainingSample& sample);

  /// The epochs with rates and speedups of widths up to width_cap(), on as few nodes of
  /// `node_holds` workers as hold them. An epoch without a sample is as the one before it, or
  /// before all of these as the first one; before the first sample only the ends are known.
  /// O(widths x batches) for each epoch.
  ElasticEpochs epochs(std::uint32_t node_holds) const;

  /// How many workers a job may be given by what is known: twice the most that any has run with.
  std::uint32_t width_cap() const { return model_.width_cap(); }
  const GoodputModel& model() const { return model_; }
  const std::vector<double>& ends() const { return ends_; }

  void write(ModelWriter& out) const;
  static ClassGoodput read(ModelReader& in);

 private:
  /// Means over the samples of an epoch.
  struct EpochNoise {
    std::uint64_t count = 0;
    GradientNoise mean;
  };

  ClassGoodput(GoodputModel model, std::vector<double> ends);

  GoodputModel model_;
  std::vector<double> ends_;
  std::vector<EpochNoise> noise_;  ///< by epoch
};

/// The class as text, and back; any damage to the text is an error that names the line.
std::string class_goodput_text(const ClassGoodput& goodput);
Expected<ClassGoodput, LearnError> parse_class_goodput(std::string_view text);

}  // namespace muster
