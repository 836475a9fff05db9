#pragma once

#include <string>
#include <utility>
#include <variant>

#include "model/check.hpp"

namespace muster {

/// Why something that may well fail did fail. `code` is what a caller branches on, `message` what a
/// person reads: it names the file, line and field where there are any, and what would be right.
template <class Code>
struct Failure {
  Code code{};
  std::string message;
};

/// A value, or the reason why it is missing. Asking for the side that is not there is a programmer
/// error.
template <class T, class Code>
class Expected {
 public:
  Expected(T value) : content_(std::move(value)) {}  // NOLINT(google-explicit-constructor)
  Expected(Failure<Code> error)
      : content_(std::move(error)) {}  // NOLINT(google-explicit-constructor)

  bool has_value() const { return content_.index() == 0; }
  explicit operator bool() const { return has_value(); }

  T& value() & {
    MUSTER_CHECK(has_value(), "value() of an Expected that holds an error");
    return *std::get_if<0>(&content_);
  }
  const T& value() const& {
    MUSTER_CHECK(has_value(), "value() of an Expected that holds an error");
    return *std::get_if<0>(&content_);
  }
  T&& value() && {
    MUSTER_CHECK(has_value(), "value() of an Expected that holds an error");
    return std::move(*std::get_if<0>(&content_));
  }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }

  const Failure<Code>& error() const {
    MUSTER_CHECK(!has_value(), "error() of an Expected that holds a value");
    return *std::get_if<1>(&content_);
  }

 private:
  std::variant<T, Failure<Code>> content_;
};

}  // namespace muster
