#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "model/job.hpp"

namespace muster {

/// Which jobs of a list somebody asks for: what the text of a query says, the same for masters and
/// sites.
struct JobFilter {
  static constexpr std::uint32_t kUnlessAsked = 100;
  static constexpr std::uint32_t kMost = 10'000;

  bool active = true;
  bool over = true;
  std::string user{};  ///< empty: anybody's
  std::size_t most = kUnlessAsked;

  /// A JSON object with `state` (active, over or all) and `user`, both of which may be left out;
  /// a text that is none asks for all. A limit of 0 is none that was asked for.
  JobFilter(const std::string& text, std::uint32_t limit);

  bool takes(const Job& job) const { return user.empty() || job.user == user; }
};

}  // namespace muster
