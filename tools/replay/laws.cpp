#include "tools/replay/laws.hpp"

#include <array>

#include "model/ledger.hpp"
#include "tools/replay/metrics.hpp"

namespace muster::replay {
namespace {

constexpr std::array kIdleness = {Idleness::boot, Idleness::idle, Idleness::drain,
                                  Idleness::fragmentation};

/// Full consistency checks are quadratic in what is running, so they are spread over the log.
constexpr std::size_t kEventsPerCheck = 1000;

}  // namespace

Audit audit_run(std::span<const Event> events, const Catalog& catalog, const CloudBill& bill) {
  Audit audit;
  ClusterState state(catalog);
  Ledger ledger;
  std::size_t applied = 0;
  for (const Event& event : events) {
    ledger.observe(event, state);
    state.apply(event);
    if (++applied % kEventsPerCheck == 0 && audit.broken.empty()) {
      audit.broken = state.inconsistencies();
    }
  }
  audit.total = ledger.total();
  audit.cost_by_purpose.emplace_back("tasks", ledger.tasks().usd());
  Money parts = ledger.tasks();
  for (Idleness kind : kIdleness) {
    audit.cost_by_purpose.emplace_back(std::string(name_of(kind)), ledger.idleness(kind).usd());
    parts += ledger.idleness(kind);
  }
  if (!(parts == ledger.total())) audit.broken.push_back("the ledger's parts do not add up");
  if (!(ledger.total() == bill.total)) {
    audit.broken.push_back("the ledger says $" + std::to_string(ledger.total().usd()) +
                           ", the cloud billed $" + std::to_string(bill.total.usd()));
  }
  if (bill.rented > 0) {
    audit.broken.push_back(std::to_string(bill.rented) + " instances were never given back");
  }
  const std::vector<std::string> found = check_run(events, catalog);
  audit.broken.insert(audit.broken.end(), found.begin(), found.end());
  if (const Money timed = total_bill(events); !(timed == bill.total)) {
    audit.broken.push_back("the log's instance times cost $" + std::to_string(timed.usd()) +
                           ", the cloud billed $" + std::to_string(bill.total.usd()));
  }
  return audit;
}

}  // namespace muster::replay
