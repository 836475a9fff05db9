#pragma once

#include <algorithm>
#include <cstddef>

namespace muster {

/// When to look for what can be forgotten: once there is twice as much as the last look left, so
/// that the looks cost no more than what they look at took to come.
class Forgetting {
 public:
  /// `size` is held now; `forget` drops as much as it can and returns the rest.
  template <class Forget>
  void look(std::size_t there, const Forget& forget) {
    if (there > next_) next_ = std::max(kLeast, 2 * forget());
  }

 private:
  static constexpr std::size_t kLeast = 4096;
  std::size_t next_ = kLeast;
};

}  // namespace muster
