#include "replay/metrics/note_figures.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

namespace muster::metrics {
namespace {

using testing::ElementsAre;
using testing::Pair;

Event round(RoundNote note, std::uint32_t cell = 0, std::uint64_t quiet = 0) {
  Event event{Instant{}, RoundDecided{1, std::move(note), quiet}};
  event.cell = cell;
  return event;
}

NoteFigures counted(const std::vector<Event>& events) {
  NoteCount count;
  for (const Event& event : events) count.see(event);
  return count.finish();
}

TEST(NoteFigures, of_a_figure_are_its_mean_and_bounds_over_the_rounds_that_have_it) {
  const NoteFigures notes =
      counted({round({"", {{"gain_usd_h", 2}, {"p", 0.5}}}), round({"", {}}),
               round({"", {{"gain_usd_h", -1}}}, 1), round({"", {{"gain_usd_h", 5}}})});
  ASSERT_EQ(notes.figures.size(), 2u);
  const NoteFigure* gain = notes.find("gain_usd_h");
  ASSERT_NE(gain, nullptr);
  EXPECT_EQ(gain->rounds, 3u);
  EXPECT_DOUBLE_EQ(gain->mean, 2);
  EXPECT_EQ(gain->least, -1);
  EXPECT_EQ(gain->most, 5);
  EXPECT_EQ(notes.figures[1].name, "p");
  EXPECT_EQ(notes.find("q"), nullptr);
}

TEST(NoteFigures, a_quiet_round_chooses_what_the_one_before_it_in_its_cell_chose) {
  const NoteFigures notes =
      counted({round({"full", {{"p", 1}}}), round({"partial", {}}, 1), round({"partial", {}}, 0, 3),
               round({"", {}}, 1, 2), round({"full", {}}, 1, 5)});
  EXPECT_THAT(notes.rounds_by_choice, ElementsAre(Pair("full", 5), Pair("partial", 4)));
  EXPECT_EQ(notes.find("p")->rounds, 1u) << "its figures are not known";
  EXPECT_DOUBLE_EQ(*notes.share_of("full", "partial"), 5.0 / 9);
  EXPECT_DOUBLE_EQ(*notes.share_of("full", "alone"), 1);
  EXPECT_EQ(notes.share_of("packed", "alone"), std::nullopt);
}

TEST(NoteFigures, what_is_no_number_is_left_out) {
  const NoteFigures notes =
      counted({round({"", {{"a", std::numeric_limits<double>::infinity()}, {"b", std::nan("")}}})});
  EXPECT_TRUE(notes.figures.empty());
}

TEST(NoteFigures, of_a_policy_that_makes_up_names_are_bounded) {
  std::vector<Event> events;
  for (int i = 0; i < 1000; ++i) {
    const std::string name = std::to_string(i);
    events.push_back(round({name, {{name, 1.0}}}));
  }
  events.push_back(round({"0", {{"0", 3.0}}}));
  const NoteFigures notes = counted(events);
  EXPECT_EQ(notes.figures.size(), NoteCount::kMostFigures);
  EXPECT_EQ(notes.find("0")->mean, 2) << "those that are known go on";
  EXPECT_EQ(notes.rounds_by_choice.size(), NoteCount::kMostChoices + 1);
  EXPECT_EQ(notes.rounds_by_choice.at("0"), 2u);
  EXPECT_EQ(notes.rounds_by_choice.at(NoteCount::kOtherChoices), 1000 - NoteCount::kMostChoices);
}

TEST(UnitIn, a_name_says_its_unit_last) {
  const auto shown = [](std::string_view name) {
    const auto unit = unit_in(name);
    return unit ? unit->name + "|" + unit->unit : "-";
  };
  EXPECT_EQ(shown("gain_usd_h"), "gain|$/h");
  EXPECT_EQ(shown("gain_usd"), "gain|$");
  EXPECT_EQ(shown("spot gain_usd"), "spot gain|$");
  EXPECT_EQ(shown("wait_s"), "wait|s");
  EXPECT_EQ(shown("search_ms"), "search|ms");
  EXPECT_EQ(shown("moved_share"), "moved|%");
  EXPECT_EQ(shown("waiting_tasks"), "waiting|tasks");
  for (const char* name : {"S_F", "M_P", "D", "lambda", "tasks", "mean_DV", "_s", ""}) {
    EXPECT_EQ(shown(name), "-") << name;
  }
}

}  // namespace
}  // namespace muster::metrics
