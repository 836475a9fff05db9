#include "schedulers/muster/company.hpp"

#include <algorithm>
#include <cmath>

namespace muster::own {

void Company::add(ClassId cls, std::size_t tasks, double work) {
  auto of_class = std::ranges::find(classes_, cls, &OfClass::cls);
  if (of_class == classes_.end()) of_class = classes_.insert(classes_.end(), OfClass{cls});
  const auto more = static_cast<double>(tasks);
  of_class->tasks += more;
  of_class->work += more * work;
}

double Company::log_of(ClassId cls, const PairRates& rates) const {
  double log = 0;
  for (const OfClass& other : classes_) log += other.tasks * rates.log_rate(cls, other.cls);
  return log;
}

double Company::lost_by(ClassId cls, double work, const PairRates& rates) const {
  double lost = work * (1 - std::exp(log_of(cls, rates)));
  for (const OfClass& other : classes_) lost += other.work * (1 - rates.rate(other.cls, cls));
  return lost;
}

double Company::done(const PairRates& rates) const {
  double done = 0;
  for (const OfClass& one : classes_) {
    // A task is not its own neighbour.
    done += one.work * std::exp(log_of(one.cls, rates) - rates.log_rate(one.cls, one.cls));
  }
  return done;
}

}  // namespace muster::own
