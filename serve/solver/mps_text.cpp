#include "serve/solver/mps_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <iterator>

namespace muster {
namespace {

/// Values within this much of a whole number are it: the solver's own tolerance.
constexpr double kWhole = 1e-5;

bool is_bounded(double amount) {
  return std::isfinite(amount);
}

/// E: equal, R: between two, G and L: one bound.
char kind_of(const IntegerProgram::Row& row) {
  if (is_bounded(row.least) && is_bounded(row.most)) return row.least == row.most ? 'E' : 'G';
  return is_bounded(row.most) ? 'L' : 'G';
}

/// Cuts the next word off the line; empty at its end.
std::string_view next_word(std::string_view& line) {
  const std::size_t begin = line.find_first_not_of(" \t\r");
  if (begin == std::string_view::npos) return {};
  line.remove_prefix(begin);
  const std::size_t end = std::min(line.find_first_of(" \t\r"), line.size());
  const std::string_view word = line.substr(0, end);
  line.remove_prefix(end);
  return word;
}

template <class Number>
std::optional<Number> number_in(std::string_view word) {
  Number number{};
  const auto [end, trouble] = std::from_chars(word.data(), word.data() + word.size(), number);
  if (trouble != std::errc{} || end != word.data() + word.size()) return std::nullopt;
  return number;
}

/// "NUMBER NAME VALUE COST"; stars before it mark a value out of its bounds.
bool take_line(std::string_view line, std::vector<std::uint32_t>& values) {
  std::string_view word = next_word(line);
  if (word.empty()) return true;
  if (word == "**" || !number_in<std::uint64_t>(word)) return false;
  word = next_word(line);
  if (!word.starts_with('c')) return false;
  const auto column = number_in<std::size_t>(word.substr(1));
  const auto value = number_in<double>(next_word(line));
  if (!column || *column >= values.size() || !value) return false;
  const double whole = std::nearbyint(*value);
  // Also what is no number is not within it.
  const bool is_whole = std::abs(*value - whole) <= kWhole;
  if (!is_whole || whole < 0 || whole > 4e9) return false;
  values[*column] = static_cast<std::uint32_t>(whole);
  return true;
}

}  // namespace

std::string mps_text(const IntegerProgram& program) {
  std::string text = "NAME MUSTER FREE\nROWS\n N cost\n";
  auto out = std::back_inserter(text);
  for (std::size_t row = 0; row < program.rows.size(); ++row) {
    fmt::format_to(out, " {} r{}\n", kind_of(program.rows[row]), row);
  }
  text += "COLUMNS\n M0 'MARKER' 'INTORG'\n";
  for (std::size_t i = 0; i < program.columns.size(); ++i) {
    const IntegerProgram::Column& column = program.columns[i];
    fmt::format_to(out, " c{} cost {}\n", i, column.cost);
    for (const IntegerProgram::Entry& entry : column.entries) {
      fmt::format_to(out, " c{} r{} {}\n", i, entry.row, entry.amount);
    }
  }
  text += " M1 'MARKER' 'INTEND'\nRHS\n";
  for (std::size_t row = 0; row < program.rows.size(); ++row) {
    const IntegerProgram::Row& of = program.rows[row];
    const double side = kind_of(of) == 'L' ? of.most : of.least;
    if (is_bounded(side) && side != 0) fmt::format_to(out, " rhs r{} {}\n", row, side);
  }
  text += "RANGES\n";
  for (std::size_t row = 0; row < program.rows.size(); ++row) {
    const IntegerProgram::Row& of = program.rows[row];
    if (!is_bounded(of.least) || !is_bounded(of.most) || of.least == of.most) continue;
    fmt::format_to(out, " rng r{} {}\n", row, of.most - of.least);
  }
  text += "BOUNDS\n";
  for (std::size_t i = 0; i < program.columns.size(); ++i) {
    fmt::format_to(out, " UI bnd c{} {}\n", i, program.columns[i].most);
  }
  return text + "ENDATA\n";
}

std::string start_text(const IntegerProgram& program) {
  std::string text = "Stopped - objective value 0\n";
  for (std::size_t i = 0; i < program.start.size(); ++i) {
    if (program.start[i] > 0) {
      fmt::format_to(std::back_inserter(text), "{} c{} {} 0\n", i, i, program.start[i]);
    }
  }
  return text;
}

std::optional<std::vector<std::uint32_t>> values_of(std::string_view solution,
                                                    std::size_t columns) {
  // "Optimal - objective value 3", "Stopped on nodes - ...", "Infeasible - ...".
  const std::size_t head = solution.find('\n');
  if (head == std::string_view::npos) return std::nullopt;
  if (!solution.starts_with("Optimal") && !solution.starts_with("Stopped")) return std::nullopt;
  solution.remove_prefix(head + 1);
  std::vector<std::uint32_t> values(columns, 0);
  while (!solution.empty()) {
    const std::size_t end = solution.find('\n');
    if (!take_line(solution.substr(0, end), values)) return std::nullopt;
    if (end == std::string_view::npos) break;
    solution.remove_prefix(end + 1);
  }
  return values;
}

}  // namespace muster
