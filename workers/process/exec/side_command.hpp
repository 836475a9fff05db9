#pragma once

#include <poll.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "model/exec.hpp"
#include "model/time.hpp"
#include "workers/process/descriptor.hpp"
#include "workers/process/exec/kept_output.hpp"

namespace muster::process {

/// One command beside a task, as its worker sees it: the other ends of its streams and the
/// connection to the task's shim, which has started it. Nothing here waits. Ends the command, if it
/// runs, with itself.
class SideCommand {
 public:
  /// Has the shim of the attempt begin the command. `trouble` says why not, if that is known at
  /// once.
  SideCommand(const ExecRequest& request, const std::filesystem::path& attempts);

  const ExecAnswer& trouble() const { return trouble_; }
  /// It is known whether it was begun.
  bool is_begun() const { return runs_ || is_settled(); }
  /// It is over, with all that it wrote.
  bool is_over() const { return is_settled() && !out_ && !err_ && !terminal_; }
  const ExecRequest& request() const { return begun_by_; }

  void add_to(std::vector<pollfd>& polled) const;
  /// Moves what can be moved.
  void serve(Duration now);
  /// When to look again, whatever comes; 0: there is no need.
  Duration look_at() const { return linger_until_; }

  /// Takes the client's word: input, size, signal, what it has read.
  void heed(const ExecRequest& step);
  /// Whether there is output behind those places, or an end.
  bool has_news(const ExecRequest& step) const;
  /// How it stands, with output from those places on.
  ExecAnswer state(const ExecRequest& step) const;

 private:
  bool is_settled() const { return ended_ || trouble_.trouble != ExecTrouble::none; }
  void begin(const std::filesystem::path& attempts);
  void fail(ExecTrouble trouble, std::string reason);
  bool open_streams(std::vector<Descriptor>& theirs);
  bool open_terminal(std::vector<Descriptor>& theirs);
  void hear_shim();
  void heed_line(std::string_view line);
  void end_with_attempt();
  void end(std::int32_t code, std::string reason);
  bool read_from(Descriptor& stream, KeptOutput& kept) const;
  void write_input();
  void close_streams();

  ExecRequest begun_by_;
  bool is_terminal_;
  ExecAnswer trouble_;
  Descriptor channel_;
  Descriptor terminal_;  ///< of all three streams, if they are one
  Descriptor in_;
  Descriptor out_;
  Descriptor err_;
  std::string heard_;  ///< of the shim, a line without its end
  std::string input_;  ///< that the command has not read
  std::uint64_t input_at_ = 0;
  bool input_ends_ = false;
  KeptOutput kept_out_;
  KeptOutput kept_err_;
  bool runs_ = false;
  bool ended_ = false;
  std::int32_t exit_code_ = 0;
  std::string why_;          ///< it has ended, if not by itself
  Duration linger_until_{};  ///< output that others still write is waited for until then
};

}  // namespace muster::process
