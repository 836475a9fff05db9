#include "serve/hosts/host_machines.hpp"

namespace muster::hosts {

HostMachines::~HostMachines() {
  book_->watch({});
}

Expected<std::string, MachineError> HostMachines::boot(const MachineOrder& order) {
  // The machine that was kept for it may have been lost or removed since.
  if (book_->reserve(order.instance, order.type.name)) {
    if (auto machine = book_->begin(order.instance)) return *std::move(machine);
  }
  return Failure<MachineError>{MachineError::refused,
                               "waits: no machine of the type " + order.type.name + " is free"};
}

bool HostMachines::halt(InstanceId instance, const std::string& /*machine*/, Duration /*grace*/,
                        std::function<void()> done) {
  return book_->end(instance, std::move(done));
}

bool HostMachines::reserve(const MachineOrder& order, std::size_t /*rented*/) {
  return book_->reserve(order.instance, order.type.name);
}

void HostMachines::release(InstanceId instance) {
  book_->end(instance, {});
}

bool HostMachines::adopt(const RentedRecord& record) {
  return book_->has(record.instance);
}

void HostMachines::keep_only(const std::set<InstanceId>& rented) {
  book_->keep_only([&](InstanceId instance) { return rented.contains(instance); });
}

void HostMachines::watch(std::function<void(const MachineEvent&)> tell) {
  if (!tell) return book_->watch({});
  book_->watch({[tell](InstanceId instance, const std::string& text) {
                  tell({instance, text, false, true, false});
                },
                [tell] {
                  tell({{}, {}, false, false, true});
                }});
}

}  // namespace muster::hosts
