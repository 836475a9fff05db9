#include "learning/confusion.hpp"

namespace muster {
namespace {

std::optional<double> share(std::size_t part, std::size_t whole) {
  if (whole == 0) return std::nullopt;
  return static_cast<double>(part) / static_cast<double>(whole);
}

}  // namespace

std::size_t Confusion::actual(JobLength length) const {
  return count(length, JobLength::short_job) + count(length, JobLength::long_job);
}

std::size_t Confusion::predicted(JobLength length) const {
  return count(JobLength::short_job, length) + count(JobLength::long_job, length);
}

std::size_t Confusion::total() const {
  return actual(JobLength::short_job) + actual(JobLength::long_job);
}

std::optional<double> Confusion::accuracy() const {
  return share(count(JobLength::short_job, JobLength::short_job) +
                   count(JobLength::long_job, JobLength::long_job),
               total());
}

std::optional<double> Confusion::precision(JobLength length) const {
  return share(count(length, length), predicted(length));
}

std::optional<double> Confusion::recall(JobLength length) const {
  return share(count(length, length), actual(length));
}

std::optional<double> Confusion::balanced_accuracy() const {
  const auto of_short = recall(JobLength::short_job);
  const auto of_long = recall(JobLength::long_job);
  if (of_short && of_long) return (*of_short + *of_long) / 2;
  return of_short ? of_short : of_long;
}

}  // namespace muster
