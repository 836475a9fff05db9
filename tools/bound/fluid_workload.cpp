#include "tools/bound/fluid_workload.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "config/price_series_file.hpp"
#include "model/constraint.hpp"
#include "replay/interference.hpp"
#include "replay/workload/demands_text.hpp"

namespace muster::bound {
namespace {

/// Key of equal tasks: their row in the interference model, and their demands as a text, which
/// is written with all digits, with the constraint of their job.
using KindKey = std::pair<std::uint32_t, std::string>;

Expected<std::vector<FluidType>, NoBound> types_of(const ReplayConfig& config,
                                                   const Catalog& catalog) {
  std::vector<FluidType> types;
  for (const InstanceType& type : catalog.types()) {
    const Price least = std::min(type.on_demand, type.spot.value_or(type.on_demand));
    types.push_back({type.name, type.capacity, least.usd_h()});
  }
  if (config.cloud.provider == "trace") {
    const auto& trace = config.cloud.own.of<TraceCloudSettings>();
    const auto series = load_price_series(trace.prices, catalog);
    if (!series) {
      const bool unreadable = series.error().code == ConfigError::unreadable;
      return Failure<NoBound>{NoBound::bad_input,
                              (unreadable ? "cloud.prices: " : "") + series.error().message};
    }
    for (const PricePoint& step : series->steps) {
      const auto type = catalog.find(step.offering.type);
      if (!type) continue;
      double& least = types[type->value].usd_h;
      least = std::min(least, step.offering.price.usd_h());
    }
  }
  for (const FluidType& type : types) {
    if (type.usd_h > 0) continue;
    return Failure<NoBound>{
        NoBound::not_defined,
        fmt::format("no bound: {} costs nothing at some time, and with it all work", type.name)};
  }
  return types;
}

/// Collects the work of the jobs by kind.
class Kinds {
 public:
  Kinds(const Catalog& catalog, replay::Interference& interference, FluidWorkload& to)
      : catalog_(catalog),
        by_name_(interference.index_of("") != 0),
        interference_(interference),
        to_(to) {}

  void add(const replay::WorkloadJob& job) {
    const std::uint32_t row = interference_.index_of(job.truth.interference);
    for (std::size_t i = 0; i < job.job.tasks.size(); ++i) {
      const double iterations = job.job.gang ? job.truth.iterations : job.truth.work_of(i);
      // Tasks of a job mostly have the same demands: their kind is looked up once.
      if (i == 0 || job.job.tasks[i].demands != job.job.tasks[i - 1].demands) {
        last_ = kind_of(row, job.truth.interference, shape_of(job.job, job.job.tasks[i]));
      }
      rows_[last_].work_h += iterations / job.truth.iterations_per_s / 3600;
      ++rows_[last_].tasks;
    }
  }

  /// Moves what can be hosted and costs something into the problem.
  void finish() {
    to_.problem.rates = rates();
    for (FluidKind& kind : rows_) {
      to_.tasks += kind.tasks;
      const auto hosts = [](const OnType& on) { return on.speed > 0; };
      if (std::none_of(kind.on.begin(), kind.on.end(), hosts)) {
        to_.never_fit += kind.tasks;
      } else if (free_somewhere(kind)) {
        to_.free += kind.tasks;
      } else if (kind.work_h > 0) {
        to_.work_h += kind.work_h;
        to_.alone_usd += kind.work_h * alone_usd_h(kind);
        to_.problem.kinds.push_back(std::move(kind));
      }
    }
  }

 private:
  std::size_t kind_of(std::uint32_t row, const std::string& workload, const Shape& shape) {
    std::string text = replay::demands_text(shape.demands.entries());
    if (!shape.constraint.is_empty()) text += " " + shape.constraint.text();
    const auto [entry, is_new] = known_.try_emplace({row, std::move(text)}, rows_.size());
    if (!is_new) return entry->second;
    FluidKind kind;
    const auto cls = classes_.try_emplace(row, static_cast<std::uint32_t>(classes_.size()));
    kind.cls = cls.first->second;
    kind.name = name_of(workload, entry->first.second);
    for (const InstanceType& type : catalog_.types()) {
      const FamilyDemand* demand = shape.on(type);
      const bool held = demand != nullptr && demand->amount.fits_in(type.capacity);
      kind.on.push_back(held ? OnType{demand->amount, demand->speed} : OnType{});
    }
    rows_.push_back(std::move(kind));
    return entry->second;
  }

  /// Names of workloads stand there where they matter; "any:" says nothing where it is all.
  std::string name_of(const std::string& workload, std::string demands) const {
    constexpr std::string_view kAny = "any:";
    if (demands.starts_with(kAny) && demands.find(';') == std::string::npos) {
      demands.erase(0, kAny.size());
    }
    return by_name_ ? workload + " " + demands : demands;
  }

  /// Any number of such tasks share an instance that somebody else pays for.
  static bool free_somewhere(const FluidKind& kind) {
    return std::any_of(kind.on.begin(), kind.on.end(),
                       [](const OnType& on) { return on.speed > 0 && on.amount == Resources{}; });
  }

  double alone_usd_h(const FluidKind& kind) const {
    double least = std::numeric_limits<double>::infinity();
    for (std::size_t type = 0; type < kind.on.size(); ++type) {
      if (kind.on[type].speed <= 0) continue;
      least = std::min(least, to_.problem.types[type].usd_h / kind.on[type].speed);
    }
    return least;
  }

  PairTable rates() const {
    PairTable rates(static_cast<std::uint32_t>(classes_.size()));
    for (const auto& [row, cls] : classes_) {
      for (const auto& [other_row, other] : classes_) {
        rates.set(cls, other, interference_.pair_at_most(row, other_row));
      }
    }
    return rates;
  }

  const Catalog& catalog_;
  const bool by_name_;  ///< workloads differ in the interference model
  replay::Interference& interference_;
  FluidWorkload& to_;
  std::map<KindKey, std::size_t> known_;
  std::map<std::uint32_t, std::uint32_t> classes_;  ///< rows of the model that occur
  std::vector<FluidKind> rows_;
  std::size_t last_ = 0;
};

}  // namespace

Expected<FluidWorkload, NoBound> fluid_workload(const ReplayConfig& config, const Catalog& catalog,
                                                const replay::JobSource& jobs) {
  if (!config.fleet.parts.empty()) {
    return Failure<NoBound>{NoBound::not_defined,
                            "no bound: master.fleet is fixed, and is paid for until the last job "
                            "is over, whatever a policy does with it"};
  }
  FluidWorkload fluid;
  auto types = types_of(config, catalog);
  if (!types) return types.error();
  fluid.problem.types = std::move(types).value();
  auto interference = replay::make_interference(config.world.interference);
  if (!interference) {
    return Failure<NoBound>{NoBound::bad_input, interference.error().message};
  }
  fluid.interference = interference.value()->is_product();
  fluid.prices_vary = config.cloud.provider == "trace";
  Kinds kinds(catalog, *interference.value(), fluid);
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    const replay::WorkloadJob job = jobs.job(i);
    if (job.truth.service) {
      return Failure<NoBound>{
          NoBound::not_defined,
          fmt::format("no bound: job {} is a service, which a policy may leave without a place",
                      job.job.id.value)};
    }
    kinds.add(job);
  }
  kinds.finish();
  return fluid;
}

}  // namespace muster::bound
