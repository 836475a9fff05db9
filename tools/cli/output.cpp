#include "tools/cli/output.hpp"

#include <chrono>
#include <fstream>
#include <iostream>
#include <system_error>

namespace muster::cli {

void complain(const std::string& message) {
  std::cerr << "muster: " << message << std::endl;
}

bool write_output(const std::filesystem::path& file,
                  const std::function<void(std::ostream&)>& write) {
  if (file == "-") {
    write(std::cout);
    std::cout.flush();
    return static_cast<bool>(std::cout);
  }
  std::error_code error;
  if (file.has_parent_path()) std::filesystem::create_directories(file.parent_path(), error);
  std::filesystem::path part = file;
  part += ".part";
  {
    std::ofstream out(part, std::ios::binary | std::ios::trunc);
    if (out) write(out);
    out.close();
    if (!out) {
      complain("cannot write " + file.string() +
               ": is the folder there and writable, and the disk not full?");
      std::filesystem::remove(part, error);
      return false;
    }
  }
  std::filesystem::rename(part, file, error);
  if (error) complain("cannot write " + file.string() + ": " + error.message());
  return !error;
}

Duration elapsed() {
  static const auto kBegin = std::chrono::steady_clock::now();
  return std::chrono::duration_cast<Duration>(std::chrono::steady_clock::now() - kBegin);
}

}  // namespace muster::cli
