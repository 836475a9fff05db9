#pragma once

#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

// As whom tasks run, and whether they can get to their own folders. 0 stands for this process's
// own user.

namespace muster::machines {

/// Whether tasks run as somebody else than this process.
bool is_other_user(std::uint32_t user, std::uint32_t self = geteuid());

/// Why this process cannot run tasks as that user; empty: it can.
std::string task_user_fault(std::uint32_t user, std::uint32_t self = geteuid());

/// The first folder on the way from the root to `place`, itself included, that tasks of the user
/// cannot pass. Those that are not there yet bar nobody. Only root can find out; for others there
/// is none.
std::optional<std::filesystem::path> barred_on_way(const std::filesystem::path& place,
                                                   std::uint32_t user);

/// "tasks of user 65534 cannot pass /root (mode 700, of user 0), ..."
std::string barred_text(const std::filesystem::path& folder, std::uint32_t user);

/// Makes what is missing of the folder and of those above it, each open to pass through and for
/// nothing else. Empty, or why not.
std::string make_open_folder(const std::filesystem::path& folder);

}  // namespace muster::machines
