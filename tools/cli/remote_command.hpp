#pragma once

#include <termios.h>

#include <algorithm>
#include <csignal>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "tools/client/api_client.hpp"

namespace muster::cli {

/// The rows and columns of the terminal at a descriptor; nothing when it is no terminal.
struct TerminalRoom {
  unsigned rows = 0;
  unsigned columns = 0;
};
std::optional<TerminalRoom> terminal_room(int descriptor);

/// While it lives, keys of the terminal at the standard input come as they are pressed, and are
/// obeyed by the command alone.
class RawKeys {
 public:
  RawKeys();
  ~RawKeys();
  RawKeys(const RawKeys&) = delete;
  RawKeys& operator=(const RawKeys&) = delete;

 private:
  std::optional<termios> before_;
};

/// Signals of this process as something to poll for instead of an end: those for the command, and
/// the change of the terminal's size. Blocked in threads that begin while it lives.
class SignalStream {
 public:
  /// With a terminal Ctrl-C is a key.
  explicit SignalStream(bool has_terminal);
  ~SignalStream();
  SignalStream(const SignalStream&) = delete;
  SignalStream& operator=(const SignalStream&) = delete;

  int descriptor() const { return descriptor_; }
  /// The next signal; 0: no more are there.
  int next() const;

 private:
  int descriptor_ = -1;
  sigset_t before_{};
};

/// A command beside a task, as its client sees it: input is handed in by one thread and connection,
/// output comes by another, so that neither waits for the other.
class RemoteCommand {
 public:
  using Error = client::ClientError;
  /// Input that may wait to be taken.
  static constexpr std::size_t kMostInput = 32'768;

  /// `path`: of the command. Both clients have to outlive it.
  RemoteCommand(client::ApiClient& in, client::ApiClient& out, std::string path)
      : in_(in), out_(out), path_(std::move(path)) {}

  /// Prints what it writes until it is over: its exit code.
  Expected<int, Error> print_output();

  /// Hands in as much of the input as the command takes, with a size or a signal.
  struct Step {
    std::optional<TerminalRoom> room{};
    int signal = 0;
    bool ends = false;
  };
  std::optional<Failure<Error>> hand_in(const Step& step);
  void add_input(std::string_view text) { input_ += text; }
  void end_input() { input_ends_ = true; }
  std::size_t input_room() const { return kMostInput - std::min(kMostInput, input_.size()); }
  /// Some of the input, or its end, is not taken yet.
  bool has_input() const { return !input_.empty() || (input_ends_ && !end_is_taken_); }

 private:
  bool print(int descriptor, std::string_view bytes) const;

  client::ApiClient& in_;
  client::ApiClient& out_;
  std::string path_;
  std::string input_;
  std::uint64_t input_at_ = 0;
  bool input_ends_ = false;
  bool end_is_taken_ = false;
};

}  // namespace muster::cli
