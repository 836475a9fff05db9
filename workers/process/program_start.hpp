#pragma once

#include <vector>

#include "workers/process/start_trouble.hpp"

// Between fork and exec: system calls only, as the memory may be another process's.

namespace muster::process {

/// Program to execute, prepared before the fork.
struct ProgramPlan {
  const char* program = nullptr;  ///< a path, or a name that is looked up in PATH
  std::vector<char*> argv;        ///< ends with a null, as all here
  std::vector<char*> env;
  /// Interpreter of a file that the kernel does not execute, its arguments, and then those of
  /// `argv`. The file's name belongs at `file_at`.
  std::vector<char*> reader_argv;
  std::size_t file_at = 1;
  /// The reader reads what must not be executed where it lies, too.
  bool own_script = false;
};

/// Becomes the program; returns only where it cannot, and why. Like execvp(), but a file that is no
/// text is not given to a shell.
StartTrouble become_program(ProgramPlan& plan);

/// The folder on the way to a path that bars it, or that is not a folder; the fault stays as it is
/// where every folder lets through.
void find_on_way(const char* path, StartTrouble& trouble);

}  // namespace muster::process
