#include "schedulers/site/site_writer.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "tests/schedulers/site/site_parts.hpp"

namespace muster::test {
namespace {

using ::testing::ElementsAre;

TEST(SiteWriter, SaysAtOnceWhatTheStoreSaysAtOnce) {
  SiteParts parts;
  std::vector<std::string> heard;
  const auto hear = [&](const std::string& trouble) { heard.push_back("<" + trouble + ">"); };
  parts.writer.persist({}, hear);
  parts.store.trouble = "disk full";
  parts.writer.persist({}, hear);
  EXPECT_THAT(heard, ElementsAre("<>", "<disk full>"));
  EXPECT_EQ(parts.posted.size(), 0u);
}

TEST(SiteWriter, KnowsHowTheLastWriteWent) {
  SiteParts parts;
  parts.store.trouble = "disk full";
  parts.writer.persist({}, [](const std::string&) {});
  EXPECT_EQ(parts.writer.trouble(), "disk full");
  parts.store.trouble.clear();
  parts.writer.persist({}, [](const std::string&) {});
  EXPECT_EQ(parts.writer.trouble(), "");
}

TEST(SiteWriter, TouchesTheSiteInItsOwnThreadAlone) {
  SiteParts parts;
  parts.store.slow = true;
  bool heard = false;
  parts.writer.persist({}, [&](const std::string&) { heard = true; });
  std::thread([&] { parts.store.waiting.front().durable("disk full"); }).join();
  EXPECT_FALSE(heard) << "the store's thread";
  EXPECT_EQ(parts.writer.trouble(), "");
  parts.posted.run();
  EXPECT_TRUE(heard);
  EXPECT_EQ(parts.writer.trouble(), "disk full");
}

}  // namespace
}  // namespace muster::test
