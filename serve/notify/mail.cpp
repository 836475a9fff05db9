#include "serve/notify/mail.hpp"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>
#include <unistd.h>

#include <vector>

#include "config/notify_address.hpp"
#include "serve/solver/child_end.hpp"

namespace muster::notify {
namespace {

/// The mail as a file without a name, from its beginning; negative: there is no file.
int file_of(const std::string& text) {
  const int file = memfd_create("muster-mail", MFD_CLOEXEC);
  if (file < 0) return file;
  std::size_t written = 0;
  while (written < text.size()) {
    const ssize_t put = write(file, text.data() + written, text.size() - written);
    if (put <= 0) {
      close(file);
      return -1;
    }
    written += static_cast<std::size_t>(put);
  }
  lseek(file, 0, SEEK_SET);
  return file;
}

/// The child; negative: it did not start. Its output is dropped.
pid_t start_mailer(std::vector<std::string> words, int input) {
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  std::string path = "PATH=/usr/sbin:/usr/bin:/sbin:/bin";
  const std::array<char*, 2> environment{path.data(), nullptr};
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_adddup2(&files, input, STDIN_FILENO);
  posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_addopen(&files, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  posix_spawnattr_t how;
  posix_spawnattr_init(&how);
  sigset_t nothing, defaults;
  sigemptyset(&nothing);
  sigemptyset(&defaults);
  sigaddset(&defaults, SIGPIPE);
  posix_spawnattr_setsigmask(&how, &nothing);
  posix_spawnattr_setsigdefault(&how, &defaults);
  posix_spawnattr_setflags(&how, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  pid_t child = -1;
  if (posix_spawn(&child, argv[0], &files, &how, argv.data(), environment.data()) != 0) child = -1;
  posix_spawnattr_destroy(&how);
  posix_spawn_file_actions_destroy(&files);
  return child;
}

}  // namespace

Delivery send_mail(const std::filesystem::path& program, const Mail& mail, Duration limit) {
  if (!config::is_mail_address(mail.to)) return {false, "it is no mail address", {}};
  const int input = file_of(mail.text);
  if (input < 0) return {false, "there is no memory for the mail", {}};
  std::vector<std::string> words{program.string(), "-i"};
  if (!mail.from.empty()) words.insert(words.end(), {"-f", mail.from});
  words.insert(words.end(), {"--", mail.to});
  const pid_t child = start_mailer(std::move(words), input);
  close(input);
  if (child < 0) return {false, "notify.sendmail does not start", {}};
  const int watched = watch_child(child);
  const ChildEnd end = await_end(child, watched, to_seconds(limit));
  if (watched >= 0) close(watched);
  if (end == ChildEnd::well) return {true, {}, {}};
  return {false,
          end == ChildEnd::outlived ? "notify.sendmail took too long"
                                    : "notify.sendmail did not take the mail",
          {}};
}

}  // namespace muster::notify
