#pragma once

#include <memory>
#include <utility>

#include "actors/cloud/machine_backend.hpp"
#include "serve/hosts/host_book.hpp"

namespace muster::hosts {

/// Machines of one's own that have joined, as the cloud's machines: to boot one is to take it into
/// use, to halt it is to give it back empty. Calls wait for nothing: orders stand in the book,
/// and the machines ask for them.
class HostMachines : public MachineBackend {
 public:
  explicit HostMachines(std::shared_ptr<HostBook> book) : book_(std::move(book)) {}
  ~HostMachines() override;
  HostMachines(const HostMachines&) = delete;
  HostMachines& operator=(const HostMachines&) = delete;

  Expected<std::string, MachineError> boot(const MachineOrder& order) override;
  bool halt(InstanceId instance, const std::string& machine, Duration grace,
            std::function<void()> done) override;
  bool reserve(const MachineOrder& order, std::size_t rented) override;
  void release(InstanceId instance) override;
  std::optional<std::map<std::string, std::uint32_t>> free_machines() const override {
    return book_->free_machines();
  }
  bool adopt(const RentedRecord& record) override;
  void keep_only(const std::set<InstanceId>& rented) override;
  void watch(std::function<void(const MachineEvent&)> tell) override;

 private:
  std::shared_ptr<HostBook> book_;
};

}  // namespace muster::hosts
