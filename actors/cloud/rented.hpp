#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "storage/cloud_book.hpp"

// What a cloud's records say.

namespace muster {

/// How far an instance has come.
enum class RentState : std::uint8_t { ordered, up, ending, gone, refused };
RentState state_of(const RentedRecord& record);
std::string_view name_of(RentState state);

/// What a cloud answers about its instances.
struct RentedAnswer {
  std::vector<const RentedRecord*> shown;
  Money total;                 ///< of all instances, also of those that are not shown
  std::uint64_t launched = 0;  ///< instances that came up
  Instant now;
};
std::string to_json(const RentedAnswer& answer);

}  // namespace muster
