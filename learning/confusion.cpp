#include "learning/confusion.hpp"

namespace muster {
namespace {

std::optional<double> share(std::size_t part, std::size_t whole) {
  if (whole == 0) return std::nullopt;
  return static_cast<double>(part) / static_cast<double>(whole);
}

}  // namespace

std::size_t Confusion::actual(JobLength length) const {
  return count(length, JobLength::short_run) + count(length, JobLength::long_run);
}

std::size_t Confusion::predicted(JobLength length) const {
  return count(JobLength::short_run, length) + count(JobLength::long_run, length);
}

std::size_t Confusion::total() const {
  return actual(JobLength::short_run) + actual(JobLength::long_run);
}

std::optional<double> Confusion::accuracy() const {
  return share(count(JobLength::short_run, JobLength::short_run) +
                   count(JobLength::long_run, JobLength::long_run),
               total());
}

std::optional<double> Confusion::precision(JobLength length) const {
  return share(count(length, length), predicted(length));
}

std::optional<double> Confusion::recall(JobLength length) const {
  return share(count(length, length), actual(length));
}

std::optional<double> Confusion::balanced_accuracy() const {
  const auto of_short = recall(JobLength::short_run);
  const auto of_long = recall(JobLength::long_run);
  if (of_short && of_long) return (*of_short + *of_long) / 2;
  return of_short ? of_short : of_long;
}

}  // namespace muster
