#include "learning/colocation_table.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <map>
#include <utility>

namespace muster {
namespace {

constexpr ClassId a{0}, b{1}, c{2}, d{3};
using Neighbours = std::vector<ClassId>;

double rate(const ColocationTable& table, ClassId task, Neighbours neighbours) {
  return table.rate(task, neighbours);
}
void record(ColocationTable& table, ClassId task, Neighbours neighbours, double value) {
  table.record(task, neighbours, value);
}

TEST(ColocationTable, expects_the_default_for_each_neighbour_when_nothing_is_recorded) {
  const ColocationTable table(0.9);
  EXPECT_EQ(rate(table, a, {}), 1.0);
  EXPECT_EQ(rate(table, a, {b}), 0.9);
  EXPECT_DOUBLE_EQ(rate(table, a, {b, b, c}), 0.9 * 0.9 * 0.9);
}

TEST(ColocationTable, answers_a_recorded_set_with_the_mean_of_its_observations) {
  ColocationTable table;
  record(table, a, {b, c}, 0.6);
  record(table, a, {b, c}, 0.8);
  EXPECT_DOUBLE_EQ(rate(table, a, {b, c}), 0.7);
  EXPECT_DOUBLE_EQ(rate(table, b, {a, c}), 0.95 * 0.95) << "only the task's own entry is recorded";
}

TEST(ColocationTable, multiplies_pairs_when_the_set_itself_is_not_recorded) {
  ColocationTable table(0.95);
  record(table, a, {b}, 0.8);
  record(table, a, {c}, 0.7);
  EXPECT_DOUBLE_EQ(rate(table, a, {b, c}), 0.8 * 0.7);
  EXPECT_DOUBLE_EQ(rate(table, a, {b, b}), 0.8 * 0.8);
  EXPECT_DOUBLE_EQ(rate(table, a, {b, d}), 0.8 * 0.95) << "unknown pairs count as the default";
  record(table, a, {b, c}, 0.9);
  EXPECT_DOUBLE_EQ(rate(table, a, {b, c, d}), 0.8 * 0.7 * 0.95)
      << "larger sets are made of pairs, not of smaller sets";
}

TEST(ColocationTable, tells_multisets_apart_by_how_often_a_class_occurs) {
  ColocationTable table;
  record(table, a, {a, b}, 0.5);
  EXPECT_DOUBLE_EQ(rate(table, a, {a, b}), 0.5);
  EXPECT_NE(rate(table, a, {b, b}), 0.5);
  EXPECT_EQ(table.recorded(b, Neighbours{a, a}), nullptr) << "nobody observed b in that set";
  record(table, b, {a, a}, 0.4);
  EXPECT_DOUBLE_EQ(rate(table, b, {a, a}), 0.4);
  EXPECT_DOUBLE_EQ(rate(table, a, {a, b}), 0.5);
}

TEST(ColocationTable, keeps_every_bit_of_a_mean_under_equal_observations) {
  ColocationTable table;
  const double value = 0.1 + 0.2 + 0.53;
  record(table, a, {b}, value);
  const std::uint64_t version = table.version();
  for (int i = 0; i < 1000; ++i) record(table, a, {b}, value);
  EXPECT_EQ(rate(table, a, {b}), value);
  EXPECT_EQ(table.version(), version) << "nothing a look-up could notice has changed";
}

TEST(ColocationTable, counts_more_than_full_speed_as_full_speed) {
  ColocationTable table;
  record(table, a, {b}, 1.2);
  EXPECT_EQ(rate(table, a, {b}), 1.0);
}

TEST(ColocationTable, finds_pairs_of_classes_far_apart) {
  ColocationTable table(0.9);
  const ClassId far{5'000'000};
  record(table, a, {far}, 0.3);
  record(table, far, {a}, 0.4);
  EXPECT_EQ(table.pair_rate(a, far), 0.3);
  EXPECT_EQ(table.pair_rate(far, a), 0.4);
  EXPECT_EQ(table.pair_rate(far, far), 0.9);
  EXPECT_DOUBLE_EQ(rate(table, a, {b, far}), 0.9 * 0.3);
}

TEST(ColocationTable, gives_its_entries_in_order_and_can_be_filled_with_them_again) {
  ColocationTable table;
  record(table, b, {}, 1);
  record(table, b, {a, c}, 0.5);
  record(table, a, {d}, 0.25);
  record(table, a, {b}, 0.5);
  record(table, a, {b}, 0.75);
  const std::vector<ColocationEntry> entries = table.entries();
  ASSERT_EQ(entries.size(), 4u);
  EXPECT_EQ(entries[0], (ColocationEntry{a, {b}, 0.625, 2}));
  EXPECT_EQ(entries[1], (ColocationEntry{a, {d}, 0.25, 1}));
  EXPECT_EQ(entries[2], (ColocationEntry{b, {}, 1, 1}));
  EXPECT_EQ(entries[3], (ColocationEntry{b, {a, c}, 0.5, 1}));
  ColocationTable again;
  again.restore(entries);
  EXPECT_EQ(again.entries(), entries);
  EXPECT_EQ(again.pair_rate(a, b), 0.625);
}

// --- attribution of what a multi-task job showed (Eva 4.4) ---

struct Gang {
  ColocationTable table{0.95};
  Neighbours none, one{c}, two{c, d};
  std::vector<GangPlace> places{{a, none}, {a, one}, {a, two}};

  void observe(double value, AttributionRules rules = AttributionRules::paper) {
    table.record_gang(places, value, rules);
  }
  std::size_t count() const { return table.entries().size(); }
};

TEST(Attribution, without_earlier_observations_blames_the_most_crowded_task) {
  Gang gang;
  gang.observe(0.8);
  EXPECT_EQ(gang.count(), 1u);
  EXPECT_EQ(rate(gang.table, a, gang.two), 0.8);
}

TEST(Attribution, blames_the_first_of_equally_crowded_tasks) {
  Gang gang;
  const Neighbours other{d};
  gang.places = {{a, gang.one}, {a, other}};
  gang.observe(0.8);
  EXPECT_EQ(rate(gang.table, a, gang.one), 0.8);
  EXPECT_EQ(gang.count(), 1u);
}

TEST(Attribution, with_a_lower_observation_updates_the_lowest_entry) {
  Gang gang;
  record(gang.table, a, gang.two, 0.5);
  record(gang.table, a, gang.one, 0.7);
  gang.observe(0.9);
  EXPECT_DOUBLE_EQ(rate(gang.table, a, gang.two), 0.7) << "adjusted upwards: the mean of 0.5, 0.9";
  EXPECT_DOUBLE_EQ(rate(gang.table, a, gang.one), 0.7);
}

TEST(Attribution, with_only_higher_observations_blames_the_most_crowded_unknown_task) {
  Gang gang;
  record(gang.table, a, gang.two, 0.9);
  gang.observe(0.6);
  EXPECT_EQ(rate(gang.table, a, gang.two), 0.9);
  EXPECT_EQ(rate(gang.table, a, gang.one), 0.6);
}

TEST(Attribution, by_the_paper_records_nothing_when_every_entry_is_known_and_higher) {
  Gang gang;
  record(gang.table, a, gang.two, 0.9);
  record(gang.table, a, gang.one, 0.8);
  gang.observe(0.6);
  EXPECT_EQ(rate(gang.table, a, gang.two), 0.9);
  EXPECT_EQ(rate(gang.table, a, gang.one), 0.8);
  EXPECT_EQ(gang.count(), 2u) << "a task alone is not to blame";
}

TEST(Attribution, by_the_artifact_may_blame_a_task_alone_and_then_the_lowest_entry) {
  Gang gang;
  record(gang.table, a, gang.two, 0.9);
  record(gang.table, a, gang.one, 0.8);
  gang.observe(0.6, AttributionRules::artifact);
  EXPECT_EQ(rate(gang.table, a, gang.none), 0.6) << "the last unknown entry";
  gang.observe(0.4, AttributionRules::artifact);
  EXPECT_DOUBLE_EQ(rate(gang.table, a, gang.none), 0.5) << "all known, all higher: the lowest";
  EXPECT_EQ(gang.count(), 3u);
}

// --- against the rules written down once more, simply ---

struct PlainTable {
  double t;
  std::map<std::pair<ClassId, Neighbours>, std::vector<double>> seen;

  double rate(ClassId task, const Neighbours& neighbours) const {
    const auto found = seen.find({task, neighbours});
    if (found != seen.end()) {
      double sum = 0;
      for (double value : found->second) sum += value;
      return sum / static_cast<double>(found->second.size());
    }
    if (neighbours.size() == 1) return t;
    double product = 1;
    for (ClassId one : neighbours) product *= rate(task, {one});
    return product;
  }
};

Neighbours some_neighbours() {
  Neighbours result;
  const int count = *rc::gen::inRange(0, 5);
  for (int i = 0; i < count; ++i) result.push_back(ClassId{*rc::gen::inRange(0u, 5u)});
  std::sort(result.begin(), result.end());
  return result;
}

RC_GTEST_PROP(ColocationTable, agrees_with_the_plain_rules, ()) {
  ColocationTable table(0.9);
  PlainTable plain{0.9, {}};
  const int observations = *rc::gen::inRange(0, 60);
  for (int i = 0; i < observations; ++i) {
    const ClassId task{*rc::gen::inRange(0u, 5u)};
    const Neighbours neighbours = some_neighbours();
    const double value = *rc::gen::inRange(0, 101) / 100.0;
    table.record(task, neighbours, value);
    plain.seen[{task, neighbours}].push_back(value);
  }
  for (int i = 0; i < 20; ++i) {
    const ClassId task{*rc::gen::inRange(0u, 5u)};
    const Neighbours neighbours = some_neighbours();
    RC_ASSERT(std::abs(table.rate(task, neighbours) - plain.rate(task, neighbours)) < 1e-12);
  }
  ColocationTable again(0.9);
  again.restore(table.entries());
  RC_ASSERT(again.entries() == table.entries());
}

TEST(ColocationTable, forgets_what_is_recorded_with_classes_that_nobody_knows_any_more) {
  ColocationTable table;
  const ClassId one{1};
  const ClassId two{2};
  const ClassId three{3};
  const auto beside = [](const ClassId& other) { return std::span(&other, 1); };
  table.record(one, beside(two), 0.5);
  table.record(two, beside(three), 0.25);
  table.record(two, beside(one), 0.75);
  table.keep([&](ClassId each) { return each != three; });
  EXPECT_EQ(table.sets(), 1U);
  EXPECT_EQ(table.rate(one, beside(two)), 0.5);
  EXPECT_EQ(table.rate(two, beside(one)), 0.75);
  EXPECT_EQ(table.recorded(two, beside(three)), nullptr);
  EXPECT_EQ(table.entries().size(), 2U);
}

TEST(ColocationTable, finds_each_of_very_many_sets) {
  ColocationTable table;
  const auto mean = [](std::uint32_t i, std::uint32_t j) { return 1.0 / (2 + i + 41 * j); };
  for (std::uint32_t i = 0; i < 40; ++i) {
    for (std::uint32_t j = 0; j < i; ++j) {
      const ClassId other{j};
      table.record(ClassId{i}, std::span(&other, 1), mean(i, j));
    }
  }
  EXPECT_EQ(table.sets(), 40U * 39 / 2);
  for (std::uint32_t i = 0; i < 40; ++i) {
    for (std::uint32_t j = 0; j < i; ++j) {
      const ClassId other{j};
      ASSERT_EQ(table.pair_rate(ClassId{i}, other), mean(i, j));
      ASSERT_EQ(table.pair_rate(other, ClassId{i}), table.default_pair())
          << "that way it never was";
    }
  }
}

TEST(ColocationTable, knows_of_which_sizes_it_has_sets) {
  ColocationTable table;
  EXPECT_FALSE(table.knows_sets_of(2));
  const ClassId two{2};
  table.record(ClassId{1}, std::span(&two, 1), 0.5);
  EXPECT_TRUE(table.knows_sets_of(2));
  EXPECT_FALSE(table.knows_sets_of(1));
  EXPECT_FALSE(table.knows_sets_of(3));
}

TEST(ColocationTable, has_a_new_version_only_when_a_mean_changes) {
  ColocationTable table;
  const ClassId two{2};
  table.record(ClassId{1}, std::span(&two, 1), 0.5);
  const std::uint64_t before = table.version();
  table.record(ClassId{1}, std::span(&two, 1), 0.5, 3);
  EXPECT_EQ(table.version(), before);
  table.record(ClassId{1}, std::span(&two, 1), -1);
  table.record(ClassId{1}, std::span(&two, 1), 0.1, 0);
  EXPECT_EQ(table.version(), before) << "neither is an observation";
  table.record(ClassId{1}, std::span(&two, 1), 0.75, 4);
  EXPECT_GT(table.version(), before);
  EXPECT_EQ(table.rate(ClassId{1}, std::span(&two, 1)), 0.625) << "four of each";
}

TEST(ColocationTable, has_a_default_that_is_a_rate) {
  EXPECT_DEATH(ColocationTable(0), "default rate");
  EXPECT_DEATH(ColocationTable(1.5), "default rate");
  EXPECT_EQ(ColocationTable(1).default_pair(), 1);
}

}  // namespace
}  // namespace muster
