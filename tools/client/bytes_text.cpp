#include "tools/client/bytes_text.hpp"

#include <fmt/format.h>

#include <array>
#include <string_view>

namespace muster::client {

std::string bytes_text(std::uint64_t bytes) {
  constexpr std::uint64_t kStep = 1024;
  constexpr std::array<std::string_view, 6> kUnits = {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  // From here on a rounded number of a unit would have four digits.
  constexpr double kNextUnit = 1023.5;
  constexpr double kNoFraction = 99.95;
  if (bytes < kStep) return fmt::format("{} B", bytes);
  double amount = static_cast<double>(bytes) / kStep;
  std::size_t unit = 0;
  while (amount >= kNextUnit && unit + 1 < kUnits.size()) {
    amount /= kStep;
    ++unit;
  }
  return amount < kNoFraction ? fmt::format("{:.1f} {}", amount, kUnits[unit])
                              : fmt::format("{:.0f} {}", amount, kUnits[unit]);
}

}  // namespace muster::client
