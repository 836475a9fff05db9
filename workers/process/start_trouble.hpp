#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "workers/process/files/attempt_dir.hpp"

namespace muster::process {

struct TaskPlace;

/// The exit code of what cannot be executed, as shells say it.
inline constexpr std::int32_t kCannotRun = 126;

/// How far the start of a task came.
enum class StartStage : std::uint8_t { process, user, sight, work_dir, program };

/// Cause of the fault where it is not simply the program or folder itself; StartTrouble::place
/// names it.
enum class StartFault : std::uint8_t {
  itself,
  above,          ///< a folder on the way, or what should be one
  other_link,     ///< a link on the way that is somebody else's
  dead_link,      ///< it is a link to the place, where nothing is
  making,         ///< the place, which could not be made
  not_in_path,    ///< no folder of PATH has it
  interpreter,    ///< the program that its first line names
  nested,         ///< interpreters of interpreters
  loader,         ///< the program that its header names
  is_folder,      ///< it is one
  no_file,        ///< it is neither a file nor a folder
  no_right,       ///< its mode, StartTrouble::detail, lets no user, or not this one, execute it
  no_exec_mount,  ///< the file system is mounted so
  other_machine,  ///< it is for the machine StartTrouble::detail of elf.h
  no_program      ///< nothing that can be executed
};

/// Why a task did not start. Goes through a pipe in one piece, so it has no pointers.
struct StartTrouble {
  static constexpr std::size_t kPlaceBytes = 1024;

  StartStage stage = StartStage::process;
  StartFault fault = StartFault::itself;
  int error = 0;  ///< errno
  std::uint32_t detail = 0;
  std::array<char, kPlaceBytes> place{};  ///< ends with a zero byte; a longer path is cut
};

/// Puts a place into the trouble, by system calls and copying only.
void set_place(StartTrouble& trouble, const char* place);

/// The party at fault: the program that was to be started, or the machine that has run out of
/// something.
EndKind end_kind_of(const StartTrouble& trouble, const Order& order);

/// As shells and POSIX have it: 127 for a program that is not there, else 126.
std::int32_t exit_code_of(const StartTrouble& trouble);

/// "cannot start: /x: No such file or directory": names what is at fault.
std::string describe(const StartTrouble& trouble, const Order& order, const TaskPlace& place);

}  // namespace muster::process
