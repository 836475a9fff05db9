#pragma once

#include <charconv>
#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/ids.hpp"
#include "model/time.hpp"

namespace muster {

/// JSON that is written from its beginning to its end, for lists that are long. Its bytes are those
/// that nlohmann::json writes, when the keys of each object come in alphabetical order. Text that
/// is not UTF-8 is replaced.
class JsonText {
 public:
  JsonText& begin_object() { return open('{'); }
  JsonText& end_object() { return close('}'); }
  JsonText& begin_list() { return open('['); }
  JsonText& end_list() { return close(']'); }
  /// Names what comes next. The key is plain ASCII.
  JsonText& key(std::string_view name);
  /// Likewise, for any text.
  JsonText& text_key(std::string_view name);

  JsonText& value(std::string_view text);
  JsonText& value(const char* text) { return value(std::string_view(text)); }
  JsonText& value(const std::string& text) { return value(std::string_view(text)); }
  JsonText& value(bool truth);
  JsonText& value(double number);  ///< null when it is not finite
  JsonText& value(std::nullptr_t);
  template <std::integral Number>
  JsonText& value(Number number) {
    separate();
    char digits[24];
    const auto end = std::to_chars(digits, digits + sizeof(digits), number).ptr;
    text_.append(digits, end);
    return *this;
  }
  /// In seconds.
  JsonText& value(Instant at) { return value(to_seconds(at)); }
  template <class Tag, class Number>
  JsonText& value(Id<Tag, Number> id) {
    return value(id.value);
  }
  template <class T>
  JsonText& value(const std::optional<T>& what) {
    return what ? value(*what) : value(nullptr);
  }
  template <class T>
  JsonText& value(const std::vector<T>& list) {
    begin_list();
    for (const T& each : list) value(each);
    return end_list();
  }
  template <class T>
  JsonText& field(std::string_view name, const T& what) {
    return key(name).value(what);
  }
  /// A value that is JSON already.
  JsonText& raw(std::string_view json) {
    separate();
    text_ += json;
    return *this;
  }
  /// Values that were written elsewhere, with their commas; nothing may be in it.
  JsonText& values(const JsonText& others);

  const std::string& text() const { return text_; }
  std::string take() { return std::move(text_); }

 private:
  JsonText& open(char bracket) {
    separate();
    text_ += bracket;
    begins_ = true;
    return *this;
  }
  JsonText& close(char bracket) {
    text_ += bracket;
    begins_ = false;
    return *this;
  }
  void separate() {
    if (!begins_) text_ += ',';
    begins_ = false;
  }

  std::string text_;
  bool begins_ = true;  ///< the next value needs no comma before it
};

}  // namespace muster
