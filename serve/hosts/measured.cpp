#include "serve/hosts/measured.hpp"

#include <cstdio>
#include <memory>
#include <string_view>
#include <system_error>

namespace muster::hosts {
namespace {

constexpr int kMostGpus = 64;

/// Lines of `nvidia-smi -L` that name a GPU. A driver that hangs must not hold up the machine.
std::uint32_t count_gpus() {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> said(
      popen("timeout 10 nvidia-smi -L 2>/dev/null", "r"), pclose);
  std::uint32_t count = 0;
  char line[512];
  while (said && count < kMostGpus && std::fgets(line, sizeof line, said.get()) != nullptr) {
    if (std::string_view(line).starts_with("GPU ")) ++count;
  }
  return count;
}

}  // namespace

void measure_rest(const std::filesystem::path& folder, Measured& has) {
  std::error_code unknown;
  const auto space = std::filesystem::space(folder, unknown);
  constexpr std::uint64_t kMost = 1'000'000;
  has.storage_gib =
      unknown ? 0
              : static_cast<std::uint32_t>(std::min<std::uint64_t>(space.capacity >> 30, kMost));
  has.gpus = count_gpus();
}

}  // namespace muster::hosts
