#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace muster::client {

/// Tasks of a job with equal texts, in the order of their first ones.
class TaskGroups {
 public:
  void add(std::uint64_t task, const std::string& what);
  /// A line for each text: "tasks 0-3, 7" and what `words` makes of the text and of whether it is
  /// of one task. Of tasks in more than `most_ranges` ranges the line says the first ones and how
  /// many there are.
  std::string text(const std::function<std::string(const std::string&, bool)>& words,
                   int most_ranges = 6);

 private:
  std::map<std::string, std::size_t> known_;
  std::vector<std::pair<std::string, std::vector<std::uint64_t>>> groups_;
};

}  // namespace muster::client
