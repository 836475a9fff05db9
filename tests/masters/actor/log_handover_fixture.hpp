#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "masters/actor/log_handover.hpp"
#include "tests/support/builders.hpp"

namespace muster::test {

/// Keeps in memory, and is done when the test says so.
class ScriptedLogSink final : public LogSink {
 public:
  bool take(LogDelivery delivery, Done done) override {
    if (is_full) return false;
    if (takes_nothing) {
      logs.erase(delivery.name);
      if (done) open.push_back([done](bool) { done(false); });
      return true;
    }
    auto& log = logs[delivery.name];
    for (const LogPiece& piece : delivery.pieces) {
      log.text[piece.error_stream] += piece.text;
      log.end[piece.error_stream] = piece.offset + piece.text.size();
    }
    if (delivery.part) ++log.parts;
    if (delivery.part) kept[delivery.name] = log.end;
    log.whole |= delivery.last;
    if (delivery.last) log.lost = delivery.lost;
    if (done) open.push_back(std::move(done));
    return true;
  }
  bool read(const Place& place, Use use) override {
    if (is_full) return false;
    ++looked_up;
    const auto found = kept.find(place.name);
    if (found == kept.end()) {
      use({});
      return true;
    }
    KeptLog log;
    log.end = found->second[place.error_stream];
    log.open = true;
    use(log);
    return true;
  }
  bool has_removed() const override { return false; }
  void finish() {
    while (!open.empty()) {
      for (const Done& done : std::exchange(open, {})) done(true);
    }
  }

  struct Log {
    std::array<std::string, 2> text;
    std::array<std::uint64_t, 2> end{};  ///< of what came
    std::size_t parts = 0;
    bool whole = false;
    std::string lost;
  };
  std::map<LogName, Log> logs;
  std::map<LogName, std::array<std::uint64_t, 2>> kept;  ///< the ends of parts
  std::size_t looked_up = 0;
  std::vector<Done> open;
  bool takes_nothing = false;
  bool is_full = false;
};

class LogHandoverTest : public ::testing::Test {
 protected:
  static constexpr InstanceId kHere{3};
  static constexpr InstanceId kThere{4};

  LogHandoverTest() { start(); }

  /// Anew, as a master that was started again.
  void start() {
    LogHandover::Host host;
    host.ask = [this](InstanceId on, const LogRequest& request) {
      if (cut_.contains(on)) return false;
      asked_.push_back(request);
      return true;
    };
    host.acknowledge = [this](InstanceId on, const LogName& name) {
      settled_.push_back(std::to_string(on.value) + ":" + std::to_string(name.task.value));
    };
    host.free = [this](InstanceId id) { freed_.push_back(id.value); };
    host.post = [](const std::function<void()>& step) { step(); };
    host.number = [this] { return ++number_; };
    host.now = [this] { return now_; };
    host.wake = [](Instant) {};
    const LogHandover::Bounds bounds{std::chrono::seconds{10}, 1'000'000};
    logs_ = std::make_unique<LogHandover>(sink_, bounds, std::move(host));
  }

  static WorkerReport end_of(std::uint64_t task, InstanceId on, std::uint64_t out_bytes,
                             const std::string& out_tail) {
    WorkerReport report;
    report.instance = on;
    report.task = TaskId{task};
    report.attempt = 1;
    report.kind = WorkerReportKind::finished;
    report.out_bytes = out_bytes;
    report.out_tail = out_tail;
    return report;
  }
  static LogName name(std::uint64_t task) { return {TaskId{task}, 1}; }
  /// Its output is longer than what came with the report.
  void begin_long(std::uint64_t task, InstanceId on = kHere) {
    logs_->note(end_of(task, on, 1000, "tail"));
    EXPECT_TRUE(logs_->begin(name(task), on));
  }
  void wait_until_s(double seconds) {
    now_ = at_s(seconds);
    logs_->on_time(now_);
  }
  std::size_t times_asked(std::uint64_t first_task, std::uint64_t last_task) const {
    return static_cast<std::size_t>(
        std::count_if(asked_.begin(), asked_.end(), [&](const LogRequest& request) {
          return first_task <= request.task.value && request.task.value <= last_task;
        }));
  }
  void answer(const std::string& text, bool more, bool unknown = false) {
    LogAnswer said{kHere, asked_.back().number, asked_.back().offset, text, more};
    said.unknown = unknown;
    EXPECT_TRUE(logs_->hear(said));
  }

  ScriptedLogSink sink_;
  std::vector<LogRequest> asked_;
  std::vector<std::string> settled_;
  std::vector<std::uint64_t> freed_;
  std::set<InstanceId> cut_;
  std::uint64_t number_ = 0;
  Instant now_ = at_s(0);
  std::unique_ptr<LogHandover> logs_;
};

}  // namespace muster::test
