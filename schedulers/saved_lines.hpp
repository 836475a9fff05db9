#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "model/ids.hpp"
#include "model/resources.hpp"
#include "model/time.hpp"

// Policies save their memories as JSON: tasks, jobs and instances by their numbers, times in
// nanoseconds. A struct says its members once, for writing and for reading, and becomes a line, the
// list of their values (null for an id that is not valid):
//
//   void line(auto& a, Like<TypeStay> auto& stay) { a(stay.width, stay.start); }
//
// A map is a list of lines, each with the key before the members of the value.
//
// The order of the members in `line` is on disk: masters that start again, with a later version
// too, read what is stored by it. Lines have no names and exactly their members, so that another
// order or number of members needs another name beside them in the text, or a reader for both.

namespace muster::saved {

using Json = nlohmann::json;

/// Thrown by readers at a text that these writers did not write; the code that restores a memory
/// catches it and begins from the state.
struct NotUnderstood {};

/// Throws NotUnderstood unless the condition holds.
inline void want(bool condition) {
  if (!condition) throw NotUnderstood{};
}

/// The member of that name.
inline const Json& member(const Json& object, const char* name) {
  want(object.is_object() && object.contains(name));
  return object[name];
}

/// A list with at least that number of elements.
inline const Json& list(const Json& value, std::size_t at_least = 0) {
  want(value.is_array() && value.size() >= at_least);
  return value;
}

/// Stands for a writer or reader where only types count.
struct NoLine {
  void operator()(auto&...) {}
};
/// A struct whose members `line` says.
template <class T>
concept Lined = requires(NoLine& a, T& value) {
  line(a, value);
};

/// Writes values into a list.
class Writer {
 public:
  template <class... Values>
  void operator()(const Values&... values) {
    (out_.push_back(of(values)), ...);
  }
  /// Adds the values of a line or of a pair to this one.
  template <class T>
  void flat(const T& value) {
    if constexpr (Lined<T>) {
      line(*this, value);
    } else if constexpr (requires { value.first; }) {
      (*this)(value.first, value.second);
    } else {
      (*this)(value);
    }
  }
  /// Adds each of the pairs to this line, of which they are the end.
  template <class K, class T>
  void rest(const std::map<K, T>& pairs) {
    for (const auto& pair : pairs) (*this)(pair);
  }
  Json take() { return std::move(out_); }

  template <class T>
  static Json of(const T& value) {
    if constexpr (Lined<T>) {
      Writer members;
      members.flat(value);
      return members.take();
    } else {
      return of_plain(value);
    }
  }

 private:
  template <class T>
  static Json of_plain(const T& value) {
    return value;
  }
  template <class Tag, class Number>
  static Json of_plain(const Id<Tag, Number>& id) {
    return id.valid() ? Json(id.value) : Json(nullptr);
  }
  static Json of_plain(const Resources& amounts) { return amounts.amounts(); }
  static Json of_plain(const Duration& duration) { return duration.count(); }
  static Json of_plain(const Instant& instant) { return instant.time_since_epoch().count(); }
  template <class T>
  static Json of_plain(const std::optional<T>& value) {
    return value ? of(*value) : Json(nullptr);
  }
  template <class A, class B>
  static Json of_plain(const std::pair<A, B>& pair) {
    return Json::array({of(pair.first), of(pair.second)});
  }
  template <class T>
  static Json of_plain(const std::vector<T>& values) {
    return of_each(values);
  }
  template <class T>
  static Json of_plain(const std::deque<T>& values) {
    return of_each(values);
  }
  template <class T>
  static Json of_plain(const std::set<T>& values) {
    return of_each(values);
  }
  template <class K, class T>
  static Json of_plain(const std::map<K, T>& values) {
    Json all = Json::array();
    for (const auto& [key, value] : values) {
      Writer row;
      row.flat(key);
      row.flat(value);
      all.push_back(row.take());
    }
    return all;
  }
  static Json of_each(const auto& values) {
    Json all = Json::array();
    for (const auto& value : values) all.push_back(of(value));
    return all;
  }

  Json out_ = Json::array();
};

/// Reads the values of a list; throws NotUnderstood at one of another kind or out of range.
class Reader {
 public:
  explicit Reader(const Json& from) : from_(list(from)) {}

  /// Takes the members of a struct. Of them alone an id may be null: keys and elements are there.
  template <class... Values>
  void operator()(Values&... values) {
    (take_member(values), ...);
  }
  /// Takes the values of a line or of a pair out of this one.
  template <class T>
  void flat(T& value) {
    if constexpr (Lined<T>) {
      line(*this, value);
    } else if constexpr (requires { value.first; }) {
      take(value.first);
      take(value.second);
    } else {
      take(value);
    }
  }
  /// Takes pairs to the end of the line.
  template <class K, class T>
  void rest(std::map<K, T>& pairs) {
    pairs.clear();
    while (at_ < from_.size()) {
      std::pair<K, T> pair{};
      take(pair);
      pairs.insert_or_assign(pair.first, std::move(pair.second));
    }
  }
  /// Throws when something is left.
  void end() const { want(at_ == from_.size()); }

  template <class T>
  static void get(const Json& from, T& value) {
    if constexpr (Lined<T>) {
      Reader members(from);
      members.flat(value);
      members.end();
    } else if constexpr (std::is_same_v<T, bool>) {
      want(from.is_boolean());
      value = from.get<bool>();
    } else if constexpr (std::is_integral_v<T>) {
      want(from.is_number_integer());
      // Numbers above those of int64_t would become negative ones when they are read as such.
      want(from.is_number_unsigned() ? std::in_range<T>(from.get<std::uint64_t>())
                                     : std::in_range<T>(from.get<std::int64_t>()));
      value = from.get<T>();
    } else if constexpr (std::is_floating_point_v<T>) {
      want(from.is_number());
      value = from.get<T>();
    } else {
      get_plain(from, value);
    }
  }

 private:
  const Json& next() {
    want(at_ < from_.size());
    return from_[at_++];
  }
  void take(auto& value) { get(next(), value); }
  void take_member(auto& value) { take(value); }
  template <class Tag, class Number>
  void take_member(Id<Tag, Number>& id) {
    const Json& from = next();
    id = {};
    if (!from.is_null()) get(from, id);
  }

  static void get_plain(const Json& from, std::string& text) {
    want(from.is_string());
    text = from.get<std::string>();
  }
  template <class Tag, class Number>
  static void get_plain(const Json& from, Id<Tag, Number>& id) {
    get(from, id.value);
    want(id.valid());
  }
  static void get_plain(const Json& from, Resources& amounts) {
    want(list(from).size() == kAllResources.size());
    for (std::size_t i = 0; i < from.size(); ++i) get(from[i], amounts[kAllResources[i]]);
  }
  static void get_plain(const Json& from, Duration& duration) {
    std::int64_t nanos = 0;
    get(from, nanos);
    duration = Duration{nanos};
  }
  static void get_plain(const Json& from, Instant& instant) {
    Duration since{};
    get(from, since);
    instant = Instant{since};
  }
  template <class T>
  static void get_plain(const Json& from, std::optional<T>& value) {
    value.reset();
    if (!from.is_null()) get(from, value.emplace());
  }
  template <class A, class B>
  static void get_plain(const Json& from, std::pair<A, B>& pair) {
    Reader members(from);
    members.flat(pair);
    members.end();
  }
  template <class T>
  static void get_plain(const Json& from, std::vector<T>& values) {
    values.clear();
    for (const Json& each : list(from)) get(each, values.emplace_back());
  }
  template <class T>
  static void get_plain(const Json& from, std::deque<T>& values) {
    values.clear();
    for (const Json& each : list(from)) get(each, values.emplace_back());
  }
  template <class T>
  static void get_plain(const Json& from, std::set<T>& values) {
    values.clear();
    for (const Json& each : list(from)) {
      T value{};
      get(each, value);
      values.insert(std::move(value));
    }
  }
  template <class K, class T>
  static void get_plain(const Json& from, std::map<K, T>& values) {
    values.clear();
    for (const Json& each : list(from)) {
      K key{};
      Reader row(each);
      row.flat(key);
      row.flat(values[key]);
      row.end();
    }
  }

  const Json& from_;
  std::size_t at_ = 0;
};

/// The value as it is saved.
template <class T>
Json saved(const T& value) {
  return Writer::of(value);
}

/// The value that was saved; throws NotUnderstood.
template <class T>
T loaded(const Json& from) {
  T value{};
  Reader::get(from, value);
  return value;
}

}  // namespace muster::saved
