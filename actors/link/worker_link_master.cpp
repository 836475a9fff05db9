#include "actors/link/worker_link_master.hpp"

#include <asio/executor_work_guard.hpp>
#include <asio/io_context.hpp>
#include <asio/ip/tcp.hpp>
#include <asio/post.hpp>
#include <mutex>
#include <utility>

#include "actors/link/frame_connection.hpp"
#include "actors/link/worker_link_codec.hpp"
#include "actors/link/worker_link_dialer.hpp"

// The worker's side of the link: an actor stands for the master on the worker's side, and a thread
// dials, reads and writes. The connection is the one thing that both share, behind a mutex.

namespace muster {

using asio::ip::tcp;

namespace {

/// State that the worker's thread and the link's thread share.
class OpenLink {
 public:
  std::shared_ptr<FrameConnection> connection() const {
    const std::lock_guard lock(mutex_);
    return connection_;
  }
  void set(std::shared_ptr<FrameConnection> connection) {
    const std::lock_guard lock(mutex_);
    connection_ = std::move(connection);
  }

 private:
  mutable std::mutex mutex_;
  std::shared_ptr<FrameConnection> connection_;
};

/// Stands for the master in the worker's process.
class MasterProxy : public LinkedMaster::base {
 public:
  struct Setup {
    std::shared_ptr<OpenLink> link;
    WorkerLinkOptions options;
    std::function<void(const WorkerActor&)> found;  ///< the worker has spoken for the first time
    std::function<void()> lost;                     ///< the worker is no more
    std::function<void(const std::string&)> trouble;
  };

  MasterProxy(caf::actor_config& config, Setup setup)
      : LinkedMaster::base(config), setup_(std::move(setup)) {
    set_down_handler([this](const caf::down_msg& down) {
      if (down.source == worker_) setup_.lost();
    });
  }
  const char* name() const override { return "muster.master-proxy"; }
  void on_exit() override { setup_ = {}; }

 protected:
  behavior_type make_behavior() override {
    return {
        [this](hello_atom, const WorkerHello& hello, const WorkerActor& worker) {
          meet(worker);
          say_hello(hello);
        },
        [this](const WorkerReport& report) { send_frame(report_frame(report, max_bytes())); },
        [this](const SampleAnswer& answer) {
          std::vector<FrameBytes> frames = samples_frames(answer, max_bytes());
          if (frames.empty()) return send_frame({});
          for (FrameBytes& frame : frames) send_frame(std::move(frame));
        },
        [this](const LogAnswer& answer) { send_frame(log_frame(answer, max_bytes())); },
        [this](const ExecAnswer& answer) { send_frame(exec_answer_frame(answer, max_bytes())); },
        [this](const UsageAnswer& answer) { send_frame(usage_answer_frame(answer, max_bytes())); },
        [this](const MetricsReport& report) {
          for (FrameBytes& frame : metrics_frames(report, max_bytes())) {
            send_frame(std::move(frame));
          }
        },
        [this](const FilledLogs& said) {
          for (FrameBytes& frame : filled_frames(said, max_bytes())) send_frame(std::move(frame));
        },
        [](const Wakeup& wakeup) { wakeup.run(); },
    };
  }

 private:
  std::size_t max_bytes() const { return setup_.options.max_frame_bytes; }

  void meet(const WorkerActor& worker) {
    if (worker_ == worker.address()) return;
    // A worker that was started again in this process is another actor.
    worker_ = worker.address();
    monitor(worker);
    setup_.found(worker);
  }

  void say_hello(const WorkerHello& hello) {
    // Before the connection is there: ready() greets, and the worker says hello again.
    const auto connection = setup_.link->connection();
    if (connection == nullptr) return;
    std::vector<FrameBytes> frames = hello_frames(hello, setup_.options.credits, max_bytes());
    // The first hello opens the link; before it nothing can be sent.
    for (FrameBytes& frame : frames) connection->open(std::move(frame));
    if (!frames.empty()) return;
    connection->end("a hello with " + std::to_string(hello.known.size()) +
                    " reports is more than the worker link takes");
  }

  void send_frame(FrameBytes frame) {
    // Only a single message can be too long: the link itself is well and goes on.
    if (frame.empty()) return setup_.trouble("a message that is longer than a frame was dropped");
    if (const auto connection = setup_.link->connection()) connection->send(std::move(frame));
  }

  Setup setup_;
  caf::actor_addr worker_;
};

}  // namespace

class MasterLink::Core : public std::enable_shared_from_this<MasterLink::Core> {
 public:
  Core(MasterLinkSetup setup, TlsContext tls)
      : setup_(std::move(setup)),
        tls_(std::move(tls)),
        io_(std::make_shared<asio::io_context>(1)),
        work_(asio::make_work_guard(*io_)),
        dialer_(std::make_shared<WorkerLinkDialer>(io_, setup_)) {}

  void spawn_proxy(caf::actor_system& system) {
    // Steps run on the link's thread, which owns all of Core; after stop() no steps run. The proxy
    // may outlive the link: it does not keep it.
    const std::weak_ptr<Core> weak = weak_from_this();
    const auto later = [weak](std::function<void(Core&)> step) {
      const auto self = weak.lock();
      if (self == nullptr) return;
      asio::post(*self->io_, [weak, step = std::move(step)] {
        if (const auto again = weak.lock()) step(*again);
      });
    };
    MasterProxy::Setup proxy;
    proxy.link = link_;
    proxy.options = setup_.options;
    proxy.found = [later](const WorkerActor& worker) {
      later([worker](Core& core) { core.found(worker); });
    };
    proxy.lost = [later] { later([](Core& core) { core.end("the worker is no more"); }); };
    proxy.trouble = [later](const std::string& what) {
      later([what](Core& core) { core.tell(LinkNewsKind::failed, what); });
    };
    proxy_ = system.spawn<MasterProxy>(std::move(proxy));
  }

  void run() {
    dialer_->listen([self = shared_from_this()](tcp::socket s) { self->begin(std::move(s)); },
                    [self = shared_from_this()](const std::string& why) {
                      self->tell(LinkNewsKind::failed, why);
                      self->dialer_->dial();
                    });
    io_->run();
  }

  void stop() {
    asio::post(*io_, [self = shared_from_this()] { self->end("the worker stops"); });
    caf::anon_send_exit(proxy_, caf::exit_reason::user_shutdown);
  }

  const LinkedMaster& proxy() const { return proxy_; }
  bool connected() const { return connected_; }

 private:
  using Problem = std::optional<std::string>;

  void found(const WorkerActor& worker) {
    if (stopping_) return;
    const bool first = !worker_;
    worker_ = worker;
    // There is no use in a link before there is a worker to speak for.
    if (first) return dialer_->dial();
    // Another worker: it has to say hello on the link that is open.
    if (const auto connection = link_->connection()) caf::anon_send(worker_, greet_atom_v);
  }

  void end(const std::string& why) {
    if (std::exchange(stopping_, true)) return;
    dialer_->stop();
    if (const auto connection = link_->connection()) connection->close(why);
    worker_ = nullptr;
    work_.reset();
  }

  void begin(tcp::socket socket) {
    auto connection =
        std::make_shared<FrameConnection>(io_, std::move(socket), tls_, setup_.options);
    met_ = false;
    link_->set(connection);
    FrameHandlers handlers;
    handlers.ready = [self = shared_from_this()](const std::string& peer) {
      return self->ready(peer);
    };
    handlers.frame = [self = shared_from_this()](link_wire::Frame::Reader read) {
      return self->frame(read);
    };
    handlers.fence = [self = shared_from_this()](std::function<void()> passed) {
      // Mailboxes are first in, first out: when the wakeup runs, all frames before it are dealt
      // with.
      caf::anon_send(self->worker_, Wakeup{std::move(passed)});
    };
    handlers.closed = [self = shared_from_this()](const std::string& reason) {
      self->closed(reason);
    };
    connection->start(LinkEnd::worker, std::move(handlers));
  }

  Problem ready(const std::string& peer) {
    // Any node of the authority could answer at this address; the name says which one is meant.
    if (!setup_.master_name.empty() && tls_ != nullptr && peer != setup_.master_name) {
      return "the master's certificate is that of '" + peer + "', not of '" + setup_.master_name +
             "'";
    }
    caf::anon_send(worker_, greet_atom_v);
    return std::nullopt;
  }

  Problem frame(link_wire::Frame::Reader frame) {
    if (frame.isRefused()) return refused(frame.getRefused());
    if (!met_) {
      if (!frame.isWelcome()) return "the master's first frame has to be a welcome";
      return welcome(frame.getWelcome());
    }
    switch (frame.which()) {
      case link_wire::Frame::START:
        return pass(read_start(frame.getStart()), start_atom_v);
      case link_wire::Frame::STOP:
        return pass_attempt(stop_atom_v, frame.getStop());
      case link_wire::Frame::SETTLED:
        return pass_attempt(ack_atom_v, frame.getSettled());
      case link_wire::Frame::GREET:
        caf::anon_send(worker_, greet_atom_v);
        return std::nullopt;
      case link_wire::Frame::SAMPLE:
        caf::anon_send(worker_, sample_atom_v, frame.getSample());
        return std::nullopt;
      case link_wire::Frame::LOG_REQUEST:
        return pass(read_log_request(frame.getLogRequest()));
      case link_wire::Frame::EXEC:
        return pass(read_exec(frame.getExec()));
      case link_wire::Frame::USAGE:
        caf::anon_send(worker_, UsageRequest{frame.getUsage()});
        return std::nullopt;
      case link_wire::Frame::WELCOME:
      case link_wire::Frame::HELLO:
      case link_wire::Frame::REPORT:
      case link_wire::Frame::SAMPLES:
      case link_wire::Frame::LOG:
      case link_wire::Frame::METRICS:
      case link_wire::Frame::FILLED:
      case link_wire::Frame::EXEC_ANSWER:
      case link_wire::Frame::USAGE_ANSWER:
        return "a frame that has no place here";
      default:  // of a newer minor version
        return std::nullopt;
    }
  }

  /// Hands on what was read, behind the atoms that name it.
  template <class T, class... Atoms>
  Problem pass(Expected<T, LinkError> read, Atoms... atoms) {
    if (!read) return read.error().message;
    caf::anon_send(worker_, atoms..., std::move(read).value());
    return std::nullopt;
  }

  template <class Atom>
  Problem pass_attempt(Atom atom, link_wire::AttemptName::Reader frame) {
    const auto read = read_attempt(frame);
    if (!read) return read.error().message;
    caf::anon_send(worker_, atom, read->task, read->attempt);
    return std::nullopt;
  }

  Problem refused(link_wire::Refused::Reader frame) {
    // It would refuse again at once: the longest delay is next.
    dialer_->was_refused();
    const auto reason = frame.getReason();
    refusal_ = clean_text({reason.cStr(), reason.size()}, kMaxReasonBytes);
    return "refused by the master: " + refusal_;
  }

  Problem welcome(link_wire::Welcome::Reader frame) {
    const auto version = frame.getVersion();
    if (version.getMajor() != kLinkMajor) {
      dialer_->was_refused();
      return "a master of another version: it speaks " + std::to_string(version.getMajor()) + "." +
             std::to_string(version.getMinor()) + " and this worker " + std::to_string(kLinkMajor) +
             "." + std::to_string(kLinkMinor);
    }
    if (!link_->connection()->met(frame.getCredits())) {
      return "a welcome that takes no frames, or too many";
    }
    met_ = true;
    connected_ = true;
    dialer_->went_well();
    tell(LinkNewsKind::up, link_->connection()->address());
    return std::nullopt;
  }

  void closed(const std::string& reason) {
    const auto connection = link_->connection();
    // Before the news and the next dialing, so that nothing is sent on a dead connection.
    link_->set(nullptr);
    connected_ = false;
    const LinkNewsKind kind = met_                ? LinkNewsKind::down
                              : !refusal_.empty() ? LinkNewsKind::refused
                                                  : LinkNewsKind::failed;
    refusal_.clear();
    tell(kind, connection->address() + ": " + reason);
    if (!stopping_) dialer_->dial();
  }

  void tell(LinkNewsKind kind, const std::string& text) const {
    if (setup_.news) setup_.news({kind, setup_.instance, text});
  }

  const MasterLinkSetup setup_;
  const TlsContext tls_;
  std::shared_ptr<asio::io_context> io_;
  asio::executor_work_guard<asio::io_context::executor_type> work_;
  std::shared_ptr<WorkerLinkDialer> dialer_;
  std::shared_ptr<OpenLink> link_ = std::make_shared<OpenLink>();
  LinkedMaster proxy_;
  WorkerActor worker_;
  std::string refusal_;
  std::atomic<bool> connected_{false};
  bool met_ = false;
  bool stopping_ = false;
};

Expected<std::unique_ptr<MasterLink>, LinkError> MasterLink::start(caf::actor_system& system,
                                                                   MasterLinkSetup setup) {
  if (setup.masters.empty() || !setup.instance.valid()) {
    return Failure<LinkError>{LinkError::malformed,
                              "the worker link wants an instance and the place of a master"};
  }
  TlsContext tls;
  if (setup.tls) {
    auto context = client_context(*setup.tls);
    if (!context) return context.error();
    tls = context.value();
  } else if (!setup.options.insecure_loopback) {
    return Failure<LinkError>{LinkError::bad_material,
                              "the worker link wants certificates: give certificate, key and the "
                              "authority of the nodes"};
  }
  auto core = std::make_shared<Core>(std::move(setup), std::move(tls));
  // Before the thread runs: nothing can come in while there is no proxy.
  core->spawn_proxy(system);
  return std::unique_ptr<MasterLink>(new MasterLink(std::move(core)));
}

MasterLink::MasterLink(std::shared_ptr<Core> core)
    : core_(std::move(core)), thread_([core = core_] { core->run(); }) {}

MasterLink::~MasterLink() {
  core_->stop();
  thread_.join();
}

MasterForWorkers MasterLink::master() const {
  return core_->proxy();
}
bool MasterLink::connected() const {
  return core_->connected();
}

}  // namespace muster
