#pragma once

#include <gtest/gtest.h>

#include <string>
#include <type_traits>

#include "model/expected.hpp"

namespace muster::test {

/// The message of a result that has to be an error of this code; "no error" of another.
template <class T, class Code>
std::string message_of(const Expected<T, Code>& result, std::type_identity_t<Code> code) {
  if (result) return "no error";
  EXPECT_EQ(result.error().code, code) << result.error().message;
  return result.error().message;
}

}  // namespace muster::test
