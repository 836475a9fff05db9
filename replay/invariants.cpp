#include "replay/invariants.hpp"

#include <algorithm>
#include <array>
#include <deque>

#include "model/ledger.hpp"
#include "replay/metrics/run_check.hpp"

// The laws of every run, checked from its log: states rebuilt event by event stay consistent, and
// the ledger, the cloud's bill and the instance times of the log come to the same money, exactly.

namespace muster::replay {
namespace {

constexpr auto kIdleness = kAllOf<OverheadKind>;

/// A full consistency check looks at all that lives, so the next one comes no sooner than after as
/// many events as there were jobs, tasks and instances: all checks together are linear in the log.
constexpr std::size_t kEventsPerCheck = 1000;

std::size_t size_of(const ClusterState& state) {
  std::size_t size = state.instances().size();
  for (const JobRow& job : state.jobs()) size += 1 + job.tasks.size();
  return size;
}

}  // namespace

struct Auditor::Books {
  /// State and bookings of one master, built anew.
  struct Cell {
    explicit Cell(const Catalog& catalog) : state(catalog) {}

    ClusterState state;
    Ledger ledger;
  };

  explicit Books(const Catalog& of) : catalog(of), check(of) {}

  void see(const Event& event) {
    while (cells.size() <= event.cell) cells.emplace_back(catalog);
    Cell& cell = cells[event.cell];
    // The ledger reads the state as it was before the event.
    cell.ledger.observe(event, cell.state);
    if (const auto* over = std::get_if<JobFinished>(&event.body)) close(cell, over->job);
    cell.state.apply(event);
    check.see(event);
    bill.see(event);
    if (--next_check > 0) return;
    // The first inconsistency only: later ones follow from it and would hide it.
    if (audit.broken.empty()) audit.broken = cell.state.inconsistencies();
    next_check = std::max(kEventsPerCheck, size_of(cell.state));
  }

  /// The ledger need not know the tasks of a job that is over one by one.
  void close(Cell& cell, JobId id) {
    const JobRow* job = cell.state.find(id);
    if (job == nullptr) return;
    for (const TaskSpec& task : job->job.tasks) {
      if (job->job.service() != nullptr) audit.services += cell.ledger.task(task.id);
      cell.ledger.close(task.id);
    }
  }

  const Catalog& catalog;
  std::deque<Cell> cells;
  metrics::RunCheck check;
  metrics::BillCount bill{catalog};
  Audit audit;
  std::size_t next_check = kEventsPerCheck;
};

Auditor::Auditor(const Catalog& catalog) : books_(std::make_unique<Books>(catalog)) {}
Auditor::~Auditor() = default;

void Auditor::see(const Event& event) {
  books_->see(event);
}

Audit Auditor::finish(const CloudBill& bill) {
  Audit& audit = books_->audit;
  Money tasks;
  std::array<Money, kIdleness.size()> idle;
  for (const Books::Cell& cell : books_->cells) {
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
  // Money is an exact integer: no tolerance is needed.
  if (!(audit.total == bill.total)) {
    audit.broken.push_back("the ledger says $" + std::to_string(audit.total.usd()) +
                           ", the cloud billed $" + std::to_string(bill.total.usd()));
  }
  if (bill.rented > 0) {
    audit.broken.push_back(std::to_string(bill.rented) + " instances were never given back");
  }
  if (audit.broken.empty()) {
    for (const Books::Cell& cell : books_->cells) {
      const std::vector<std::string> wrong = cell.state.inconsistencies();
      audit.broken.insert(audit.broken.end(), wrong.begin(), wrong.end());
    }
  }
  const std::vector<std::string> found = books_->check.finish();
  audit.broken.insert(audit.broken.end(), found.begin(), found.end());
  if (const Money timed = books_->bill.total(); !(timed == bill.total)) {
    audit.broken.push_back("the log's instance times cost $" + std::to_string(timed.usd()) +
                           ", the cloud billed $" + std::to_string(bill.total.usd()));
  }
  return std::move(audit);
}

}  // namespace muster::replay
