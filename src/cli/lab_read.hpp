// `ordito lab read`: the chapters of the course, which are Markdown files in share/ordito/course.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/error.hpp"

namespace ordito::cli {

/// A file NUMBER-NAME.md, whose first line is its title.
struct Chapter {
  std::string number, name, title;
  std::filesystem::path file;
};

/// In the order of their numbers.
Expected<std::vector<Chapter>> courseChapters(const std::filesystem::path& courseFolder);

/// The chapter with this number or name.
Expected<std::string> chapterText(const std::vector<Chapter>& chapters, const std::string& wanted);

}  // namespace ordito::cli
