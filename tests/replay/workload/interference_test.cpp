#include "replay/interference.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>

#include "config/csv.hpp"
#include "replay/pairwise_interference.hpp"
#include "tests/support/golden.hpp"
#include "tests/support/message_of.hpp"
#include "tests/support/places.hpp"
#include "tests/support/temp_file.hpp"

namespace muster::replay {
namespace {

using muster::test::IsGoldenAt;
using muster::test::message_of;
using muster::test::TempFile;
using testing::DoubleNear;
using testing::ElementsAre;
using testing::HasSubstr;

const std::filesystem::path kSource = muster::test::source_dir();
constexpr double kExact = 1e-12;

InterferenceConfig evas(bool as_generated = false) {
  InterferenceConfig config;
  config.model = "pairwise";
  config.own.of<PairwiseSettings>().matrix =
      kSource / "config/interference/eva-contention-matrix.csv";
  config.own.of<PairwiseSettings>().as_generated = as_generated;
  return config;
}

std::vector<double> together(const InterferenceConfig& config,
                             const std::vector<std::string>& names) {
  const auto model = make_interference(config).value();
  std::vector<std::uint32_t> indexes;
  for (const std::string& name : names) indexes.push_back(model->index_of(name));
  return model->throughput(indexes);
}

/// `count` times `name`.
std::vector<std::string> with(std::vector<std::string> names, std::size_t count,
                              const std::string& name) {
  names.insert(names.end(), count, name);
  return names;
}

auto near(double value) {
  return DoubleNear(value, kExact);
}

std::string error_of_matrix(const std::string& content, bool as_generated = false) {
  const TempFile file("matrix.csv", content);
  InterferenceConfig config = evas(as_generated);
  config.own.of<PairwiseSettings>().matrix = file.path();
  return message_of(make_interference(config), ConfigError::invalid);
}

TEST(NoInterference, LetsEverybodyRunAtFullSpeed) {
  EXPECT_THAT(together({}, {"a", "b", "a"}), ElementsAre(1, 1, 1));
}

TEST(UniformInterference, TakesTheSameShareForEveryNeighbour) {
  InterferenceConfig config;
  config.model = "uniform";
  config.default_pair = 0.9;
  EXPECT_THAT(together(config, {"a"}), ElementsAre(1));
  EXPECT_THAT(together(config, {"a", "b", "c"}), ElementsAre(near(0.81), near(0.81), near(0.81)));
}

TEST(PairwiseInterference, LeavesALoneTaskAlone) {
  EXPECT_THAT(together(evas(), {"gpt2"}), ElementsAre(1));
  EXPECT_THAT(together(evas(true), {"gpt2"}), ElementsAre(1));
  EXPECT_TRUE(together(evas(), {}).empty());
  EXPECT_TRUE(together(evas(true), {}).empty());
}

/// All 45 pairs, in both orders, against what is known of the artifact's map.
TEST(PairwiseInterference, HasAllPairsAsIntendedAndAsGenerated) {
  const auto table = read_csv(kSource / "tests/data/eva-contention-pairs.csv").value();
  ASSERT_EQ(table.rows.size(), 45U);
  for (const CsvRow& row : table.rows) {
    const std::string& a = row.fields[0];
    const std::string& b = row.fields[1];
    const auto value = [&](std::size_t i) { return near(parse_number(row.fields[i]).value()); };
    EXPECT_THAT(together(evas(), {a, b}), ElementsAre(value(2), value(3))) << a << " " << b;
    EXPECT_THAT(together(evas(), {b, a}), ElementsAre(value(3), value(2))) << a << " " << b;
    EXPECT_THAT(together(evas(true), {a, b}), ElementsAre(value(4), value(5))) << a << " " << b;
    EXPECT_THAT(together(evas(true), {b, a}), ElementsAre(value(5), value(4))) << a << " " << b;
  }
}

TEST(PairwiseInterference, MultipliesThePairsOfThree) {
  EXPECT_THAT(together(evas(), {"gpt2", "resnet18", "gcn"}),
              ElementsAre(near(0.793 * 0.999), near(0.919 * 0.835), near(0.981 * 0.915)));
  EXPECT_THAT(together(evas(), {"vit", "a3c", "vit"}),
              ElementsAre(near(0.95 * 0.928), near(0.95 * 0.95), near(0.95 * 0.928)));
}

TEST(PairwiseInterference, TakesTheDefaultForUnknownWorkloadsAndCells) {
  InterferenceConfig config = evas();
  config.default_pair = 0.7;
  EXPECT_THAT(together(config, {"mystery", "gcn", "other"}),
              ElementsAre(near(0.49), near(0.49), near(0.49)));
  EXPECT_THAT(together(config, {"seq", "vit"}), ElementsAre(near(0.7), near(0.7)));
  EXPECT_THAT(together(config, {"seq", "gcn"}), ElementsAre(near(0.992), near(0.953)));
}

RC_GTEST_PROP(PairwiseInterference, DependsOnTheCompanyAndNotOnItsOrder, (bool as_generated)) {
  const auto model = make_interference(evas(as_generated)).value();
  const auto company =
      *rc::gen::container<std::vector<std::uint32_t>>(rc::gen::inRange<std::uint32_t>(0, 10));
  auto shuffled = company;
  std::rotate(shuffled.begin(), shuffled.begin() + static_cast<std::ptrdiff_t>(company.size() / 2),
              shuffled.end());
  std::reverse(shuffled.begin(), shuffled.end());
  const auto values = model->throughput(company);
  const auto others = model->throughput(shuffled);
  RC_ASSERT(values.size() == company.size());
  for (std::size_t i = 0; i < company.size(); ++i) {
    RC_ASSERT(values[i] > 0 && values[i] <= 1);
    const auto same = std::find(shuffled.begin(), shuffled.end(), company[i]) - shuffled.begin();
    RC_ASSERT(values[i] == others[static_cast<std::size_t>(same)]);
  }
}

// Computed in the order gpt2, resnet18, gcn; filed under gcn, gpt2, resnet18.
RC_GTEST_PROP(Interference, NeverExceedsTheProductOfItsPairs, ()) {
  InterferenceConfig config = evas(*rc::gen::arbitrary<bool>());
  config.model = *rc::gen::element<std::string>("none", "uniform", "pairwise");
  const auto model = make_interference(config).value();
  std::vector<std::uint32_t> company;
  const int size = *rc::gen::inRange(1, 12);
  for (int i = 0; i < size; ++i) {
    company.push_back(model->index_of(*rc::gen::element<std::string>(
        "resnet18", "sage", "cyclegan", "gpt2", "gcn", "openfoam", "seq", "a3c", "vit", "new")));
  }
  const std::vector<double> values = model->throughput(company);
  for (std::size_t i = 0; i < company.size(); ++i) {
    double product = 1;
    for (std::size_t j = 0; j < company.size(); ++j) {
      if (j != i) product *= model->pair_at_most(company[i], company[j]);
    }
    RC_ASSERT(values[i] <= product * (1 + kExact));
    if (model->is_product()) RC_ASSERT(values[i] >= product * (1 - kExact));
  }
}

TEST(AsGenerated, FilesTheValuesOfThreeUnderOtherNames) {
  EXPECT_THAT(together(evas(true), {"gpt2", "resnet18", "gcn"}),
              ElementsAre(near(0.919 * 0.835), near(0.981 * 0.915), near(0.793 * 0.999)));
}

// Computed in the order vit, vit, a3c; filed under a3c, vit, vit. The last value is a3c's own.
TEST(AsGenerated, KeepsTheLastValueOfARepeatedName) {
  EXPECT_THAT(together(evas(true), {"vit", "a3c", "vit"}),
              ElementsAre(near(0.95 * 0.95), near(0.928 * 0.95), near(0.95 * 0.95)));
}

// Computed in the order cyclegan, a3c (nine times); filed under a3c (nine times), cyclegan.
TEST(AsGenerated, DoesTheSameForTen) {
  const auto values = together(evas(true), with({"cyclegan"}, 9, "a3c"));
  EXPECT_THAT(values[0], near(std::pow(0.671, 8) * 0.95));
  EXPECT_THAT(values[1], near(std::pow(0.671, 8) * 0.95));
  EXPECT_THAT(values[9], near(std::pow(0.671, 8) * 0.95));
}

// Computed in the order gcn (ten times), a3c; filed under a3c, gcn (ten times).
TEST(AsGenerated, HasAnotherOrderForElevenCpuTasks) {
  const auto values = together(evas(true), with({"a3c"}, 10, "gcn"));
  EXPECT_THAT(values[0], near(std::pow(0.904, 9) * 0.647));
  EXPECT_THAT(values[1], near(std::pow(0.944, 10)));
}

// The pair's values are exchanged: cyclegan 0.97 beside sage, sage 1 beside cyclegan.
TEST(AsGenerated, MultipliesThePairsOfElevenWithAGpuTask) {
  const auto values = together(evas(true), with({"cyclegan"}, 10, "sage"));
  EXPECT_THAT(values[0], near(std::pow(0.97, 10)));
  EXPECT_THAT(values[1], near(std::pow(0.889, 9) * 1.0));
}

TEST(AsGenerated, MultipliesThePairsOfTwentySix) {
  const auto values = together(evas(true), with({"a3c"}, 25, "gcn"));
  EXPECT_THAT(values[0], near(std::pow(0.647, 25)));
  EXPECT_THAT(values[1], near(std::pow(0.904, 24) * 0.944));
}

TEST(AsGenerated, MultipliesThePairsBesideAnUnknownWorkload) {
  EXPECT_THAT(together(evas(true), {"a3c", "gcn", "mystery"}),
              ElementsAre(near(0.647 * 0.95), near(0.944 * 0.95), near(0.95 * 0.95)));
}

TEST(AsGenerated, NeedsTheWorkloadsOfTheArtifact) {
  EXPECT_THAT(error_of_matrix("workload,cyclegan\ncyclegan,0.9\n", true), IsGoldenAt("matrix.csv"));
}

TEST(ContentionMatrix, SaysWhatIsWrongWithTheFile) {
  EXPECT_THAT(error_of_matrix("name,a\na,1\n"), IsGoldenAt("matrix.csv:1: header"));
  EXPECT_THAT(error_of_matrix("workload,a,b\na,1,0\nb,1.5,nan\n"),
              IsGoldenAt("matrix.csv:2: b", "matrix.csv:3: b"));
  EXPECT_THAT(error_of_matrix("workload,a,b\nb,1,1\na,1,1\n"),
              IsGoldenAt("matrix.csv:2: workload"));
  EXPECT_THAT(error_of_matrix("workload,a,b\na,1,1\n"), IsGoldenAt("matrix.csv"));
  EXPECT_THAT(error_of_matrix("workload,a,a\na,1,1\na,1,1\n"),
              HasSubstr("matrix.csv:1: header: column 'a' appears twice"));
  EXPECT_EQ(error_of_matrix("workload,a,b\na,1,x\nb,0.5,1\n"), "no error");
}

TEST(ContentionMatrix, NamesAFileThatCannotBeRead) {
  InterferenceConfig config = evas();
  config.own.of<PairwiseSettings>().matrix = "/nonexistent/m.csv";
  EXPECT_EQ(make_interference(config).error().code, ConfigError::unreadable);
}

}  // namespace
}  // namespace muster::replay
