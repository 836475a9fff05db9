// Values of requests, from TOML and from JSON, and how messages show them.

#include "config/request_value.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "config/request_body.hpp"
#include "tests/support/golden.hpp"
#include "tests/support/message_of.hpp"

namespace muster::config {
namespace {

using test::IsGolden;
using test::IsGoldenAt;
using testing::AllOf;
using testing::HasSubstr;
using Other = RequestValue::Other;

struct Parsed {
  std::optional<RequestValue> value;
  std::string errors;
};

Parsed toml(const std::string& text) {
  ErrorList errors;
  auto value = parse_toml(text, "job.toml", errors);
  return {std::move(value), errors.text()};
}

Parsed json(const std::string& text) {
  ErrorList errors;
  auto value = parse_json(text, "body", errors);
  return {std::move(value), errors.text()};
}

/// The only member of the document.
const RequestMember& member(const Parsed& parsed) {
  return std::get<RequestValue::Table>(parsed.value.value().data).at(0);
}

std::string written_toml(const std::string& value) {
  return written(member(toml("a = " + value)).value);
}
std::string written_json(const std::string& value) {
  return written(json(value).value.value());
}

TEST(RequestValue, IsOfTheKindThatWasWritten) {
  for (const Parsed& parsed : {toml("a = [true, 3, 2.5, \"x\", { b = false }]"),
                               json(R"({"a": [true, 3, 2.5, "x", {"b": false}]})")}) {
    EXPECT_EQ(member(parsed).key, "a");
    const auto& list = std::get<RequestValue::List>(member(parsed).value.data);
    ASSERT_EQ(list.size(), 5U);
    EXPECT_EQ(std::get<bool>(list[0].data), true);
    EXPECT_EQ(std::get<std::int64_t>(list[1].data), 3);
    EXPECT_EQ(std::get<double>(list[2].data), 2.5);
    EXPECT_EQ(std::get<std::string>(list[3].data), "x");
    const auto& table = std::get<RequestValue::Table>(list[4].data);
    ASSERT_EQ(table.size(), 1U);
    EXPECT_EQ(table[0].key, "b");
    EXPECT_EQ(std::get<bool>(table[0].value.data), false);
  }
}

TEST(RequestValue, IsANumberWholeOrNot) {
  EXPECT_EQ(member(toml("a = 3")).value.number(), 3);
  EXPECT_EQ(member(toml("a = -2.5")).value.number(), -2.5);
  for (const char* none : {"true", "\"3\"", "[3]", "{ b = 3 }", "1979-05-27"}) {
    EXPECT_EQ(member(toml(std::string("a = ") + none)).value.number(), std::nullopt) << none;
  }
}

TEST(RequestValue, OfTomlHasItsPlaceAndThatOfItsKey) {
  const Parsed parsed = toml("\n  a = [1,\n   2]\n");
  EXPECT_EQ(to_text(member(parsed).place), "job.toml:2:3");
  EXPECT_EQ(to_text(member(parsed).value.place), "job.toml:2:7");
  const auto& list = std::get<RequestValue::List>(member(parsed).value.data);
  EXPECT_EQ(to_text(list[1].place), "job.toml:3:4");
}

/// "key line:column line:column" of every member and "line:column" of every element, in their
/// order.
void add_places(const RequestValue& value, std::string& out) {
  const auto add = [&](const TextPlace& place) {
    out += " " + std::to_string(place.line) + ":" + std::to_string(place.column);
  };
  if (const auto* list = std::get_if<RequestValue::List>(&value.data)) {
    for (const RequestValue& element : *list) {
      add(element.place);
      add_places(element, out);
    }
  } else if (const auto* table = std::get_if<RequestValue::Table>(&value.data)) {
    for (const RequestMember& each : *table) {
      out += " " + each.key;
      add(each.place);
      add(each.value.place);
      add_places(each.value, out);
    }
  }
}

std::string places(const Parsed& parsed) {
  EXPECT_TRUE(parsed.value) << parsed.errors;
  std::string out = to_text(parsed.value.value().place);
  add_places(parsed.value.value(), out);
  return out;
}

TEST(RequestValue, OfJsonHasItsPlaceAndThatOfItsKey) {
  EXPECT_EQ(places(json("{\n\"a\": 1}")), "body:1:1 a 2:1 2:6");
  EXPECT_EQ(places(json("\n  {\"a\" :\n [true , null,false]\r\n,\t\"b\":\"x\"}\n")),
            "body:2:3 a 2:4 3:2 3:3 3:10 3:15 b 4:3 4:7");
  EXPECT_EQ(places(json(R"([{"a":{"b":{}}},[[],{"c":[]}]])")),
            "body:1:1 1:2 a 1:3 1:7 b 1:8 1:12 1:17 1:18 1:21 c 1:22 1:26");
}

TEST(RequestValue, OfJsonHasThePlaceOfANumberThatAnyCharacterEnds) {
  for (const char* number : {"0", "-7", "2.5", "1e3", "18446744073709551615"}) {
    EXPECT_EQ(places(json(number)), "body:1:1");
    const std::size_t column = 7 + std::string_view(number).size();
    const std::string end = std::to_string(column);
    EXPECT_EQ(places(json(std::string("{\"a\":") + number + ",\"b\":" + number + "}")),
              "body:1:1 a 1:2 1:6 b 1:" + end + " 1:" + std::to_string(column + 4));
    EXPECT_EQ(places(json(std::string("[[") + number + "],[" + number + "\n],\n" + number + "]")),
              "body:1:1 1:2 1:3 1:" + std::to_string(column - 2) +
                  " 1:" + std::to_string(column - 1) + " 3:1");
  }
}

TEST(RequestValue, OfJsonHasAPlaceBehindTextsThatLookLikeOtherThings) {
  EXPECT_EQ(places(json(R"(["\"{[,:", "\\", ",", 1])")), "body:1:1 1:2 1:12 1:18 1:23");
  EXPECT_EQ(places(json(R"({"\"a:,": "b", "c": 2})")), "body:1:1 \"a:, 1:2 1:11 c 1:16 1:21");
}

TEST(RequestValue, HasAColumnThatCountsCharacters) {
  EXPECT_EQ(places(json("[\"\u00e9\u20ac\U0001f600\", 1]")), "body:1:1 1:2 1:9");
  EXPECT_EQ(places(json("\xEF\xBB\xBF[1]")), "body:1:1 1:2") << "of a mark at its beginning none";
  const Parsed in_toml = toml("a = [\"\u00e9\u20ac\U0001f600\", 1]");
  const auto& list = std::get<RequestValue::List>(member(in_toml).value.data);
  EXPECT_EQ(to_text(list[1].place), "job.toml:1:13");
}

TEST(RequestValue, HasAPlaceBehindWhatIsNestedTooDeeply) {
  EXPECT_EQ(places(json(R"([[[[[[[1,{"a":[2]}],[],3]]]]],{"b":4}])")),
            "body:1:1 1:2 1:3 1:4 1:5 1:6 1:7 1:21 1:24 1:31 b 1:32 1:36");
}

TEST(RequestValue, HasItsMembersInTheOrderOfTheirKeys) {
  EXPECT_EQ(written_toml("{ b = 1, a = 2, ab = 3 }"), "{a = 2, ab = 3, b = 1}");
  EXPECT_EQ(written_json(R"({"b": 1, "a": 2, "ab": 3})"), "{a = 2, ab = 3, b = 1}");
}

TEST(RequestValue, OfJsonThatNoInt64HoldsIsADouble) {
  EXPECT_TRUE(std::holds_alternative<std::int64_t>(json("9223372036854775807").value->data));
  EXPECT_TRUE(std::holds_alternative<std::int64_t>(json("-9223372036854775808").value->data));
  EXPECT_EQ(json("9223372036854775808").value->number(), 9223372036854775808.0);
  EXPECT_TRUE(std::holds_alternative<double>(json("9223372036854775808").value->data));
}

TEST(RequestValue, IsNotReadBeyondItsDepth) {
  const auto nested = [](int depth) {
    return std::string(static_cast<std::size_t>(depth), '[') +
           std::string(static_cast<std::size_t>(depth), ']');
  };
  EXPECT_EQ(written_json(nested(6)), "[[[[[[]]]]]]");
  EXPECT_EQ(written_json(nested(7)), "[[[[[[(nested too deeply)]]]]]]");
  EXPECT_EQ(written_json(R"({"a":{"a":{"a":{"a":{"a":{"a":{"b":1}}}}}}})"),
            "{a = {a = {a = {a = {a = {a = (nested too deeply)}}}}}}");
  // The document is a table of its own.
  EXPECT_EQ(written_toml(nested(5)), "[[[[[]]]]]");
  EXPECT_EQ(written_toml(nested(6)), "[[[[[(nested too deeply)]]]]]");
  EXPECT_EQ(written_toml("{a={a={a={a={a={b=1}}}}}}"),
            "{a = {a = {a = {a = {a = (nested too deeply)}}}}}");
}

TEST(WrittenValue, IsAsItMayBeWritten) {
  EXPECT_EQ(written_toml("true"), "true");
  EXPECT_EQ(written_toml("-7"), "-7");
  EXPECT_EQ(written_toml("0.5"), "0.5");
  EXPECT_EQ(written_toml("\"a b\""), "\"a b\"");
  EXPECT_EQ(written_toml("1979-05-27"), "1979-05-27");
  EXPECT_EQ(written_toml("[1, \"b\", []]"), "[1, \"b\", []]");
  EXPECT_EQ(written_toml("{ x = 1, y = { z = false } }"), "{x = 1, y = {z = false}}");
  EXPECT_EQ(written_json("null"), "null");
  EXPECT_EQ(written_json("[null, false]"), "[null, false]");
}

TEST(WrittenValue, IsCutWhereItIsLong) {
  EXPECT_EQ(written_toml("\"" + std::string(58, 'x') + "\""), "\"" + std::string(58, 'x') + "\"");
  EXPECT_EQ(written_toml("\"" + std::string(59, 'x') + "\""), "\"" + std::string(59, 'x') + "...");
  std::string many = "[0";
  for (int i = 1; i < 100'000; ++i) many += ",0";
  EXPECT_EQ(written_json(many + "]").size(), 63U);
  EXPECT_THAT(written_json("{\"" + std::string(100, 'k') + "\": 1}"),
              AllOf(testing::StartsWith("{kkk"), testing::EndsWith("k...")));
}

TEST(Shown, EndsWithAWholeCharacterAndHasNoControls) {
  EXPECT_EQ(shown(std::string(60, 'a')), std::string(60, 'a'));
  EXPECT_EQ(shown(std::string(61, 'a')), std::string(60, 'a') + "...");
  // The 60th byte is the first of the two that é has.
  EXPECT_EQ(shown(std::string(59, 'a') + "\xC3\xA9"), std::string(59, 'a') + "...");
  EXPECT_EQ(shown(std::string(58, 'a') + "\xC3\xA9z"), std::string(58, 'a') + "\xC3\xA9...");
  EXPECT_EQ(shown("a\nb\tc\x7F\x1B"), "a b c  ");
}

TEST(ParseToml, SaysWhereItIsNone) {
  const Parsed parsed = toml("a = 1\nb = = 2\n");
  EXPECT_FALSE(parsed.value);
  EXPECT_THAT(parsed.errors, testing::StartsWith("job.toml:2:5: is no TOML: "));
  EXPECT_THAT(toml("a = " + std::string(200, '9')).errors, IsGoldenAt("job.toml:1:5"));
}

TEST(ParseJson, SaysWhereItIsNone) {
  EXPECT_THAT(json("{").errors, testing::StartsWith("body:1:2: is no JSON: "));
  EXPECT_THAT(json("{}\n\n  x").errors, testing::StartsWith("body:3:3: is no JSON: "));
  EXPECT_THAT(json("").errors, testing::StartsWith("body:1:1: is no JSON: "));
  EXPECT_THAT(json("[\"\u00e9\", x]").errors, testing::StartsWith("body:1:7: is no JSON: "));
  EXPECT_THAT(json("\xEF\xBB\xBFx").errors, testing::StartsWith("body:1:1: is no JSON: "));
  EXPECT_FALSE(json("{").value);
}

TEST(ParseJson, ShowsNoBytesOfTheTextThatCannotBeSeen) {
  const std::string errors = json("[\"\x01\xff\"]").errors;
  for (const char c : errors) {
    EXPECT_TRUE(c >= 0x20 && c <= 0x7E) << static_cast<int>(c);
  }
  EXPECT_LT(json("\"" + std::string(10'000, 'x')).errors.size(), 300U);
}

TEST(ParseJson, RefusesNumbersBeyondThoseThatThereAre) {
  EXPECT_THAT(json("{\"a\": 1,\n \"b\": 1e999}").errors, IsGoldenAt("body:2:7"));
  EXPECT_THAT(json("[-1e400]").errors, IsGoldenAt("body:1:2"));
}

TEST(ParseJson, RefusesAKeyThatIsThereTwiceInOneObject) {
  EXPECT_THAT(json(R"({"a": 1, "b": {"a": 2}, "c": [{"a": 3}, {"a": 4}]})").errors, "");
  EXPECT_THAT(json(R"({"a": 1, "a": 1})").errors, IsGoldenAt("body:1:10: a"));
  EXPECT_THAT(json(R"({"a": {"b": 1, "c": {}, "b": 2}})").errors, IsGoldenAt("body:1:25: b"));
  const Parsed many = json("{\"a\": 1, \"b\": [{\"c\": 1, \"c\": 2}],\n\"a\": 2,\n\"a\": 3}");
  EXPECT_FALSE(many.value);
  EXPECT_THAT(many.errors, IsGoldenAt("body:1:25: c", "body:2:1: a", "body:3:1: a"));
  EXPECT_FALSE(json(R"([{"a": 1, "a": 1}])").value);
}

TEST(MembersFromJson, AreThoseOfAnObject) {
  const auto members = members_from_json(R"({"a": 1, "b": 2})", "body");
  ASSERT_TRUE(members);
  EXPECT_EQ(members->size(), 2U);
  EXPECT_THAT(test::message_of(members_from_json("[1]", "body"), ConfigError::invalid),
              IsGoldenAt("body:1:1"));
  EXPECT_THAT(test::message_of(members_from_json("{", "body"), ConfigError::malformed),
              HasSubstr("body:1:2: is no JSON"));
}

}  // namespace
}  // namespace muster::config
