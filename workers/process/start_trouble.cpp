// Why a task could not start, in words for its user: each names what is at fault, which is often
// not the program that was asked for.

#include "workers/process/start_trouble.hpp"

#include <elf.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstring>

#include "workers/process/limits/namespaces.hpp"
#include "workers/process/shim/shim_task.hpp"

namespace muster::process {
namespace {

constexpr std::int32_t kNotFound = 127;

/// As it is written in a shell's quotes: control characters would not be seen.
std::string shown(const char* text) {
  std::string out;
  for (const char* at = text; *at != '\0'; ++at) {
    const auto byte = static_cast<unsigned char>(*at);
    char code[8];
    if (*at == '\r') {
      out += "\\r";
    } else if (byte < 0x20 || byte == 0x7f) {
      std::snprintf(code, sizeof code, "\\x%02x", byte);
      out += code;
    } else {
      out += *at;
    }
  }
  return out;
}

std::string user_of(const Order& order) {
  if (!order.worker.user) return "this user";
  const std::string uid = std::to_string(*order.worker.user);
  return "user " + (order.user.empty() ? uid : order.user + " (uid " + uid + ")");
}

std::string octal(std::uint32_t mode) {
  char text[16];
  std::snprintf(text, sizeof text, "%03o", mode & 07777U);
  return text;
}

std::string machine_name(std::uint32_t machine) {
  switch (machine) {
    case EM_X86_64:
      return "x86-64";
    case EM_386:
      return "32-bit x86";
    case EM_AARCH64:
      return "ARM64 (aarch64)";
    case EM_ARM:
      return "32-bit ARM";
    case EM_RISCV:
      return "RISC-V";
    case EM_PPC64:
      return "POWER";
    case EM_S390:
      return "s390";
    default:
      return "another kind of machine (" + std::to_string(machine) + " of elf.h)";
  }
}

std::string interpreter_words(const StartTrouble& trouble, const std::string& error) {
  const std::string name = "its interpreter '" + shown(trouble.place.data()) + "' ";
  const std::size_t length = std::strlen(trouble.place.data());
  const bool dos = length > 0 && trouble.place[length - 1] == '\r';
  if (trouble.error != ENOENT) return name + "cannot be executed: " + error;
  return name + (dos ? "is not there: DOS line ends?" : "is not there");
}

std::string loader_words(const StartTrouble& trouble, const std::string& error) {
  const std::string name = "its loader '" + shown(trouble.place.data()) + "' ";
  if (trouble.error != ENOENT) return name + "cannot be used: " + error;
  return name + "is not there: it was built for another system";
}

/// Where a name without a place of its own was looked for.
std::string lookup_words(const Order& order, const TaskPlace& place) {
  if (order.program.argv[0].front() == '/') return {};
  if (order.program.work_dir.empty()) {
    return ": looked up in a fresh folder; --workdir . starts it here";
  }
  return ": looked up in the work folder, " + shown(place.work_dir.c_str());
}

std::string absent_words(const StartTrouble& trouble, const Order& order, const TaskPlace& place,
                         const std::string& error) {
  if (trouble.fault == StartFault::not_in_path) {
    return "not found in PATH, which is " + shown(trouble.place.data());
  }
  if (trouble.fault == StartFault::dead_link) {
    return "it is a link to " + shown(trouble.place.data()) + ", which is not there";
  }
  return error + lookup_words(order, place);
}

std::string too_long_words(const Order& order, const std::string& error) {
  std::size_t bytes = 0;
  for (const std::string& word : order.program.argv) bytes += word.size() + 1;
  for (const auto& [name, value] : order.program.env) bytes += name.size() + value.size() + 2;
  return error + ": command and environment are " + std::to_string(bytes) +
         " bytes, which is more than a program is given on this machine (a quarter of the stack's "
         "limit, and 131072 for one text)";
}

/// Of errors that are of the program or its place as a whole.
std::string plain_words(const StartTrouble& trouble, const Order& order, const TaskPlace& place,
                        const std::string& error) {
  switch (trouble.error) {
    case ENOENT:
      return absent_words(trouble, order, place, error);
    case ELOOP:
      return error + ": its links lead in a circle";
    case E2BIG:
      return too_long_words(order, error);
    case ETXTBSY:
      return error + ": somebody has it open for writing";
    case ENAMETOOLONG:
      return error + ": a name has at most " + std::to_string(NAME_MAX) + " bytes, a path " +
             std::to_string(PATH_MAX - 1);
    case ENOMEM:
      return error + ": this machine has too little for it at present";
    case EAGAIN:
      return error + ": " + user_of(order) + " has as many processes as it may have";
    case EPERM:
      return error + ": the security rules of this machine forbid " + user_of(order) +
             " to execute it";
    default:
      return error;
  }
}

std::string program_words(const StartTrouble& trouble, const Order& order, const TaskPlace& place) {
  const std::string error = std::strerror(trouble.error);
  const std::string named = shown(trouble.place.data());
  switch (trouble.fault) {
    case StartFault::above:
      return trouble.error == EACCES ? error + ": " + user_of(order) + " cannot enter " + named
                                     : error + ": " + named + " is no folder";
    case StartFault::interpreter:
      return interpreter_words(trouble, error);
    case StartFault::nested:
      return "its interpreter is a script itself, and so on, deeper than the kernel goes: " + named;
    case StartFault::loader:
      return loader_words(trouble, error);
    case StartFault::is_folder:
      return "is a folder";
    case StartFault::no_file:
      return error + ": it is no file";
    case StartFault::no_right:
      return error + ": its mode " + octal(trouble.detail) + " does not let " + user_of(order) +
             " execute it (chmod +x)";
    case StartFault::no_exec_mount:
      return error + ": its file system is mounted noexec";
    case StartFault::other_machine:
      return error + ": it is a program for " + machine_name(trouble.detail);
    case StartFault::no_program:
      return error + ": it is neither a program of this machine nor a script";
    default:
      return plain_words(trouble, order, place, error);
  }
}

std::string folder_words(const StartTrouble& trouble, const Order& order) {
  const std::string error = std::strerror(trouble.error);
  const std::string named = shown(trouble.place.data());
  switch (trouble.fault) {
    case StartFault::above:
      if (trouble.error == ENOTDIR) return error + ": " + named + " is no folder";
      return user_of(order) + " cannot enter " + named + ": " + error;
    case StartFault::other_link:
      return "it leads through the link " + named + ", which is of user " +
             std::to_string(trouble.detail) + ": folders are made through one's own links only";
    case StartFault::dead_link:
      return error + ": it is a link to " + named + ", which is not there";
    case StartFault::making:
      return user_of(order) + " cannot make " + named + ": " + error;
    default:
      return trouble.error == EACCES ? user_of(order) + " cannot enter it: " + error : error;
  }
}

}  // namespace

void set_place(StartTrouble& trouble, const char* place) {
  const std::size_t length = std::min(std::strlen(place), trouble.place.size() - 1);
  std::memcpy(trouble.place.data(), place, length);
  trouble.place[length] = '\0';
}

EndKind end_kind_of(const StartTrouble& trouble, const Order& order) {
  if (trouble.stage == StartStage::process || trouble.stage == StartStage::user ||
      trouble.stage == StartStage::sight) {
    return EndKind::not_launched;
  }
  // The attempt's own folder is the worker's to give, one that the job names is not.
  if (trouble.stage == StartStage::work_dir && order.program.work_dir.empty()) {
    return EndKind::not_launched;
  }
  // The machine is short of something for a while; another attempt may succeed.
  constexpr std::array kPassing{EAGAIN, EINTR,  EIO,    EMFILE,  ENFILE,
                                ENOMEM, ENOSPC, ESTALE, ETXTBSY, ETIMEDOUT};
  const bool passes = std::find(kPassing.begin(), kPassing.end(), trouble.error) != kPassing.end();
  return passes ? EndKind::not_launched : EndKind::not_started;
}

std::int32_t exit_code_of(const StartTrouble& trouble) {
  const bool found = trouble.fault == StartFault::interpreter ||
                     trouble.fault == StartFault::loader || trouble.fault == StartFault::nested;
  const bool absent = trouble.stage == StartStage::program && trouble.error == ENOENT && !found;
  return absent ? kNotFound : kCannotRun;
}

std::string describe(const StartTrouble& trouble, const Order& order, const TaskPlace& place) {
  const std::string error = std::strerror(trouble.error);
  switch (trouble.stage) {
    case StartStage::process:
      return "cannot start: no process: " + error;
    case StartStage::user:
      return "cannot start: cannot become user " + std::to_string(order.worker.user.value_or(0)) +
             ": " + error;
    case StartStage::sight:
      if (trouble.error == ESTALE) {
        return "cannot start: " + replaced_place(order.worker.hidden) +
               ", which tasks are not to see, is not where it was when the worker started; move it "
               "back, or start the cluster anew";
      }
      return "cannot start: the cluster's folders cannot be hidden: " + error;
    case StartStage::work_dir:
      return "cannot start: work folder " + shown(place.work_dir.c_str()) + ": " +
             folder_words(trouble, order);
    case StartStage::program:
      return "cannot start: " + shown(order.program.argv[0].c_str()) + ": " +
             program_words(trouble, order, place);
  }
  return "cannot start: " + error;
}

}  // namespace muster::process
