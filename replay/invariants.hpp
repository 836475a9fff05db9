#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "actors/cloud/connector.hpp"
#include "model/event.hpp"

namespace muster::replay {

/// What a run's event log says of the invariants that hold in every run.
struct Audit {
  std::vector<std::string> broken;  ///< one sentence a broken law; empty when all hold
  Money total;                      ///< what the ledger booked
  std::vector<std::pair<std::string, double>> cost_by_purpose;  ///< $; tasks and kinds of idleness
};

/// Builds state and ledger anew from nothing but the log and holds them against each other, against
/// the cloud's own bill and against an independent walk through the log.
class Auditor {
 public:
  explicit Auditor(const Catalog& catalog);
  ~Auditor();
  Auditor(const Auditor&) = delete;
  Auditor& operator=(const Auditor&) = delete;

  /// Takes the next event. What it shows of a job has to stay until the job's end was seen.
  void see(const Event& event);
  Audit finish(const CloudBill& bill);

 private:
  struct Books;
  std::unique_ptr<Books> books_;
};

}  // namespace muster::replay
