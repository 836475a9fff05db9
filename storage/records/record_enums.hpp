#pragma once

#include <kj/exception.h>

#include <string>
#include <type_traits>

#include "model/cluster_state.hpp"
#include "model/enum_words.hpp"
#include "model/event.hpp"
#include "model/history.hpp"
#include "storage/schema.capnp.h"

// Which enumerant of the schema stands for which of the model: the one of its name. The two orders
// may differ, and an enumerator that only one of them has is an error of the compiler.

namespace muster::record_codec {

/// Ends the decoding of a record; decode_record() turns it into an error.
[[noreturn]] inline void refuse(const std::string& why) {
  kj::throwFatalException(
      kj::Exception(kj::Exception::Type::FAILED, __FILE__, __LINE__, kj::heapString(why.c_str())));
}

/// The enumeration of the schema that stands for one of the model.
template <class Ours>
struct RecordOf;
template <>
struct RecordOf<Market> : std::type_identity<record::Market> {};
template <>
struct RecordOf<MarketChoice> : std::type_identity<record::MarketChoice> {};
template <>
struct RecordOf<JobLength> : std::type_identity<record::JobLength> {};
template <>
struct RecordOf<Resource> : std::type_identity<record::ResourceKind> {};
template <>
struct RecordOf<JobOutcome> : std::type_identity<record::JobOutcome> {};
template <>
struct RecordOf<AfterEnd> : std::type_identity<record::AfterEnd> {};
template <>
struct RecordOf<NotifyOn> : std::type_identity<record::NotifyOn> {};
template <>
struct RecordOf<RefusalKind> : std::type_identity<record::RefusalKind> {};
template <>
struct RecordOf<RefusalCode> : std::type_identity<record::RefusalCode> {};
template <>
struct RecordOf<CloudReason> : std::type_identity<record::CloudReason> {};
template <>
struct RecordOf<CauseCode> : std::type_identity<record::CauseCode> {};
template <>
struct RecordOf<TaskPhase> : std::type_identity<record::TaskPhase> {};
template <>
struct RecordOf<FailureKind> : std::type_identity<record::FailureKind> {};
template <>
struct RecordOf<AttemptEnd> : std::type_identity<record::AttemptEnd> {};
template <>
struct RecordOf<CheckKind> : std::type_identity<record::CheckKind> {};
template <>
struct RecordOf<InstancePhase> : std::type_identity<record::InstancePhase> {};

/// The enumerant that stands for it in a record.
template <class Ours>
constexpr auto to_record(Ours ours) {
  return counterpart<typename RecordOf<Ours>::type>(ours);
}

/// The enumerator that it stands for; one that only a later version knows is refused.
template <class Ours, class Theirs>
Ours from_record(Theirs theirs) {
  if (static_cast<std::size_t>(theirs) >= kEnumerators<Theirs>) {
    refuse("enumerant " + std::to_string(static_cast<unsigned>(theirs)) +
           " is not known to this version");
  }
  return counterpart<Ours>(theirs);
}

}  // namespace muster::record_codec
