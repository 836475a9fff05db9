#pragma once

#include <asio/connect.hpp>
#include <asio/io_context.hpp>
#include <asio/ip/tcp.hpp>
#include <asio/read.hpp>
#include <asio/ssl.hpp>
#include <asio/write.hpp>
#include <caf/all.hpp>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "actors/link/frame.hpp"
#include "actors/link/worker_link_codec.hpp"
#include "actors/link/worker_link_listener.hpp"
#include "actors/link/worker_link_master.hpp"
#include "tests/actors/link/cluster_pki.hpp"
#include "workers/worker_actor.hpp"

namespace muster::test {

/// Whether the condition comes true within 30 s.
inline bool comes_true(const std::function<bool()>& condition) {
  using Clock = std::chrono::steady_clock;
  const auto end = Clock::now() + std::chrono::seconds{30};
  while (!condition()) {
    if (Clock::now() > end) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds{2});
  }
  return true;
}

/// An actor system in real time.
class LiveSystem {
 public:
  LiveSystem() : system_(prepare(config_)) {}
  caf::actor_system& actors() { return system_; }

 private:
  static caf::actor_system_config& prepare(caf::actor_system_config& config) {
    add_messages(config);
    config.set("scheduler.policy", caf::atom("sharing")).set("scheduler.max-threads", 3);
    return config;
  }
  caf::actor_system_config config_;
  caf::actor_system system_;
};

/// What a scripted master has heard.
struct MasterNotes {
  std::vector<WorkerHello> hellos;
  std::vector<WorkerActor> workers;  ///< one a hello
  std::vector<caf::actor_addr> downs;
  std::vector<WorkerReport> reports;
  std::vector<SampleAnswer> samples;
  std::vector<LogAnswer> logs;
  std::vector<ExecAnswer> execs;
  std::vector<UsageAnswer> usages;
  std::vector<MetricsReport> metrics;
  std::vector<FilledLogs> filled;
};

/// Writes down what it hears; settles and answers nothing by itself.
class ScriptedMaster {
 public:
  explicit ScriptedMaster(caf::actor_system& system)
      : state_(std::make_shared<State>()), actor_(spawn(system, state_)) {}
  ~ScriptedMaster() {
    release();
    caf::anon_send_exit(actor_, caf::exit_reason::kill);
    const std::lock_guard lock(state_->mutex);
    state_->notes.workers.clear();
  }
  ScriptedMaster(const ScriptedMaster&) = delete;
  ScriptedMaster& operator=(const ScriptedMaster&) = delete;

  const LinkedMaster& actor() const { return actor_; }
  MasterNotes notes() const {
    const std::lock_guard lock(state_->mutex);
    return state_->notes;
  }
  /// The handle that came with the last hello.
  WorkerActor worker() const { return notes().workers.back(); }

  /// It deals with nothing until release().
  void hold() {
    state_->set_held(true);
    caf::anon_send(actor_, Wakeup{[state = state_] { state->wait(); }});
  }
  void release() { state_->set_held(false); }

 private:
  struct State {
    mutable std::mutex mutex;
    std::condition_variable changed;
    bool held = false;
    MasterNotes notes;

    void set_held(bool value) {
      const std::lock_guard lock(mutex);
      held = value;
      changed.notify_all();
    }
    void wait() {
      std::unique_lock lock(mutex);
      changed.wait(lock, [this] { return !held; });
    }
    template <class F>
    void note(F write) {
      const std::lock_guard lock(mutex);
      write(notes);
    }
  };

  static LinkedMaster spawn(caf::actor_system& system, const std::shared_ptr<State>& state) {
    return system.spawn([state](LinkedMaster::pointer self) -> LinkedMaster::behavior_type {
      self->set_down_handler([state](const caf::down_msg& down) {
        state->note([&](MasterNotes& notes) { notes.downs.push_back(down.source); });
      });
      return {
          [state, self](hello_atom, const WorkerHello& hello, const WorkerActor& worker) {
            self->monitor(worker);
            state->note([&](MasterNotes& notes) {
              notes.hellos.push_back(hello);
              notes.workers.push_back(worker);
            });
          },
          [state](const WorkerReport& report) {
            state->note([&](MasterNotes& notes) { notes.reports.push_back(report); });
          },
          [state](const SampleAnswer& answer) {
            state->note([&](MasterNotes& notes) { notes.samples.push_back(answer); });
          },
          [state](const LogAnswer& answer) {
            state->note([&](MasterNotes& notes) { notes.logs.push_back(answer); });
          },
          [state](const MetricsReport& report) {
            state->note([&](MasterNotes& notes) { notes.metrics.push_back(report); });
          },
          [state](const FilledLogs& said) {
            state->note([&](MasterNotes& notes) { notes.filled.push_back(said); });
          },
          [state](const ExecAnswer& answer) {
            state->note([&](MasterNotes& notes) { notes.execs.push_back(answer); });
          },
          [state](const UsageAnswer& answer) {
            state->note([&](MasterNotes& notes) { notes.usages.push_back(answer); });
          },
          [](const Wakeup& wakeup) { wakeup.run(); },
      };
    });
  }

  std::shared_ptr<State> state_;
  LinkedMaster actor_;
};

/// News of a link, as they come.
class NewsBook {
 public:
  LinkListener listener() {
    return [state = state_](const LinkNews& news) {
      const std::lock_guard lock(state->mutex);
      state->news.push_back(news);
    };
  }
  /// Whether something of that kind with that text in it has come, or comes within 30 s.
  bool hears(LinkNewsKind kind, const std::string& part) const {
    return comes_true([&] {
      const std::lock_guard lock(state_->mutex);
      for (const LinkNews& news : state_->news) {
        if (news.kind == kind && news.text.find(part) != std::string::npos) return true;
      }
      return false;
    });
  }
  std::string all() const {
    const std::lock_guard lock(state_->mutex);
    std::string text;
    for (const LinkNews& news : state_->news) {
      text += std::to_string(static_cast<int>(news.kind)) + " " + news.text + "\n";
    }
    return text;
  }

 private:
  struct State {
    std::mutex mutex;
    std::vector<LinkNews> news;
  };
  std::shared_ptr<State> state_ = std::make_shared<State>();
};

/// A worker's end that does what a test wants, and nothing else.
class RawWorker {
 public:
  /// Without files: no TLS.
  RawWorker(std::uint16_t port, const std::optional<TlsFiles>& files) : socket_(io_) {
    socket_.connect({asio::ip::address_v4::loopback(), port});
    if (!files) return;
    auto context = client_context(*files);
    MUSTER_CHECK(context.has_value(), "a test without a certificate");
    context_ = context.value();
    tls_ = std::make_unique<asio::ssl::stream<asio::ip::tcp::socket&>>(socket_, *context_);
    std::error_code error = asio::error::timed_out;
    tls_->async_handshake(asio::ssl::stream_base::client,
                          [&error](std::error_code got) { error = got; });
    run();
    MUSTER_CHECK(!error, "a test whose handshake fails");
  }

  bool send(const std::string& bytes) {
    std::error_code error = asio::error::timed_out;
    const auto done = [&error](std::error_code got, std::size_t) { error = got; };
    if (tls_ != nullptr) {
      asio::async_write(*tls_, asio::buffer(bytes), done);
    } else {
      asio::async_write(socket_, asio::buffer(bytes), done);
    }
    run();
    return !error;
  }
  bool send_hello(InstanceId instance, std::uint16_t major = kLinkMajor,
                  std::uint32_t credits = 256) {
    return send(make_frame(
        [&](link_wire::Frame::Builder frame) {
          auto hello = frame.initHello();
          hello.initVersion().setMajor(major);
          hello.setCredits(credits);
          hello.setInstance(instance.value);
        },
        1 << 20));
  }

  /// The next frame, heartbeats and credits left out unless `all`; empty when the link is closed or
  /// nothing comes for 30 s.
  std::vector<std::uint64_t> next(bool all = false) {
    for (;;) {
      std::array<unsigned char, kFrameHeaderBytes> header{};
      if (!read(asio::buffer(header))) return {};
      std::vector<std::uint64_t> words(frame_length(header) / sizeof(std::uint64_t));
      if (!read(asio::buffer(words))) return {};
      bool steering = false;
      read_frame(words, [&](link_wire::Frame::Reader frame) -> std::optional<std::string> {
        steering = frame.isHeartbeat() || frame.isCredit();
        return std::nullopt;
      });
      if (all || !steering) return words;
    }
  }
  /// The reason in the next frame; empty when it is no refusal.
  std::string refusal() {
    std::string reason;
    read_frame(next(), [&](link_wire::Frame::Reader frame) -> std::optional<std::string> {
      if (frame.isRefused()) reason = frame.getRefused().getReason().cStr();
      return std::nullopt;
    });
    return reason;
  }
  bool welcomed() {
    bool is = false;
    read_frame(next(), [&](link_wire::Frame::Reader frame) -> std::optional<std::string> {
      is = frame.isWelcome();
      return std::nullopt;
    });
    return is;
  }
  /// Whether the other end closes within 30 s; what it still says is dropped.
  bool is_closed() {
    while (!next(true).empty()) continue;
    return ended_;
  }

 private:
  bool read(asio::mutable_buffer into) {
    std::error_code error = asio::error::timed_out;
    const auto done = [&error](std::error_code got, std::size_t) { error = got; };
    if (tls_ != nullptr) {
      asio::async_read(*tls_, into, done);
    } else {
      asio::async_read(socket_, into, done);
    }
    run();
    ended_ = error && error != asio::error::timed_out;
    return !error;
  }
  /// Up to 30 s; what is not done then is given up.
  void run() {
    io_.restart();
    io_.run_for(std::chrono::seconds{30});
    if (!io_.stopped()) {
      std::error_code ignored;
      socket_.close(ignored);
      io_.run();
    }
  }

  asio::io_context io_;
  asio::ip::tcp::socket socket_;
  TlsContext context_;
  std::unique_ptr<asio::ssl::stream<asio::ip::tcp::socket&>> tls_;
  bool ended_ = false;
};

/// Starts at once, and ends a task only when it is told to: its own name as the first argument
/// says how. "finish" ends at once, and "fill" has filled files.
class ScriptedExecutor : public Executor {
 public:
  explicit ScriptedExecutor(ExecutorHost host) : host_(std::move(host)) {}
  void start(const TaskOrder& e) override {
    host_.started(e.task.id, e.attempt, from_seconds(1), from_seconds(2));
    running_[e.task.id] = e.attempt;
    if (e.program.argv == std::vector<std::string>{"finish"}) {
      running_.erase(e.task.id);
      host_.finished(e.task.id, e.attempt, {0, "out", "err"});
    }
    if (e.program.argv == std::vector<std::string>{"fill"}) {
      host_.filled({{e.task.id, e.attempt, 100, 7}});
    }
  }
  void stop(TaskId task, Attempt attempt) override {
    if (running_.erase(task) > 0) host_.checkpointed(task, attempt, from_seconds(3), {85, "", ""});
  }
  std::vector<ExecutionSample> sample() override {
    std::vector<ExecutionSample> all;
    for (const auto& [task, attempt] : running_) all.push_back({task, attempt, 0.5});
    return all;
  }
  LogPart read_log(const LogPlace& place) override {
    return {place.offset, std::string(place.max_bytes, 'x'), true};
  }
  std::string limits() const override { return "scripted"; }

 private:
  ExecutorHost host_;
  std::map<TaskId, Attempt> running_;
};

}  // namespace muster::test
