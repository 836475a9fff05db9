#include "config/job_name.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include "config/job_request.hpp"

namespace muster::config {
namespace {

std::string_view without_folder(std::string_view program) {
  const std::size_t slash = program.find_last_of('/');
  if (slash != std::string_view::npos) program.remove_prefix(slash + 1);
  return program;
}

/// Whether the command is a shell that is given a line: `sh -c`, `bash -ec`.
bool is_shell_line(const std::vector<std::string>& command) {
  if (command.size() < 3) return false;
  const std::string_view shell = without_folder(command[0]);
  const std::string_view flags = command[1];
  const auto small = [](char c) { return c >= 'a' && c <= 'z'; };
  return (shell == "sh" || shell == "bash" || shell == "dash") && flags.size() > 1 &&
         flags.starts_with('-') && flags.ends_with('c') &&
         std::all_of(flags.begin() + 1, flags.end(), small);
}

/// The first program of a line for the shell. Empty: it begins with something that is no name of a
/// program, or a word that says nothing of the job.
std::string_view program_of_line(std::string_view line) {
  constexpr std::string_view kBlank = " \t\n;&(";
  constexpr std::string_view kNameOfFile =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._+-/";
  constexpr std::array<std::string_view, 3> kSettings{"cd", "export", "set"};
  constexpr std::array<std::string_view, 8> kOfShell{"case", "exit", "for",   "if",
                                                     "test", "trap", "until", "while"};
  constexpr auto kNowhere = std::string_view::npos;
  // Each turn takes at least one letter off the line.
  for (;;) {
    line.remove_prefix(std::min(line.find_first_not_of(kBlank), line.size()));
    const std::string_view word = line.substr(0, line.find_first_of(" \t\n;|&<>()"));
    if (std::ranges::find(kSettings, word) != kSettings.end()) {
      line.remove_prefix(std::min(line.find_first_of(";&\n"), line.size()));
    } else if (word == "exec" ||
               (word.find('=', 1) != kNowhere && word.find_first_of("'\"`$") == kNowhere)) {
      line.remove_prefix(word.size());
    } else {
      const bool named = word.find_first_not_of(kNameOfFile) == kNowhere &&
                         std::ranges::find(kOfShell, word) == kOfShell.end();
      return named ? word : std::string_view{};
    }
  }
}

/// "train.py" from "/usr/bin/train.py --fast".
std::string program_name(const JobRequest& request) {
  const auto& command = request.command;
  if (command.empty()) return "job";
  std::string_view program = without_folder(command.front());
  if (is_shell_line(command)) {
    const std::string_view called = without_folder(program_of_line(command[2]));
    if (!called.empty()) program = called;
  }
  constexpr std::size_t kLongestName = 64;
  // Names are shown in lists; a name with control characters or spaces is not taken over.
  const bool plain = std::none_of(program.begin(), program.end(), [](char c) {
    return static_cast<unsigned char>(c) <= 0x20 || static_cast<unsigned char>(c) >= 0x7F;
  });
  return plain && !program.empty() ? std::string(program.substr(0, kLongestName)) : "job";
}

}  // namespace

std::string job_name(const JobRequest& request) {
  return request.name.empty() ? program_name(request) : request.name;
}

}  // namespace muster::config
