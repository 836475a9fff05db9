#include "serve/notify/cap_watch.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>

#include "tests/support/temp_file.hpp"

namespace muster::notify {
namespace {

using std::chrono::hours;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

struct CapWatchTest : ::testing::Test {
  test::TempFile beside{"beside", ""};
  std::vector<std::pair<Letter, std::function<void()>>> sent;
  Instant noon{hours{24 * 20'000 + 12}};

  CapWatch watch(std::vector<std::string> to = {"https://a.org/x", "me@a.org"}) {
    return CapWatch(std::move(to), beside.folder() / "cap-told",
                    [this](Letter letter, std::function<void()> settled) {
                      sent.emplace_back(std::move(letter), std::move(settled));
                    });
  }
  std::vector<std::string> told() {
    std::vector<std::string> to;
    for (const auto& each : sent) to.push_back(each.first.to);
    return to;
  }
};

TEST_F(CapWatchTest, TellsOnceADayFromFourFifthsOn) {
  CapWatch caps = watch();
  caps.note(79.9, 100, noon);
  EXPECT_THAT(sent, IsEmpty());
  caps.note(80, 100, noon);
  caps.note(90, 100, noon + hours{1});
  EXPECT_THAT(told(), ElementsAre("https://a.org/x", "me@a.org"));
  const auto& what = std::get<CapIsNear>(sent[0].first.what);
  EXPECT_EQ(what.spent_usd, 80);
  EXPECT_EQ(what.cap_usd, 100);
  EXPECT_EQ(what.day, "2024-10-04");
  EXPECT_NE(sent[0].first.id, sent[1].first.id);
  sent.clear();
  caps.note(0, 100, noon + hours{13});
  EXPECT_THAT(sent, IsEmpty());
  caps.note(85, 100, noon + hours{24});
  EXPECT_EQ(sent.size(), 2u);
}

TEST_F(CapWatchTest, TellsAfterARestartThoseThatWereNotTold) {
  {
    CapWatch caps = watch();
    caps.note(80, 100, noon);
    sent[0].second();
  }
  const std::string open = sent[1].first.id;
  sent.clear();
  CapWatch caps = watch();
  caps.note(81, 100, noon);
  EXPECT_THAT(told(), ElementsAre("me@a.org"));
  EXPECT_EQ(sent[0].first.id, open);
}

TEST_F(CapWatchTest, HasNothingToSayWithoutACapOrAnybodyToTell) {
  CapWatch caps = watch();
  caps.note(80, 0, noon);
  CapWatch nobody = watch({});
  nobody.note(80, 100, noon);
  EXPECT_THAT(sent, IsEmpty());
}

}  // namespace
}  // namespace muster::notify
