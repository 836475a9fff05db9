#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/event.hpp"

namespace muster::metrics {

/// Mean of a figure of a policy's round notes over a run.
struct NoteFigure {
  std::string name;
  std::uint64_t rounds = 0;  ///< held, with the figure in their note
  double mean = 0, least = 0, most = 0;
};

/// Figures of a policy's round notes over a run, for any policy.
struct NoteFigures {
  std::map<std::string, std::uint64_t> rounds_by_choice;
  std::vector<NoteFigure> figures;  ///< in the order in which they came up

  /// The share of the rounds with this choice among those with it or the other; absent when there
  /// were neither.
  std::optional<double> share_of(const std::string& choice, const std::string& other) const;
  const NoteFigure* find(std::string_view name) const;
};

/// Adds up the notes of a log's rounds.
class NoteCount {
 public:
  /// Bounds for a policy that puts numbers into its words: further choices count as kOtherChoices,
  /// further figures are left out.
  static constexpr std::size_t kMostChoices = 64;
  static constexpr std::size_t kMostFigures = 64;
  static constexpr const char* kOtherChoices = "others";

  void see(const Event& event);
  std::uint64_t rounds() const { return rounds_; }  ///< held, without quiet ones
  NoteFigures finish() const;

 private:
  struct Sum {
    NoteFigure of;
    double sum = 0;
  };

  void count(const std::string& choice, std::uint64_t times);
  void add(const std::string& name, double value);

  std::uint64_t rounds_ = 0;
  std::map<std::uint32_t, std::string> last_choice_;  ///< by cell
  std::map<std::string, std::uint64_t> rounds_by_choice_;
  std::vector<Sum> sums_;
  std::map<std::string, std::size_t, std::less<>> index_;  ///< in sums_
};

/// A figure's name as a table shows it, without its unit, and the unit.
struct NamedUnit {
  std::string name;
  std::string unit;
  int decimals = 2;
  double factor = 1;  ///< from the figure to its unit
};

/// The unit that stands last in a name ("gain_usd_h", "packed_share", "wait_s"); absent when it is
/// not a known one.
std::optional<NamedUnit> unit_in(std::string_view name);

}  // namespace muster::metrics
