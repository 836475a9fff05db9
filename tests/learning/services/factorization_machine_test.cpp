#include "learning/services/factorization_machine.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tests/learning/learnt_text.hpp"
#include "tests/learning/services/reference_data.hpp"

namespace muster {
namespace {

using test::lrasched_json;
using Json = nlohmann::json;

constexpr double kExact = 1e-12;

FmParams params_of(const Json& reference) {
  const Json& hyper = reference["hyper"];
  FmParams params;
  params.factors = reference["factors"];
  params.weights = {hyper["alpha_w"], hyper["beta_w"], hyper["l1_w"], hyper["l2_w"]};
  params.vectors = {hyper["alpha_v"], hyper["beta_v"], hyper["l1_v"], hyper["l2_v"]};
  return params;
}

std::vector<FmFeature> row_of(const Json& pairs) {
  std::vector<FmFeature> row;
  for (const Json& pair : pairs) row.push_back({pair[0], pair[1]});
  return row;
}

void add_all(FactorizationMachine& machine, const Json& factors) {
  for (const Json& each : factors) machine.add(each.get<std::vector<double>>());
}

void expect_state(const FactorizationMachine& machine, const Json& state) {
  EXPECT_NEAR(machine.constant(), state["w0"], kExact);
  ASSERT_EQ(machine.features(), state["w"].size());
  for (std::uint32_t at = 0; at < machine.features(); ++at) {
    EXPECT_NEAR(machine.weight(at), state["w"][at], kExact);
    for (std::uint32_t f = 0; f < machine.params().factors; ++f) {
      EXPECT_NEAR(machine.factor(at, f), state["v"][at][f], kExact);
    }
  }
}

/// Rows of two services, four configurations and a share, as they come from profiles.
FactorizationMachine taught(const FmParams& params) {
  FactorizationMachine machine(params);
  Rng rng(5);
  for (std::uint32_t i = 0; i < 200; ++i) {
    const std::uint32_t service = i % 2, point = i / 2 % 4;
    const std::vector<FmFeature> row{{service, 1}, {2 + point, 1}, {6, 0.5}};
    const double side = service == 0 ? 0.2 : -0.2;
    machine.learn(row, 0.5 + (point % 2 == 0 ? side : -side) + 0.01 * rng.uniform());
  }
  return machine;
}

double greatest_factor(const FactorizationMachine& machine) {
  double greatest = 0;
  for (std::uint32_t at = 0; at < machine.features(); ++at) {
    for (std::uint32_t f = 0; f < machine.params().factors; ++f) {
      greatest = std::max(greatest, std::abs(machine.factor(at, f)));
    }
  }
  return greatest;
}

TEST(FactorizationMachine, takes_the_steps_that_were_worked_out_by_hand_and_for_figure_4) {
  for (const Json& reference : lrasched_json("ftrl_steps.json")) {
    SCOPED_TRACE(reference["name"].get<std::string>());
    FactorizationMachine machine(params_of(reference));
    for (const Json& step : reference["steps"]) {
      if (step.contains("grow")) {
        add_all(machine, step["grow"]);
        continue;
      }
      const auto row = row_of(step["x"]);
      EXPECT_NEAR(machine.predict(row), step["predicted_before"], kExact);
      machine.learn(row, step["y"]);
      EXPECT_NEAR(machine.predict(row), step["predicted_after"], kExact);
      expect_state(machine, step["after"]);
    }
  }
}

TEST(FactorizationMachine, follows_long_runs_of_random_rows) {
  for (const Json& reference : lrasched_json("ftrl_runs.json")) {
    SCOPED_TRACE(reference["name"].get<std::string>());
    FactorizationMachine machine(params_of(reference));
    add_all(machine, reference["initial_v"]);
    for (std::size_t i = 0; i < reference["rows"].size(); ++i) {
      const Json& row = reference["rows"][i];
      EXPECT_NEAR(machine.learn(row_of(row[0]), row[1]), reference["predicted_before"][i], kExact);
    }
    expect_state(machine, reference);
  }
}

TEST(FactorizationMachine, begins_with_factors_of_the_stated_deviation) {
  FmParams params;
  params.sigma = 0.2;
  FactorizationMachine machine(params);
  machine.grow(2000);
  double sum = 0, squares = 0;
  for (std::uint32_t at = 0; at < machine.features(); ++at) {
    EXPECT_EQ(machine.weight(at), 0);
    for (std::uint32_t f = 0; f < params.factors; ++f) {
      sum += machine.factor(at, f);
      squares += machine.factor(at, f) * machine.factor(at, f);
    }
  }
  EXPECT_NEAR(sum / 16000, 0, 0.006);
  EXPECT_NEAR(std::sqrt(squares / 16000), 0.2, 0.005);
}

TEST(FactorizationMachine, learns_which_service_likes_which_configuration) {
  const FactorizationMachine machine = taught({});
  const std::vector<FmFeature> liked{{0, 1}, {2, 1}, {6, 0.5}}, other{{1, 1}, {2, 1}, {6, 0.5}};
  EXPECT_GT(machine.predict(liked) - machine.predict(other), 0.2);
}

TEST(FactorizationMachine, has_no_factors_ever_as_it_is_printed) {
  FmParams params;
  params.printed = {true, true, true};
  const FactorizationMachine printed = taught(params);
  EXPECT_EQ(greatest_factor(printed), 0);
  const std::vector<FmFeature> liked{{0, 1}, {2, 1}, {6, 0.5}}, other{{1, 1}, {2, 1}, {6, 0.5}};
  EXPECT_LT(std::abs(printed.predict(liked) - printed.predict(other)), 0.05)
      << "a sum of weights cannot tell that the services differ in what they like";
  EXPECT_GT(greatest_factor(taught({})), 0.1);
}

TEST(FactorizationMachine, differs_by_the_printed_derivative_for_fractions_alone) {
  FmParams mended, printed;
  mended.sigma = printed.sigma = 0.5;
  printed.printed.gradient = true;
  for (const double share : {1.0, 0.5}) {
    FactorizationMachine one(mended), other(printed);
    const std::vector<FmFeature> row{{0, 1}, {1, share}};
    one.learn(row, 3);
    other.learn(row, 3);
    EXPECT_EQ(one.factor(1, 0) == other.factor(1, 0), share == 1) << share;
  }
}

TEST(FactorizationMachine, shrinks_factors_by_the_weight_as_it_is_printed) {
  FmParams params;
  params.printed.shrinkage = true;
  params.weights.l1 = 0.5;
  FactorizationMachine machine(params);
  const std::vector<FmFeature> row{{0, 1}, {1, 1}};
  machine.learn(row, 0.1);
  EXPECT_EQ(machine.factor(0, 0), 0) << "the weight is 0 still";
  for (int i = 0; i < 10; ++i) machine.learn(row, 1);
  EXPECT_NE(machine.factor(0, 0), 0);
}

TEST(FactorizationMachine, lets_a_feature_begin_anew) {
  FactorizationMachine machine = taught({});
  const double before = machine.factor(0, 0), other = machine.factor(1, 0);
  machine.restart(0);
  EXPECT_EQ(machine.weight(0), 0);
  EXPECT_NE(machine.factor(0, 0), before);
  EXPECT_EQ(machine.factor(1, 0), other);
}

TEST(FactorizationMachine, counts_what_it_does_not_know_for_nothing) {
  const FactorizationMachine machine = taught({});
  const std::vector<FmFeature> known{{0, 1}}, both{{0, 1}, {1000, 1}};
  EXPECT_EQ(machine.predict(known), machine.predict(both));
}

TEST(FactorizationMachine, stays_finite_whatever_it_is_told) {
  FmParams params;
  params.weights.alpha = params.vectors.alpha = 1000;
  FactorizationMachine machine(params);
  const double greatest = std::numeric_limits<double>::max();
  const double none = std::numeric_limits<double>::quiet_NaN();
  Rng rng(3);
  for (int i = 0; i < 3000; ++i) {
    const std::vector<FmFeature> row{{0, greatest}, {1, -greatest}, {2, none}, {3, rng.uniform()}};
    machine.learn(row, i % 2 == 0 ? greatest : none);
    ASSERT_TRUE(std::isfinite(machine.predict(row))) << i;
  }
  EXPECT_TRUE(parse_fm(fm_text(machine)).has_value());
}

TEST(FactorizationMachine, reads_back_as_it_was_and_goes_on_alike) {
  FactorizationMachine machine = taught({});
  auto read = parse_fm(fm_text(machine));
  ASSERT_TRUE(read);
  EXPECT_EQ(read.value(), machine);
  const std::vector<FmFeature> row{{0, 1}, {50, 1}};
  machine.learn(row, 0.3);
  read->learn(row, 0.3);
  EXPECT_EQ(read.value(), machine);
}

TEST(FactorizationMachine, notices_damage_to_its_text) {
  const std::vector<FmFeature> row{{0, 1}, {2, 1}, {6, 0.5}};
  test::expect_damage_is_noticed(fm_text(taught({})), "factorization-machine", parse_fm,
                                 [&](FactorizationMachine machine) {
                                   machine.learn(row, 0.5);
                                   ASSERT_TRUE(std::isfinite(machine.predict(row)));
                                 });
}

TEST(FactorizationMachine, refuses_a_text_of_another_version) {
  ModelWriter out;
  taught({}).write(out);
  const std::string other = seal_model("factorization-machine", 2, std::move(out).text());
  EXPECT_EQ(parse_fm(other).error().code, LearnError::other_version);
}

}  // namespace
}  // namespace muster
