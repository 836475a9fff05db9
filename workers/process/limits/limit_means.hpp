#pragma once

#include <cstdint>
#include <string_view>

namespace muster::process {

/// How attempts are kept within what they are granted and how all that they started is ended.
enum class LimitMeans : std::uint8_t {
  cgroup2,       ///< a group of its own with limits on processor, memory and processes
  cgroup2_kill,  ///< a group of its own without limits; memory is watched
  subreaper,     ///< no group: descendants are followed, memory is watched
};

/// The last of them; they count from 0.
constexpr LimitMeans last_of(LimitMeans) {
  return LimitMeans::subreaper;
}

constexpr std::string_view name_of(LimitMeans means) {
  switch (means) {
    case LimitMeans::cgroup2:
      return "cgroup2";
    case LimitMeans::cgroup2_kill:
      return "cgroup2-kill + memory watch";
    case LimitMeans::subreaper:
      return "subreaper + memory watch";
  }
  return "";
}

}  // namespace muster::process
