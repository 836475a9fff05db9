#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "model/job.hpp"
#include "serve/api/backend.hpp"
#include "serve/api/exchange.hpp"
#include "serve/api/file_store.hpp"
#include "serve/api/principal.hpp"
#include "serve/api/query.hpp"
#include "serve/api/routes.hpp"

namespace muster::api {

/// Whether the operation brings files to the store.
bool brings_files(Operation operation);
/// Whether the operation reads files of a job.
bool reads_files(Operation operation);
inline bool is_about_files(Operation operation) {
  return brings_files(operation) || reads_files(operation);
}

/// A request that has to do with files. The backend outlives the store's threads.
struct FilesRequest {
  Backend& backend;
  std::shared_ptr<FileStore> store;  ///< null: this node has no store
  std::shared_ptr<Exchange> exchange;
};

/// One that is about files.
struct FileQuestion {
  Operation operation = Operation::stage;
  JobId job{};  ///< of one that reads files of a job
  Query query{};
  std::string body{};
};

/// Answers it, on the store's thread. A user's token brings files of its own user, an admin's of
/// any that the request names; files of a job are those of the job's user, whoever reads them.
void about_files(const FilesRequest& request, const Principal& who, FileQuestion question);

/// Checks what jobs say of files, and has those that do keep off machines without a way to the
/// store; why one of them cannot be, or nothing. `store` is null where this node has no store.
std::optional<Response> prepare_files(const FileStore* store, std::vector<Job>& jobs);
/// Submits jobs whose files, if they begin with any, are in the store, and keeps the files for
/// them. Answers instead when files are missing, or a pattern of outputs cannot be read. Files that
/// cannot be kept for a job stay some days nevertheless (files.stage_keep_days), and the log says
/// so.
void submit_jobs(const FilesRequest& request, std::vector<Job> jobs);
/// Likewise of a service's revision that the change has.
void update_service(const FilesRequest& request, ServiceChange change);
/// Takes a job once more when the files that it began with are in the store, and keeps them for the
/// new one. Answers instead when they have gone.
void resubmit_with_files(const FilesRequest& request, const Again& again);
/// Likewise of a service's revision that is as another one was.
void restart_service(const FilesRequest& request, const ServiceChange& change);

}  // namespace muster::api
