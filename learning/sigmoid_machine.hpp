#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "learning/job_features.hpp"

namespace muster {

/// Parameters of a support vector machine with the kernel tanh(gamma u.v + coef0).
struct SigmoidParams {
  double c = 1;  ///< cost of a margin error
  double gamma = 0.125;
  double coef0 = 0;
  double short_weight = 1;  ///< factors on c, by the length of the job
  double long_weight = 1;

  friend bool operator==(const SigmoidParams&, const SigmoidParams&) = default;
};

/// A trained machine: all that its decisions need, and nothing of libsvm.
class SigmoidMachine {
 public:
  /// Above 0: long. `scaled` is what FeatureScale::apply() gives.
  double decision(const JobFeatures& scaled) const;
  std::size_t support_vectors() const { return vectors_.size(); }

  void write(ModelWriter& out) const;
  static SigmoidMachine read(ModelReader& in);
  friend bool operator==(const SigmoidMachine&, const SigmoidMachine&) = default;

 private:
  friend class SigmoidTrainer;
  struct Vector {
    double weight = 0;
    JobFeatures at{};
    friend bool operator==(const Vector&, const Vector&) = default;
  };

  double gamma_ = 0;
  double coef0_ = 0;
  double rho_ = 0;
  std::vector<Vector> vectors_;
};

/// Trains machines (libsvm's C-SVC) on parts of a set of jobs. libsvm draws random numbers for its
/// own cross-validation and probabilities only; neither is used, so the same input gives the same
/// machine, on any thread.
class SigmoidTrainer {
 public:
  /// One row of scaled features a job.
  SigmoidTrainer(std::vector<JobFeatures> rows, std::vector<JobLength> lengths);
  ~SigmoidTrainer();
  SigmoidTrainer(const SigmoidTrainer&) = delete;
  SigmoidTrainer& operator=(const SigmoidTrainer&) = delete;

  /// Trains on the jobs at these positions; both lengths have to be among them.
  SigmoidMachine train(std::span<const std::uint32_t> picked, const SigmoidParams& params) const;

  const std::vector<JobFeatures>& rows() const { return rows_; }
  const std::vector<JobLength>& lengths() const { return lengths_; }

 private:
  struct Nodes;
  std::vector<JobFeatures> rows_;
  std::vector<JobLength> lengths_;
  std::unique_ptr<Nodes> nodes_;
};

}  // namespace muster
