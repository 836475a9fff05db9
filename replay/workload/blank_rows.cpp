#include "replay/workload/blank_rows.hpp"

#include <fmt/format.h>

#include <algorithm>

// Rows of fields with blanks between them, as in the Standard Workload Format. Fields are views
// into the present line.

namespace muster::replay {
namespace {

constexpr std::string_view kBlanks = " \t\r";
/// As long as a row of a CSV file: a job of a million tasks has room in it.
constexpr std::size_t kMaxLineBytes = std::size_t{1} << 26;

}  // namespace

/// Brings the next line into `line_text_`.
bool BlankRows::next_line() {
  if (at_end_) return false;
  line_text_.clear();
  ++line_;
  for (;;) {
    if (rest_.empty()) {
      auto piece = text_.next();
      at_end_ = !piece || piece->empty();
      if (!piece) failure_ = piece.error();
      if (at_end_) return piece && !line_text_.empty();
      rest_ = piece.value();
    }
    const std::size_t end = std::min(rest_.find('\n'), rest_.size());
    line_text_ += rest_.substr(0, end);
    const bool whole = end < rest_.size();
    rest_.remove_prefix(end + (whole ? 1 : 0));
    if (line_text_.size() > kMaxLineBytes) {
      complain("", fmt::format("a line of more than {} bytes", kMaxLineBytes));
      at_end_ = true;
      return false;
    }
    if (whole) return true;
  }
}

bool BlankRows::next() {
  while (next_line()) {
    std::string_view text = line_text_;
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
  const std::optional<double> number = parse_number(text(index));
  if (number && range.contains(*number)) return *number;
  complain(name, fmt::format("has to be {}; it is '{}'", describe(range), brief(text(index))));
  return range.low;
}

std::optional<Moment> BlankRows::moment(std::size_t index, std::string_view name) {
  const auto moment = parse_moment(text(index));
  if (moment) return moment;
  complain(name, fmt::format("has to be {}; it is '{}'", kWantedMoment, brief(text(index))));
  return std::nullopt;
}

void BlankRows::complain(std::string_view name, std::string_view message) {
  errors_.add({file_, line_, 0}, name, message);
}

}  // namespace muster::replay
