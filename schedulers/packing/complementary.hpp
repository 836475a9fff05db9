#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "model/resources.hpp"
#include "schedulers/packing/index/ordered_index.hpp"

// Packing of tasks that need most what the others need least (HCoop III-D). Demands are shares of
// a reference capacity, so that cores, GiB and devices compare.

namespace muster {

/// Every amount as a share of the reference; 0 of what the reference has not.
Resources normalised(const Resources& amount, const Resources& reference);

/// The component-wise smaller and larger of two.
Resources least_of(const Resources& a, const Resources& b);
Resources most_of(const Resources& a, const Resources& b);

/// The square of the distance, summed over the kinds of resources.
double distance_squared(const Resources& a, const Resources& b);

/// The deviation DV of two normalised demands (equ. 1), which is half their distance squared.
double deviation(const Resources& a, const Resources& b);

/// The sum of the squared distances from their mean, for any number.
double deviation(std::span<const Resources> demands);

/// A task that may be packed.
struct Packable {
  Resources share;                    ///< normalised demand; at most what it takes anywhere
  Resource dominant = Resource::gpu;  ///< the resource with the largest share
  std::uint64_t order = 0;            ///< place in the queue; no two tasks have the same one
  std::uint32_t handle = 0;           ///< the caller's own name for it
};

/// A packable task of the demand.
Packable packable(const Resources& demand, const Resources& reference, std::uint64_t order,
                  std::uint32_t handle);

/// Whether the group and one task more fit together into an instance of some type.
using FitsWith = std::function<bool(std::span<const Packable> group, const Packable& one)>;

/// Limits that the search needs to know in advance: some of these capacities (shares of the
/// reference, one an instance type, those that another one covers may be left out) holds every set
/// that FitsWith allows.
using PackLimits = std::vector<Resources>;

/// Tasks that wait for company. Finds the companion with the largest deviation without looking at
/// all of them: the tasks of one dominant resource are kept along a space-filling curve, and boxes
/// around parts of it say what the best one there can be worth.
class ComplementaryIndex {
 public:
  ComplementaryIndex() = default;
  explicit ComplementaryIndex(const PackLimits& limits, const Resources& reference);

  void insert(const Packable& task);
  /// The task has to be there as it was inserted.
  void erase(const Packable& task);
  std::size_t size() const;

  /// Of the tasks with a dominant resource that is new to the group, and that fit with it, the one
  /// with which the group's deviation is largest; on ties the first in the queue.
  std::optional<Packable> companion(std::span<const Packable> group, const FitsWith& fits) const;

  /// The group of at most `most` that the task begins, itself first. Nothing is erased.
  std::vector<Packable> group_of(const Packable& task, std::size_t most,
                                 const FitsWith& fits) const;

 private:
  struct Box {
    Box() = default;
    explicit Box(const Packable& task)
        : low(task.share), high(task.share), first_order(task.order) {}
    void add(const Box& other);
    friend bool operator==(const Box&, const Box&) = default;

    Resources low, high;
    std::uint64_t first_order = 0;
  };
  struct CurveKey {
    std::uint64_t position = 0;
    std::uint64_t order = 0;
    friend auto operator<=>(const CurveKey&, const CurveKey&) = default;
  };
  using Tree = OrderedIndex<CurveKey, Packable, Box>;
  struct Search;

  static CurveKey key_of(const Packable& task);

  PackLimits limits_;
  Resources slack_;  ///< by how much rounding may err
  std::array<Tree, kResourceKinds> trees_;
};

/// The packing by definition: each task in the order of the queue, unless it is taken, takes the
/// best of those still there, `most` - 1 times. Quadratic; for tests and comparison.
std::vector<std::vector<std::uint32_t>> pack_plainly(std::span<const Packable> queue,
                                                     std::size_t most, const FitsWith& fits);

/// The same groups as pack_plainly, fast; erases what it packs from the index, which has to hold
/// the tasks of the queue and may hold others.
std::vector<std::vector<Packable>> pack_greedily(std::span<const Packable> queue, std::size_t most,
                                                 const FitsWith& fits, ComplementaryIndex& index);

/// Pairs with the largest sum of deviations that there is, instead of the first come the best
/// served: a maximum-weight matching. Its time grows with the cube of the queue's length. Groups in
/// the order of their first tasks.
std::vector<std::vector<Packable>> pack_exactly(std::span<const Packable> queue,
                                                const FitsWith& fits);

}  // namespace muster
