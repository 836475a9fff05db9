#pragma once

#include <chrono>
#include <condition_variable>
#include <deque>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/places.hpp"
#include "tests/support/temp_file.hpp"
#include "workers/process/process_executor.hpp"

namespace muster::test {

/// The worker of a process executor: runs posted steps on the test's own thread and notes what it
/// is told.
class ProcessHost {
 public:
  struct News {
    std::string what;
    TaskId task;
    Attempt attempt = 0;
    std::string reason;
    ExecutionEnd end;
  };

  ExecutorHost host() {
    ExecutorHost host;
    host.now = [] { return Instant{}; };
    // Nothing here has to wait: what is due later is due at once.
    host.at = [queue = queue_](Instant, std::function<void()> step) {
      const std::lock_guard lock(queue->mutex);
      queue->steps.push_back(std::move(step));
    };
    host.post = [queue = queue_](std::function<void()> step) {
      const std::lock_guard lock(queue->mutex);
      queue->steps.push_back(std::move(step));
      queue->changed.notify_all();
    };
    host.started = [this](TaskId task, Attempt attempt, Duration, Duration) {
      news.push_back({"started", task, attempt, "", {}});
    };
    host.checkpointed = [this](TaskId task, Attempt attempt, Duration, ExecutionEnd end) {
      news.push_back({"left", task, attempt, "", std::move(end)});
    };
    host.finished = [this](TaskId task, Attempt attempt, ExecutionEnd end) {
      news.push_back({"finished", task, attempt, "", std::move(end)});
    };
    host.failed = [this](TaskId task, Attempt attempt, std::string reason, ExecutionEnd end) {
      news.push_back({"failed", task, attempt, std::move(reason), std::move(end)});
    };
    host.rejected = [this](TaskId task, Attempt attempt, std::string reason) {
      news.push_back({"rejected", task, attempt, std::move(reason), {}});
    };
    host.reported = [this](std::vector<AttemptMetrics> said) {
      for (AttemptMetrics& each : said) {
        news.push_back({"reported", each.said.task, each.attempt, "", {}});
        if (each.replica) replicas[each.said.task] = *std::move(each.replica);
        metrics[each.said.task] = std::move(each.said.values);
      }
    };
    host.filled = [this](const std::vector<FilledLog>& logs) {
      for (const FilledLog& each : logs) filled[each.task] = each;
    };
    return host;
  }

  /// Runs steps until the condition holds; false when it still does not after a minute.
  bool run_until(const std::function<bool()>& condition) {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::minutes{1};
    while (!condition()) {
      std::unique_lock lock(queue_->mutex);
      // Some conditions hold by what happens outside the executor.
      queue_->changed.wait_for(lock, std::chrono::milliseconds{5},
                               [this] { return !queue_->steps.empty(); });
      if (std::chrono::steady_clock::now() > deadline) return false;
      std::deque<std::function<void()>> steps;
      steps.swap(queue_->steps);
      lock.unlock();
      for (const auto& step : steps) step();
    }
    return true;
  }
  /// What is heard of the attempt last; empty when it does not end.
  News end_of(TaskId task, Attempt attempt) {
    const News* end = nullptr;
    run_until([&] {
      for (const News& one : news) {
        const bool ends = one.what != "started" && one.what != "reported";
        if (one.task == task && one.attempt == attempt && ends) end = &one;
      }
      return end != nullptr;
    });
    return end == nullptr ? News{} : *end;
  }
  bool heard(const std::string& what, TaskId task) const {
    for (const News& one : news) {
      if (one.what == what && one.task == task) return true;
    }
    return false;
  }
  std::size_t count(const std::string& what) const {
    std::size_t found = 0;
    for (const News& one : news) found += one.what == what ? 1 : 0;
    return found;
  }

  std::vector<News> news;
  std::map<TaskId, Metrics> metrics;        ///< reported last
  std::map<TaskId, ReplicaState> replicas;  ///< likewise, of services
  std::map<TaskId, FilledLog> filled;       ///< likewise, how far their files are full

 private:
  struct Queue {
    std::mutex mutex;
    std::condition_variable changed;
    std::deque<std::function<void()>> steps;
  };
  std::shared_ptr<Queue> queue_ = std::make_shared<Queue>();
};

inline std::string content_of(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// Options for an executor in a test's own folder.
inline ProcessOptions process_options(const std::filesystem::path& folder) {
  ProcessOptions options;
  options.state_dir = folder / "state";
  options.checkpoint_root = folder / "checkpoints";
  options.shim_program = built_program("muster-shim");
  options.stop_grace = std::chrono::seconds{20};
  options.memory_interval = std::chrono::milliseconds{20};
  return options;
}

/// One attempt of a task of job 7 that runs a shell script.
inline TaskOrder script(std::uint64_t task, const std::string& text, Attempt attempt = 1) {
  TaskOrder execution;
  execution.job = JobId{7};
  execution.task.id = TaskId{task};
  execution.attempt = attempt;
  execution.granted = Resources::of(0, 1, 1);
  execution.workload_class = "shell";
  execution.program.argv = {"/bin/sh", "-c", text};
  return execution;
}

}  // namespace muster::test
