#pragma once

#include <rapidcheck.h>

namespace muster::testing {

/// Any number in [low, high), from the first case of a property on. (By itself RapidCheck begins
/// with the smallest numbers only.)
template <class Number>
Number draw(Number low, Number high) {
  return *rc::gen::resize(rc::kNominalSize, rc::gen::inRange<Number>(low, high));
}

}  // namespace muster::testing
