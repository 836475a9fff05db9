#include "actors/link/basp_header.hpp"

#include <gtest/gtest.h>

#include <random>
#include <span>
#include <string>

#include "tests/actors/link/basp_bytes.hpp"

namespace muster {
namespace {

using test::basp_header;
using test::basp_message;

constexpr std::uint32_t kMost = 1000;

BaspChecker::Step look(BaspChecker& checker, const std::string& bytes) {
  return checker.look({reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()});
}

HeaderFault fault_of(BaspSender sender, const std::string& bytes) {
  BaspChecker checker(sender, kMost);
  return look(checker, bytes).fault;
}

HeaderFault fault_after_handshake(const std::string& bytes) {
  return fault_of(BaspSender::connecting,
                  basp_message(BaspOperation::client_handshake, 10) + bytes);
}

TEST(BaspChecker, reads_the_length_as_four_bytes_with_the_highest_first) {
  const std::string bytes = basp_header(2, 0x01020304, 1);
  const BaspHeader header = read_basp_header(std::span<const std::uint8_t, kBaspHeaderBytes>(
      reinterpret_cast<const std::uint8_t*>(bytes.data()), kBaspHeaderBytes));
  EXPECT_EQ(header.operation, 2);
  EXPECT_EQ(header.flags, 1);
  EXPECT_EQ(header.padding, 0);
  EXPECT_EQ(header.payload_bytes, 0x01020304u);
}

TEST(BaspChecker, passes_what_caf_nodes_say_to_each_other) {
  std::string session = basp_message(BaspOperation::client_handshake, 20) + basp_header(1, 20, 2) +
                        std::string(20, 'h');
  for (std::uint8_t operation = 2; operation < 6; ++operation) {
    session += basp_header(operation, kMost) + std::string(kMost, 'p');
  }
  session += basp_header(6, 0);
  BaspChecker checker(BaspSender::connecting, kMost);
  const auto step = look(checker, session);
  EXPECT_EQ(step.fault, HeaderFault::none);
  EXPECT_EQ(step.pass, session.size());
  EXPECT_EQ(checker.headers(), 7u);
  EXPECT_EQ(fault_of(BaspSender::accepting, basp_message(BaspOperation::server_handshake, 90)),
            HeaderFault::none);
}

TEST(BaspChecker, refuses_each_kind_of_bad_header) {
  EXPECT_EQ(fault_after_handshake(basp_header(7, 10)), HeaderFault::unknown_operation);
  EXPECT_EQ(fault_after_handshake(basp_header(255, 10)), HeaderFault::unknown_operation);
  EXPECT_EQ(fault_after_handshake(basp_header(2, 10, 4)), HeaderFault::unknown_flag);
  EXPECT_EQ(fault_after_handshake(basp_header(6, 1)), HeaderFault::unexpected_payload);
  EXPECT_EQ(fault_after_handshake(basp_header(2, kMost + 1)), HeaderFault::too_large);
  EXPECT_EQ(fault_after_handshake(basp_header(2, 0xffffffff)), HeaderFault::too_large);
  for (std::uint8_t operation = 2; operation < 6; ++operation) {
    EXPECT_EQ(fault_after_handshake(basp_header(operation, 0)), HeaderFault::no_payload);
  }
  for (const std::size_t at : {1, 2}) {
    std::string padded = basp_header(2, 10);
    padded[at] = 1;
    EXPECT_EQ(fault_after_handshake(padded), HeaderFault::padding);
  }
}

TEST(BaspChecker, refuses_the_two_headers_that_crash_caf) {
  for (const auto sender : {BaspSender::connecting, BaspSender::accepting}) {
    EXPECT_EQ(fault_of(sender, basp_header(0, 0)), HeaderFault::no_payload);
    EXPECT_EQ(fault_of(sender, basp_header(1, 0)), HeaderFault::no_payload);
  }
}

TEST(BaspChecker, wants_the_handshake_of_that_end_first_and_no_foreign_one_later) {
  EXPECT_EQ(fault_of(BaspSender::connecting, basp_header(0, 10)), HeaderFault::out_of_order);
  EXPECT_EQ(fault_of(BaspSender::accepting, basp_header(1, 10)), HeaderFault::out_of_order);
  EXPECT_EQ(fault_of(BaspSender::connecting, basp_header(2, 10)), HeaderFault::out_of_order);
  EXPECT_EQ(fault_of(BaspSender::connecting, basp_header(6, 0)), HeaderFault::out_of_order);
  EXPECT_EQ(fault_after_handshake(basp_header(0, 10)), HeaderFault::out_of_order);
  EXPECT_EQ(fault_after_handshake(basp_header(1, 10)), HeaderFault::out_of_order);
}

TEST(BaspChecker, holds_a_header_back_until_it_is_whole) {
  const std::string header = basp_header(1, 8);
  BaspChecker checker(BaspSender::connecting, kMost);
  EXPECT_EQ(look(checker, header.substr(0, 31)).pass, 0u);
  EXPECT_EQ(look(checker, header + "pay").pass, 35u);
  EXPECT_EQ(look(checker, "load!" + basp_header(6, 0).substr(0, 4)).pass, 5u);
}

TEST(BaspChecker, passes_the_bytes_before_a_bad_header_and_no_more) {
  const std::string good = basp_message(BaspOperation::client_handshake, 20);
  BaspChecker checker(BaspSender::connecting, kMost);
  const auto step = look(checker, good + basp_header(9, 0) + good);
  EXPECT_EQ(step.pass, good.size());
  EXPECT_EQ(step.fault, HeaderFault::unknown_operation);
}

TEST(BaspChecker, comes_to_the_same_however_the_bytes_are_cut) {
  std::string session = basp_message(BaspOperation::client_handshake, 33);
  for (std::size_t size = 1; size < 90; ++size) {
    session += basp_message(BaspOperation::direct_message, size) + basp_header(6, 0);
  }
  std::mt19937 draw(5);
  for (int run = 0; run < 200; ++run) {
    BaspChecker checker(BaspSender::connecting, kMost);
    std::string held;
    std::size_t passed = 0;
    for (std::size_t at = 0; at < session.size();) {
      const std::size_t size = std::min<std::size_t>(1 + draw() % 70, session.size() - at);
      held += session.substr(at, size);
      at += size;
      const auto step = look(checker, held);
      ASSERT_EQ(step.fault, HeaderFault::none);
      ASSERT_LT(held.size() - step.pass, kBaspHeaderBytes);
      held.erase(0, step.pass);
      passed += step.pass;
    }
    EXPECT_EQ(passed, session.size());
    EXPECT_EQ(checker.headers(), 179u);
  }
}

}  // namespace
}  // namespace muster
