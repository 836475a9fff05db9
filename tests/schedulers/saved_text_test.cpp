#include "schedulers/saved_text.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace muster {
namespace {

TEST(SavedText, GivesBackAnyNameThroughJson) {
  for (const std::string name :
       {"", "bert", "caf\xc3\xa9", "caf\xe9", "\xff\xfe\x01", "a\"b\\c\n", "{\"hex\":\"00\"}"}) {
    const std::string text = nlohmann::json::array({saved_text(name)}).dump();
    EXPECT_EQ(loaded_text(nlohmann::json::parse(text)[0]), name) << text;
  }
}

TEST(SavedText, SaysThatWhatIsNoNameIsNone) {
  using nlohmann::json;
  for (const json& other : {json(7), json(nullptr), json::array(), json{{"hex", 7}},
                            json{{"hex", "0"}}, json{{"hex", "zz"}}, json::object()}) {
    EXPECT_FALSE(loaded_text(other)) << other.dump();
  }
}

}  // namespace
}  // namespace muster
