#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "schedulers/packing/programs/integer_program.hpp"

namespace muster {

/// The program in free MPS: columns are called c0, c1, ...
std::string mps_text(const IntegerProgram& program);

/// Its known solution, as CBC reads one.
std::string start_text(const IntegerProgram& program);

/// The values of a solution that CBC wrote; nothing when it is no solution, or not in whole
/// numbers: CBC writes what it has, which may be that of a relaxation.
std::optional<std::vector<std::uint32_t>> values_of(std::string_view solution, std::size_t columns);

}  // namespace muster
