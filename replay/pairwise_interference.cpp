#include "replay/pairwise_interference.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <string_view>

// Throughput as the product of pairwise ones. The variant "as-generated" reproduces the map that
// Eva's artifact was run with, whose script assigned values computed in one order of names to
// another.

namespace muster::replay {
namespace {

constexpr std::uint32_t kNowhere = std::numeric_limits<std::uint32_t>::max();
constexpr std::size_t kMostOfAnyKind = 10;
constexpr std::size_t kMostCpuTasks = 25;
// The iteration orders of the script's sets of names when it made the map of the reference figures.
constexpr std::array<std::string_view, 9> kAnyKind = {"cyclegan", "seq", "vit", "gpt2", "resnet18",
                                                      "openfoam", "a3c", "gcn", "sage"};
constexpr std::array<std::string_view, 4> kCpuTasks = {"gcn", "a3c", "openfoam", "seq"};

/// A workload and how many tasks of it are together.
struct Group {
  std::uint32_t workload = 0;
  std::uint32_t count = 0;
};

std::vector<Group> groups_of(std::span<const std::uint32_t> together) {
  std::vector<std::uint32_t> sorted(together.begin(), together.end());
  std::sort(sorted.begin(), sorted.end());
  std::vector<Group> groups;
  for (const std::uint32_t workload : sorted) {
    if (groups.empty() || groups.back().workload != workload) groups.push_back({workload, 0});
    ++groups.back().count;
  }
  return groups;
}

/// Product of pair(workload, neighbour) over all tasks of the groups but one of the workload
/// itself.
template <class Pair>
double product(std::uint32_t workload, const std::vector<Group>& groups, const Pair& pair) {
  double result = 1;
  for (const Group& neighbour : groups) {
    const double each = pair(workload, neighbour.workload);
    // One of the tasks of the own workload is the task itself, which does not slow itself.
    const std::uint32_t own = neighbour.workload == workload ? 1 : 0;
    for (std::uint32_t i = own; i < neighbour.count; ++i) result *= each;
  }
  return result;
}

template <class Pair>
std::vector<double> products(std::span<const std::uint32_t> together, const Pair& pair) {
  const std::vector<Group> groups = groups_of(together);
  std::vector<double> values;
  values.reserve(together.size());
  for (const std::uint32_t workload : together) {
    values.push_back(product(workload, groups, pair));
  }
  return values;
}

Expected<std::unique_ptr<Interference>, ConfigError> make_pairwise(
    const InterferenceConfig& config) {
  const auto& own = config.own.of<PairwiseSettings>();
  auto matrix = read_contention_matrix(own.matrix, config.default_pair);
  if (!matrix && matrix.error().code == ConfigError::unreadable) {
    return Failure<ConfigError>{ConfigError::unreadable,
                                "world.interference.matrix: " + matrix.error().message};
  }
  if (!matrix) return matrix.error();
  if (!own.as_generated) {
    return std::unique_ptr<Interference>(
        std::make_unique<PairwiseInterference>(std::move(matrix.value())));
  }
  const std::string missing = AsGeneratedInterference::missing_name(matrix.value());
  if (!missing.empty()) {
    return Failure<ConfigError>{
        ConfigError::invalid,
        fmt::format("{}: the variant \"as-generated\" reproduces Eva's artifact and needs its "
                    "nine workloads; '{}' is missing",
                    own.matrix.string(), missing)};
  }
  return std::unique_ptr<Interference>(
      std::make_unique<AsGeneratedInterference>(std::move(matrix.value())));
}

}  // namespace

std::vector<double> PairwiseInterference::throughput(
    std::span<const std::uint32_t> together) const {
  return products(together, [&](std::uint32_t a, std::uint32_t b) { return matrix_.pair(a, b); });
}

AsGeneratedInterference::AsGeneratedInterference(ContentionMatrix contention)
    : PairwiseInterference(std::move(contention)) {
  std::vector<std::string> names = matrix().names();
  in_file_ = ranks_of(names);
  std::sort(names.begin(), names.end());
  alphabetical_ = ranks_of(names);
  up_to_ten_ = ranks_of({kAnyKind.begin(), kAnyKind.end()});
  of_cpu_tasks_ = ranks_of({kCpuTasks.begin(), kCpuTasks.end()});
}

std::string AsGeneratedInterference::missing_name(const ContentionMatrix& matrix) {
  for (const std::string_view name : kAnyKind) {
    if (matrix.index_of(name) == matrix.size()) return std::string(name);
  }
  return {};
}

AsGeneratedInterference::Ranks AsGeneratedInterference::ranks_of(
    const std::vector<std::string>& order) const {
  // One more for the workloads that the matrix does not know.
  Ranks ranks(matrix().size() + 1, kNowhere);
  for (std::uint32_t i = 0; i < order.size(); ++i) ranks[matrix().index_of(order[i])] = i;
  return ranks;
}

const AsGeneratedInterference::Ranks* AsGeneratedInterference::order_for(
    std::span<const std::uint32_t> together) const {
  const auto all_in = [&](const Ranks& ranks) {
    return std::all_of(together.begin(), together.end(),
                       [&](std::uint32_t workload) { return ranks[workload] != kNowhere; });
  };
  const std::size_t n = together.size();
  // The script made each size of combination by a set of its own, and so with another order.
  if (n == 2 && all_in(in_file_)) return &in_file_;
  if (n >= 3 && n <= kMostOfAnyKind && all_in(up_to_ten_)) return &up_to_ten_;
  if (n > kMostOfAnyKind && n <= kMostCpuTasks && all_in(of_cpu_tasks_)) return &of_cpu_tasks_;
  return nullptr;
}

std::vector<double> AsGeneratedInterference::throughput(
    std::span<const std::uint32_t> together) const {
  if (together.size() < 2) return std::vector<double>(together.size(), 1);
  if (const Ranks* order = order_for(together)) return relabelled(together, *order);
  return products(together, [&](std::uint32_t a, std::uint32_t b) { return pair(a, b); });
}

std::vector<double> AsGeneratedInterference::relabelled(std::span<const std::uint32_t> together,
                                                        const Ranks& order) const {
  std::vector<std::uint32_t> computed(together.begin(), together.end());
  std::sort(computed.begin(), computed.end(),
            [&](std::uint32_t a, std::uint32_t b) { return order[a] < order[b]; });
  std::vector<std::uint32_t> filed(together.begin(), together.end());
  std::sort(filed.begin(), filed.end(),
            [&](std::uint32_t a, std::uint32_t b) { return alphabetical_[a] < alphabetical_[b]; });
  const std::vector<double> values = PairwiseInterference::throughput(computed);
  // The value at a name's last position is the one that stays.
  std::vector<double> of_workload(alphabetical_.size(), 1);
  for (std::size_t i = 0; i < filed.size(); ++i) of_workload[filed[i]] = values[i];
  std::vector<double> result;
  result.reserve(together.size());
  for (const std::uint32_t workload : together) result.push_back(of_workload[workload]);
  return result;
}

double AsGeneratedInterference::pair(std::uint32_t workload, std::uint32_t neighbour) const {
  const std::array<std::uint32_t, 2> both = {workload, neighbour};
  const Ranks* order = order_for(both);
  return order == nullptr ? matrix().pair(workload, neighbour) : relabelled(both, *order)[0];
}

InterferenceModel pairwise_interference() {
  using config::interference_key;
  InterferenceModel model{{.name = "pairwise", .needs = {"world.interference.matrix"}},
                          make_pairwise};
  model.part.keys = {
      {"world.interference.matrix",
       "CSV file of pairwise throughputs, row = the task, column = its neighbour; needed when the "
       "model is pairwise",
       config::PathKeyOf<ReplayConfig>{interference_key<&PairwiseSettings::matrix>}},
      {"world.interference.variant",
       "the matrix as it is meant, or with the exchanged values of Eva's artifact",
       config::ChoiceKeyOf<ReplayConfig>{
           {"intended", "as-generated"},
           [](ReplayConfig& c) -> std::size_t {
             return interference_key<&PairwiseSettings::as_generated>(c) ? 1 : 0;
           },
           [](ReplayConfig& c, std::size_t i) {
             interference_key<&PairwiseSettings::as_generated>(c) = i == 1;
           }}}};
  return model;
}

}  // namespace muster::replay
