// Makes the certificates of a cluster's links: two authorities, and pairs for nodes and workers.
// The work is in the pki library; here are the flags and what is printed.

#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "actors/link/pki.hpp"
#include "tools/cli/commands.hpp"
#include "tools/cli/output.hpp"
#include "tools/client/printable.hpp"

namespace muster::cli {
namespace {

/// 100 years.
constexpr int kMaxDays = 36500;
constexpr double kDayS = 86400;

struct InitFlags {
  std::string dir;
  std::string cluster = "muster";
  int days = 3650;
  bool force = false;
};

struct IssueFlags {
  std::string dir;
  std::string node;
  std::string worker;
  std::vector<std::string> hosts;
  int days = 0;
  double seconds = 0;
  std::string out;
  bool force = false;
  bool json = false;
};

struct ShowFlags {
  std::string file;
  bool json = false;
};

/// `--force` is named only where it helps: a key that is replaced by mistake is lost.
int failed(const Failure<PkiError>& error) {
  const bool replaceable = error.code == PkiError::exists;
  complain(error.message + (replaceable ? " (--force replaces it)" : ""));
  return error.code == PkiError::bad_request ? kUsage : kFailed;
}

int init(const InitFlags& flags) {
  AuthorityOptions options;
  options.cluster = flags.cluster;
  options.validity = from_seconds(flags.days * kDayS);
  options.replace = flags.force;
  if (auto done = create_authorities(flags.dir, options); !done) return failed(done.error());
  for (const PkiRole role : {PkiRole::node, PkiRole::worker}) {
    std::cout << to_string(role)
              << " authority: " << authority_certificate(flags.dir, role).string() << " (key "
              << authority_key(flags.dir, role).string() << ": keep it here)\n";
  }
  return kDone;
}

int issue_pair(const IssueFlags& flags) {
  IssueRequest request;
  request.role = flags.worker.empty() ? PkiRole::node : PkiRole::worker;
  request.name = flags.worker.empty() ? flags.node : flags.worker;
  request.hosts = flags.hosts;
  request.out = flags.out;
  request.replace = flags.force;
  // A worker's pair lies on a rented machine, so it is valid for a shorter time.
  const int usual_days = request.role == PkiRole::node ? 365 : 30;
  request.validity = from_seconds((flags.days > 0 ? flags.days : usual_days) * kDayS);
  // Tests need certificates that expire while they run.
  if (flags.seconds != 0) request.validity = from_seconds(flags.seconds);
  auto files = issue(flags.dir, request);
  if (!files) return failed(files.error());
  if (flags.json) {
    const nlohmann::ordered_json document = {{"role", to_string(request.role)},
                                             {"name", request.name},
                                             {"certificate", files->certificate.string()},
                                             {"key", files->key.string()},
                                             {"trusted", files->trusted.string()}};
    std::cout << document.dump(2) << "\n";
    return kDone;
  }
  std::cout << "certificate " << files->certificate.string() << "\nkey         "
            << files->key.string() << "\ntrusted     " << files->trusted.string() << "\n";
  return kDone;
}

nlohmann::ordered_json to_json(const CertificateInfo& info) {
  return {{"subject", info.subject},
          {"issuer", info.issuer},
          {"serial", info.serial},
          {"fingerprint", info.fingerprint},
          {"valid_from", info.valid_from},
          {"valid_to", info.valid_to},
          {"state", info.state},
          {"authority", info.authority},
          {"hosts", info.hosts}};
}

void print(const CertificateInfo& info) {
  std::cout << "subject      " << client::printable(info.subject)
            << (info.authority ? " (an authority)" : "") << "\nissuer       "
            << client::printable(info.issuer) << "\nvalid        " << info.valid_from << " to "
            << info.valid_to << " (" << info.state << ")\nhosts       ";
  for (const std::string& host : info.hosts) std::cout << " " << host;
  std::cout << "\nserial       " << info.serial << "\nfingerprint  " << info.fingerprint << "\n";
}

int show(const ShowFlags& flags) {
  auto certificates = describe_certificates(flags.file);
  if (!certificates) {
    complain(certificates.error().message);
    return kFailed;
  }
  // A PEM file may hold a chain.
  auto list = nlohmann::ordered_json::array();
  for (const CertificateInfo& info : certificates.value()) {
    if (flags.json) {
      list.push_back(to_json(info));
    } else {
      print(info);
    }
  }
  const nlohmann::ordered_json document = {{"certificates", list}};
  // Names come from the file: bytes that are no UTF-8 are replaced, not thrown at the reader.
  if (flags.json) {
    std::cout << document.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) << "\n";
  }
  return kDone;
}

void add_init(CLI::App& pki, int& exit_code) {
  auto flags = std::make_shared<InitFlags>();
  CLI::App* command = pki.add_subcommand("init", "Make the two authorities of a cluster");
  command->add_option("DIR", flags->dir, "directory for all that is made")->required();
  command->add_option("--cluster", flags->cluster, "name of the cluster")->capture_default_str();
  command->add_option("--days", flags->days, "validity")
      ->check(CLI::Range(1, kMaxDays))
      ->capture_default_str();
  command->add_flag("--force", flags->force, "replace authorities that are there");
  command->callback([flags, &exit_code] { exit_code = init(*flags); });
}

void add_issue(CLI::App& pki, int& exit_code) {
  auto flags = std::make_shared<IssueFlags>();
  CLI::App* command = pki.add_subcommand("issue", "Make a key and a certificate");
  command->add_option("DIR", flags->dir, "directory that 'pki init' has made")->required();
  auto* who = command->add_option_group("who", "certificate of");
  who->add_option("--node", flags->node, "name of a node: a full member of the cluster");
  who->add_option("--worker", flags->worker, "name of an instance's worker");
  // Node or worker, never both: the role decides which authority signs.
  who->require_option(1);
  command->add_option("--host", flags->hosts, "host name or address (default: the name)");
  command->add_option("--days", flags->days, "validity (default: node 365, worker 30)")
      ->check(CLI::Range(1, kMaxDays));
  command->add_option("--seconds", flags->seconds, "validity, for tests")->group("");
  command->add_option("--out", flags->out,
                      "directory for the pair and the authorities' certificates (default: "
                      "DIR/nodes or DIR/workers, the pair alone)");
  command->add_flag("--force", flags->force, "replace files that are there");
  command->add_flag("--json", flags->json, "print the files' names as JSON");
  command->callback([flags, &exit_code] { exit_code = issue_pair(*flags); });
}

void add_show(CLI::App& pki, int& exit_code) {
  auto flags = std::make_shared<ShowFlags>();
  CLI::App* command = pki.add_subcommand("show", "Print the contents of a certificate");
  command->add_option("FILE", flags->file, "PEM file")->required();
  command->add_flag("--json", flags->json, "as JSON");
  command->callback([flags, &exit_code] { exit_code = show(*flags); });
}

}  // namespace

void add_pki(CLI::App& app, int& exit_code) {
  CLI::App* pki = app.add_subcommand("pki", "Certificates for the links of a cluster");
  pki->require_subcommand(1);
  add_init(*pki, exit_code);
  add_issue(*pki, exit_code);
  add_show(*pki, exit_code);
}

}  // namespace muster::cli
