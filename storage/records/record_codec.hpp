#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/catalog.hpp"
#include "model/event.hpp"
#include "model/history.hpp"
#include "model/master_snapshot.hpp"
#include "model/roster.hpp"
#include "storage/stores/cloud_store.hpp"
#include "storage/stores/history.hpp"
#include "storage/stores/site_store.hpp"
#include "storage/stores/store_error.hpp"

// The values of the store as bytes and back: Cap'n Proto records as storage/schema.capnp has them.
// Every number reads back as it was. For any bytes, decoding gives a value or an error.

namespace muster {

/// Written into every record. It rises when a program that knows only the last one would
/// misunderstand what is written now.
inline constexpr std::uint16_t kRecordFormat = 3;

/// A store's record of itself.
struct StoreMeta {
  std::string kind;     ///< whose store it is, such as "master m0"
  std::string cluster;  ///< the name of the cluster
  Catalog catalog;  ///< the types that the names in its records mean; empty where no names stand
};

/// Where in the history a job is.
struct HistoryPlace {
  std::uint64_t place = 0;
  HistoryEntry entry;
  bool known = true;  ///< all of the entry; records of earlier versions have less
};

/// One record. The events' instance types have to be in the catalog.
std::string encode_events(std::span<const Event> events, const Catalog& catalog);
/// Events that belong together. An instance type that the catalog does not have is an error.
Expected<std::vector<Event>, StoreError> decode_events(std::string_view bytes,
                                                       const Catalog& catalog);

/// Takes the snapshot apart; copy it when it is still wanted.
std::string encode_snapshot(MasterSnapshot snapshot);
/// The catalog has to outlive the snapshot. An instance of a type that it does not have is an
/// error; rests and changes of such a type are left out.
Expected<MasterSnapshot, StoreError> decode_snapshot(std::string_view bytes,
                                                     const Catalog& catalog);

/// The instance types of the history have to be in the catalog, or invalid.
std::string encode_history(const JobHistory& history, const Catalog& catalog);
/// Types that the catalog does not have any more are invalid ones.
Expected<JobHistory, StoreError> decode_history(std::string_view bytes, const Catalog& catalog);

/// One record of the value, and the value as it was, or why the bytes are no such record.
std::string encode_handoff(const Handoff& handoff);
Expected<Handoff, StoreError> decode_handoff(std::string_view bytes);
std::string encode_ended(const EndedHandoff& ended);
Expected<EndedHandoff, StoreError> decode_ended(std::string_view bytes);
std::string encode_letter(const JobLetter& letter);
Expected<JobLetter, StoreError> decode_letter(std::string_view bytes);
std::string encode_ending(const JobEnding& ending);
Expected<JobEnding, StoreError> decode_ending(std::string_view bytes);
std::string encode_token(const KnownToken& token);
Expected<KnownToken, StoreError> decode_token(std::string_view bytes);
std::string encode_rented(const RentedRecord& rented);
Expected<RentedRecord, StoreError> decode_rented(std::string_view bytes);
std::string encode_cloud_change(const OfferingChange& change);
Expected<OfferingChange, StoreError> decode_cloud_change(std::string_view bytes);
std::string encode_rented_sums(const RentedSums& sums);
Expected<RentedSums, StoreError> decode_rented_sums(std::string_view bytes);
std::string encode_meta(const StoreMeta& meta);
Expected<StoreMeta, StoreError> decode_meta(std::string_view bytes);
std::string encode_roster(const ClusterRoster& roster);
Expected<ClusterRoster, StoreError> decode_roster(std::string_view bytes);
std::string encode_number(std::uint64_t number);
Expected<std::uint64_t, StoreError> decode_number(std::string_view bytes);

/// One block of a set of numbers, and a set with that block.
std::string encode_numbers(const NumberSet& set, std::uint64_t block);
Expected<NumberSet, StoreError> decode_numbers(std::string_view bytes);

/// Likewise for the history's index and for sums.
std::string encode_place(const HistoryPlace& place);
/// The place; or the number that stood there up to format 1.
Expected<HistoryPlace, StoreError> decode_place(std::string_view bytes);
/// Sums of money.
std::string encode_money(Money money);
/// As it was.
Expected<Money, StoreError> decode_money(std::string_view bytes);

/// Likewise for a learnt object, whose bytes mean something to its owner only.
std::string encode_object(std::string_view object);
Expected<std::string, StoreError> decode_object(std::string_view bytes);

}  // namespace muster
