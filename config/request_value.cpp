// Values of requests, read from TOML or JSON into one form that the table of keys understands.
// Requests come from strangers: depth, shown bytes and numbers are bounded.

#include "config/request_value.hpp"

#include <fmt/format.h>
#include <toml++/toml.h>

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <limits>
#include <nlohmann/json.hpp>
#include <sstream>
#include <utility>

#include "config/numbers.hpp"
#include "config/request_text.hpp"
#include "model/text_cut.hpp"

namespace muster::config {
namespace {

/// A request is a table of tables and lists; a batch of them is two levels more.
constexpr std::size_t kMaxDepth = 6;
constexpr const char* kTooDeep = "(nested too deeply)";
/// Of a value in a message: enough to recognise it.
constexpr std::size_t kShownBytes = 60;
/// A text may begin with it.
constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

using Other = RequestValue::Other;

TextPlace place_of(const toml::source_region& region, const std::string& source) {
  return {source, region.begin.line, region.begin.column};
}

RequestValue convert(const toml::node& node, const std::string& source, std::size_t depth) {
  // Stands until something else is found: the rest is a table or list that is too deep.
  RequestValue value{Other{kTooDeep}, place_of(node.source(), source)};
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

/// Finds lines and columns of bytes of a text; columns count characters, as those of TOML do.
class LineCounter {
 public:
  explicit LineCounter(std::string_view text)
      : text_(text), at_(text.starts_with(kByteOrderMark) ? kByteOrderMark.size() : 0) {}

  /// Where the byte at `offset` stands, which is not before the one that was asked for last:
  /// O(text) for all of them together.
  TextPlace place_of(std::size_t offset, const std::string& source) {
    for (; at_ < offset && at_ < text_.size(); ++at_) {
      if (text_[at_] == '\n') {
        ++line_;
        column_ = 1;
        // UTF-8 bytes after the first begin with the bits 10.
      } else if ((static_cast<unsigned char>(text_[at_]) & 0xC0U) != 0x80U) {
        ++column_;
      }
    }
    return {source, line_, column_};
  }

 private:
  std::string_view text_;
  std::size_t at_;
  std::uint32_t line_ = 1;
  std::uint32_t column_ = 1;
};

/// Gives the JSON library the characters of a text, and counts them.
class TextIterator {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;

  /// `taken` outlives the iterator and its copies, of which the library uses one.
  TextIterator(pointer at, std::size_t& taken) : at_(at), taken_(&taken) {}

  reference operator*() const { return *at_; }
  TextIterator& operator++() {
    ++at_;
    ++*taken_;
    return *this;
  }
  friend bool operator==(const TextIterator& a, const TextIterator& b) { return a.at_ == b.at_; }

 private:
  pointer at_;
  std::size_t* taken_;
};

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

/// Builds a value from the events of the JSON library, which say no places. An event comes when its
/// token has been read, so the token begins behind the one before it and what separates the two.
class JsonReader {
 public:
  JsonReader(std::string_view text, const std::string& source, ErrorList& errors)
      : text_(text), source_(source), errors_(errors), lines_(text) {
    // The library passes over it.
    if (text.starts_with(kByteOrderMark)) token_end_ = kByteOrderMark.size();
  }

  std::optional<RequestValue> read();

  // For the library; an event that is answered with false ends the reading.
  bool null() { return add(Other{"null"}); }
  bool boolean(bool truth) { return add(truth); }
  bool number_integer(std::int64_t whole) { return add(whole); }
  bool number_unsigned(std::uint64_t whole);
  bool number_float(double number, const std::string& /*written*/) { return add(number); }
  bool string(const std::string& text) { return add(text); }
  bool binary(const nlohmann::json::binary_t& /*bytes*/) { return false; }  // no text has them
  bool key(const std::string& name);
  bool start_object(std::size_t /*size*/) { return open(RequestValue::Table{}); }
  bool start_array(std::size_t /*size*/) { return open(RequestValue::List{}); }
  bool end_object() { return close(); }
  bool end_array() { return close(); }
  bool parse_error(std::size_t byte, const std::string& token,
                   const nlohmann::json::exception& error);

 private:
  using Data = decltype(RequestValue::data);

  /// A table or list whose end has not been read, and the key that waits for its value.
  struct Open {
    RequestValue value;
    std::string key;
    TextPlace key_place;
  };

  TextPlace token_place();
  bool add(Data data);
  void put(RequestValue value);
  bool open(Data data);
  bool close();
  void sort_members(RequestValue::Table& members);

  std::string_view text_;
  const std::string& source_;
  ErrorList& errors_;
  LineCounter lines_;
  std::size_t taken_ = 0;      ///< characters that the library has taken
  std::size_t token_end_ = 0;  ///< of the last token, or behind the character that ended a number
  std::vector<Open> open_;
  std::size_t too_deep_ = 0;  ///< tables and lists that are open beyond kMaxDepth
  RequestValue root_;
  bool is_good_ = true;
};

std::optional<RequestValue> JsonReader::read() {
  std::size_t end = 0;  // nothing is taken from there
  nlohmann::json::sax_parse(TextIterator(text_.data(), taken_),
                            TextIterator(text_.data() + text_.size(), end), this);
  return is_good_ ? std::optional(std::move(root_)) : std::nullopt;
}

/// Once for each token, also where the place is not needed.
TextPlace JsonReader::token_place() {
  const std::size_t begin = text_.find_first_not_of(" \t\r\n,:", token_end_);
  token_end_ = taken_;
  return lines_.place_of(std::min(begin, text_.size()), source_);
}

bool JsonReader::number_unsigned(std::uint64_t whole) {
  if (whole <= static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) {
    return add(static_cast<std::int64_t>(whole));
  }
  // As a double such a number is still compared with a range, and refused with its value.
  return add(static_cast<double>(whole));
}

bool JsonReader::key(const std::string& name) {
  TextPlace place = token_place();
  if (too_deep_ > 0) return true;
  open_.back().key = name;
  open_.back().key_place = std::move(place);
  return true;
}

bool JsonReader::add(Data data) {
  put({std::move(data), token_place()});
  return true;
}

void JsonReader::put(RequestValue value) {
  if (too_deep_ > 0) return;
  if (open_.empty()) {
    root_ = std::move(value);
    return;
  }
  Open& outer = open_.back();
  if (auto* list = std::get_if<RequestValue::List>(&outer.value.data)) {
    list->push_back(std::move(value));
  } else {
    std::get<RequestValue::Table>(outer.value.data)
        .push_back({std::move(outer.key), std::move(outer.key_place), std::move(value)});
  }
}

bool JsonReader::open(Data data) {
  TextPlace place = token_place();
  if (too_deep_ == 0 && open_.size() < kMaxDepth) {
    open_.push_back({{std::move(data), std::move(place)}, {}, {}});
    return true;
  }
  put({Other{kTooDeep}, std::move(place)});
  ++too_deep_;
  return true;
}

bool JsonReader::close() {
  token_place();
  if (too_deep_ > 0) {
    --too_deep_;
    return true;
  }
  RequestValue value = std::move(open_.back().value);
  open_.pop_back();
  if (auto* members = std::get_if<RequestValue::Table>(&value.data)) sort_members(*members);
  put(std::move(value));
  return true;
}

/// By keys, as TOML's are. A request that says two things of a key is refused.
void JsonReader::sort_members(RequestValue::Table& members) {
  std::stable_sort(members.begin(), members.end(),
                   [](const RequestMember& a, const RequestMember& b) { return a.key < b.key; });
  for (std::size_t i = 1; i < members.size(); ++i) {
    if (members[i].key != members[i - 1].key) continue;
    errors_.add(members[i].place, shown(members[i].key), "is there twice in one object");
    is_good_ = false;
  }
}

bool JsonReader::parse_error(std::size_t byte, const std::string& token,
                             const nlohmann::json::exception& error) {
  is_good_ = false;
  // For numbers alone: the others are errors of the text's form.
  if (dynamic_cast<const nlohmann::json::out_of_range*>(&error) != nullptr) {
    errors_.add(token_place(), "",
                fmt::format("a number has to be from -1.8e308 to 1.8e308; it is {}", shown(token)));
  } else {
    // Counted from one; behind the text when it ends too early.
    errors_.add(lines_.place_of(byte > 0 ? byte - 1 : 0, source_), "",
                "is no JSON: " + reason_of(error));
  }
  return false;
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
    text.resize(whole_characters(text, kShownBytes).size());
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
  return JsonReader(text, source, errors).read();
}

std::string written(const RequestValue& value) {
  std::string text;
  std::visit(WriteValue{text}, value.data);
  return shown(std::move(text));
}

}  // namespace muster::config
