#pragma once

#include <gtest/gtest.h>

#include "actors/cloud/connector.hpp"
#include "actors/cloud/loopback_provider.hpp"
#include "tests/support/builders.hpp"
#include "tests/support/memory_cloud_store.hpp"
#include "tests/support/virtual_system.hpp"

namespace muster::test {

/// Machines that are written down; they say hello at once and end when the test wants it.
class NotedMachines final : public MachineBackend {
 public:
  Expected<std::string, MachineError> boot(const MachineOrder& order) override {
    if (broken) return Failure<MachineError>{MachineError::unwritable, "no folder"};
    ++boots;
    running.insert(order.instance);
    if (master) {
      WorkerHello hello;
      hello.instance = order.instance;
      caf::anon_send(*master, hello_atom_v, hello, WorkerActor{});
    }
    return "machine-" + std::to_string(order.instance.value);
  }
  bool halt(InstanceId id, const std::string&, Duration, std::function<void()> ended) override {
    if (slow) {
      ending[id] = std::move(ended);
      return false;
    }
    running.erase(id);
    return true;
  }
  bool adopt(const RentedRecord& record) override {
    adopted.push_back(record.machine);
    return running.contains(record.instance);
  }
  bool has_room(std::size_t rented) const override { return rented < room; }
  std::optional<Instant> all_ended_at() const override { return all_ended; }
  void keep_only(const std::set<InstanceId>& rented) override {
    std::erase_if(running, [&](InstanceId id) { return !rented.contains(id); });
  }

  const ListeningMaster* master = nullptr;  ///< that workers say hello to
  std::set<InstanceId> running;
  std::map<InstanceId, std::function<void()>> ending;
  std::vector<std::string> adopted;
  int boots = 0;
  std::size_t room = 1000;
  std::optional<Instant> all_ended;
  bool broken = false;
  bool slow = false;
};

/// A loopback cloud in virtual time, with a master that writes down what it is told.
class LoopbackFixture : public ::testing::Test {
 protected:
  LoopbackFixture() {
    master_ = spawn_listening_master(system_, heard_, nullptr, &reports_);
    setup_.catalog = &catalog_;
    setup_.origin = system_.time().origin();
    setup_.quantum = loopback_.quantum = std::chrono::seconds{1};
    setup_.store = &store_;
    setup_.bill = &bill_;
    loopback_.catalog = &catalog_;
    loopback_.machines = &machines_;
    machines_.master = &master_;
  }
  ~LoopbackFixture() override {
    system_.end(cloud_);
    system_.end(master_);
  }

  /// it3: up after 10 s, ready after 100 s more, gone after 1 s; on the spot market a tenth.
  static Catalog with_spot() {
    std::vector<InstanceType> types = table3_catalog().types();
    types[2].spot = Price::from_usd_h(0.08);
    return Catalog(std::move(types));
  }

  void make_cloud() {
    provider_ = std::make_unique<LoopbackProvider>(loopback_);
    setup_.provider = provider_.get();
    cloud_ = system_.actors().spawn<CloudConnector>(setup_);
  }
  /// The cloud ends at any moment and is started anew on the same book, with a bill of its own.
  void restart_cloud() {
    system_.end(cloud_);
    bill_ = {};
    make_cloud();
    system_.time().drain();
  }
  void launch(std::uint64_t id, Market market = Market::on_demand,
              const std::string& type = "it3") {
    caf::anon_send(cloud_, launch_atom_v,
                   LaunchOrder{InstanceId{id}, type, static_cast<std::uint8_t>(market)},
                   MasterForCloud{master_});
    system_.time().drain();
  }
  void end(std::uint64_t id) {
    caf::anon_send(cloud_, end_atom_v, InstanceId{id}, MasterForCloud{master_});
    system_.time().drain();
  }
  /// The book writes what waits.
  void flush() {
    store_.flush();
    system_.time().drain();
  }
  /// Why it could not be interrupted; empty when it could.
  std::string interrupt(std::uint64_t id) {
    caf::scoped_actor self{system_.actors()};
    auto asked = self->request(cloud_, caf::infinite, interrupt_atom_v, InstanceId{id});
    system_.time().drain();
    std::string why;
    asked.receive([&](InstanceId answered) { EXPECT_EQ(answered.value, id); },
                  [&](const caf::error& error) { why = system_.actors().render(error); });
    return why;
  }
  template <class View, class Question>
  View ask(Question question) {
    caf::scoped_actor self{system_.actors()};
    auto asked = self->request(cloud_, caf::infinite, question);
    system_.time().drain();
    View view;
    asked.receive([&](View& answer) { view = std::move(answer); },
                  [](const caf::error&) { ADD_FAILURE() << "the cloud does not answer"; });
    return view;
  }
  CloudFigures figures() { return ask<CloudFigures>(figures_atom_v); }
  std::vector<Heard> take_heard() { return std::exchange(heard_, {}); }
  static Money charge(double usd_h, double seconds) {
    return Money::of(Price::from_usd_h(usd_h), from_seconds(seconds));
  }

  VirtualSystem system_;
  Catalog catalog_ = with_spot();
  std::vector<Heard> heard_;
  std::vector<CloudReport> reports_;
  MemoryCloudStore store_;
  NotedMachines machines_;
  CloudBill bill_;
  LoopbackOptions loopback_;
  ConnectorSetup setup_;
  std::unique_ptr<CloudProvider> provider_;
  ListeningMaster master_;
  CloudActor cloud_;
};

using Transcript = std::vector<Heard>;

}  // namespace muster::test
