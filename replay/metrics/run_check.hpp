#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "model/catalog.hpp"
#include "model/event.hpp"
#include "model/money.hpp"
#include "replay/metrics/rented_price.hpp"
#include "replay/metrics/service_check.hpp"

namespace muster::metrics {

/// Checks a log against the invariants of any run, without the help of the cluster state, and says
/// what is broken; nothing when all is well. The invariants: time runs forward; no instance is ever
/// filled over its capacity; a task is live in one place and one attempt only, and each start
/// raises the attempt by one; an instance is billed once and gone in the end; each accepted job
/// ends, or all its unfinished tasks wait with a reason; services keep their laws (ServiceCheck).
class RunCheck {
 public:
  explicit RunCheck(const Catalog& catalog);
  ~RunCheck();
  RunCheck(const RunCheck&) = delete;
  RunCheck& operator=(const RunCheck&) = delete;

  /// Takes the next event. The job of the event has to stay alive until the job's end was seen.
  void see(const Event& event);
  std::vector<std::string> finish();

 private:
  class Books;
  std::unique_ptr<Books> books_;
  ServiceCheck services_;
};
/// Faults of a whole log.
std::vector<std::string> check_run(std::span<const Event> events, const Catalog& catalog);

/// The bill, from the times at which instances came up and were gone; those that are not gone are
/// billed until the last event.
class BillCount {
 public:
  explicit BillCount(const Catalog& catalog) : catalog_(&catalog) {}

  void see(const Event& event);
  Money total() const;

 private:
  struct Rent {
    RentedPrice price{};
    std::optional<Instant> since{};
  };
  const Catalog* catalog_;
  std::unordered_map<InstanceId, Rent> rents_;
  Money gone_;
  Instant last_{};
};
/// The bill of a whole log.
Money total_bill(std::span<const Event> events, const Catalog& catalog);

}  // namespace muster::metrics
