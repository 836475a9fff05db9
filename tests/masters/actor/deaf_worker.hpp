#pragma once

#include "tests/support/virtual_system.hpp"

namespace muster::test {

/// A worker as a handle alone: it hears nothing.
inline WorkerActor spawn_deaf_worker(VirtualSystem& system) {
  return system.actors().spawn([](WorkerActor::pointer) -> WorkerActor::behavior_type {
    return {[](start_atom, const TaskOrder&) {},
            [](stop_atom, TaskId, Attempt) {},
            [](ack_atom, TaskId, Attempt) {},
            [](greet_atom) {},
            [](sample_atom, std::uint64_t) {},
            [](const LogRequest&) {},
            [](const ExecRequest&) {},
            [](const UsageRequest&) {},
            [](const Wakeup&) {}};
  });
}

}  // namespace muster::test
