#include "learning/model_text.hpp"

#include <array>
#include <charconv>
#include <cmath>
#include <utility>

#include "learning/fnv.hpp"

namespace muster {
namespace {

constexpr std::string_view kMagic = "muster-learnt";

/// Everything before the first `end`, which is taken off together with it; all of it without one.
std::string_view take_until(std::string_view& text, char end) {
  const std::size_t at = text.find(end);
  const std::string_view head = text.substr(0, at);
  text.remove_prefix(at == std::string_view::npos ? text.size() : at + 1);
  return head;
}

template <class Number>
void append(std::string& text, Number value) {
  std::array<char, 32> digits{};
  // The shortest digits that read back as the same number: texts of equal models are equal.
  const auto [end, error] = std::to_chars(digits.data(), digits.data() + digits.size(), value);
  MUSTER_CHECK(error == std::errc{}, "every number fits into 32 characters");
  text.append(digits.data(), end);
}

/// The number that the whole word is.
template <class Number>
bool parse(std::string_view word, Number& value) {
  const char* end = word.data() + word.size();
  const auto [stop, error] = std::from_chars(word.data(), end, value);
  return error == std::errc{} && stop == end && !word.empty();
}

std::string checksum_line(std::string_view content) {
  return "end " + std::to_string(Fnv().add(content).value()) + "\n";
}

Failure<LearnError> damaged(std::string message) {
  return {LearnError::damaged, std::move(message)};
}

}  // namespace

ModelWriter& ModelWriter::line(std::string_view name) {
  if (!text_.empty()) text_ += '\n';
  text_ += name;
  return *this;
}

ModelWriter& ModelWriter::number(double value) {
  // The reader takes no other numbers.
  if (!std::isfinite(value)) value = std::isnan(value) ? 0 : std::copysign(kGreatestLearnt, value);
  text_ += ' ';
  append(text_, value);
  return *this;
}

ModelWriter& ModelWriter::whole(std::uint64_t value) {
  text_ += ' ';
  append(text_, value);
  return *this;
}

std::string ModelWriter::text() && {
  if (!text_.empty()) text_ += '\n';
  return std::move(text_);
}

void ModelReader::fail(const std::string& what) {
  if (ok()) error_ = "line " + std::to_string(number_) + ": " + what;
  // Nothing further is read: the first fault is the one to tell.
  rest_ = line_ = {};
}

std::string_view ModelReader::word() {
  return take_until(line_, ' ');
}

bool ModelReader::line(std::string_view name) {
  if (!ok()) return false;
  if (!line_.empty()) fail("more words than there should be");
  if (ok()) {
    ++number_;
    line_ = take_until(rest_, '\n');
    if (word() != name) fail("should be '" + std::string(name) + "'");
  }
  return ok();
}

double ModelReader::number(double low, double high) {
  double value = low;
  if (ok() && (!parse(word(), value) || !(value >= low && value <= high))) {
    fail("a number is missing or out of its range");
    return low;
  }
  return value;
}

std::uint64_t ModelReader::whole(std::uint64_t low, std::uint64_t high) {
  std::uint64_t value = low;
  if (ok() && (!parse(word(), value) || value < low || value > high)) {
    fail("a whole number is missing or out of its range");
    return low;
  }
  return value;
}

bool ModelReader::finish() {
  if (ok() && (!line_.empty() || !rest_.empty())) fail("more follows than there should be");
  return ok();
}

std::string seal_model(std::string_view kind, unsigned version, std::string_view text) {
  std::string sealed(kMagic);
  sealed.append(" ").append(kind).append(" ").append(std::to_string(version)).append("\n");
  sealed += text;
  return sealed + checksum_line(sealed);
}

Expected<std::string_view, LearnError> open_model(std::string_view kind, unsigned version,
                                                  std::string_view sealed) {
  std::string_view text = sealed;
  std::string_view head = take_until(text, '\n');
  if (take_until(head, ' ') != kMagic || take_until(head, ' ') != kind) {
    return damaged("line 1: should be '" + std::string(kMagic) + " " + std::string(kind) +
                   "' and a version");
  }
  unsigned written = 0;
  if (!parse(head, written)) return damaged("line 1: the version should be a whole number");
  if (written != version) {
    return Failure<LearnError>{LearnError::other_version,
                               "line 1: is of version " + std::to_string(written) +
                                   "; this Muster reads version " + std::to_string(version)};
  }
  // Searched from the end: the text itself may have such a line.
  const std::size_t end = text.rfind("end ");
  if (end == std::string_view::npos || (end > 0 && text[end - 1] != '\n')) {
    return damaged("the last line should be 'end' and a checksum");
  }
  const std::size_t content = sealed.size() - text.size() + end;
  if (sealed.substr(content) != checksum_line(sealed.substr(0, content))) {
    return damaged("the checksum in the last line is not that of the text");
  }
  return text.substr(0, end);
}

}  // namespace muster
