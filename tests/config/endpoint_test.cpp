#include "config/endpoint.hpp"

#include <gtest/gtest.h>

#include <string>

namespace muster {
namespace {

/// How the endpoint is written again; "none" when the text is none.
std::string read(std::string_view text) {
  const auto endpoint = parse_endpoint(text);
  return endpoint ? to_text(*endpoint) : "none";
}

TEST(Endpoint, IsANameOrAnAddressAndAPort) {
  EXPECT_EQ(parse_endpoint("node-1.example:8080"), (Endpoint{"node-1.example", 8080}));
  EXPECT_EQ(parse_endpoint("127.0.0.1:1"), (Endpoint{"127.0.0.1", 1}));
  EXPECT_EQ(parse_endpoint("[::1]:65535"), (Endpoint{"::1", 65535}));
}

TEST(Endpoint, ComesOutInOneForm) {
  EXPECT_EQ(read("Node-1.EXAMPLE:80"), "node-1.example:80");
  EXPECT_EQ(read("[2001:DB8:0:0:0:0:0:1]:80"), "[2001:db8::1]:80");
  EXPECT_EQ(read("[0:0:0:0:0:0:0:0]:80"), "[::]:80");
}

TEST(Endpoint, HasAPortFrom1To65535) {
  for (const char* text : {"host", "host:", "host:0", "host:65536", "host:-1", "host:80x", ":80"}) {
    EXPECT_EQ(read(text), "none") << text;
  }
}

TEST(Endpoint, HasAnIPv6AddressInBrackets) {
  for (const char* text : {"::1:80", "[::1:80", "::1]:80", "[]:80", "[host]:80", "[1.2.3.4]:80",
                           "[::1%eth0]:80", "[::g]:80"}) {
    EXPECT_EQ(read(text), "none") << text;
  }
}

TEST(Endpoint, HasANameOfTheDns) {
  EXPECT_EQ(read("a:80"), "a:80");
  EXPECT_EQ(read("4ever.net:80"), "4ever.net:80");
  for (const char* text : {"-a:80", "a-:80", "a..b:80", ".a:80", "a.:80", "a_b:80", "a b:80",
                           "\xC3\xA4:80", "http://a:80"}) {
    EXPECT_EQ(read(text), "none") << text;
  }
}

TEST(Endpoint, HasNamesAndTheirPartsOfBoundedLength) {
  const std::string label(63, 'a');
  EXPECT_EQ(read(label + ":1"), label + ":1");
  EXPECT_EQ(read("a" + label + ":1"), "none");
  const std::string longest = label + "." + label + "." + label + "." + std::string(61, 'a');
  EXPECT_EQ(read(longest + ":1"), longest + ":1");
  EXPECT_EQ(read(longest + "a:1"), "none");
}

TEST(Endpoint, TakesWhatEndsInANumberForAnAddress) {
  for (const char* text : {"127.0.0.300:80", "8080:80", "1.2.3:80", "a.1:80"}) {
    EXPECT_EQ(read(text), "none") << text;
  }
}

TEST(Endpoint, IsOfThisMachineAloneOnALoopbackAddress) {
  for (const char* host : {"localhost", "127.0.0.1", "127.255.0.9", "::1"}) {
    EXPECT_TRUE(is_loopback({host, 1})) << host;
  }
  for (const char* host : {"127.example", "128.0.0.1", "::2", "local", "0.0.0.0"}) {
    EXPECT_FALSE(is_loopback({host, 1})) << host;
  }
}

TEST(Endpoint, StandsForAllAddressesWhereItIsNoneOfThem) {
  EXPECT_TRUE(is_wildcard({"0.0.0.0", 1}));
  EXPECT_TRUE(is_wildcard({"::", 1}));
  EXPECT_FALSE(is_wildcard({"127.0.0.1", 1}));
}

}  // namespace
}  // namespace muster
