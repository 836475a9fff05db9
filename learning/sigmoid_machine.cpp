#include "learning/sigmoid_machine.hpp"

#include <libsvm/svm.h>

#include <cmath>
#include <utility>

#include "model/check.hpp"

namespace muster {
namespace {

/// More than any training set gives; bounds what a text can make of itself.
constexpr std::uint64_t kMaxVectors = 1'000'000;
constexpr double kCache_mib = 64;

constexpr int kShort = -1;
constexpr int kLong = 1;

struct FreeModel {
  void operator()(svm_model* model) const { svm_free_and_destroy_model(&model); }
};

/// libsvm would write to the standard output. The print function is global to the process; it is
/// set once, before the first training.
void silence_libsvm() {
  [[maybe_unused]] static const bool kSilent = [] {
    svm_set_print_string_function([](const char*) {});
    return true;
  }();
}

double dot(const JobFeatures& u, const JobFeatures& v) {
  double sum = 0;
  for (std::size_t i = 0; i < kFeatures; ++i) sum += u[i] * v[i];
  return sum;
}

}  // namespace

double SigmoidMachine::decision(const JobFeatures& scaled) const {
  double sum = -rho_;
  for (const Vector& vector : vectors_) {
    sum += vector.weight * std::tanh(gamma_ * dot(vector.at, scaled) + coef0_);
  }
  return sum;
}

void SigmoidMachine::write(ModelWriter& out) const {
  out.line("machine").number(gamma_).number(coef0_).number(rho_).whole(vectors_.size());
  for (const Vector& vector : vectors_) {
    out.line("vector").number(vector.weight);
    for (const double value : vector.at) out.number(value);
  }
}

SigmoidMachine SigmoidMachine::read(ModelReader& in) {
  SigmoidMachine machine;
  in.line("machine");
  machine.gamma_ = in.number(-kGreatestLearnt, kGreatestLearnt);
  machine.coef0_ = in.number(-kGreatestLearnt, kGreatestLearnt);
  machine.rho_ = in.number(-kGreatestLearnt, kGreatestLearnt);
  const std::uint64_t count = in.whole(0, kMaxVectors);
  for (std::uint64_t i = 0; i < count && in.line("vector"); ++i) {
    Vector& vector = machine.vectors_.emplace_back();
    vector.weight = in.number(-kGreatestLearnt, kGreatestLearnt);
    for (double& value : vector.at) value = in.number(-1, 1);
  }
  return machine;
}

/// The rows in libsvm's own form.
struct SigmoidTrainer::Nodes {
  using Row = std::array<svm_node, kFeatures + 1>;
  std::vector<Row> rows;

  explicit Nodes(const std::vector<JobFeatures>& features) {
    for (const JobFeatures& values : features) {
      Row& row = rows.emplace_back();
      for (std::size_t i = 0; i < kFeatures; ++i) row[i] = {static_cast<int>(i) + 1, values[i]};
      // libsvm's mark for the end of a row.
      row[kFeatures] = {-1, 0};
    }
  }
};

SigmoidTrainer::SigmoidTrainer(std::vector<JobFeatures> rows, std::vector<JobLength> lengths)
    : rows_(std::move(rows)), lengths_(std::move(lengths)), nodes_(std::make_unique<Nodes>(rows_)) {
  MUSTER_CHECK(rows_.size() == lengths_.size(), "one length a row");
}

SigmoidTrainer::~SigmoidTrainer() = default;

SigmoidMachine SigmoidTrainer::train(std::span<const std::uint32_t> picked,
                                     const SigmoidParams& params) const {
  // Set for the process, since libsvm knows one function for all.
  silence_libsvm();
  std::vector<double> labels;
  std::vector<svm_node*> rows;
  for (const std::uint32_t i : picked) {
    labels.push_back(lengths_[i] == JobLength::long_run ? kLong : kShort);
    rows.push_back(nodes_->rows[i].data());
  }
  svm_problem problem{static_cast<int>(picked.size()), labels.data(), rows.data()};
  std::array<int, 2> weighted{kShort, kLong};
  std::array<double, 2> weights{params.short_weight, params.long_weight};
  svm_parameter wanted{};
  wanted.svm_type = C_SVC;
  wanted.kernel_type = SIGMOID;
  wanted.gamma = params.gamma;
  wanted.coef0 = params.coef0;
  wanted.cache_size = kCache_mib;
  wanted.eps = 1e-3;
  wanted.C = params.c;
  wanted.nr_weight = 2;
  wanted.weight_label = weighted.data();
  wanted.weight = weights.data();
  wanted.shrinking = 1;
  MUSTER_CHECK(svm_check_parameter(&problem, &wanted) == nullptr, "parameters libsvm takes");
  const std::unique_ptr<svm_model, FreeModel> model(svm_train(&problem, &wanted));
  MUSTER_CHECK(model->nr_class == 2, "jobs of both lengths are needed");

  SigmoidMachine machine;
  // libsvm's decision is above 0 for the length that came first.
  const double sign = model->label[0] == kLong ? 1 : -1;
  machine.gamma_ = params.gamma;
  machine.coef0_ = params.coef0;
  machine.rho_ = sign * model->rho[0];
  for (int i = 0; i < model->l; ++i) {
    machine.vectors_.push_back(
        // libsvm counts rows from 1.
        {sign * model->sv_coef[0][i], rows_[picked[model->sv_indices[i] - 1]]});
  }
  return machine;
}

}  // namespace muster
