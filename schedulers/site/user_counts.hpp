#pragma once

#include <algorithm>
#include <cstddef>
#include <map>
#include <string>

namespace muster {

/// How many of something each user has.
class UserCounts {
 public:
  void add(const std::string& user) { ++counts_[user]; }
  /// One that was added is gone.
  void take(const std::string& user) {
    const auto of_user = counts_.find(user);
    if (--of_user->second == 0) counts_.erase(of_user);
  }
  /// With `more` no user of those would have more than `most`.
  bool has_room(const UserCounts& more, std::size_t most) const {
    return std::all_of(more.counts_.begin(), more.counts_.end(), [&](const auto& of_user) {
      const auto there = counts_.find(of_user.first);
      return (there == counts_.end() ? 0 : there->second) + of_user.second <= most;
    });
  }

 private:
  std::map<std::string, std::size_t> counts_;
};

}  // namespace muster
