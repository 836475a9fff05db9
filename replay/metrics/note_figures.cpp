#include "replay/metrics/note_figures.hpp"

#include <algorithm>
#include <array>
#include <cmath>

// Counts what policies say of their rounds. Names are the policies' own, so that their number is
// bounded: past kMostChoices choices are counted together, and past kMostFigures a figure is left
// out.

namespace muster::metrics {
namespace {

struct Unit {
  std::string_view ending;
  const char* shown;
  int decimals = 2;
  double factor = 1;
};

/// Longer endings stand before those that they end in.
constexpr std::array kUnits = {
    Unit{"_usd_h", "$/h"},     Unit{"_usd", "$"},   Unit{"_ms", "ms", 3},
    Unit{"_s", "s"},           Unit{"_h", "h"},     Unit{"_share", "%", 1, 100},
    Unit{"_jobs", "jobs", 1},  Unit{"_gib", "GiB"}, Unit{"_tasks", "tasks", 1},
    Unit{"_rounds", "rounds"}, Unit{"_cpu", "cpu"}, Unit{"_instances", "inst.", 1},
};

}  // namespace

std::optional<double> NoteFigures::share_of(const std::string& choice,
                                            const std::string& other) const {
  const auto rounds = [this](const std::string& of) {
    const auto found = rounds_by_choice.find(of);
    return found == rounds_by_choice.end() ? 0.0 : static_cast<double>(found->second);
  };
  const double all = rounds(choice) + rounds(other);
  if (all == 0) return std::nullopt;
  return rounds(choice) / all;
}

const NoteFigure* NoteFigures::find(std::string_view name) const {
  const auto found = std::find_if(figures.begin(), figures.end(),
                                  [&](const NoteFigure& figure) { return figure.name == name; });
  return found == figures.end() ? nullptr : &*found;
}

void NoteCount::see(const Event& event) {
  const auto* decided = std::get_if<RoundDecided>(&event.body);
  if (decided == nullptr) return;
  ++rounds_;
  // A quiet round would have chosen what the one before it chose. Its figures are not known: they
  // may go with the time, so that they are not counted again.
  std::string& last = last_choice_[event.cell];
  count(last, decided->quiet);
  last = decided->note.choice;
  count(last, 1);
  for (const auto& [name, value] : decided->note.figures) add(name, value);
}

void NoteCount::count(const std::string& choice, std::uint64_t times) {
  if (choice.empty() || times == 0) return;
  const auto found = rounds_by_choice_.find(choice);
  if (found != rounds_by_choice_.end()) {
    found->second += times;
  } else if (rounds_by_choice_.size() < kMostChoices) {
    rounds_by_choice_[choice] = times;
  } else {
    rounds_by_choice_[kOtherChoices] += times;
  }
}

void NoteCount::add(const std::string& name, double value) {
  // One infinity would make the mean and the bounds of all rounds say nothing.
  if (!std::isfinite(value)) return;
  const auto [found, is_new] = index_.size() < kMostFigures ? index_.try_emplace(name, sums_.size())
                                                            : std::pair{index_.find(name), false};
  if (found == index_.end()) return;
  if (is_new) sums_.push_back({{name, 0, 0, value, value}, 0});
  Sum& sum = sums_[found->second];
  ++sum.of.rounds;
  sum.sum += value;
  sum.of.least = std::min(sum.of.least, value);
  sum.of.most = std::max(sum.of.most, value);
}

NoteFigures NoteCount::finish() const {
  NoteFigures notes{rounds_by_choice_, {}};
  for (const Sum& sum : sums_) {
    NoteFigure& figure = notes.figures.emplace_back(sum.of);
    figure.mean = sum.sum / static_cast<double>(figure.rounds);
  }
  return notes;
}

std::optional<NamedUnit> unit_in(std::string_view name) {
  for (const Unit& unit : kUnits) {
    // A name that is only an ending has no name left to show.
    if (!name.ends_with(unit.ending) || name.size() == unit.ending.size()) continue;
    name.remove_suffix(unit.ending.size());
    return NamedUnit{std::string(name), unit.shown, unit.decimals, unit.factor};
  }
  return std::nullopt;
}

}  // namespace muster::metrics
