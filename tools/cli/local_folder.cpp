#include "tools/cli/local_folder.hpp"

#include "tools/client/context.hpp"

namespace muster::cli {

namespace fs = std::filesystem;

fs::path local_folder(const std::string& dir) {
  const client::Environment environment = client::process_environment();
  // A user who has named a cluster for all commands means it here, too.
  fs::path folder = dir.empty() ? environment("MUSTER_CLUSTER").value_or("") : dir;
  if (folder.empty()) folder = client::local_cluster_folder(environment);
  if (folder.empty()) return folder;
  const fs::path normal = fs::absolute(folder).lexically_normal();
  // A path with a slash at its end has an empty file name, and would be another folder to those who
  // compare.
  return normal.has_filename() ? normal : normal.parent_path();
}

}  // namespace muster::cli
