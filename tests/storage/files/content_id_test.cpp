#include "storage/files/content_id.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "tests/support/golden.hpp"

namespace muster::files {
namespace {

using test::IsGolden;

constexpr const char* kOfAbc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";

TEST(ContentIdTest, is_the_sha256_of_the_content) {
  EXPECT_EQ(ContentId::of("abc").text(), kOfAbc);
  EXPECT_EQ(ContentId::of("").text(),
            "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
}

TEST(ContentIdTest, is_read_back_from_its_text_alone) {
  EXPECT_EQ(ContentId::parse(kOfAbc).value(), ContentId::of("abc"));
  const std::string good = kOfAbc;
  for (const std::string& bad : {std::string{}, good.substr(1), good + "0", "B" + good.substr(1),
                                 "g" + good.substr(1), std::string(64, '\0')}) {
    const auto parsed = ContentId::parse(bad);
    ASSERT_FALSE(parsed) << bad;
    EXPECT_EQ(parsed.error().code, FileError::invalid);
  }
  EXPECT_THAT(ContentId::parse("abc\n").error().message, IsGolden());
}

TEST(ContentIdTest, is_ordered_by_its_bytes) {
  ContentId::Bytes low{}, high{};
  low[31] = 255;
  high[0] = 1;
  EXPECT_LT(ContentId(low), ContentId(high));
}

RC_GTEST_PROP(ContentHasherTest, does_not_see_where_parts_begin, ()) {
  const auto parts = *rc::gen::arbitrary<std::vector<std::string>>();
  ContentHasher hasher;
  for (int round = 0; round < 2; ++round) {
    std::string whole;
    for (const std::string& part : parts) {
      hasher.add(part);
      whole += part;
    }
    RC_ASSERT(hasher.finish() == ContentId::of(whole));
  }
}

}  // namespace
}  // namespace muster::files
