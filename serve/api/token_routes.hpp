#pragma once

#include <string>

#include "serve/api/http.hpp"
#include "serve/api/token_book.hpp"

// What the API answers about its tokens, in the shapes of docs/api.md.

namespace muster::api {

/// Who the token says that the caller is.
Response answer_me(const Principal& who);
/// All tokens, without anything secret.
Response answer_tokens(TokenBook& book);
/// Carries out what the body asks for, and answers with the token; a new one with its secret. These
/// may wait for a disk, or for another API of this machine.
Response answer_create(TokenBook& book, const std::string& body, const RequestMark& mark);
/// The same of the token that the path names.
Response answer_revoke(TokenBook& book, const std::string& name);
/// The same, with a new secret.
Response answer_rotate(TokenBook& book, const std::string& name, const std::string& body,
                       const RequestMark& mark);

}  // namespace muster::api
