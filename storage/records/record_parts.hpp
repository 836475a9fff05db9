#pragma once

#include <capnp/message.h>
#include <capnp/serialize.h>
#include <kj/io.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "storage/records/record_codec.hpp"
#include "storage/records/record_enums.hpp"
#include "storage/schema.capnp.h"

// Parts that several records share, and the way of a record to bytes. For the codec alone.

namespace muster::record_codec {

/// Views of our strings for a record, and copies of what a record holds.
inline capnp::Text::Reader text(const std::string& value) {
  return {value.data(), value.size()};
}
inline capnp::Data::Reader bytes(std::string_view value) {
  return {reinterpret_cast<const kj::byte*>(value.data()), value.size()};
}
inline std::string string_of(capnp::Text::Reader text) {
  return {text.begin(), text.size()};
}
inline std::string string_of(capnp::Data::Reader data) {
  return {reinterpret_cast<const char*>(data.begin()), data.size()};
}

/// Instants are ns since the cluster's time 0; lists are as long as a record can tell.
inline std::int64_t nanos(Instant at) {
  return at.time_since_epoch().count();
}
inline Instant instant(std::int64_t nanos) {
  return Instant{Duration{nanos}};
}
inline unsigned length(const auto& list) {
  return static_cast<unsigned>(list.size());
}

/// Name under which a type is stored in a table.
inline const std::string& type_name(TypeId id, const Catalog& catalog) {
  MUSTER_CHECK(id.value < catalog.size(), "an instance's type is in the catalog");
  return catalog[id].name;
}
TypeId type_named(const std::string& name, const Catalog& catalog);

/// put() fills a part of a record in; get() gives the value that was put there.
void put(record::Amounts::Builder out, const Resources& in);
Resources get(record::Amounts::Reader in);
void put(record::Grant::Builder out, const Grant& in);
Grant get(record::Grant::Reader in);
void put(record::Money::Builder out, Money in);
Money get(record::Money::Reader in);
void put(record::Job::Builder out, const Job& in);
Job get(record::Job::Reader in);
void put(record::Refusal::Builder out, const Refusal& in);
Refusal get(record::Refusal::Reader in);
void put(record::ReplicaState::Builder out, const ReplicaState& in);
ReplicaState get(record::ReplicaState::Reader in);
void put(record::RoomClaimed::Builder out, const RoomClaimed& in);
RoomClaimed get(record::RoomClaimed::Reader in);
void put(record::OfferingChange::Builder out, const OfferingChange& in);
OfferingChange get(record::OfferingChange::Reader in);
void put(record::ProcessEnd::Builder out, const ProcessEnd& in);
ProcessEnd get(record::ProcessEnd::Reader in);
void put(record::Measured::Builder out, const Measured& in);
Measured get(record::Measured::Reader in);
void put(capnp::List<record::Figure>::Builder out, const Metrics& in);
Metrics get(capnp::List<record::Figure>::Reader in);
void put(capnp::List<record::FamilyDemand>::Builder out, const Demands& in);
Demands get(capnp::List<record::FamilyDemand>::Reader in);
/// The type of a story may be one that is no longer in the catalog; then it is invalid.
void put(record::TaskStory::Builder out, const TaskHistory& in, const Catalog& catalog);
TaskHistory get(record::TaskStory::Reader in, const Catalog& catalog);
/// Without its number.
void put(record::InstanceLife::Builder out, const InstanceHistory& in, const Catalog& catalog);
InstanceHistory get(record::InstanceLife::Reader in, const Catalog& catalog);
void put(record::NumberBlock::Builder out, std::uint64_t block, const NumberSet::Bits& in);
/// Sets the block in `out`.
void get(record::NumberBlock::Reader in, NumberSet& out);

/// The list has as many elements as there are slots.
inline void put(capnp::List<std::uint32_t>::Builder out, const std::vector<Slot>& in) {
  for (unsigned i = 0; i < out.size(); ++i) out.set(i, in[i]);
}
/// The slots in their order.
inline std::vector<Slot> get(capnp::List<std::uint32_t>::Reader in) {
  std::vector<Slot> out;
  out.reserve(in.size());
  for (const std::uint32_t slot : in) out.push_back(slot);
  return out;
}

/// The bytes of a record that `fill` fills in.
template <class Fill>
std::string encode_record(Fill&& fill) {
  std::array<capnp::word, 512> first{};  // most records need no more
  capnp::MallocMessageBuilder message(kj::ArrayPtr<capnp::word>(first.data(), first.size()));
  auto root = message.initRoot<record::Record>();
  root.setFormat(kRecordFormat);
  fill(root);
  std::string bytes(capnp::computeSerializedSizeInWords(message) * sizeof(capnp::word), '\0');
  kj::ArrayOutputStream out(
      kj::ArrayPtr<kj::byte>(reinterpret_cast<kj::byte*>(bytes.data()), bytes.size()));
  capnp::writeMessage(out, message);
  return bytes;
}

/// Calls `read` with the record that the bytes are; it has to be of that kind.
template <class T, class Read>
Expected<T, StoreError> decode_record(std::string_view bytes, record::Record::Which kind,
                                      Read&& read) {
  if (bytes.size() % sizeof(capnp::word) != 0) {
    return Failure<StoreError>{StoreError::corrupt, "the record is not a whole number of words"};
  }
  // The reader wants aligned words, which other buffers do not give.
  auto words = kj::heapArray<capnp::word>(bytes.size() / sizeof(capnp::word));
  std::copy(bytes.begin(), bytes.end(), reinterpret_cast<char*>(words.begin()));
  try {
    // Sharing parts of a record could make it say more than it holds; honest ones do not do it.
    capnp::ReaderOptions limits;
    limits.traversalLimitInWords = 16 * words.size() + 1024;
    capnp::FlatArrayMessageReader message(words.asPtr(), limits);
    const auto root = message.getRoot<record::Record>();
    if (root.getFormat() > kRecordFormat) {
      return Failure<StoreError>{StoreError::newer_format,
                                 "a record of format " + std::to_string(root.getFormat()) +
                                     "; this version reads up to " + std::to_string(kRecordFormat)};
    }
    if (root.which() != kind) {
      return Failure<StoreError>{StoreError::corrupt, "a record of another kind stands here"};
    }
    return T(read(root));
  } catch (const kj::Exception& error) {
    return Failure<StoreError>{StoreError::corrupt, error.getDescription().cStr()};
  }
}

}  // namespace muster::record_codec
