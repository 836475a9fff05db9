#include "tools/replay/workload/blank_rows.hpp"

#include <fmt/format.h>

#include <algorithm>

// Rows of fields with blanks between them, as in the Standard Workload Format. Fields are views
// into the text, which is read once as a whole.

namespace muster::replay {
namespace {

constexpr std::string_view kBlanks = " \t\r";

}  // namespace

bool BlankRows::next() {
  while (!rest_.empty()) {
    ++line_;
    const std::size_t end = std::min(rest_.find('\n'), rest_.size());
    std::string_view text = rest_.substr(0, end);
    rest_.remove_prefix(std::min(end + 1, rest_.size()));
    fields_.clear();
    for (;;) {
      text.remove_prefix(std::min(text.find_first_not_of(kBlanks), text.size()));
      if (text.empty()) break;
      const std::size_t size = std::min(text.find_first_of(kBlanks), text.size());
      fields_.push_back(text.substr(0, size));
      text.remove_prefix(size);
    }
    if (!fields_.empty() && fields_[0].front() != comment_) return true;
  }
  return false;
}

double BlankRows::number(std::size_t index, std::string_view name, const NumberRange& range) {
  const std::string_view field = index < fields_.size() ? fields_[index] : std::string_view{};
  const std::optional<double> number = parse_number(field);
  if (number && range.contains(*number)) return *number;
  complain(name, fmt::format("has to be {}; it is '{}'", describe(range), field));
  return range.low;
}

void BlankRows::complain(std::string_view name, std::string_view message) {
  errors_.add({file_, line_, 0}, name, message);
}

}  // namespace muster::replay
