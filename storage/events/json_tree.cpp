#include "storage/events/json_tree.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

// JSON as a tree that keeps numbers as their digits: amounts of money and times are exact to nine
// places, which a double is not. Members keep their order.

namespace muster {
namespace {

using nlohmann::json;

// The tree's destructor and its readers recurse: this bounds their stack.
constexpr std::size_t kMaxDepth = 32;

/// Builds the tree from what nlohmann's parser finds; each function says whether to go on.
class TreeBuilder : public json::json_sax_t {
 public:
  bool null() override { return add({}); }
  bool boolean(bool value) override { return add({value}); }
  bool number_integer(std::int64_t value) override { return add_number(std::to_string(value)); }
  bool number_unsigned(std::uint64_t value) override { return add_number(std::to_string(value)); }
  bool number_float(double, const std::string& digits) override { return add_number(digits); }
  bool string(std::string& value) override { return add({std::move(value)}); }
  bool binary(json::binary_t&) override { return false; }
  bool start_object(std::size_t) override { return open({JsonValue::Object{}}); }
  bool start_array(std::size_t) override { return open({JsonValue::Array{}}); }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }

  bool key(std::string& name) override {
    keys_.push_back(std::move(name));
    return true;
  }

  bool parse_error(std::size_t column, const std::string&, const json::exception& error) override {
    // The parser's own text repeats the position; the reason follows the last colon.
    const std::string text = error.what();
    const std::size_t reason = text.rfind("syntax error");
    failure_ = {JsonError::malformed,
                fmt::format("column {}: {}", column,
                            reason == std::string::npos ? text : text.substr(reason))};
    return false;
  }

  Expected<JsonValue, JsonError> result(bool complete) && {
    if (failure_) return *std::move(failure_);
    if (!complete) return Failure<JsonError>{JsonError::malformed, "not a JSON value"};
    return std::move(root_);
  }

 private:
  bool add_number(std::string digits) { return add({JsonValue::Number{std::move(digits)}}); }

  bool add(JsonValue value) {
    place(std::move(value));
    return true;
  }

  bool open(JsonValue container) {
    if (open_.size() == kMaxDepth) {
      failure_ = {JsonError::too_deep, fmt::format("nested more than {} deep", kMaxDepth)};
      return false;
    }
    open_.push_back(std::move(container));
    return true;
  }

  bool close() {
    JsonValue done = std::move(open_.back());
    open_.pop_back();
    place(std::move(done));
    return true;
  }

  void place(JsonValue value) {
    if (open_.empty()) {
      root_ = std::move(value);
    } else if (auto* array = std::get_if<JsonValue::Array>(&open_.back().content)) {
      array->push_back(std::move(value));
    } else {
      auto& object = std::get<JsonValue::Object>(open_.back().content);
      // Containers close in the reverse order of their opening, so that the last key is this
      // value's.
      object.push_back({std::move(keys_.back()), std::move(value)});
      keys_.pop_back();
    }
  }

  JsonValue root_;
  std::vector<JsonValue> open_;
  std::vector<std::string> keys_;
  std::optional<Failure<JsonError>> failure_;
};

}  // namespace

Expected<JsonValue, JsonError> parse_json(std::string_view text) {
  TreeBuilder builder;
  const bool complete = json::sax_parse(text.begin(), text.end(), &builder);
  return std::move(builder).result(complete);
}

}  // namespace muster
