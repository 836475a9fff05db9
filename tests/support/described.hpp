#pragma once

#include <cstddef>
#include <optional>
#include <type_traits>

#include "model/fields.hpp"

// Whether a struct's `fields` names all of its members.

namespace muster::test {

/// Stands for a value of any type.
struct AnyValue {
  template <class T>
  operator T() const;  // NOLINT(google-explicit-constructor): it is to be converted
};

/// How many members a plain struct has: with as many values it can be made, and with one more it
/// cannot.
template <class T, class... Values>
consteval std::size_t members_of() {
  if constexpr (requires { T{Values{}..., AnyValue{}}; }) {
    return members_of<T, Values..., AnyValue>();
  } else if constexpr (requires { T{Values{}..., std::nullopt}; }) {
    return members_of<T, Values..., std::nullopt_t>();
  } else {
    return sizeof...(Values);
  }
}

/// Counts the members that `fields` names.
struct Named {
  std::size_t count = 0;

  void operator()(Key, const auto&) { ++count; }
  template <class T>
  void unless_default(Key, const T&, const std::type_identity_t<T>&) {
    ++count;
  }
};

template <class T>
std::size_t named_of() {
  Named named;
  const T example{};
  fields(named, example);
  return named.count;
}

}  // namespace muster::test
