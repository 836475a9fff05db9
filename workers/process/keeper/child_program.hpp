#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "workers/process/descriptor.hpp"

namespace muster::process {

/// A program with its arguments, and all of its environment as NAME=VALUE.
struct ProgramWords {
  std::vector<std::string> argv{};
  std::vector<std::string> env{};
};

/// Where a program's output goes.
enum class ProgramOutput : std::uint8_t {
  inherited,
  discarded,
  read  ///< this process reads it; the error stream is discarded
};

/// A child of this process that leads a session of its own, and dies with this process.
class ChildProgram {
 public:
  /// Nothing when there can be no process; errno says why.
  static std::optional<ChildProgram> start(const ProgramWords& words, ProgramOutput output);

  pid_t pid() const { return pid_; }
  /// Readable once the program is executed, or cannot be.
  int news() const { return news_.get(); }
  /// Whether it is known which of the two it is.
  bool is_decided() const { return !news_; }
  /// Hears the news that are there.
  void hear(const ProgramWords& words);
  /// Why it could not be executed, as far as that is heard; empty: no such news.
  const std::string& start_failure() const { return start_failure_; }
  /// Takes in what it has printed; all of it after its end, but for what goes beyond kMostOutput.
  void read_output();
  const std::string& output() const { return output_; }
  /// Readable when there is more; -1: there cannot be.
  int output_of() const { return out_.get(); }
  static constexpr std::size_t kMostOutput = 4096;
  /// To all of its process group. Only until it is reaped: the number may be another's then.
  void signal(int number) const;

 private:
  ChildProgram() = default;

  pid_t pid_ = 0;
  Descriptor news_;
  Descriptor out_;
  std::string output_;
  std::string start_failure_;
};

/// As shells say how a process ended: its exit code, or 128 and the number of the signal.
std::int32_t exit_code_of_status(int status);

}  // namespace muster::process
