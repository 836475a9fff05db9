#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "learning/model_text.hpp"
#include "model/rng.hpp"

// Learnt objects as texts, whole and damaged.

namespace muster::test {

/// The sealed text with some bytes changed, taken out or put in, or cut off; never the same text.
inline std::string damaged(const std::string& text, Rng& rng) {
  std::string other = text;
  while (other == text) {
    const std::size_t at = rng.below(other.size());
    switch (rng.below(5)) {
      case 0:
        other[at] = static_cast<char>(rng.below(256));
        break;
      case 1:
        other.erase(at, 1 + rng.below(20));
        break;
      case 2:
        other.insert(at, other.substr(rng.below(other.size()), 1 + rng.below(40)));
        break;
      case 3:
        other.resize(at);
        break;
      default:
        other[at] = "0123456789-+.e \nnai"[rng.below(19)];
    }
    if (other.empty()) break;
  }
  return other;
}

/// Which sealed text it is.
struct TextKind {
  std::string name;
  unsigned version = 1;

  TextKind(const char* kind, unsigned number = 1) : name(kind), version(number) {}
};

/// Parses many damaged texts: each is an error with a message. The same damage under a checksum
/// that fits has to be survived; what it then gives is used by `use`.
template <class Parse, class Use>
void expect_damage_is_noticed(const std::string& text, const TextKind& kind, const Parse& parse,
                              const Use& use) {
  Rng rng(7);
  const std::string body(open_model(kind.name, kind.version, text).value());
  for (int i = 0; i < 2000; ++i) {
    const auto damage = parse(damaged(text, rng));
    ASSERT_FALSE(damage.has_value());
    ASSERT_FALSE(damage.error().message.empty());
    const auto sealed = parse(seal_model(kind.name, kind.version, damaged(body, rng)));
    if (sealed) {
      use(sealed.value());
    } else {
      ASSERT_EQ(sealed.error().code, LearnError::damaged);
      ASSERT_NE(sealed.error().message.find("line "), std::string::npos);
    }
  }
}

}  // namespace muster::test
