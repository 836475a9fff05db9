#include "actors/link/frame.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "actors/link/frame_outbox.hpp"

namespace muster {
namespace {

std::vector<std::uint64_t> words_of(const FrameBytes& frame) {
  std::vector<std::uint64_t> words((frame.size() - kFrameHeaderBytes) / sizeof(std::uint64_t));
  std::memcpy(words.data(), frame.data() + kFrameHeaderBytes, words.size() * sizeof(std::uint64_t));
  return words;
}

std::optional<std::string> nothing(link_wire::Frame::Reader) {
  return std::nullopt;
}

TEST(FrameTest, BeginsWithTheLengthOfWhatFollows) {
  const FrameBytes frame = credit_frame(5);
  std::array<unsigned char, kFrameHeaderBytes> header{};
  std::memcpy(header.data(), frame.data(), header.size());
  EXPECT_EQ(frame_length(header), frame.size() - kFrameHeaderBytes);
  std::uint32_t credits = 0;
  EXPECT_EQ(read_frame(words_of(frame),
                       [&](link_wire::Frame::Reader read) {
                         credits = read.getCredit();
                         return nothing(read);
                       }),
            std::nullopt);
  EXPECT_EQ(credits, 5u);
}

TEST(FrameTest, IsNotMadeWhenItWouldBeTooLong) {
  const auto fill = [](link_wire::Frame::Builder frame) { frame.initLog().initText(1000); };
  EXPECT_TRUE(make_frame(fill, 1000).empty());
  EXPECT_FALSE(make_frame(fill, 2000).empty());
}

TEST(FrameTest, LengthsThatNoFrameHasAreRefused) {
  EXPECT_EQ(length_problem(8, 64), std::nullopt);
  EXPECT_EQ(length_problem(64, 64), std::nullopt);
  EXPECT_NE(length_problem(0, 64), std::nullopt);
  EXPECT_NE(length_problem(12, 64), std::nullopt);
  EXPECT_NE(length_problem(72, 64), std::nullopt);
  EXPECT_NE(length_problem(0xffffffff, 64), std::nullopt);
}

TEST(FrameTest, BytesThatAreNoMessageAreSaidToBeSo) {
  const std::vector<std::uint64_t> garbage(4, 0xffffffffffffffff);
  EXPECT_NE(read_frame(garbage, nothing), std::nullopt);
  EXPECT_NE(read_frame({}, nothing), std::nullopt);
}

TEST(FrameTest, AListOfVeryManyInAShortMessageIsGivenUp) {
  FrameBytes frame =
      make_frame([](link_wire::Frame::Builder builder) { builder.initHello().initKnown(1); }, 4096);
  std::vector<std::uint64_t> words = words_of(frame);
  bool refused = false;
  // Some word is the list's tag; as one of empty structs there may be any number of them.
  for (std::size_t i = 1; i < words.size() && !refused; ++i) {
    std::vector<std::uint64_t> tried = words;
    tried[i] = std::uint64_t{0x1ffffffc};
    refused = read_frame(tried, [](link_wire::Frame::Reader read) {
                if (!read.isHello()) return std::optional<std::string>();
                std::uint64_t sum = 0;
                for (const auto report : read.getHello().getKnown()) sum += report.getTask();
                return std::optional<std::string>();
              }) != std::nullopt;
  }
  EXPECT_TRUE(refused);
}

TEST(CleanTextTest, KeepsUtf8AndReplacesTheRest) {
  EXPECT_EQ(clean_text("gr\xc3\xbc\xc3\x9f dich", 100), "gr\xc3\xbc\xc3\x9f dich");
  EXPECT_EQ(clean_text("two\nlines\x1b[0m", 100), "two lines [0m");
  EXPECT_EQ(clean_text("\xff\xc0\x80z", 100), "???z");
  EXPECT_EQ(clean_text("\xed\xa0\x80", 100), "???");       // half of a surrogate pair
  EXPECT_EQ(clean_text("\xf4\x90\x80\x80", 100), "????");  // beyond the last character
  EXPECT_EQ(clean_text("\xe2\x82", 100), "??");            // cut off
}

TEST(CleanTextTest, NeverCutsACharacterInTwo) {
  EXPECT_EQ(clean_text("ab\xc3\xbc", 3), "ab");
  EXPECT_EQ(clean_text("ab\xc3\xbc", 4), "ab\xc3\xbc");
}

class FrameOutboxTest : public ::testing::Test {
 protected:
  FrameOutbox make(FrameOutbox::Bounds bounds = {}) {
    return {bounds, [this] { ++wakes_; }};
  }
  int wakes_ = 0;
};

TEST_F(FrameOutboxTest, DropsWhatComesBeforeItIsOpen) {
  FrameOutbox box = make();
  box.grant(1);
  EXPECT_EQ(box.put("x"), FrameOutbox::Put::dropped);
  EXPECT_EQ(box.take(100), "");
  EXPECT_EQ(wakes_, 0);
}

TEST_F(FrameOutboxTest, SendsTheFirstFrameWithoutCreditsAndTheOthersWithThem) {
  FrameOutbox box = make();
  box.open("first ");
  box.put("a");
  box.put("b");
  box.put("c");
  EXPECT_EQ(wakes_, 1);
  EXPECT_EQ(box.take(100), "first ");
  EXPECT_EQ(box.take(100), "");
  EXPECT_TRUE(box.grant(2));
  EXPECT_EQ(wakes_, 2);
  EXPECT_EQ(box.take(100), "ab");
  EXPECT_EQ(box.take(100), "");
  EXPECT_TRUE(box.grant(5));
  EXPECT_EQ(box.take(100), "c");
}

TEST_F(FrameOutboxTest, WhatSteersTheLinkGoesFirstAndWithoutCredits) {
  FrameOutbox box = make();
  box.open("first ");
  box.put("a");
  box.put_steering("steer ");
  EXPECT_EQ(box.take(100), "first steer ");
}

TEST_F(FrameOutboxTest, TakesAboutAsMuchAsIsAskedFor) {
  FrameOutbox box = make();
  box.open("f");
  box.grant(10);
  for (int i = 0; i < 5; ++i) box.put("1234");
  EXPECT_EQ(box.take(6), "f12341234");
  EXPECT_EQ(box.take(6), "12341234");
  EXPECT_EQ(box.take(6), "1234");
}

TEST_F(FrameOutboxTest, SaysWhenItIsFull) {
  FrameOutbox by_frames = make({2, 1000});
  by_frames.open("f");
  EXPECT_EQ(by_frames.put("a"), FrameOutbox::Put::queued);
  EXPECT_EQ(by_frames.put("b"), FrameOutbox::Put::queued);
  EXPECT_EQ(by_frames.put("c"), FrameOutbox::Put::overflow);
  FrameOutbox by_bytes = make({100, 5});
  by_bytes.open("f");
  EXPECT_EQ(by_bytes.put("aaa"), FrameOutbox::Put::queued);
  EXPECT_EQ(by_bytes.put("bbb"), FrameOutbox::Put::overflow);
}

TEST_F(FrameOutboxTest, TakesNoMoreCreditsThanAnybodyCouldUse) {
  FrameOutbox box = make();
  EXPECT_TRUE(box.grant(FrameOutbox::kMaxCredits));
  EXPECT_FALSE(box.grant(1));
  EXPECT_FALSE(box.grant(0xffffffff));
}

TEST_F(FrameOutboxTest, DropsEverythingOnceItIsClosed) {
  FrameOutbox box = make();
  box.open("f");
  box.close();
  EXPECT_EQ(box.put("a"), FrameOutbox::Put::dropped);
  box.put_steering("s");
  EXPECT_EQ(box.take(100), "");
}

}  // namespace
}  // namespace muster
