#pragma once

#include <caf/all.hpp>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "actors/link/frame_connection.hpp"
#include "actors/link/worker_link_listener.hpp"
#include "actors/messages/interfaces.hpp"

namespace muster {

/// Questions that a link has been asked: other answers are not passed on. Calls may come from any
/// thread.
class AskedQuestions {
 public:
  void asked_for_log(std::uint64_t number, std::uint32_t max_bytes);
  void asked_for_samples(std::uint64_t sample_round);
  void asked_about_command(std::uint64_t number);
  void asked_for_usage(std::uint64_t number);
  /// Whether the answer has been asked for; each log request gets one.
  bool answers(const LogAnswer& answer);
  bool answers(const ExecAnswer& answer);
  bool answers(const UsageAnswer& answer);
  bool answers(const SampleAnswer& answer) const;

  /// Open log requests; older ones are forgotten.
  static constexpr std::size_t kMaxOpen = 4096;

 private:
  mutable std::mutex mutex_;
  std::deque<std::pair<std::uint64_t, std::uint32_t>> logs_;
  std::deque<std::uint64_t> askings_;
  std::deque<std::uint64_t> commands_;
  std::deque<std::uint64_t> usages_;
};

/// Stands for a connected worker in the master's process.
class WorkerProxy : public WorkerActor::base {
 public:
  struct Setup {
    InstanceId instance;
    std::shared_ptr<FrameConnection> connection;
    std::shared_ptr<AskedQuestions> asked;
    MasterForWorkers master;
    std::size_t max_frame_bytes = 0;
    std::uint16_t minor = 0;  ///< version of the worker
  };
  WorkerProxy(caf::actor_config& config, Setup setup);
  const char* name() const override { return "muster.worker-proxy"; }
  void on_exit() override;

 protected:
  behavior_type make_behavior() override;

 private:
  void start(const TaskOrder& order);
  void exec(const ExecRequest& request);
  void usage(const UsageRequest& request);

  Setup setup_;
};

/// One connection of a WorkerListener. Everything happens on the listener's thread.
class WorkerSession : public std::enable_shared_from_this<WorkerSession> {
 public:
  struct Owner {
    caf::actor_system* system = nullptr;
    LinkedMaster master;
    WorkerListenerCounts* counts = nullptr;
    const WorkerLinkOptions* options = nullptr;
    /// Called once the session's worker has said hello and before its master hears of it.
    std::function<void(const std::shared_ptr<WorkerSession>&)> met;
    /// The session is over.
    std::function<void(const std::shared_ptr<WorkerSession>&, const std::string& reason)> closed;
  };

  WorkerSession(Owner owner, std::shared_ptr<FrameConnection> connection);

  void start();
  /// Valid once the worker has said hello.
  InstanceId instance() const { return instance_; }
  FrameConnection& connection() { return *connection_; }

 private:
  using Problem = std::optional<std::string>;

  Problem ready(const std::string& peer);
  Problem frame(link_wire::Frame::Reader frame);
  Problem hello(link_wire::Hello::Reader frame);
  Problem first_hello(link_wire::Hello::Reader frame);
  Problem take_hello(WorkerHello part, bool more);
  Problem report(link_wire::Report::Reader frame);
  Problem samples(link_wire::Samples::Reader frame);
  Problem log(link_wire::Log::Reader frame);
  Problem metrics(link_wire::Metrics::Reader frame);
  Problem filled(link_wire::Filled::Reader frame);
  Problem exec_answer(link_wire::ExecAnswer::Reader frame);
  template <class Answer>
  Problem pass_on(Expected<Answer, LinkError> read);
  /// Why something said in the name of `named` is not taken, if it is not.
  Problem other_instance(InstanceId named) const;
  void closed(const std::string& reason);

  Owner owner_;
  std::shared_ptr<FrameConnection> connection_;
  std::shared_ptr<AskedQuestions> asked_ = std::make_shared<AskedQuestions>();
  std::string peer_;
  InstanceId instance_;
  WorkerActor proxy_;
  std::optional<WorkerHello> hello_;     ///< whose last frame has not come yet
  std::size_t hello_text_bytes_ = 0;     ///< of what its reports say in words
  std::optional<SampleAnswer> samples_;  ///< likewise
};

}  // namespace muster
