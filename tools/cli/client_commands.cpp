#include "tools/cli/commands.hpp"

// The commands that speak to a cluster, in the order in which help lists them.

namespace muster::cli {

void add_client_commands(CLI::App& app, int& exit_code, const std::vector<std::string>& words) {
  add_submit(app, exit_code, words);
  add_plan(app, exit_code, words);
  add_jobs(app, exit_code);
  add_job_orders(app, exit_code);
  add_logs(app, exit_code);
  add_cluster_views(app, exit_code);
  add_instance_orders(app, exit_code);
  add_open(app, exit_code);
  add_tokens(app, exit_code);
  add_audit(app, exit_code);
}

}  // namespace muster::cli
