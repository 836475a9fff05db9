#pragma once

#include <asio/io_context.hpp>
#include <asio/ip/tcp.hpp>
#include <asio/steady_timer.hpp>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "actors/link/worker_link_master.hpp"
#include "model/rng.hpp"

namespace muster {

/// Brings about TCP connections to one of several places, one after the other, with growing
/// delays. Everything happens on the thread of its io_context.
class WorkerLinkDialer : public std::enable_shared_from_this<WorkerLinkDialer> {
 public:
  using Connected = std::function<void(asio::ip::tcp::socket)>;
  using Failed = std::function<void(const std::string& why)>;

  WorkerLinkDialer(std::shared_ptr<asio::io_context> io, const MasterLinkSetup& setup);

  /// Called once before the first dial().
  void listen(Connected connected, Failed failed);
  /// Dials the next place after a delay; ends with one call of either kind, or without a call after
  /// stop().
  void dial();
  /// The next delay is the shortest one again.
  void went_well() { delay_ = setup_.options.first_delay; }
  /// The next delay is the longest one.
  void was_refused() { delay_ = setup_.options.max_delay; }
  void stop();

 private:
  void resolve();
  void connect(const asio::ip::tcp::resolver::results_type& found);
  void fail(const std::string& why);
  std::string place_text() const;

  std::shared_ptr<asio::io_context> io_;
  const MasterLinkSetup setup_;
  asio::ip::tcp::resolver resolver_;
  asio::ip::tcp::socket socket_;
  asio::steady_timer timer_;
  Connected connected_;
  Failed failed_;
  Rng rng_;
  Duration delay_{};  ///< before the next dialing; zero at first
  std::size_t next_ = 0;
  bool stopped_ = false;
};

}  // namespace muster
