#include "serve/node/gather.hpp"

#include <gtest/gtest.h>

#include "actors/messages/interfaces.hpp"
#include "tests/support/virtual_system.hpp"

namespace muster {
namespace {

/// Clouds, for they are the smallest actors that answer a question.
class GatherTest : public ::testing::Test {
 protected:
  ~GatherTest() override {
    for (const CloudForUsers& actor : actors_) system_.end(actor);
  }
  void add(const std::string& answer) {
    actors_.push_back(system_.actors().spawn(
        [this, answer](CloudForUsers::pointer) -> CloudForUsers::behavior_type {
          return {[](interrupt_atom, InstanceId id) { return id; },
                  [](const RentedQuestion&) { return RentedView{}; },
                  [this, answer](figures_atom) -> caf::result<CloudFigures> {
                    ++asked_;
                    if (answer.empty()) return ActorError::unknown;
                    return CloudFigures{0, 0, 0, 0, answer};
                  }};
        }));
  }
  std::optional<std::string> ask() {
    std::optional<std::string> heard = "nothing was heard";
    ask_first<CloudFigures>(
        system_.actors(), actors_, std::chrono::seconds{5},
        [&](const caf::expected<CloudFigures>& answer) {
          heard = answer ? std::optional(answer->trouble) : std::nullopt;
        },
        figures_atom_v);
    system_.time().drain();
    return heard;
  }

  test::VirtualSystem system_;
  std::vector<CloudForUsers> actors_;
  int asked_ = 0;
};

TEST_F(GatherTest, OneThatAnswersIsEnough) {
  for (const char* answer : {"first", "second"}) add(answer);
  EXPECT_EQ(ask(), "first");
  EXPECT_EQ(asked_, 1);
}

TEST_F(GatherTest, TheNextIsAskedWhenOneDoesNotAnswer) {
  for (const char* answer : {"", "second", "third"}) add(answer);
  EXPECT_EQ(ask(), "second");
  EXPECT_EQ(asked_, 2);
}

TEST_F(GatherTest, NothingIsHeardWhenNobodyAnswers) {
  EXPECT_EQ(ask(), std::nullopt);
  add("");
  EXPECT_EQ(ask(), std::nullopt);
}

}  // namespace
}  // namespace muster
