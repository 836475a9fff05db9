#include "actors/cloud/master_reports.hpp"

#include <algorithm>
#include <utility>

#include "actors/messages/byte_cut.hpp"

namespace muster {
namespace {

/// Masters that are told of changes; more than a cluster has.
constexpr std::size_t kMostMasters = 1'000;

}  // namespace

MasterReports::MasterReports(const RentedBook& book, const CloudOfferings& offerings,
                             std::shared_ptr<ConnectorHost> host, Send send)
    : book_(book), offerings_(offerings), host_(std::move(host)), send_(std::move(send)) {}

void MasterReports::meet(const MasterForCloud& master) {
  if (!master) return;
  const auto known = std::find(masters_.begin(), masters_.end(), master);
  if (known != masters_.end()) return;
  masters_.push_back(master);
  if (masters_.size() > kMostMasters) masters_.erase(masters_.begin());
}

void MasterReports::greet(const MasterForCloud& master) {
  meet(master);
  const std::vector<InstanceId> newest = book_.newest();
  auto pieces = in_messages(offerings_.changes());
  if (pieces.empty()) pieces.emplace_back();
  for (std::vector<OfferingChange>& piece : pieces) {
    CloudReport report{{}, CloudReportKind::clock, host_->now()};
    report.newest = newest;
    report.changes = std::move(piece);
    tell(master, std::move(report));
  }
}

void MasterReports::tell(const MasterForCloud& master, CloudReport report) {
  report.now = host_->now();
  report.last_change = offerings_.last_change();
  send_(master, std::move(report));
}

void MasterReports::tell_state(const RentedBook::Rented& rented) {
  const RentedRecord& record = rented.record;
  const InstanceId id = record.instance;
  if (record.up_at) tell(rented.master, {id, CloudReportKind::up, *record.up_at});
  if (record.notice) tell(rented.master, {id, CloudReportKind::notice, *record.notice});
}

void MasterReports::tell_over(const RentedRecord& record, const MasterForCloud& master) {
  CloudReport report{record.instance, CloudReportKind::refused, record.ordered_at};
  // A refused instance never was: there is nothing to bill and no end to tell.
  if (!record.refused) {
    report.kind = CloudReportKind::gone;
    report.at = record.gone_at.value_or(host_->billed_now());
    report.billed_from = record.up_at;
  }
  report.reason = record.reason;
  tell(master, std::move(report));
}

void MasterReports::tell_change(const OfferingChange& change) {
  CloudReport report{{}, CloudReportKind::offerings, change.at};
  report.changes.push_back(change);
  for (const MasterForCloud& master : masters_) tell(master, report);
}

}  // namespace muster
