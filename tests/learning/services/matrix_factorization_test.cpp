#include "learning/services/matrix_factorization.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tests/learning/learnt_text.hpp"

namespace muster {
namespace {

/// Values of rows and columns that a sum of biases cannot tell.
double crossed(std::uint32_t row, std::uint32_t column) {
  return row % 2 == column % 2 ? 0.8 : 0.2;
}

MatrixFactorization taught(bool biases) {
  MfParams params;
  params.biases = biases;
  params.l2 = 0;
  MatrixFactorization matrix(4, params);
  for (int row = 0; row < 6; ++row) matrix.grow();
  for (std::uint32_t step = 0; step < 20000; ++step) {
    const std::uint32_t row = step % 6, column = step / 6 % 4;
    matrix.learn(row, column, crossed(row, column));
  }
  return matrix;
}

Expected<MatrixFactorization, LearnError> parse(std::string_view text) {
  return parse_sealed("matrix", 1, text, MatrixFactorization::read);
}

TEST(MatrixFactorization, learns_a_matrix) {
  for (const bool biases : {false, true}) {
    const MatrixFactorization matrix = taught(biases);
    for (std::uint32_t row = 0; row < matrix.rows(); ++row) {
      for (std::uint32_t column = 0; column < matrix.columns(); ++column) {
        EXPECT_NEAR(matrix.predict(row, column), crossed(row, column), 0.05) << biases;
      }
    }
  }
}

TEST(MatrixFactorization, takes_the_step_of_the_descent) {
  MfParams params;
  params.factors = 1;
  params.rate = 0.1;
  params.l2 = 0.5;
  MatrixFactorization matrix(1, params);
  matrix.grow();
  const double before = matrix.predict(0, 0);
  EXPECT_EQ(matrix.learn(0, 0, 1), before);
  // With p q = before, the product after both steps has p and q in a form that is symmetric.
  const double e = 1 - before, kept = 1 - 0.1 * 0.5;
  const double after = matrix.predict(0, 0);
  const double sum_of_squares =
      (after - kept * kept * before - 0.01 * e * e * before) / (kept * 0.1 * e);
  EXPECT_GE(sum_of_squares, 2 * std::abs(before));
  EXPECT_LT(sum_of_squares, 1) << "the factors were drawn with a deviation of 0.1";
}

TEST(MatrixFactorization, says_near_0_of_a_new_row_without_biases_and_the_mean_with_them) {
  MatrixFactorization plain = taught(false), biased = taught(true);
  plain.grow();
  biased.grow();
  EXPECT_LT(std::abs(plain.predict(6, 0)), 0.3);
  EXPECT_NEAR(biased.predict(6, 0), 0.5, 0.3);
}

TEST(MatrixFactorization, lets_a_row_begin_anew) {
  MatrixFactorization matrix = taught(false);
  const double other = matrix.predict(1, 1);
  matrix.restart(0);
  EXPECT_LT(std::abs(matrix.predict(0, 0)), 0.5);
  EXPECT_EQ(matrix.predict(1, 1), other);
}

TEST(MatrixFactorization, stays_finite_whatever_it_is_told) {
  MfParams params;
  params.rate = 1;
  params.sigma = 1;
  MatrixFactorization matrix(2, params);
  matrix.grow();
  for (int i = 0; i < 1000; ++i) {
    matrix.learn(0, 0, i % 2 == 0 ? std::numeric_limits<double>::infinity() : NAN);
    ASSERT_TRUE(std::isfinite(matrix.predict(0, 0)));
  }
}

TEST(MatrixFactorization, reads_back_as_it_was_and_notices_damage) {
  const MatrixFactorization matrix = taught(true);
  const std::string text = sealed_text("matrix", 1, matrix);
  EXPECT_EQ(parse(text).value(), matrix);
  test::expect_damage_is_noticed(text, "matrix", parse, [](MatrixFactorization read) {
    read.grow();
    if (read.columns() > 0) {
      ASSERT_TRUE(std::isfinite(read.learn(0, 0, 0.5)));
    }
  });
}

}  // namespace
}  // namespace muster
