#include "schedulers/packing/programs/hosting_problem.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "schedulers/packing/rounds/assignment.hpp"

namespace muster {
namespace {

class Hosting {
 public:
  Hosting(const ReservationPrices& prices, const std::function<bool(TypeId)>& rests)
      : prices_(prices), rests_(rests) {
    for (const TypeId type : prices.types().by_descending_price()) {
      made_.types.push_back(type);
      const InstanceType& of = prices.types()[type];
      made_.fluid.types.push_back({of.name, of.capacity, prices.types().usd_h(type)});
    }
    made_.fluid.rates = bound::PairTable(1);
  }

  void add(ShapeId shape, const Apart& apart) {
    const auto [entry, is_new] = of_shape_.try_emplace({shape.value, apart.job}, kUnassigned);
    if (is_new) entry->second = kind_of(shape, apart.job);
    const std::uint32_t kind = entry->second;
    made_.kind_of.push_back(kind);
    if (kind == kUnassigned) {
      ++(is_free(shape) ? made_.free : made_.never_fit);
      return;
    }
    bound::FluidKind& of = made_.fluid.kinds[kind];
    of.work_h += 1;
    ++of.tasks;
    of.most = apart ? std::min(apart.most, static_cast<std::uint32_t>(of.tasks)) : of.most + 1;
  }

  HostingProblem take() { return std::move(made_); }

 private:
  /// The job of tasks that are kept apart, and what a task takes of each type that counts.
  using Key =
      std::pair<Slot, std::vector<std::pair<std::size_t, std::array<double, kResourceKinds>>>>;

  bool holds(ShapeId shape, TypeId type) const { return prices_.on(shape, type).fits; }
  bool is_free(ShapeId shape) const {
    return std::ranges::any_of(made_.types, [&](TypeId type) {
      return holds(shape, type) && prices_.on(shape, type).amount == Resources{};
    });
  }

  std::uint32_t kind_of(ShapeId shape, Slot apart) {
    if (is_free(shape)) return kUnassigned;
    // Nor does a counted machine count, of which there may be one, where another type holds it.
    const PricedTypes& types = prices_.types();
    const bool counted = types.counted(prices_.of(shape).type);
    const auto rests = [&](TypeId type) { return rests_(type) || types.counted(type) != counted; };
    const bool any_to_be_had = std::ranges::any_of(
        made_.types, [&](TypeId type) { return holds(shape, type) && !rests(type); });
    bound::FluidKind kind;
    Key key{apart, {}};
    for (std::size_t i = 0; i < made_.types.size(); ++i) {
      const TypeId type = made_.types[i];
      const bool counts = holds(shape, type) && !(any_to_be_had && rests(type));
      const Resources& amount = prices_.on(shape, type).amount;
      kind.on.push_back(counts ? bound::OnType{amount, 1} : bound::OnType{});
      if (counts) key.second.emplace_back(i, amount.amounts());
    }
    if (key.second.empty()) return kUnassigned;
    const auto number = static_cast<std::uint32_t>(made_.fluid.kinds.size());
    const auto [known, is_new] = known_.try_emplace(std::move(key), number);
    if (is_new) {
      made_.fluid.kinds.push_back(std::move(kind));
      made_.shapes.push_back(shape);
    }
    return known->second;
  }

  const ReservationPrices& prices_;
  const std::function<bool(TypeId)>& rests_;
  HostingProblem made_;
  std::map<std::pair<std::uint32_t, Slot>, std::uint32_t> of_shape_;
  std::map<Key, std::uint32_t> known_;
};

}  // namespace

HostingProblem hosting_problem(std::span<const ShapeId> tasks, const ReservationPrices& prices,
                               const std::function<bool(TypeId)>& rests,
                               std::span<const Apart> apart_of) {
  Hosting hosting(prices, rests);
  // Tasks of which all in the problem may be together are like any others: kinds that differ in
  // nothing else are searched through one by one.
  std::map<Slot, std::size_t> peers;
  for (const Apart& apart : apart_of) ++peers[apart.job];
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    const Apart apart = apart_of.empty() ? Apart{} : apart_of[i];
    hosting.add(tasks[i], apart && peers[apart.job] > apart.most ? apart : Apart{});
  }
  return hosting.take();
}

}  // namespace muster
