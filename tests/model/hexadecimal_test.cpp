#include "model/hexadecimal.hpp"

#include <gtest/gtest.h>

#include <array>

namespace muster {
namespace {

TEST(Hexadecimal, HasTwoSmallDigitsForEachByte) {
  const std::array<unsigned char, 5> bytes{0x00, 0x09, 0x10, 0xab, 0xff};
  EXPECT_EQ(hexadecimal(bytes), "000910abff");
  EXPECT_EQ(hexadecimal({}), "");
}

}  // namespace
}  // namespace muster
