#pragma once

#include <atomic>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "serve/api/backend.hpp"

namespace muster::api {

/// A cluster that is not there: it answers with made-up documents that change with its tick, and
/// remembers what it was asked.
class FakeBackend : public Backend {
 public:
  /// The name of job 3: text that a page must not take for its own.
  static constexpr const char* kHostileName = "<img src=x onerror=alert(1)>";
  static constexpr std::uint64_t kJobs = 40;
  /// When it was made, in seconds since 1970.
  static constexpr double kBegin = 1'700'000'000;

  void submit(std::vector<Job> jobs, Reply reply) override;
  void resubmit(const Again& what, Reply reply) override;
  /// Jobs of even numbers are ann's, the others ben's.
  void owner(JobId job, std::function<void(JobOwner)> reply) override;
  void change_job(JobId job, JobChange change, Reply reply) override;
  void change_service(ServiceChange what, Reply reply) override;
  void change_instance(InstanceId instance, InstanceChange change, Reply reply) override;
  void read_log(const LogQuery& query, Reply reply) override;
  /// A command that has ended at once, whose output is its words.
  void exec(const ExecQuery& query, Reply reply) override;
  void plan(Job job, Reply reply) override;
  void view(const View& what, Reply reply) override;
  void metrics(std::function<void(std::optional<MetricsInput>)> reply) override;

  /// From now on replies are kept instead of answered.
  void be_silent() { silent_ = true; }
  /// Answers everything that was kept.
  void answer_kept();
  /// From now on it answers every request with this.
  void answer_with(Answer answer);

  /// From now on jobs get numbers but are not kept.
  void forget_jobs() { forgets_ = true; }

  void tick() { ++tick_; }
  std::size_t calls() const { return calls_; }
  std::vector<Job> jobs() const;
  View last_view() const;
  LogQuery last_log() const;
  std::vector<std::string> changes() const;

 private:
  void answer(const Reply& reply, std::string json, int status = 200);
  std::string document(const View& what) const;

  std::atomic<bool> silent_{false};
  std::atomic<bool> forgets_{false};
  std::atomic<std::uint64_t> tick_{0};
  std::atomic<std::size_t> calls_{0};
  mutable std::mutex mutex_;
  std::vector<std::pair<Reply, Answer>> kept_;
  std::optional<Answer> always_;
  std::vector<Job> jobs_;
  View last_view_;
  LogQuery last_log_;
  std::vector<std::string> changes_;
};

}  // namespace muster::api
