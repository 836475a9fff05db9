#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace muster::replay {

/// Rows that a reader did not make jobs of, counted so that no row is lost without a word.
struct LeftOut {
  /// Rows, or jobs, by why they are none: "that did not run".
  std::map<std::string, std::uint64_t, std::less<>> by_reason;
  /// Rows that are wrong and were skipped because that was asked for, by the field that is wrong.
  std::map<std::string, std::uint64_t, std::less<>> bad;
  /// Rows that are jobs but not all that they say, by what is not: "shares of a GPU counted as
  /// whole GPUs".
  std::map<std::string, std::uint64_t, std::less<>> changed;
  std::string first_bad;  ///< the complaint about the first of these

  void add(std::string_view reason, std::uint64_t count = 1);
  void add_bad(std::string_view field, std::string_view complaint);
  void add_change(std::string_view what);
  /// "3 that did not run, 1 without processors left out, 2 bad rows skipped (submit_s 2)"; empty
  /// when all rows are jobs as they are written.
  std::string text() const;
  /// All numbers of rows by what became of them; the field of bad ones behind "bad: ".
  std::map<std::string, std::uint64_t> by_text() const;
};

}  // namespace muster::replay
