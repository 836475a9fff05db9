#pragma once

#include <poll.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "workers/process/shim/line_server.hpp"
#include "workers/process/shim/shim_sockets.hpp"

namespace muster::test {

/// The shim's end of a task's socket: notes the lines that it hears, and answers each.
class FakeShim {
 public:
  FakeShim() { open(); }

  /// The value of MUSTER_SOCKET.
  std::string socket() const { return "@" + name_; }
  void open() {
    server_ = process::LineServer(process::LineServer::Bounds{});
    server_.admit({geteuid()});
    server_.listen(process::listen_abstract(name_));
  }
  /// All connections end, and there are no new ones.
  void close() { server_ = process::LineServer(process::LineServer::Bounds{}); }
  void answer_by(std::string answer) { answer_ = std::move(answer); }

  /// Hears what is said for `time` at most, or as soon as there is something.
  void hear_once(std::chrono::milliseconds time) {
    std::vector<pollfd> polled;
    server_.add_to(polled);
    poll(polled.data(), polled.size(), static_cast<int>(time.count()));
    server_.serve(polled, [this](std::string_view line) {
      lines.emplace_back(line);
      return answer_;
    });
  }
  /// False when the condition does not hold within a minute.
  bool hear_until(const std::function<bool()>& condition) {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::minutes{1};
    while (!condition()) {
      if (std::chrono::steady_clock::now() > deadline) return false;
      hear_once(std::chrono::milliseconds{2});
    }
    return true;
  }
  /// Until a line begins so, of those from `from` on.
  bool hears(const std::string& begin, std::size_t from = 0) {
    return hear_until([&] { return !line_with(begin, from).empty(); });
  }
  /// The first line that begins so; empty: there is no such line.
  std::string line_with(const std::string& begin, std::size_t from = 0) const {
    for (std::size_t i = from; i < lines.size(); ++i) {
      if (lines[i].starts_with(begin)) return lines[i];
    }
    return {};
  }

  std::vector<std::string> lines;

 private:
  std::string name_ = process::random_name();
  std::string answer_ = "ok\n";
  process::LineServer server_{process::LineServer::Bounds{}};
};

}  // namespace muster::test
