#include "workers/process/exec/side_command.hpp"

#include <sys/ioctl.h>
#include <sys/socket.h>
#include <termios.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "workers/process/files/attempt_dir.hpp"
#include "workers/process/progress.hpp"
#include "workers/process/shim/line_server.hpp"
#include "workers/process/shim/shim_beside.hpp"
#include "workers/process/shim/shim_sockets.hpp"

// The worker holds the outer ends of a command's streams, and reads no more of them than it has
// room for: a command whose client reads nothing waits, as it would at a full pipe.

namespace muster::process {
namespace {

constexpr std::size_t kStreamBytes = std::size_t{64} << 10;
/// Reads of a stream in one turn, so that no command keeps the others waiting.
constexpr int kReadsATurn = 4;
constexpr std::size_t kMostHeard = 16'384;
/// After the end of a command, how long its streams may be silent while others hold them open.
constexpr Duration kLinger = std::chrono::milliseconds{300};
/// As of a program that SIGKILL has ended.
constexpr std::int32_t kKilled = 137;
/// The end of input, as a terminal takes it.
constexpr char kEndOfInput = '\4';

bool make_pipe_end(Descriptor& ours, Descriptor& theirs, bool is_input) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return false;
  ours = Descriptor(ends[is_input ? 1 : 0]);
  theirs = Descriptor(ends[is_input ? 0 : 1]);
  // Ours alone: programs do not expect streams that do not wait.
  return fcntl(ours.get(), F_SETFL, O_NONBLOCK) == 0;
}

bool has_zero_byte(const std::vector<std::string>& words) {
  return std::any_of(words.begin(), words.end(),
                     [](const std::string& word) { return word.find('\0') != std::string::npos; });
}

void resize(const Descriptor& terminal, const ExecRequest& request) {
  if (!terminal || request.rows == 0 || request.columns == 0) return;
  winsize size{};
  size.ws_row = request.rows;
  size.ws_col = request.columns;
  ioctl(terminal.get(), TIOCSWINSZ, &size);
}

}  // namespace

SideCommand::SideCommand(const ExecRequest& request, const std::filesystem::path& attempts)
    : begun_by_(request), is_terminal_(request.terminal) {
  begin(attempts);
}

void SideCommand::fail(ExecTrouble trouble, std::string reason) {
  trouble_ = exec_trouble(begun_by_, trouble, std::move(reason));
  channel_.reset();
  close_streams();
}

void SideCommand::close_streams() {
  for (Descriptor* stream : {&terminal_, &in_, &out_, &err_}) stream->reset();
}

void SideCommand::begin(const std::filesystem::path& attempts) {
  if (begun_by_.argv.empty() || begun_by_.argv.front().empty() || has_zero_byte(begun_by_.argv)) {
    return fail(ExecTrouble::failed, "its words are not those of a command");
  }
  const AttemptKey key{begun_by_.task, begun_by_.attempt};
  const Descriptor folder = open_folder(attempts / name_of(key));
  const auto text = folder ? read_whole(folder.get(), kOrderFile, kMaxRecordBytes) : std::nullopt;
  const auto order = text ? order_from(*text) : std::nullopt;
  if (!order) return fail(ExecTrouble::not_running, "its attempt is not here any more");
  channel_ = connect_abstract(order->worker.control + kBesideSocket);
  if (!channel_) {
    // Its own socket is older than the one for commands, and open a moment longer at the end.
    const bool is_over = faccessat(folder.get(), kResultFile, F_OK, 0) == 0;
    const bool lives = !is_over && connect_abstract(order->worker.control);
    return lives ? fail(ExecTrouble::unsupported,
                        "it was started by an earlier version, which has no such commands")
                 : fail(ExecTrouble::not_running, "it has just ended");
  }
  std::vector<Descriptor> theirs;
  if (!(is_terminal_ ? open_terminal(theirs) : open_streams(theirs))) {
    return fail(ExecTrouble::failed, std::string("its streams: ") + std::strerror(errno));
  }
  std::vector<int> streams;
  for (const Descriptor& each : theirs) streams.push_back(each.get());
  const BesideRequest asked{is_terminal_, begun_by_.term, begun_by_.argv};
  if (!send_beside(channel_.get(), asked, streams)) {
    fail(ExecTrouble::failed, std::string("its request: ") + std::strerror(errno));
  }
}

bool SideCommand::open_streams(std::vector<Descriptor>& theirs) {
  theirs.resize(3);
  return make_pipe_end(in_, theirs[0], true) && make_pipe_end(out_, theirs[1], false) &&
         make_pipe_end(err_, theirs[2], false);
}

bool SideCommand::open_terminal(std::vector<Descriptor>& theirs) {
  terminal_ = Descriptor(posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC | O_NONBLOCK));
  if (!terminal_ || grantpt(terminal_.get()) != 0 || unlockpt(terminal_.get()) != 0) return false;
  std::array<char, 64> name{};
  if (ptsname_r(terminal_.get(), name.data(), name.size()) != 0) return false;
  theirs.emplace_back(open(name.data(), O_RDWR | O_NOCTTY | O_CLOEXEC));
  resize(terminal_, begun_by_);
  return static_cast<bool>(theirs.back());
}

void SideCommand::add_to(std::vector<pollfd>& polled) const {
  // A stream without room is not polled at all: its hang-up would be reported again and again.
  if (channel_) polled.push_back({channel_.get(), POLLIN, 0});
  if (out_ && kept_out_.room() > 0) polled.push_back({out_.get(), POLLIN, 0});
  if (err_ && kept_err_.room() > 0) polled.push_back({err_.get(), POLLIN, 0});
  if (in_ && !input_.empty()) polled.push_back({in_.get(), POLLOUT, 0});
  if (!terminal_) return;
  const bool reads = kept_out_.room() > 0;
  const int events = (reads ? POLLIN : 0) | (input_.empty() ? 0 : POLLOUT);
  if (reads) polled.push_back({terminal_.get(), static_cast<short>(events), 0});
}

void SideCommand::serve(Duration now) {
  // Streams before the shim's word: the end is seen after what was written.
  bool moved = read_from(terminal_, kept_out_);
  moved |= read_from(out_, kept_out_);
  moved |= read_from(err_, kept_err_);
  write_input();
  hear_shim();
  if (!is_settled()) return;
  const bool waits =
      is_terminal_ ? kept_out_.room() == 0 : kept_out_.room() == 0 || kept_err_.room() == 0;
  if (is_over()) {
    linger_until_ = {};
  } else if (moved || waits || linger_until_ == Duration::zero()) {
    linger_until_ = now + kLinger;
  } else if (now >= linger_until_) {
    close_streams();
    linger_until_ = {};
  }
}

bool SideCommand::read_from(Descriptor& stream, KeptOutput& kept) const {
  std::array<char, kStreamBytes> chunk;
  bool any = false;
  for (int i = 0; stream && kept.room() > 0 && i < kReadsATurn; ++i) {
    const ssize_t got = read(stream.get(), chunk.data(), std::min(chunk.size(), kept.room()));
    if (got > 0) {
      kept.add({chunk.data(), static_cast<std::size_t>(got)});
      any = true;
      continue;
    }
    const bool later = got < 0 && (errno == EAGAIN || errno == EINTR);
    // A terminal that no process has open any more says EIO; before its command has it open, too.
    if (!later && (!is_terminal_ || is_settled() || runs_)) stream.reset();
    break;
  }
  return any;
}

void SideCommand::write_input() {
  Descriptor& to = is_terminal_ ? terminal_ : in_;
  while (to && !input_.empty()) {
    const ssize_t put = write(to.get(), input_.data(), input_.size());
    if (put < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (put < 0) {
      // Its reader has gone.
      input_.clear();
      if (!is_terminal_) in_.reset();
      return;
    }
    input_.erase(0, static_cast<std::size_t>(put));
  }
  if (input_ends_ && input_.empty() && !is_terminal_) in_.reset();
}

void SideCommand::hear_shim() {
  std::array<char, 1024> chunk;
  while (channel_) {
    const ssize_t got = recv(channel_.get(), chunk.data(), chunk.size(), MSG_DONTWAIT);
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (got > 0) heard_.append(chunk.data(), static_cast<std::size_t>(got));
    std::size_t end = 0;
    while ((end = heard_.find('\n')) != std::string::npos) {
      heed_line(std::string_view(heard_).substr(0, end));
      heard_.erase(0, end + 1);
    }
    if (got > 0 && heard_.size() <= kMostHeard) continue;
    channel_.reset();
    if (is_settled()) return;
    if (!runs_) return fail(ExecTrouble::not_running, "it has just ended");
    end_with_attempt();
  }
}

void SideCommand::end_with_attempt() {
  end(kKilled, "the attempt of its task has ended");
}

void SideCommand::end(std::int32_t code, std::string reason) {
  ended_ = true;
  exit_code_ = code;
  why_ = std::move(reason);
}

void SideCommand::heed_line(std::string_view line) {
  if (line == kBesideRuns) {
    runs_ = true;
  } else if (line.starts_with(kBesideNotNow)) {
    fail(ExecTrouble::not_running, std::string(line.substr(kBesideNotNow.size())));
  } else if (line.starts_with(kBesideFailed)) {
    line.remove_prefix(kBesideFailed.size());
    std::int32_t code = 0;
    const auto parsed = std::from_chars(line.data(), line.data() + line.size(), code);
    line.remove_prefix(
        std::min(line.size(), static_cast<std::size_t>(parsed.ptr - line.data()) + 1));
    fail(ExecTrouble::failed, std::string(line));
    trouble_.exit_code = code;
  } else if (line.starts_with(kBesideEnded)) {
    line.remove_prefix(kBesideEnded.size());
    std::int32_t code = 0;
    std::from_chars(line.data(), line.data() + line.size(), code);
    end(code, {});
  }
}

void SideCommand::heed(const ExecRequest& step) {
  kept_out_.drop_before(step.out_at);
  kept_err_.drop_before(step.err_at);
  resize(terminal_, step);
  if (step.signal > 0 && channel_ && runs_ && !ended_) {
    send_text(channel_.get(), std::string(kBesideSignal) + std::to_string(step.signal) + "\n");
  }
  // Of input that comes again only what is new; a gap is no input.
  if (step.input_at > input_at_) return;
  const std::uint64_t known = std::min<std::uint64_t>(input_at_ - step.input_at, step.input.size());
  const std::string_view fresh = std::string_view(step.input).substr(known);
  const std::size_t room = kMostExecInput - std::min(kMostExecInput, input_.size());
  const std::string_view taken = input_ends_ ? "" : fresh.substr(0, room);
  input_ += taken;
  input_at_ += taken.size();
  if (step.input_ends && taken.size() == fresh.size() && !input_ends_) {
    input_ends_ = true;
    if (is_terminal_) input_ += kEndOfInput;
  }
  write_input();
}

bool SideCommand::has_news(const ExecRequest& step) const {
  if (is_over()) return true;
  return kept_out_.begin() + kept_out_.text().size() > step.out_at ||
         kept_err_.begin() + kept_err_.text().size() > step.err_at;
}

ExecAnswer SideCommand::state(const ExecRequest& step) const {
  if (trouble_.trouble != ExecTrouble::none) {
    ExecAnswer answer = trouble_;
    answer.number = step.number;
    return answer;
  }
  const auto behind = [](const KeptOutput& kept, std::uint64_t place) {
    const std::uint64_t skipped = place > kept.begin() ? place - kept.begin() : 0;
    return kept.text().substr(std::min<std::uint64_t>(skipped, kept.text().size()));
  };
  ExecAnswer answer;
  answer.number = step.number;
  answer.command = step.command;
  answer.attempt = begun_by_.attempt;
  answer.input_at = input_at_;
  answer.out_at = std::max(step.out_at, kept_out_.begin());
  answer.err_at = std::max(step.err_at, kept_err_.begin());
  const std::string_view out = behind(kept_out_, step.out_at);
  const std::string_view err = behind(kept_err_, step.err_at);
  // Half for either where both have much, so that neither waits for the other.
  const std::size_t most = std::min<std::size_t>(step.max_bytes, kMostExecOutput);
  const std::size_t of_err =
      std::min(err.size(), std::max(most / 2, most - std::min(most, out.size())));
  answer.err = err.substr(0, of_err);
  answer.out = out.substr(0, most - of_err);
  answer.over = is_over() && answer.out.size() == out.size() && answer.err.size() == err.size();
  answer.exit_code = answer.over ? exit_code_ : 0;
  if (answer.over) answer.reason = why_;
  return answer;
}

}  // namespace muster::process
