#pragma once

#include <string>
#include <string_view>

#include "actors/link/worker_link_codec.hpp"

// The parts that frames of both directions are made of.

namespace muster::link_values {

/// The error of everything that is read here.
Failure<LinkError> malformed(const std::string& what);

/// The amounts in the order of kAllResources; the list is as long.
void put(capnp::List<double>::Builder list, const Resources& amounts);
/// Every amount finite, 0 .. kMaxAmount, and not of more kinds than there are.
Expected<Resources, LinkError> read_resources(capnp::List<double>::Reader list, const char* what);
/// 0 .. kMaxSpan
Expected<Duration, LinkError> read_span(std::int64_t ns, const char* what);
/// The fault of the name of a task's attempt; empty: no fault.
std::string attempt_problem(std::uint64_t task, std::uint32_t attempt);

/// Between the texts and bytes of a message and ours.
inline std::string_view view(capnp::Text::Reader text) {
  return {text.cStr(), text.size()};
}
/// The bytes as they are.
inline std::string bytes(capnp::Data::Reader data) {
  return {reinterpret_cast<const char*>(data.begin()), data.size()};
}
/// The same the other way; valid as long as `text`.
inline kj::ArrayPtr<const capnp::byte> data(std::string_view text) {
  return {reinterpret_cast<const capnp::byte*>(text.data()), text.size()};
}
/// Text fields end where a C string would.
inline capnp::Text::Reader text(const std::string& value) {
  return {value.c_str(), value.size()};
}

}  // namespace muster::link_values
