#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "storage/files/content_flow.hpp"
#include "storage/files/file_tree.hpp"
#include "tools/client/api_client.hpp"
#include "tools/client/piece_size.hpp"

namespace muster::client {

/// Gets contents of the user of a job from the API, piece after piece.
class ContentDownload {
 public:
  /// Bytes of an answer, as the API bounds them.
  static constexpr std::size_t kMostPiece = std::size_t{4} << 20;
  using Trouble = std::optional<Failure<ClientError>>;
  /// Takes a piece; false ends the download with `stopped`.
  using Take = std::function<bool(std::string_view piece)>;

  ContentDownload(ApiClient& api, std::uint64_t job) : api_(api), job_(job) {}

  /// The whole content; `malformed` when it has more than `most` bytes.
  Trouble get(const files::ContentId& id, std::uint64_t most, const Take& take);

 private:
  ApiClient& api_;
  std::uint64_t job_;
  PieceSize size_{kMostPiece};
};

/// Gives the contents of a tree as they are downloaded, each in a file without a name. They are as
/// long as the tree says; whether they are as their ids say is left to the reader.
class DownloadedContents : public files::ContentSource {
 public:
  /// The files are in the file system of this open folder, which outlives the object, as the
  /// download does.
  DownloadedContents(ContentDownload& download, const files::FileTree& tree, int folder);

  Expected<files::Descriptor, files::FileError> open_read(const files::ContentId& id) override;
  /// Of the API, where that was why a content could not be opened.
  const ContentDownload::Trouble& api_trouble() const { return api_trouble_; }

 private:
  Expected<files::Descriptor, files::FileError> unnamed_file() const;

  ContentDownload& download_;
  std::map<files::ContentId, std::uint64_t> sizes_;
  int folder_;
  ContentDownload::Trouble api_trouble_;
};

}  // namespace muster::client
