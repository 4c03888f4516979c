// See lab_read.hpp.
#include "cli/lab_read.hpp"

#include <algorithm>
#include <fstream>
#include <iterator>

namespace ordito::cli {

namespace fs = std::filesystem;

Expected<std::vector<Chapter>> courseChapters(const fs::path& courseFolder) {
  std::vector<Chapter> chapters;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(courseFolder, error)) {
    const std::string stem = entry.path().stem().string();
    const std::size_t dash = stem.find('-');
    if (entry.path().extension() != ".md" || dash == std::string::npos) continue;
    std::ifstream file(entry.path());
    std::string title;
    std::getline(file, title);
    title.erase(0, std::min(title.size(), title.find(". ") + 2));  // "# 1. Machines": its number is a column
    chapters.push_back({stem.substr(0, dash), stem.substr(dash + 1), title, entry.path()});
  }
  if (chapters.empty()) return fail("no chapters in {}: install Ordito again", courseFolder.string());
  std::ranges::sort(chapters, {}, &Chapter::number);
  return chapters;
}

Expected<std::string> chapterText(const std::vector<Chapter>& chapters, const std::string& wanted) {
  const auto found = std::ranges::find_if(chapters, [&](const Chapter& chapter) {
    const bool isNumber = chapter.number == wanted || chapter.number == "0" + wanted;
    return isNumber || chapter.name == wanted;
  });
  if (found == chapters.end()) return fail("no chapter '{}'; 'ordito lab read' lists them", wanted);
  std::ifstream file(found->file);
  if (!file) return fail("cannot read {}", found->file.string());
  return std::string(std::istreambuf_iterator<char>(file), {});
}

}  // namespace ordito::cli
