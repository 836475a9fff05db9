#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <limits>
#include <vector>

#include "model/resources.hpp"

namespace muster {

/// Demands in a row, of which the first is found that fits somewhere without a look at those that
/// do not: a tree of the least that any of a part asks for. An absent demand asks for more than
/// there can be.
class FitTree {
 public:
  static constexpr std::size_t kNone = std::numeric_limits<std::size_t>::max();

  FitTree() = default;
  /// For that number of demands, all absent.
  explicit FitTree(std::size_t count) { reset(count); }

  void reset(std::size_t count) {
    count_ = count;
    width_ = std::bit_ceil(std::max<std::size_t>(1, count));
    least_.assign(2 * width_, nothing());
  }
  /// All of them at first, before build().
  void set(std::size_t at, const Resources& amount) { least_[width_ + at] = amount; }
  void build() {
    for (std::size_t at = width_; --at > 0;) pull(at);
  }
  /// Later on: it is there, and it is not.
  void put(std::size_t at, const Resources& amount) { change(at, amount); }
  void drop(std::size_t at) { change(at, nothing()); }

  /// The first of [from, to) that `fits` accepts, which has to accept every lesser amount, too.
  template <class Fits>
  std::size_t first(std::size_t from, std::size_t to, const Fits& fits) const {
    to = std::min(to, count_);
    return from < to ? first_below({1, 0, width_}, from, to, fits) : kNone;
  }

 private:
  struct Node {
    std::size_t at, begin, count;  ///< below it are `count` demands from `begin` on
  };

  static Resources nothing() {
    Resources never;
    for (Resource kind : kAllResources) never[kind] = std::numeric_limits<double>::infinity();
    return never;
  }
  void pull(std::size_t at) {
    for (Resource kind : kAllResources) {
      least_[at][kind] = std::min(least_[2 * at][kind], least_[2 * at + 1][kind]);
    }
  }
  void change(std::size_t position, const Resources& amount) {
    std::size_t at = width_ + position;
    least_[at] = amount;
    while ((at /= 2) > 0) pull(at);
  }
  template <class Fits>
  std::size_t first_below(const Node& node, std::size_t from, std::size_t to,
                          const Fits& fits) const {
    if (node.begin + node.count <= from || node.begin >= to || !fits(least_[node.at])) return kNone;
    if (node.count == 1) return node.begin;
    const std::size_t half = node.count / 2;
    const std::size_t found = first_below({2 * node.at, node.begin, half}, from, to, fits);
    if (found != kNone) return found;
    return first_below({2 * node.at + 1, node.begin + half, half}, from, to, fits);
  }

  std::size_t count_ = 0, width_ = 1;
  std::vector<Resources> least_;  ///< of each node; the first is unused
};

}  // namespace muster
