#include "actors/cloud/rent_orders.hpp"

#include <string>
#include <utility>

namespace muster {

RentOrders::RentOrders(CloudBill& bill, const RentedParts& parts, RentedSteps& steps, Host host)
    : bill_(bill), parts_(parts), steps_(steps), host_(std::move(host)) {}

void RentOrders::rent(const LaunchOrder& order, const MasterForCloud& master) {
  const InstanceId id = order.instance;
  parts_.reports.meet(master);
  if (parts_.writer.is_writing(id)) {
    parts_.writer.defer(id, [this, order, master] { rent(order, master); });
    return;
  }
  if (RentedBook::Rented* known = parts_.book.find(id)) {
    if (is_of_another(order, known->record)) return refuse_other(id, master);
    // The master that spoke last hears the rest, as after its restart under another handle.
    known->master = master;
    return parts_.reports.tell_state(*known);
  }
  if (const RentedRecord* over = parts_.book.find_over(id)) {
    if (is_of_another(order, *over)) return refuse_other(id, master);
    return parts_.reports.tell_over(*over, master);
  }
  if (parts_.book.is_forgotten(id)) {
    host_.connector->note("instance " + std::to_string(id.value) +
                          " was over long ago: an order for it that comes now rents nothing");
    CloudReport report{id, CloudReportKind::gone, now()};
    report.reason = CloudReason::ended;
    return parts_.reports.tell(master, std::move(report));
  }
  RentedRecord record;
  record.instance = id;
  record.ordered_at = now();
  record.type = order.type;
  record.market = static_cast<Market>(order.market);
  record.zone = order.zone;
  record.max_price = order.max_price;
  parts_.offerings.price_from(record, record.ordered_at);
  // Known before it is written: a repeated order waits for this record instead of making another.
  parts_.book.add({record, master});
  // The intent is on record before the cloud hears of it: an instance that a crash leaves behind is
  // found again by its number.
  parts_.writer.write(record, [this, id](bool written) {
    if (written) return host_.launch(id);
    steps_.remove(id);  // the master repeats what it gets no answer to
  });
}

void RentOrders::refuse_other(InstanceId id, const MasterForCloud& master) {
  CloudReport report{id, CloudReportKind::refused, now()};
  report.reason = CloudReason::failed;
  parts_.reports.tell(master, std::move(report));
}

/// Whether the number stands for another instance, which its master ordered before: the record
/// would be billed in place of the order.
bool RentOrders::is_of_another(const LaunchOrder& order, const RentedRecord& known) {
  // An instance that was ended before its order came has no type; a refused one is refused again.
  if (known.type.empty() || known.refused) return false;
  if (known.type == order.type && static_cast<std::uint8_t>(known.market) == order.market) {
    return false;
  }
  ++bill_.refused;
  host_.connector->note("instance " + std::to_string(order.instance.value) + " was ordered as " +
                        known.type + " (" + std::string(name_of(known.market)) +
                        ") before: the order of that number for " + order.type + " is refused");
  return true;
}

void RentOrders::end(InstanceId id, const MasterForCloud& master) {
  parts_.reports.meet(master);
  if (parts_.writer.is_writing(id)) {
    parts_.writer.defer(id, [this, id, master] { end(id, master); });
    return;
  }
  if (const RentedRecord* over = parts_.book.find_over(id)) {
    return parts_.reports.tell_over(*over, master);
  }
  if (RentedBook::Rented* found = parts_.book.find(id)) {
    found->master = master;
    if (!found->record.ending) steps_.take(id, RentedSteps::Due::end, {});
    return;
  }
  // The launch order never came; should it still come, it is too late.
  RentedRecord record;
  record.instance = id;
  record.ordered_at = now();
  record.gone_at = now();
  record.reason = CloudReason::ended;
  parts_.book.note_number(id);
  parts_.writer.write(record, [this, record, master](bool written) {
    if (!written) return;  // the master repeats what it gets no answer to
    parts_.reports.tell_over(record, master);
    parts_.book.remember(record);
  });
}

}  // namespace muster
