#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

#include "actors/cloud/cloud_provider.hpp"
#include "actors/time/clock.hpp"
#include "model/catalog.hpp"
#include "model/money.hpp"
#include "storage/stores/cloud_store.hpp"

namespace muster {

/// The charges and deeds of a cloud so far. Owned by the composition root, written by the
/// connector, so that the bill can be compared with the masters' ledgers.
struct CloudBill {
  Money total;                 ///< of instances that are gone
  std::uint64_t launched = 0;  ///< instances that came up
  std::uint64_t refused = 0;
  std::uint64_t rented = 0;  ///< instances ordered and not gone yet
};

/// How a connector asks again what its provider could not do.
struct CloudRetries {
  std::uint32_t launch_tries = 5;               ///< before a launch is refused; >= 1
  Duration pause = std::chrono::seconds{1};     ///< before the second try; doubles; > 0
  Duration longest = std::chrono::seconds{60};  ///< no pause grows longer
};

struct ConnectorSetup {
  ClockOrigin origin;
  const Catalog* catalog = nullptr;  ///< the offerings that never changed, as masters know them
  /// Changes of a bill happen at multiples of it, counted from the last multiple before the
  /// order and never before the order itself; zero: at any time.
  Duration quantum{};
  CloudRetries retries;
  Duration list_every{};  ///< from one look at what exists to the next; zero: only when in doubt
  Duration write_retry = std::chrono::seconds{1};  ///< between attempts to write; > 0
  std::size_t keep_gone = 100'000;  ///< instances that are remembered after they are gone; >= 1
  /// Changes of offerings that are kept at most, besides the newest of each and those since the
  /// oldest order that is open; >= 1.
  std::size_t keep_changes = 10'000;
  CloudStore* store = nullptr;
  CloudProvider* provider = nullptr;  ///< of this connector alone
  CloudBill* bill = nullptr;
  std::function<void(const std::string&)>
      note;  ///< takes lines for the log of the node; may be empty
};

}  // namespace muster
