// Starts and ends of /bin/true through the process executor alone, and how long one of them takes
// on an idle machine. Arguments: the number of attempts, how many at once, and the shim's program
// (default: the muster-shim beside this program).

#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <deque>
#include <filesystem>
#include <functional>
#include <iostream>
#include <mutex>
#include <string>
#include <system_error>

#include "workers/process/process_executor.hpp"

namespace muster {
namespace {

using Clock = std::chrono::steady_clock;

/// A worker that keeps a number of attempts running until all have ended.
class Bench {
 public:
  explicit Bench(const ProcessOptions& options) : executor_(InstanceId{0}, options, host()) {}

  /// Seconds for `count` attempts, `at_once` of them at a time.
  double run(std::uint64_t count, std::uint64_t at_once) {
    const auto begin = Clock::now();
    last_ = next_ + count;
    ended_ = 0;
    while (next_ < last_ && at_once-- > 0) start_next();
    while (ended_ < count) {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [this] { return !steps_.empty(); });
      // The executor posts from its threads; its steps run on this one, as on a worker's actor.
      std::deque<std::function<void()>> steps;
      steps.swap(steps_);
      lock.unlock();
      for (const auto& step : steps) step();
    }
    return std::chrono::duration<double>(Clock::now() - begin).count();
  }
  std::uint64_t failed() const { return failed_; }
  std::string limits() const { return executor_.limits(); }

 private:
  ExecutorHost host() {
    ExecutorHost host;
    host.post = [this](std::function<void()> step) {
      const std::lock_guard lock(mutex_);
      steps_.push_back(std::move(step));
      changed_.notify_one();
    };
    host.started = [](TaskId, Attempt, Duration, Duration) {};
    host.finished = [this](TaskId task, Attempt, const ExecutionEnd&) { end(task); };
    host.checkpointed = [this](TaskId task, Attempt, Duration, const ExecutionEnd&) { end(task); };
    host.failed = [this](TaskId task, Attempt, const std::string& reason, const ExecutionEnd&) {
      if (failed_++ == 0) std::cerr << reason << "\n";
      end(task);
    };
    return host;
  }
  void start_next() {
    TaskOrder execution;
    execution.job = JobId{1};
    execution.task.array_index = static_cast<std::uint32_t>(next_);
    execution.task.id = TaskId{next_++};
    execution.attempt = 1;
    execution.granted = Resources::of(0, 1, 1);
    execution.program.argv = {"/bin/true"};
    executor_.start(execution);
  }
  void end(TaskId task) {
    // As a master does: from here on the attempt's folder may go.
    executor_.acknowledged(task, 1);
    ++ended_;
    if (next_ < last_) start_next();
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> steps_;
  std::uint64_t next_ = 0;
  std::uint64_t last_ = 0;
  std::uint64_t ended_ = 0;
  std::uint64_t failed_ = 0;
  ProcessExecutor executor_;
};

int measure(std::uint64_t count, std::uint64_t at_once, const std::filesystem::path& shim) {
  const auto folder = std::filesystem::temp_directory_path() /
                      ("muster-executor-bench-" + std::to_string(getpid()));
  ProcessOptions options;
  options.state_dir = folder / "state";
  options.checkpoint_root = folder / "checkpoints";
  options.shim_program = shim;
  bool fine = false;
  {
    Bench bench(options);
    constexpr std::uint64_t kSingle = 200;
    const double single_s = bench.run(kSingle, 1);
    const double many_s = bench.run(count, at_once);
    fine = bench.failed() == 0;
    std::cout << "limits: " << bench.limits() << "\n"
              << "one at a time: " << 1000 * single_s / static_cast<double>(kSingle) << " ms each\n"
              << at_once << " at once: " << static_cast<double>(count) / many_s << " lifecycles/s ("
              << count << " in " << many_s << " s, " << bench.failed() << " failed)\n";
  }
  std::error_code ignored;
  std::filesystem::remove_all(folder, ignored);
  return fine ? 0 : 1;
}

}  // namespace
}  // namespace muster

int main(int argc, char** argv) {
  const auto number = [&](int index, std::uint64_t otherwise) {
    return argc > index ? std::strtoull(argv[index], nullptr, 10) : otherwise;
  };
  const auto shim =
      argc > 3 ? std::filesystem::path(argv[3])
               : std::filesystem::read_symlink("/proc/self/exe").parent_path() / "muster-shim";
  return muster::measure(number(1, 5000), number(2, 16), shim);
}
