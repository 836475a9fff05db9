#include "serve/node/decision_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <optional>
#include <string_view>

#include "model/rounded_text.hpp"
#include "serve/node/size_words.hpp"

// Words for the choices and figures that policies note (schedulers/). The table is for readers
// only: a figure that it lacks is shown under its own name, so that a new policy needs no change
// here.

namespace muster {
namespace {

/// A policy's word and what it says to a reader. In the words of a figure {} is its value.
struct Words {
  std::string_view name;
  std::string_view text;
};

constexpr std::array kChoices{
    Words{"full", "Reconfigures all instances"},
    Words{"partial", "Reconfigures only what has changed"},
    Words{"fleet", "Places on the fleet that there is"},
    Words{"event", "Acts on what has just happened"},
    Words{"recompute", "Uses newly computed widths"},
    Words{"repartition", "Distributes the tasks anew"},
    Words{"timed tasks", "Packs tasks by how long they will run"},
    Words{"at once", "Places what has come at once"},
    Words{"packed", "Packs complementary tasks together"},
    Words{"alone", "Places each task by itself"},
    Words{"genetic", "Searches the allocations of all jobs"},
    Words{"local", "Improves the allocations of single jobs"},
};

enum class Unit : std::uint8_t { usd, usd_h, seconds, share, number };

struct FigureWords {
  std::string_view name;
  Unit unit;
  std::string_view text;
  std::string_view of_one{};  ///< the text of a value of 1, where it is another one
};

constexpr std::array kFigures{
    FigureWords{"S_F", Unit::usd_h, "reconfiguring all would save {}"},
    FigureWords{"M_F", Unit::usd, "with migrations for {}"},
    FigureWords{"S_P", Unit::usd_h, "reconfiguring a part would save {}"},
    FigureWords{"M_P", Unit::usd, "with migrations for {}"},
    FigureWords{"D", Unit::seconds, "the new configuration is expected to last {}"},
    FigureWords{"lambda", Unit::number, "jobs come and go {} times a second"},
    FigureWords{"p", Unit::share, "{} of such events lead to a full reconfiguration"},
    FigureWords{"value_usd_h", Unit::usd_h, "the new distribution is worth {}"},
    FigureWords{"greedy_usd_h", Unit::usd_h, "placing one by one would be worth {}"},
    FigureWords{"repartitions", Unit::number, "{} distributions tried", "{} distribution tried"},
    FigureWords{"place_usd_h", Unit::usd_h, "a place under the cap on instances is worth {}"},
    FigureWords{"steps", Unit::number, "{} steps of search", "{} step of search"},
    FigureWords{"timed_packed", Unit::number, "{} packed by run time"},
    FigureWords{"timed_moved", Unit::number, "{} moved for it"},
    FigureWords{"packed", Unit::number, "{} packed beside others"},
    FigureWords{"mean_DV", Unit::number, "tasks together deviate by {} on average"},
    FigureWords{"waiting", Unit::number, "{} tasks still wait", "{} task still waits"},
    FigureWords{"moved", Unit::number, "{} moved by the policy's own wish"},
    FigureWords{"cleared", Unit::number, "{} instances cleared", "{} instance cleared"},
    FigureWords{"wanted", Unit::number, "jobs want {} GPUs", "jobs want {} GPU"},
    FigureWords{"budget", Unit::number, "the budget allows {} GPUs", "the budget allows {} GPU"},
    FigureWords{"load", Unit::number, "arriving jobs need at least {}"},
    FigureWords{"load_planned_for", Unit::number, "{} with the load assumed before"},
    FigureWords{"planned_gpus", Unit::number, "the plan is for {} GPUs", "the plan is for {} GPU"},
    FigureWords{"planned_jct_s", Unit::seconds, "a job is expected to take {}"},
    FigureWords{"placed", Unit::number, "{} placed"},
    FigureWords{"kept", Unit::number, "{} kept where they are"},
    FigureWords{"services_placed", Unit::number, "{} replicas placed", "{} replica placed"},
    FigureWords{"services_rented", Unit::number, "{} instances rented for services",
                "{} instance rented for services"},
    FigureWords{"services_moved", Unit::number, "{} replicas moved to clear an instance",
                "{} replica moved to clear an instance"},
};

/// As the commands print money.
std::string usd_text(double usd) {
  if (usd != 0 && std::abs(usd) < 0.00005) return "<$0.0001";
  constexpr double kLarge = 10;
  return fmt::format("{}${:.{}f}", usd < 0 ? "-" : "", std::abs(usd),
                     std::abs(usd) < kLarge ? 4 : 2);
}

/// Digits of a number that is no money.
constexpr int kDigits = 4;

std::string length_text(double seconds) {
  if (seconds < 60) return rounded_text(seconds, 3) + " s";
  if (seconds < 3600) return rounded_text(seconds / 60, 3) + " min";
  return rounded_text(seconds / 3600, 3) + " h";
}

std::string value_text(Unit unit, double value) {
  if (!std::isfinite(value)) return "an unknown amount";
  switch (unit) {
    case Unit::usd:
      return usd_text(value);
    case Unit::usd_h:
      return usd_text(value) + " an hour";
    case Unit::seconds:
      return length_text(value);
    case Unit::share:
      return rounded_text(value * 100, 3) + " %";
    case Unit::number:
      break;
  }
  return rounded_text(value, kDigits);
}

/// Prefix of figures that a policy noted for spot instances alone (schedulers/market_split.cpp).
constexpr std::string_view kSpotFigure = "spot ";
constexpr std::string_view kSpotChoice = "; spot: ";

/// Figure that the policy `muster` notes for itself: whether the round is to be held again (its
/// memory.hpp).
constexpr std::string_view kAgain = "again";
constexpr double kUnfinished = 2;

/// Behind the choice of a policy that has placed services before all else
/// (schedulers/lrasched/lrasched_policy.cpp).
constexpr std::string_view kServicesChoice = "; services";

/// The words for the figure; null: it has no words.
const FigureWords* words_for(std::string_view figure) {
  const auto known = std::find_if(kFigures.begin(), kFigures.end(),
                                  [&](const FigureWords& one) { return one.name == figure; });
  return known != kFigures.end() ? &*known : nullptr;
}

std::string figure_text(const FigureView& figure) {
  if (figure.name == kAgain) return "it goes on in the next round, as time was short for all";
  if (figure.name.starts_with(kSpotFigure)) {
    return "on spot " + figure_text({figure.name.substr(kSpotFigure.size()), figure.value});
  }
  // Shares of tasks and counts of them have one name with two policies; a share has a fraction.
  const FigureWords* known = words_for(figure.name);
  if (known == nullptr) {
    std::string name = figure.name;
    std::replace(name.begin(), name.end(), '_', ' ');
    return name + " " + value_text(Unit::number, figure.value);
  }
  const bool is_share = known->name == "packed" && figure.value < 1;
  const std::string value = value_text(is_share ? Unit::share : known->unit, figure.value);
  const bool is_one = figure.value == 1 && !known->of_one.empty();
  const std::string_view text = is_one ? known->of_one : known->text;
  const std::size_t place = text.find("{}");
  return fmt::format("{}{}{}", text.substr(0, place), value, text.substr(place + 2));
}

/// Of a figure that has words 0 is that nothing was done or gained; of another one it may be all
/// that there is to say.
bool says_nothing(const FigureView& figure) {
  std::string_view name = figure.name;
  if (name.starts_with(kSpotFigure)) name.remove_prefix(kSpotFigure.size());
  if (name == kAgain) return figure.value < kUnfinished;
  return is_of_size(name) || (figure.value == 0 && words_for(name) != nullptr);
}

std::string choice_text(const std::string& choice) {
  if (choice.empty()) return "Decides";
  if (choice.ends_with(kServicesChoice)) {
    return choice_text(choice.substr(0, choice.size() - kServicesChoice.size())) +
           ", with services";
  }
  if (const std::size_t at = choice.find(kSpotChoice); at != std::string::npos) {
    return fmt::format("{} (on spot: {})", choice_text(choice.substr(0, at)),
                       choice_text(choice.substr(at + kSpotChoice.size())));
  }
  const auto known = std::find_if(kChoices.begin(), kChoices.end(),
                                  [&](const Words& one) { return one.name == choice; });
  return known == kChoices.end() ? fmt::format("Chooses \"{}\"", choice) : std::string(known->text);
}

/// "launches 1 instance, moves 2 tasks"
std::string changes_text(const DecisionView& decision) {
  std::string text;
  const auto add = [&](std::string_view verb, std::uint32_t count, std::string_view what) {
    if (count == 0) return;
    text += fmt::format("{}{} {} {}{}", text.empty() ? "" : ", ", verb, count, what,
                        count == 1 ? "" : "s");
  };
  add("launches", decision.launches, "instance");
  add("places", decision.placements, "task");
  add("moves or stops", decision.moves, "task");
  add("resizes", decision.resizes, "job");
  add("releases", decision.releases, "instance");
  return text.empty() ? "changes nothing" : text;
}

/// Changes that a sentence names one by one.
constexpr std::size_t kMostNamed = 10;

/// "instance 5 (c7i.large, spot, $0.0357 an hour)"
std::string instance_text(const ChangeView& change) {
  if (!change.instance.valid()) return "other instances";
  std::string text = fmt::format("instance {}", change.instance.value);
  std::string about = change.instance_type;
  if (change.market)
    about += fmt::format("{}{}", about.empty() ? "" : ", ", name_of(*change.market));
  if (change.usd_h) about += fmt::format(", {} an hour", usd_text(*change.usd_h));
  return about.empty() ? text : fmt::format("{} ({})", text, about);
}

/// "task 2 of job 4 (count)", "3 tasks of job 4 (count)"
std::string tasks_text(const ChangeView& change) {
  const std::string job = change.name.empty()
                              ? fmt::format("job {}", change.job.value)
                              : fmt::format("job {} ({})", change.job.value, change.name);
  if (change.tasks != 1) return fmt::format("{} of {}", count_text(change.tasks, "task"), job);
  return fmt::format("task {} of {}", change.task.value_or(0), job);
}

/// The change without its reason.
std::string change_text(const ChangeView& change) {
  switch (change.change) {
    case ChangeKind::rent:
      return "rents " + instance_text(change);
    case ChangeKind::give_back:
      return "gives back " + instance_text(change);
    case ChangeKind::place:
      return fmt::format("puts {} on {}", tasks_text(change), instance_text(change));
    case ChangeKind::move:
      if (!change.from.valid()) return fmt::format("moves {} elsewhere", tasks_text(change));
      return fmt::format("moves {} from instance {} to {}", tasks_text(change), change.from.value,
                         instance_text(change));
    case ChangeKind::restart:
      return fmt::format("starts {} again on {}", tasks_text(change), instance_text(change));
    case ChangeKind::stop:
      return change.from.valid()
                 ? fmt::format("stops {} on instance {}", tasks_text(change), change.from.value)
                 : fmt::format("takes {} off {}", tasks_text(change),
                               change.tasks == 1 ? "its place" : "their places");
    case ChangeKind::resize:
      return fmt::format("gives job {} ({}) {}", change.job.value, change.name,
                         count_text(change.width.value_or(0), "worker"));
  }
  return "does what this version has no word for";
}

}  // namespace

std::string details_of(const DecisionView& decision) {
  std::string text = fmt::format("{}: {}", choice_text(decision.choice), changes_text(decision));
  std::string_view before = "; ";
  for (const FigureView& figure : decision.figures) {
    if (says_nothing(figure)) continue;
    text += fmt::format("{}{}", before, figure_text(figure));
    before = ", ";
  }
  for (const std::string& size : words_of_sizes(decision.figures)) text += "; " + size;
  return text + ".";
}

std::string sentence_of(const DecisionView& decision) {
  const auto sentence = [](std::string text) {
    text.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(text.front())));
    return text + ".";
  };
  // A master of an earlier version counts its changes and does not name them.
  if (decision.changes.empty()) return sentence(changes_text(decision));
  std::string text;
  std::string_view why;
  const std::size_t named = std::min(decision.changes.size(), kMostNamed);
  for (std::size_t i = 0; i < named; ++i) {
    const ChangeView& change = decision.changes[i];
    // Changes that follow from one reason say it once.
    if (!text.empty() && change.why != why) text += fmt::format(": {}", why);
    if (!text.empty()) text += "; ";
    text += change_text(change);
    why = change.why;
  }
  if (!why.empty()) text += fmt::format(": {}", why);
  const std::size_t others = decision.changes.size() - named + decision.changes_left_out;
  if (others > 0) text += fmt::format("; and {}", count_text(others, "further change"));
  return sentence(std::move(text));
}

}  // namespace muster
