#pragma once

#include <concepts>
#include <cstdint>
#include <type_traits>

namespace muster {

/// The members by which logs and records say how many tasks of a job one instance may have. A bound
/// of 1 is a flag of its own, as it was before there were others.
void most_an_instance_fields(auto& archive, auto& most) {
  static_assert(std::same_as<std::remove_cvref_t<decltype(most)>, std::uint32_t>);
  bool is_one = most == 1;
  std::uint32_t several = is_one ? 0 : most;
  archive.unless_default("distinct_instances", is_one, false);
  archive.unless_default("most_an_instance", several, 0u);
  if constexpr (!std::is_const_v<std::remove_reference_t<decltype(most)>>) {
    most = is_one ? 1 : several;
  }
}

}  // namespace muster
