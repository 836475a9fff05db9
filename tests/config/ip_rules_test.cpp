// Which addresses webhooks may be at.

#include "config/ip_rules.hpp"

#include <gtest/gtest.h>

namespace muster::config {
namespace {

bool public_one(std::string_view text) {
  const auto address = parse_ip(text);
  EXPECT_TRUE(address.has_value()) << text;
  return address && is_public(*address);
}

TEST(IpRules, LetNobodyReachWhatIsNotPublic) {
  for (const char* text :
       {"0.0.0.0",         "0.1.2.3",         "10.0.0.1",        "10.255.255.255",
        "100.64.0.1",      "100.100.100.200", "100.127.255.255", "127.0.0.1",
        "127.255.255.254", "169.254.0.1",     "169.254.169.254", "172.16.0.1",
        "172.31.255.255",  "192.0.0.192",     "192.0.2.1",       "192.88.99.1",
        "192.168.1.1",     "198.18.0.1",      "198.19.255.255",  "198.51.100.7",
        "203.0.113.7",     "224.0.0.1",       "239.255.255.250", "240.0.0.1",
        "255.255.255.255", "168.63.129.16"}) {
    EXPECT_FALSE(public_one(text)) << text;
    EXPECT_FALSE(public_one("::ffff:" + std::string(text))) << text << " mapped";
    EXPECT_FALSE(public_one("64:ff9b::" + std::string(text))) << text << " by NAT64";
    EXPECT_FALSE(public_one("::" + std::string(text))) << text << " compatible";
  }
  for (const char* text : {"::",
                           "::1",
                           "fe80::1",
                           "febf::1",
                           "fec0::1",
                           "fc00::1",
                           "fd00:ec2::254",
                           "ff02::1",
                           "2001:db8::1",
                           "2001::1",
                           "2001:10::1",
                           "64:ff9b:1::a00:1",
                           "100::1",
                           "3fff::1",
                           "5f00::1",
                           "2002:7f00:1::",
                           "2002:a00:1::1",
                           "2002:a9fe:a9fe::",
                           "2002:c0a8:101::1",
                           "4000::1"}) {
    EXPECT_FALSE(public_one(text)) << text;
  }
}

TEST(IpRules, KnowPublicAddresses) {
  for (const char* text :
       {"1.1.1.1", "8.8.8.8", "9.255.255.255", "11.0.0.0", "100.63.255.255", "100.128.0.0",
        "126.255.255.255", "128.0.0.1", "169.253.255.255", "172.15.255.255", "172.32.0.0",
        "192.167.255.255", "223.255.255.255", "2606:4700::1111", "2a00:1450::1", "2001:4860::8888",
        "::ffff:8.8.8.8", "64:ff9b::8.8.8.8", "2002:808:808::1"}) {
    EXPECT_TRUE(public_one(text)) << text;
  }
}

TEST(IpRules, ReadAddressesAndNothingElse) {
  for (const char* text : {"", "1.2.3", "1.2.3.4.5", "256.0.0.1", "01.2.3.4", "0x7f.0.0.1",
                           "2130706433", "localhost", "fe80::1%eth0", "[::1]", "1.2.3.4 "}) {
    EXPECT_FALSE(parse_ip(text)) << text;
  }
  EXPECT_FALSE(parse_ip(std::string_view("1.2.3.4\0x", 9)));
  EXPECT_EQ(to_text(*parse_ip("::ffff:10.0.0.1")), "10.0.0.1");
  EXPECT_EQ(to_text(*parse_ip("2001:DB8:0::1")), "2001:db8::1");
}

TEST(IpRules, ReadBlocks) {
  const auto in = [](const char* block, const char* address) {
    return parse_ip_block(block)->contains(*parse_ip(address));
  };
  EXPECT_TRUE(in("10.1.0.0/16", "10.1.255.255"));
  EXPECT_FALSE(in("10.1.0.0/16", "10.2.0.0"));
  EXPECT_TRUE(in("10.1.2.3", "::ffff:10.1.2.3"));
  EXPECT_FALSE(in("10.1.2.3", "10.1.2.4"));
  EXPECT_TRUE(in("172.16.0.0/12", "172.31.0.1"));
  EXPECT_TRUE(in("fd00::/7", "fc00::1"));
  EXPECT_TRUE(in("0.0.0.0/0", "8.8.8.8"));
  EXPECT_FALSE(in("0.0.0.0/0", "2606:4700::1"));
  for (const char* text :
       {"10.0.0.0/33", "10.0.0.0/", "10.0.0.0/-1", "::/129", "10.0.0.0/8/8", "host/8", "/8"}) {
    EXPECT_FALSE(parse_ip_block(text)) << text;
  }
}

TEST(IpRules, TakeHostsBlocksAndAddressesAsAllowed) {
  const AllowedHosts allowed = allowed_hosts({"Hooks.Internal", "10.0.0.0/8", "::1"});
  EXPECT_TRUE(allowed.names_host("hooks.internal"));
  EXPECT_FALSE(allowed.names_host("evil.hooks.internal"));
  EXPECT_TRUE(allowed.has(*parse_ip("10.9.9.9")));
  EXPECT_TRUE(allowed.has(*parse_ip("::1")));
  EXPECT_FALSE(allowed.has(*parse_ip("127.0.0.1")));
  for (const char* text : {"a.b-c", "10.0.0.0/8", "fd00::/8", "::1"}) {
    EXPECT_TRUE(is_allowed_text(text)) << text;
  }
  for (const char* text : {"", "https://a.b", "a b", "10.0.0.0/40", "*.example.org", "-a"}) {
    EXPECT_FALSE(is_allowed_text(text)) << text;
  }
}

}  // namespace
}  // namespace muster::config
