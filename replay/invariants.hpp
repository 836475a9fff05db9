#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "actors/cloud/connector.hpp"
#include "model/event.hpp"

namespace muster::replay {

/// Result of the checks of the invariants that hold in every run, from its event log.
struct Audit {
  std::vector<std::string> broken;  ///< one sentence a broken law; empty when all hold
  Money total;                      ///< sum that the ledger booked
  std::vector<std::pair<std::string, double>> cost_by_purpose;  ///< $; tasks and kinds of idleness
  Money services;                                               ///< booked to replicas of services
};

/// Builds state and ledger anew from nothing but the log and holds them against each other, against
/// the cloud's own bill and against an independent walk through the log.
class Auditor {
 public:
  explicit Auditor(const Catalog& catalog);
  ~Auditor();
  Auditor(const Auditor&) = delete;
  Auditor& operator=(const Auditor&) = delete;

  /// Takes the next event. The job of the event has to stay alive until the job's end was seen.
  void see(const Event& event);
  Audit finish(const CloudBill& bill);

 private:
  struct Books;
  std::unique_ptr<Books> books_;
};

}  // namespace muster::replay
