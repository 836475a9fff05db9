#pragma once

#include <filesystem>
#include <string>

#include "actors/link/pki.hpp"
#include "tests/support/temp_file.hpp"

namespace muster::test {

/// The two authorities of a cluster in a folder that goes away with the object.
class ClusterPki {
 public:
  ClusterPki() : folder_("pki", "") {
    const auto made = create_authorities(dir(), {"testing", from_seconds(3600), false});
    MUSTER_CHECK(made.has_value(), "a test without authorities");
  }

  std::filesystem::path dir() const { return folder_.folder() / "cluster"; }
  std::filesystem::path authority(PkiRole role) const { return authority_certificate(dir(), role); }

  TlsFiles node(const std::string& name, double validity_s = 3000) const {
    return make(PkiRole::node, name, validity_s);
  }
  TlsFiles worker(const std::string& name, double validity_s = 3000) const {
    return make(PkiRole::worker, name, validity_s);
  }

 private:
  TlsFiles make(PkiRole role, const std::string& name, double validity_s) const {
    IssueRequest request;
    request.role = role;
    request.name = name;
    request.hosts = {"localhost", "127.0.0.1"};
    request.validity = from_seconds(validity_s);
    request.replace = true;
    auto files = issue(dir(), request);
    MUSTER_CHECK(files.has_value(), "a test without certificates");
    return files.value();
  }

  TempFile folder_;
};

}  // namespace muster::test
