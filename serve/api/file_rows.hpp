#pragma once

#include <array>
#include <string_view>

#include "serve/api/route_queries.hpp"
#include "serve/api/routes.hpp"

// For the table of routes alone: those of users' files.

namespace muster::api {

/// A body of bytes instead of a document.
inline constexpr std::string_view kFileBytes = "FileBytes";
/// One piece of a content, in bytes.
inline constexpr std::uint64_t kMaxPieceBytes = std::uint64_t{4} << 20;
inline constexpr std::uint64_t kMostOutputs = 1000;
inline constexpr std::uint64_t kMaxIdText = 64;

inline constexpr Parameter kFilesUser{"user", Parameter::Kind::text,
                                      "whose files they are, where the token leaves it open", 0,
                                      queries::kMaxUserBytes};
inline constexpr std::array kContentsQuery{kFilesUser};
inline constexpr std::array kPartsQuery{
    Parameter{"id", Parameter::Kind::text, "id of the whole content", 0, kMaxIdText},
    Parameter{"size", Parameter::Kind::number, "bytes of the whole content", 0, queries::kMaxSigned,
              "0"},
    Parameter{"offset", Parameter::Kind::number, "where the part begins in it", 0,
              queries::kMaxSigned, "0"},
    kFilesUser};
inline constexpr std::array kOutputsQuery{
    Parameter{"from", Parameter::Kind::text, "`next` of the page before", 0,
              queries::kMaxCursorBytes},
    Parameter{"limit", Parameter::Kind::number, "most entries of the answer", 1, kMostOutputs,
              "1000"}};
inline constexpr std::array kContentQuery{
    Parameter{"id", Parameter::Kind::text, "id of the content", 0, kMaxIdText},
    Parameter{"offset", Parameter::Kind::number, "bytes from the beginning", 0, queries::kMaxSigned,
              "0"},
    Parameter{"max", Parameter::Kind::number, "bytes at most", 1, kMaxPieceBytes, "4194304"}};

inline constexpr std::array kFileRows{
    Route{Operation::stage,
          "POST",
          "/v1/files/stages",
          "Ask which contents of a tree of files are missing, and have it kept when all are there",
          {},
          "StageRequest",
          200,
          "Staged",
          "application/json",
          Access::users},
    Route{Operation::put_contents, "POST", "/v1/files/contents",
          "Bring contents of files, each behind its length in 8 bytes", kContentsQuery, kFileBytes,
          200, "Contents", "application/json", Access::users},
    Route{Operation::add_part, "POST", "/v1/files/parts",
          "Bring a part of the content of a large file", kPartsQuery, kFileBytes, 200, "PartsThere",
          "application/json", Access::users},
    Route{Operation::outputs, "GET", "/v1/jobs/{id}/outputs", "The files that a job has left",
          kOutputsQuery, "", 200, "Outputs", "application/json", Access::owners},
    Route{Operation::content, "GET", "/v1/jobs/{id}/contents",
          "A piece of the content of a file of the job's user", kContentQuery, "", 200, "",
          "application/octet-stream", Access::owners},
};

}  // namespace muster::api
