#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace muster {

/// A number for people: rounded to `digits` digits behind its leading zeros, without an exponent
/// and without zeros at its end: "0.5", "16150". Whole numbers keep all of their digits.
std::string rounded_text(double value, int digits = 6);

/// A count with its noun: "1 task", "2 tasks".
std::string count_text(std::uint64_t count, std::string_view noun);

}  // namespace muster
