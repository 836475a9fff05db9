// Values of requests, read from TOML or JSON into one form that the table of keys understands.
// Requests come from strangers: depth, shown bytes and numbers are bounded.

#include "config/request_value.hpp"

#include <fmt/format.h>
#include <toml++/toml.h>

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "config/numbers.hpp"
#include "config/request_text.hpp"

namespace muster::config {
namespace {

/// A request is a table of tables and lists; a batch of them is two levels more.
constexpr int kMaxDepth = 6;
/// Of a value in a message: enough to recognise it.
constexpr std::size_t kShownBytes = 60;

using Other = RequestValue::Other;

TextPlace place_of(const toml::source_region& region, const std::string& source) {
  return {source, region.begin.line, region.begin.column};
}

RequestValue convert(const toml::node& node, const std::string& source, int depth) {
  // Stands until something else is found: the rest is a table or list that is too deep.
  RequestValue value{Other{"(nested too deeply)"}, place_of(node.source(), source)};
  if (const auto* truth = node.as_boolean()) {
    value.data = truth->get();
  } else if (const auto* whole = node.as_integer()) {
    value.data = whole->get();
  } else if (const auto* number = node.as_floating_point()) {
    value.data = number->get();
  } else if (const auto* text = node.as_string()) {
    value.data = text->get();
  } else if (const auto* array = node.as_array(); array != nullptr && depth < kMaxDepth) {
    RequestValue::List list;
    for (const toml::node& element : *array) list.push_back(convert(element, source, depth + 1));
    value.data = std::move(list);
  } else if (const auto* table = node.as_table(); table != nullptr && depth < kMaxDepth) {
    RequestValue::Table members;
    for (const auto& [key, inner] : *table) {
      members.push_back({std::string(key.str()), place_of(key.source(), source),
                         convert(inner, source, depth + 1)});
    }
    value.data = std::move(members);
  } else if (!node.is_array() && !node.is_table()) {
    std::ostringstream out;
    // Dates and times: no key takes them, and the message shows them as they were written.
    out << toml::node_view<const toml::node>(node);
    value.data = Other{std::move(out).str()};
  }
  return value;
}

// As a double such a number is still compared with a range, and refused with its value.
bool is_beyond_int64(const nlohmann::json& node) {
  return node.is_number_unsigned() &&
         node.get<std::uint64_t>() > std::numeric_limits<std::int64_t>::max();
}

RequestValue convert(const nlohmann::json& node, const std::string& source, int depth) {
  RequestValue value{Other{"(nested too deeply)"}, {source}};
  if (node.is_boolean()) {
    value.data = node.get<bool>();
    // JSON has no places: the library does not keep them, so a message names the file alone.
  } else if (node.is_number_integer() && !is_beyond_int64(node)) {
    value.data = node.get<std::int64_t>();
  } else if (node.is_number()) {
    value.data = node.get<double>();
  } else if (node.is_string()) {
    value.data = node.get<std::string>();
  } else if (node.is_array() && depth < kMaxDepth) {
    RequestValue::List list;
    for (const auto& element : node) list.push_back(convert(element, source, depth + 1));
    value.data = std::move(list);
  } else if (node.is_object() && depth < kMaxDepth) {
    RequestValue::Table members;
    for (const auto& [key, inner] : node.items()) {
      members.push_back({key, {source}, convert(inner, source, depth + 1)});
    }
    value.data = std::move(members);
  } else if (node.is_null()) {
    value.data = Other{"null"};
  }
  return value;
}

/// Writes until there is more than is shown.
struct WriteValue {
  std::string& out;

  bool full() const { return out.size() > kShownBytes; }
  void operator()(const Other& other) const { out += other.text; }
  void operator()(bool truth) const { out += truth ? "true" : "false"; }
  void operator()(std::int64_t whole) const { out += std::to_string(whole); }
  void operator()(double number) const { out += number_text(number); }
  void operator()(const std::string& text) const {
    // Cut before it is formatted: a text may have megabytes.
    out += fmt::format("\"{}\"", std::string_view(text).substr(0, kShownBytes));
  }
  void operator()(const RequestValue::List& list) const {
    out += '[';
    for (std::size_t i = 0; i < list.size() && !full(); ++i) {
      if (i > 0) out += ", ";
      std::visit(*this, list[i].data);
    }
    out += ']';
  }
  void operator()(const RequestValue::Table& table) const {
    out += '{';
    for (std::size_t i = 0; i < table.size() && !full(); ++i) {
      if (i > 0) out += ", ";
      out += std::string_view(table[i].key).substr(0, kShownBytes);
      out += " = ";
      std::visit(*this, table[i].value.data);
    }
    out += '}';
  }
};

/// Where the `byte`th byte, counted from one, stands.
TextPlace place_at(std::string_view text, std::size_t byte, const std::string& source) {
  const std::string_view before = text.substr(0, byte > 0 ? byte - 1 : 0);
  // O(byte), and only once, for the message about a text that is not read.
  const auto lines = static_cast<std::uint32_t>(std::count(before.begin(), before.end(), '\n'));
  const std::size_t last_break = before.rfind('\n');
  const std::size_t column =
      last_break == std::string_view::npos ? before.size() + 1 : before.size() - last_break;
  return {source, lines + 1, static_cast<std::uint32_t>(column)};
}

/// The library's message, without its number and the place, which is known.
std::string reason_of(const nlohmann::json::exception& error) {
  const std::string text = error.what();
  const std::size_t place = text.find("column ");
  const std::size_t head = place == std::string::npos ? text.find("] ") : text.find(": ", place);
  std::string reason = head == std::string::npos ? text : text.substr(head + 2);
  constexpr std::size_t kReasonBytes = 200;
  if (reason.size() > kReasonBytes) reason.resize(kReasonBytes);
  for (char& c : reason) {
    // The library quotes the text that it could not read, whatever bytes that has.
    if (static_cast<unsigned char>(c) < 0x20 || static_cast<unsigned char>(c) > 0x7E) c = '?';
  }
  return reason;
}

/// The number that the library's message of one that is too large is about.
std::string number_in(std::string_view message) {
  const std::size_t begin = message.find('\'');
  const std::size_t end = message.rfind('\'');
  return begin < end ? std::string(message.substr(begin + 1, end - begin - 1)) : std::string{};
}

}  // namespace

std::string toml_reason(std::string_view description) {
  if (description.find("too long to identify") == std::string_view::npos) {
    return std::string(description);
  }
  return "a number has to be from -1.8e308 to 1.8e308, written with at most 126 characters";
}

std::string shown(std::string text) {
  if (text.size() > kShownBytes) {
    // UTF-8 bytes after the first begin with the bits 10.
    // Not in the middle of a character.
    std::size_t end = kShownBytes;
    while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) --end;
    text.resize(end);
    text += "...";
  }
  for (char& c : text) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F) c = ' ';
  }
  return readable(text, false);
}

std::optional<double> RequestValue::number() const {
  if (const auto* whole = std::get_if<std::int64_t>(&data)) return static_cast<double>(*whole);
  if (const auto* real = std::get_if<double>(&data)) return *real;
  return std::nullopt;
}

std::optional<RequestValue> parse_toml(std::string_view text, const std::string& source,
                                       ErrorList& errors) {
  try {
    return convert(toml::parse(text, source), source, 0);
  } catch (const toml::parse_error& error) {
    errors.add(place_of(error.source(), source), "",
               fmt::format("is no TOML: {}", toml_reason(error.description())));
    return std::nullopt;
  }
}

std::optional<RequestValue> parse_json(std::string_view text, const std::string& source,
                                       ErrorList& errors) {
  using Event = nlohmann::json::parse_event_t;
  // The library keeps the last of equal keys; a request that says two things is refused instead.
  std::vector<std::set<std::string>> keys;  // of the objects that are open
  std::string twice;
  // Called for every event while parsing; a refusal inside would need an exception, so it notes the
  // key.
  const auto watch = [&](int /*depth*/, Event event, nlohmann::json& parsed) {
    if (event == Event::object_start) keys.emplace_back();
    if (event == Event::object_end) keys.pop_back();
    if (event == Event::key && !keys.back().insert(parsed.get<std::string>()).second) {
      twice = parsed.get<std::string>();
    }
    return true;
  };
  try {
    const nlohmann::json document = nlohmann::json::parse(text.begin(), text.end(), watch);
    if (twice.empty()) return convert(document, source, 0);
    errors.add({source}, shown(twice), "is there twice in one object");
  } catch (const nlohmann::json::parse_error& error) {
    errors.add(place_at(text, error.byte, source), "", "is no JSON: " + reason_of(error));
  } catch (const nlohmann::json::out_of_range& error) {
    const std::string digits = number_in(error.what());
    errors.add(place_at(text, text.find(digits) + 1, source), "",
               fmt::format("a number has to be from -1.8e308 to 1.8e308; it is {}", shown(digits)));
  } catch (const nlohmann::json::exception& error) {
    errors.add({source}, "", "is no JSON that can be read: " + reason_of(error));
  }
  return std::nullopt;
}

std::string written(const RequestValue& value) {
  std::string text;
  std::visit(WriteValue{text}, value.data);
  return shown(std::move(text));
}

}  // namespace muster::config
