#include "tools/replay/laws.hpp"

#include <algorithm>
#include <array>

#include "model/ledger.hpp"
#include "tools/replay/metrics.hpp"

namespace muster::replay {
namespace {

constexpr std::array kIdleness = {Idleness::boot, Idleness::idle, Idleness::drain,
                                  Idleness::fragmentation};

/// A full consistency check looks at all that lives, so the next one comes no sooner than after as
/// many events as there were jobs, tasks and instances: all checks together are linear in the log.
constexpr std::size_t kEventsPerCheck = 1000;

/// What one master knows and has booked, built anew.
struct RebuiltCell {
  explicit RebuiltCell(const Catalog& catalog) : state(catalog) {}

  ClusterState state;
  Ledger ledger;
};

std::size_t size_of(const ClusterState& state) {
  std::size_t size = state.instances().size();
  for (const JobRow& job : state.jobs()) size += 1 + job.tasks.size();
  return size;
}

std::vector<RebuiltCell> rebuild(std::span<const Event> events, const Catalog& catalog,
                                 Audit& audit) {
  std::vector<RebuiltCell> cells;
  std::size_t next_check = kEventsPerCheck;
  for (const Event& event : events) {
    while (cells.size() <= event.cell) cells.emplace_back(catalog);
    RebuiltCell& cell = cells[event.cell];
    cell.ledger.observe(event, cell.state);
    cell.state.apply(event);
    if (--next_check == 0) {
      if (audit.broken.empty()) audit.broken = cell.state.inconsistencies();
      next_check = std::max(kEventsPerCheck, size_of(cell.state));
    }
  }
  return cells;
}

}  // namespace

Audit audit_run(std::span<const Event> events, const Catalog& catalog, const CloudBill& bill) {
  Audit audit;
  Money tasks;
  std::array<Money, kIdleness.size()> idle;
  for (const RebuiltCell& cell : rebuild(events, catalog, audit)) {
    audit.total += cell.ledger.total();
    tasks += cell.ledger.tasks();
    for (std::size_t i = 0; i < kIdleness.size(); ++i)
      idle[i] += cell.ledger.idleness(kIdleness[i]);
  }
  audit.cost_by_purpose.emplace_back("tasks", tasks.usd());
  Money parts = tasks;
  for (std::size_t i = 0; i < kIdleness.size(); ++i) {
    audit.cost_by_purpose.emplace_back(std::string(name_of(kIdleness[i])), idle[i].usd());
    parts += idle[i];
  }
  if (!(parts == audit.total)) audit.broken.push_back("the ledger's parts do not add up");
  if (!(audit.total == bill.total)) {
    audit.broken.push_back("the ledger says $" + std::to_string(audit.total.usd()) +
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
