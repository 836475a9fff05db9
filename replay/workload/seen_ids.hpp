#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "replay/workload/record_sorter.hpp"

namespace muster::replay {

/// The ids of a trace's rows, of any number within a bound of memory: finds those that stand twice.
class SeenIds {
 public:
  static constexpr std::uint64_t kNoJob = ~std::uint64_t{0};

  /// Where an id stands.
  struct Row {
    std::uint64_t number = 0;  ///< rising
    std::uint32_t line = 0;
    std::uint64_t job = kNoJob;  ///< the number of the job that the row is
  };
  void add(std::uint64_t id, const Row& row);
  void add(std::string_view id, const Row& row);

  /// A row whose id stands in an earlier one.
  struct Repeated {
    std::string id;  ///< the number, or the first bytes of the text between quotes
    std::uint64_t job = kNoJob;
    std::uint32_t line = 0;
    std::uint32_t first_line = 0;
  };
  /// Shows all such rows, in any order. False when a temporary file failed; failure() says why.
  bool each_repeated(const std::function<void(const Repeated&)>& take);
  const std::string& failure() const { return ids_.failure(); }

 private:
  static constexpr std::size_t kMemory = std::size_t{16} << 20;

  RecordSorter ids_{kMemory};
};

}  // namespace muster::replay
