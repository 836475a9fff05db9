#pragma once

#include <csignal>
#include <thread>
#include <utility>

namespace muster::process {

/// A thread that no signal is delivered to: the process's signals are for its other threads.
template <class Work>
std::thread quiet_thread(Work work) {
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  std::thread thread(std::move(work));
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return thread;
}

}  // namespace muster::process
