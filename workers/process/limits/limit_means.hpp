#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "model/enum_words.hpp"

namespace muster::process {

/// How attempts are kept within what they are granted and how all that they started is ended.
enum class LimitMeans : std::uint8_t {
  cgroup2,       ///< a group of its own with limits on processor, memory and processes
  cgroup2_kill,  ///< a group of its own without limits; memory is watched
  subreaper,     ///< no group: descendants are followed, memory is watched
};
constexpr auto words_of(LimitMeans) {
  using E = LimitMeans;
  return std::to_array<EnumWord<E>>({{E::cgroup2, "cgroup2"},
                                     {E::cgroup2_kill, "cgroup2-kill + memory watch"},
                                     {E::subreaper, "subreaper + memory watch"}});
}

}  // namespace muster::process
