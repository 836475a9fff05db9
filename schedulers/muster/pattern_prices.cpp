#include "schedulers/muster/pattern_prices.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

#include "schedulers/muster/set_values.hpp"
#include "schedulers/packing/bound/quick_duals.hpp"

// The program is solved anew when what is there has changed: so numbers of tasks are taken by their
// order of magnitude, and rates in steps.

namespace muster::own {
namespace {

/// Beyond that number of kinds a program takes too long.
constexpr std::size_t kMostKinds = 64;
/// Looks at one more task for a pattern: about 15 ms.
constexpr std::uint64_t kMostLooks = 400'000;
/// Answers that are kept: tasks come and go, and what is there is mostly what was there before.
constexpr std::size_t kMostAnswers = 64;
constexpr double kRateStep = 0.01;

/// The power of four that is nearest below.
std::uint32_t magnitude(std::uint32_t tasks) {
  return 1U << ((std::bit_width(tasks) - 1) / 2 * 2);
}

/// Rows of the classes in the program's table of rates.
std::map<std::uint32_t, std::uint32_t> rows_of(const auto& kinds) {
  std::map<std::uint32_t, std::uint32_t> rows;
  for (const auto& kind : kinds) rows.emplace(kind.cls, 0);
  std::uint32_t next = 0;
  for (auto& [cls, row] : rows) row = next++;
  return rows;
}

/// The program asks it of every kind.
bool fits_any(const bound::FluidProblem& problem, std::uint32_t kind) {
  for (std::uint32_t type = 0; type < problem.types.size(); ++type) {
    if (bound::fits(problem, {type, {kind}})) return true;
  }
  return false;
}

}  // namespace

/// Nothing is asked of too many kinds.
PatternPrices::Question PatternPrices::ask(const Parts& parts) {
  std::map<Kind, std::uint32_t> counts;
  for (const RoundInput::Task& task : parts.input.tasks()) {
    const TaskRow& row = parts.state.task(task.slot);
    const ReservationPrice& alone = parts.prices.of(row.shape, MarketChoice::on_demand);
    // A kind that counted machines alone hold would leave all others without a price.
    if (!alone.fits() || parts.prices.types().counted(alone.type)) continue;
    ++counts[{row.shape.value, row.cls.value, parts.state.shape_made(row.shape), 0}];
    if (counts.size() > kMostKinds) return {};
  }
  Question asked{parts.prices.version(), {}, {}};
  for (const auto& [kind, tasks] : counts) {
    asked.kinds.push_back(kind);
    asked.kinds.back().tasks = magnitude(tasks);
  }
  const auto rows = rows_of(asked.kinds);
  for (const auto& [one, row] : rows) {
    for (const auto& [other, column] : rows) {
      const double rate = parts.rates.rate(ClassId{one}, ClassId{other});
      asked.rates.push_back(std::max(1, static_cast<int>(std::lround(rate / kRateStep))));
    }
  }
  return asked;
}

PatternPrices::Prices PatternPrices::answer(const Question& asked, const Parts& parts) {
  bound::FluidProblem problem;
  const auto rows = rows_of(asked.kinds);
  const auto classes = static_cast<std::uint32_t>(rows.size());
  problem.rates = bound::PairTable(classes);
  for (std::uint32_t i = 0; i < asked.rates.size(); ++i) {
    problem.rates.set(i / classes, i % classes, std::min(1.0, kRateStep * asked.rates[i]));
  }
  const PricedTypes& types = parts.prices.types();
  std::vector<TypeId> offered;
  for (std::uint32_t i = 0; i < types.size(); ++i) {
    const std::optional<Price> price = types.price(TypeId{i}, Market::on_demand);
    if (!price || types.counted(TypeId{i})) continue;
    offered.push_back(TypeId{i});
    problem.types.push_back({types[TypeId{i}].name, types[TypeId{i}].capacity, price->usd_h()});
  }
  for (const Kind& kind : asked.kinds) {
    bound::FluidKind& to = problem.kinds.emplace_back();
    to.work_h = kind.tasks;
    to.tasks = kind.tasks;
    to.cls = rows.at(kind.cls);
    for (const TypeId type : offered) {
      const ShapeOnType& on = parts.prices.on(ShapeId{kind.shape}, type);
      const double speed = on.fits ? speed_on(parts.prices, ShapeId{kind.shape}, type) : 0;
      to.on.push_back({on.amount, speed});
    }
    if (!fits_any(problem, static_cast<std::uint32_t>(problem.kinds.size() - 1))) return {};
  }
  const bound::QuickDuals found = bound::quick_duals(problem, kMostLooks);
  Prices prices;
  // Types that were not looked at, as there are many, might be cheaper.
  if (!found.settled && found.looks >= kMostLooks) return prices;
  // Where the solver gives up there are no prices.
  for (std::size_t i = 0; i < found.usd_per_work_h.size(); ++i) {
    prices[{asked.kinds[i].shape, asked.kinds[i].cls}] = found.usd_per_work_h[i];
  }
  return prices;
}

void PatternPrices::learn(const Parts& parts) {
  Question asked = ask(parts);
  const auto known = std::ranges::find(answers_, asked, &Answer::asked);
  if (known != answers_.end()) {
    std::rotate(answers_.begin(), known, known + 1);
    return;
  }
  Prices prices = answer(asked, parts);
  answers_.push_front({std::move(asked), std::move(prices)});
  if (answers_.size() > kMostAnswers) answers_.pop_back();
}

std::optional<double> PatternPrices::of(ShapeId shape, ClassId cls) const {
  if (answers_.empty()) return std::nullopt;
  const Prices& prices = answers_.front().usd_h;
  const auto found = prices.find({shape.value, cls.value});
  return found == prices.end() ? std::nullopt : std::optional(found->second);
}

}  // namespace muster::own
