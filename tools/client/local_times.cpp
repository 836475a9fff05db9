#include <fmt/chrono.h>
#include <fmt/format.h>

#include <ctime>
#include <string>
#include <string_view>

#include "tools/client/views.hpp"

// Points in time, as the reader's clock has them.

namespace muster::client {

std::string in_local_time(std::string text) {
  constexpr std::string_view kForm = "0000-00-00 00:00:00 UTC";
  constexpr std::string_view kMark = " UTC";
  for (std::size_t mark = text.find(kMark); mark != text.npos; mark = text.find(kMark, mark + 1)) {
    const std::size_t begin = mark + kMark.size() - kForm.size();
    if (mark + kMark.size() < kForm.size()) continue;
    std::tm parts{};
    const std::string said = text.substr(begin, kForm.size());
    const char* end = strptime(said.c_str(), "%Y-%m-%d %H:%M:%S UTC", &parts);
    if (end == nullptr || *end != 0) continue;
    const std::string local = time_text(static_cast<double>(timegm(&parts)));
    text.replace(begin, kForm.size(), local);
    mark = begin + local.size() - 1;
  }
  return text;
}

std::string time_text(double seconds) {
  // A day before the last second whose year has four digits, wherever the reader is.
  constexpr double kYear9999 = 253'402'300'799 - 86'400;
  if (!(seconds >= 0 && seconds <= kYear9999)) return "?";
  const auto whole = static_cast<std::time_t>(seconds);
  std::tm parts{};
  if (localtime_r(&whole, &parts) == nullptr) return "?";
  return fmt::format("{:%Y-%m-%d %H:%M:%S}", parts);
}

std::string time_text(Instant at) {
  return time_text(to_seconds(at));
}

}  // namespace muster::client
