#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "serve/hosts/host_book.hpp"
#include "tests/support/temp_file.hpp"

namespace muster::hosts {

/// A book on a file, whose clocks the test sets.
class HostBookTest : public testing::Test {
 protected:
  static constexpr std::int64_t kNow = 1'700'000'000;
  inline static const std::string kAuthority = std::string(64, 'a');

  static InstanceType type_of(const std::string& name, double cpus, double memory) {
    InstanceType type;
    type.name = name;
    type.capacity[Resource::cpu] = cpus;
    type.capacity[Resource::memory] = memory;
    return type;
  }

  HostBookTest() {
    std::filesystem::create_directories(folder());
    open();
  }

  void open() {
    auto opened = try_open();
    ASSERT_TRUE(opened.has_value()) << opened.error().message;
    book_ = std::move(opened).value();
    book_->watch({[this](InstanceId id, const std::string&) { lost_.push_back(id); },
                  [this] { ++rooms_told_; }});
  }
  Expected<std::shared_ptr<HostBook>, int> try_open(std::size_t rented = 0) {
    HostBookSetup setup;
    setup.rented = rented;
    setup.file = folder() / "hosts.json";
    setup.note = [this](const std::string& text) { notes_.push_back(text); };
    setup.catalog = &catalog_;
    setup.lease = lease_;
    setup.report = std::chrono::seconds{1};
    setup.wall_s = [this] { return wall_s_; };
    setup.since_boot = [this] { return since_boot_; };
    setup.settings = [](InstanceId id, const InstanceType&) {
      return Expected<std::string, int>("instance = " + std::to_string(id.value));
    };
    return HostBook::open(std::move(setup));
  }
  std::filesystem::path folder() const { return scratch_.folder() / "state"; }
  /// As on a disk that is full: no file can be written until the folder is back.
  void take_folder() { std::filesystem::rename(folder(), scratch_.folder() / "away"); }
  void give_folder() { std::filesystem::rename(scratch_.folder() / "away", folder()); }
  /// The machine that reports as `key` runs the instance.
  void run(const std::string& key, InstanceId instance) {
    ASSERT_TRUE(book_->reserve(instance, "large"));
    book_->begin(instance);
    ASSERT_THAT(told(key), testing::ElementsAre(instance));
  }

  JoinToken token(std::uint32_t hosts = 1, std::int64_t lifetime_s = 3600) {
    return book_->create_token(hosts, lifetime_s, kAuthority).value();
  }
  JoinRequest request(const JoinToken& by, Measured has = {4, 8, 0, 100}) {
    return {by.id, by.secret, "", "box", has, {}, wall_s_};
  }
  /// A machine that has joined and reported.
  void add_host(const std::string& key) {
    ASSERT_TRUE(book_->join(request(token()), key).has_value());
    ASSERT_TRUE(report(key).has_value());
  }
  Expected<ReportAnswer, int> report(const std::string& key, std::vector<InstanceId> here = {},
                                     const std::string& run = "r", const std::string& boot = "b") {
    return book_->report(key, {run, boot, {4, 8, 0, 100}, std::move(here)});
  }
  /// Instances that the machine is told to run.
  std::vector<InstanceId> told(const std::string& key, std::vector<InstanceId> here = {}) {
    std::vector<InstanceId> ids;
    const auto answer = report(key, std::move(here));
    if (!answer) return {};
    for (const WantedInstance& each : answer->instances) ids.push_back(each.instance);
    return ids;
  }

  test::TempFile scratch_{"unused", ""};
  Catalog catalog_{{type_of("small", 1, 1), type_of("large", 4, 8), type_of("huge", 64, 256)}};
  Duration lease_ = std::chrono::seconds{60};
  std::int64_t wall_s_ = kNow;
  Duration since_boot_ = std::chrono::seconds{1000};
  std::vector<InstanceId> lost_;
  std::vector<std::string> notes_;
  int rooms_told_ = 0;  ///< how often other machines were free than before
  std::shared_ptr<HostBook> book_;
};

}  // namespace muster::hosts
