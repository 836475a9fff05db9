#include "serve/node/json_text.hpp"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

namespace muster {
namespace {

using nlohmann::json;

bool is_plain(std::string_view text) {
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return c >= ' ' && c <= '~' && c != '"' && c != '\\'; });
}

}  // namespace

JsonText& JsonText::key(std::string_view name) {
  separate();
  text_ += '"';
  text_ += name;
  text_ += "\":";
  begins_ = true;
  return *this;
}

JsonText& JsonText::text_key(std::string_view name) {
  value(name);
  text_ += ':';
  begins_ = true;
  return *this;
}

JsonText& JsonText::value(std::string_view text) {
  separate();
  if (is_plain(text)) {
    text_ += '"';
    text_ += text;
    text_ += '"';
  } else {
    text_ += json(text).dump(-1, ' ', false, json::error_handler_t::replace);
  }
  return *this;
}

JsonText& JsonText::value(bool truth) {
  separate();
  text_ += truth ? "true" : "false";
  return *this;
}

JsonText& JsonText::value(double number) {
  // Whole numbers are common, and quicker this way.
  constexpr double kExact = 1e15;
  const bool whole = std::abs(number) < kExact && std::trunc(number) == number;
  if (whole && !std::signbit(number)) {
    value(static_cast<std::int64_t>(number));
    text_ += ".0";
    return *this;
  }
  separate();
  text_ += json(number).dump();
  return *this;
}

JsonText& JsonText::value(std::nullptr_t) {
  separate();
  text_ += "null";
  return *this;
}

JsonText& JsonText::values(const JsonText& others) {
  if (others.text_.empty()) return *this;
  separate();
  text_ += others.text_;
  return *this;
}

}  // namespace muster
