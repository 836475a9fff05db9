#include "learning/job_attributes.hpp"

#include <algorithm>
#include <cmath>

#include "learning/fnv.hpp"
#include "learning/job_features.hpp"
#include "model/check.hpp"

namespace muster {

std::string_view logical_name(std::string_view name) {
  const std::size_t last = name.find_last_not_of("0123456789");
  if (last == std::string_view::npos) return {};
  const std::size_t end = name.find_last_not_of("-_.#", last);
  return name.substr(0, end == std::string_view::npos ? 0 : end + 1);
}

std::uint64_t shape_of(const Job& job) {
  const auto magnitude = [](double amount) {
    return amount <= 0 ? std::uint64_t{0}
                       : static_cast<std::uint64_t>(std::lround(std::log2(amount)) + 1000);
  };
  Fnv hash;
  hash.add(magnitude(static_cast<double>(job.task_count())));
  if (!job.tasks.empty()) {
    const Resources asked = counted_demand(job.tasks.front());
    for (const double amount : asked.amounts()) hash.add(magnitude(amount));
  }
  return hash.value();
}

double median_of(std::vector<double> values) {
  MUSTER_CHECK(!values.empty(), "something has a median");
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 == 1) return *middle;
  return (*middle + *std::max_element(values.begin(), middle)) / 2;
}

}  // namespace muster
