#include "actors/link/worker_link_listener.hpp"

#include <asio/io_context.hpp>
#include <asio/ip/tcp.hpp>
#include <asio/post.hpp>
#include <asio/steady_timer.hpp>
#include <map>
#include <set>
#include <utility>

#include "actors/link/worker_link_session.hpp"

// One thread serves all links of a node; the work behind a frame is done by actors.

namespace muster {

using asio::ip::tcp;

class WorkerListener::Core : public std::enable_shared_from_this<WorkerListener::Core> {
 public:
  Core(caf::actor_system& system, WorkerListenerSetup setup, TlsContext tls)
      : system_(&system),
        setup_(std::move(setup)),
        tls_(std::move(tls)),
        io_(std::make_shared<asio::io_context>(1)),
        acceptor_(*io_),
        rest_(*io_) {}

  Expected<bool, LinkError> listen() {
    const auto failed = [this](const std::string& why) {
      return Failure<LinkError>{LinkError::cannot_listen,
                                "cannot listen for workers at " + setup_.address + ":" +
                                    std::to_string(setup_.port) + ": " + why};
    };
    std::error_code error;
    const auto found = tcp::resolver(*io_).resolve(setup_.address, std::to_string(setup_.port),
                                                   tcp::resolver::numeric_service, error);
    if (error) return failed(error.message());
    const tcp::endpoint endpoint = found.begin()->endpoint();
    if (tls_ == nullptr && !endpoint.address().is_loopback()) {
      return failed("without TLS only a loopback address is served");
    }
    acceptor_.open(endpoint.protocol(), error);
    if (!error) acceptor_.set_option(tcp::acceptor::reuse_address(true), error);
    if (!error) acceptor_.bind(endpoint, error);
    if (!error) acceptor_.listen(asio::socket_base::max_listen_connections, error);
    if (error) return failed(error.message());
    port_ = acceptor_.local_endpoint().port();
    return true;
  }

  void run() {
    accept();
    io_->run();
  }

  void stop() {
    asio::post(*io_, [self = shared_from_this()] {
      self->stopping_ = true;
      std::error_code ignored;
      self->acceptor_.close(ignored);
      self->rest_.cancel();
      for (const auto& session : self->sessions_) session->connection().end("the master stops");
    });
  }

  std::uint16_t port() const { return port_; }
  const WorkerListenerCounts& counts() const { return counts_; }

 private:
  using Session = std::shared_ptr<WorkerSession>;

  // Connections that have not said hello have a bound of their own, so that strangers cannot keep
  // workers out.
  bool has_room() const {
    return sessions_.size() - by_instance_.size() < setup_.options.max_meeting &&
           sessions_.size() < setup_.options.max_links;
  }

  void accept() {
    // Without room nothing is accepted: the kernel's queue holds the others until closed() calls
    // again.
    if (stopping_ || accepting_ || !has_room()) return;
    accepting_ = true;
    acceptor_.async_accept([self = shared_from_this()](std::error_code error, tcp::socket socket) {
      self->accepting_ = false;
      if (self->stopping_) return;
      if (error) return self->rest();
      self->begin(std::move(socket));
      self->accept();
    });
  }

  /// Out of descriptors, most likely: asking again at once would only turn in circles.
  void rest() {
    rest_.expires_after(std::chrono::milliseconds{100});
    rest_.async_wait([self = shared_from_this()](std::error_code error) {
      if (!error) self->accept();
    });
  }

  void begin(tcp::socket socket) {
    ++counts_.accepted;
    ++counts_.open;
    auto connection =
        std::make_shared<FrameConnection>(io_, std::move(socket), tls_, setup_.options);
    WorkerSession::Owner owner;
    owner.system = system_;
    owner.master = setup_.master;
    owner.counts = &counts_;
    owner.options = &setup_.options;
    owner.met = [self = shared_from_this()](const Session& session) { self->met(session); };
    owner.closed = [self = shared_from_this()](const Session& session, const std::string& reason) {
      self->closed(session, reason);
    };
    auto session = std::make_shared<WorkerSession>(std::move(owner), std::move(connection));
    sessions_.insert(session);
    session->start();
  }

  void met(const Session& session) {
    ++counts_.met;
    const Session present = std::exchange(by_instance_[session->instance()], session);
    // First: reports that the old link still holds must not come after the new one's hello.
    if (present != nullptr) present->connection().refuse("another link of this instance took over");
    tell(LinkNewsKind::up, session->instance(), session->connection().address());
    accept();
  }

  void closed(const Session& session, const std::string& reason) {
    --counts_.open;
    sessions_.erase(session);
    const auto found = by_instance_.find(session->instance());
    // A link that took over stays.
    if (found != by_instance_.end() && found->second == session) by_instance_.erase(found);
    const bool was_met = session->instance().valid();
    if (!was_met) ++counts_.refused;
    tell(was_met ? LinkNewsKind::down : LinkNewsKind::refused, session->instance(),
         session->connection().address() + ": " + reason);
    accept();
  }

  void tell(LinkNewsKind kind, InstanceId instance, const std::string& text) const {
    // Called on this thread: a listener that takes its time holds up all links.
    if (setup_.news) setup_.news({kind, instance, text});
  }

  caf::actor_system* system_;
  const WorkerListenerSetup setup_;
  const TlsContext tls_;
  std::shared_ptr<asio::io_context> io_;
  tcp::acceptor acceptor_;
  asio::steady_timer rest_;
  std::uint16_t port_ = 0;
  bool accepting_ = false;
  bool stopping_ = false;
  std::set<Session> sessions_;
  std::map<InstanceId, Session> by_instance_;
  WorkerListenerCounts counts_;
};

Expected<std::unique_ptr<WorkerListener>, LinkError> WorkerListener::start(
    caf::actor_system& system, WorkerListenerSetup setup) {
  TlsContext tls;
  if (setup.tls) {
    auto context = server_context(*setup.tls);
    if (!context) return context.error();
    tls = context.value();
  } else if (!setup.options.insecure_loopback) {
    return Failure<LinkError>{LinkError::bad_material,
                              "the worker link wants certificates: give certificate, key and the "
                              "authority of the workers"};
  }
  auto core = std::make_shared<Core>(system, std::move(setup), std::move(tls));
  if (auto listening = core->listen(); !listening) return listening.error();
  return std::unique_ptr<WorkerListener>(new WorkerListener(std::move(core)));
}

WorkerListener::WorkerListener(std::shared_ptr<Core> core)
    : core_(std::move(core)), thread_([core = core_] { core->run(); }) {}

WorkerListener::~WorkerListener() {
  core_->stop();
  thread_.join();
}

std::uint16_t WorkerListener::port() const {
  return core_->port();
}
const WorkerListenerCounts& WorkerListener::counts() const {
  return core_->counts();
}

}  // namespace muster
