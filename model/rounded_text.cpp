#include "model/rounded_text.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

namespace muster {

std::string rounded_text(double value, int digits) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  // Behind that many decimals an amount of anything is taken for 0.
  constexpr int kMostDecimals = 12;
  const int before_point =
      value == 0 ? 1 : static_cast<int>(std::floor(std::log10(std::abs(value)))) + 1;
  const int decimals = std::clamp(digits - before_point, 0, kMostDecimals);
  std::array<char, 400> digits_of{};  // the largest number has 309 before its point
  const char* const end = std::to_chars(digits_of.data(), digits_of.data() + digits_of.size(),
                                        value, std::chars_format::fixed, decimals)
                              .ptr;
  std::string text(static_cast<const char*>(digits_of.data()), end);
  if (text.find('.') != std::string::npos) {
    text.erase(text.find_last_not_of('0') + 1);
    if (text.back() == '.') text.pop_back();
  }
  return text == "-0" ? "0" : text;
}

std::string count_text(std::uint64_t count, std::string_view noun) {
  return std::to_string(count) + " " + std::string(noun) + (count == 1 ? "" : "s");
}

}  // namespace muster
