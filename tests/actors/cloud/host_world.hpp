#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "actors/cloud/loopback_provider.hpp"
#include "serve/hosts/host_machines.hpp"
#include "tests/actors/cloud/cloud_desk.hpp"
#include "tests/support/temp_file.hpp"

namespace muster::test {

/// Machines of one's own that do at once what they are told.
class ReportingMachines final : public hosts::HostMachines {
 public:
  ReportingMachines(std::shared_ptr<hosts::HostBook> book, std::vector<std::string> keys)
      : hosts::HostMachines(book), book_(std::move(book)), keys_(std::move(keys)) {}

  Expected<std::string, MachineError> boot(const MachineOrder& order) override {
    auto machine = hosts::HostMachines::boot(order);
    report();
    return machine;
  }
  bool halt(InstanceId id, const std::string& machine, Duration grace,
            std::function<void()> done) override {
    if (hosts::HostMachines::halt(id, machine, grace, {})) return true;
    report();
    return hosts::HostMachines::halt(id, machine, grace, std::move(done));
  }

 private:
  /// Each hears its orders, and says what is left after them.
  void report() {
    for (const std::string& key : keys_) {
      std::vector<InstanceId> here;
      constexpr int kUntilSettled = 3;
      for (int i = 0; i < kUntilSettled; ++i) {
        const auto answer = book_->report(key, {"run", "boot", {}, here});
        ASSERT_TRUE(answer.has_value()) << answer.error().message;
        here.clear();
        for (const hosts::WantedInstance& each : answer->instances) here.push_back(each.instance);
      }
    }
  }

  std::shared_ptr<hosts::HostBook> book_;
  std::vector<std::string> keys_;
};

/// A provider `hosts` with three machines of the type it3.
class HostWorld {
 public:
  HostWorld() {
    hosts::HostBookSetup setup;
    setup.file = files_.folder() / "hosts.json";
    setup.catalog = &catalog_;
    setup.report = std::chrono::seconds{1};
    setup.wall_s = [] { return std::int64_t{0}; };
    setup.since_boot = [] { return Duration{}; };
    book_ = hosts::HostBook::open(std::move(setup)).value();
    const hosts::JoinToken token = book_->create_token(3, 3600, "").value();
    for (const std::string key : {"one", "two", "three"}) {
      const hosts::Measured has{1000, 10'000, 100, 10'000};
      EXPECT_TRUE(book_->join({token.id, token.secret, "", key, has, {}, 0}, key).has_value());
      EXPECT_TRUE(book_->report(key, {"run", "boot", has}).has_value());
      keys_.push_back(key);
    }
  }
  std::unique_ptr<CloudProvider> make() {
    machines_.push_back(std::make_unique<ReportingMachines>(book_, keys_));
    LoopbackOptions options;
    options.catalog = &catalog_;
    options.machines = machines_.back().get();
    return std::make_unique<LoopbackProvider>(options);
  }
  static std::optional<std::uint32_t> free() { return 3; }
  /// Others have all of them.
  void run_out() {
    for (std::uint64_t id = 1000; book_->reserve(InstanceId{id}, "it3");) ++id;
  }
  static constexpr bool kPricesChange = false;
  static constexpr bool kInterrupts = true;

 private:
  TempFile files_{"unused", ""};
  Catalog catalog_ = it3_on_both_markets();
  std::shared_ptr<hosts::HostBook> book_;
  std::vector<std::string> keys_;
  std::vector<std::unique_ptr<ReportingMachines>> machines_;  ///< the last is in use
};

}  // namespace muster::test
