// See thread_code.hpp.
#include "simt/thread_code.hpp"

#include "simt/code_writer.hpp"
#include "simt/masked_code.hpp"

namespace ordito::simt {

Code buildThreadCode(const CodeInputs& in) {
  Code code;
  CodeWriter w(in.function);
  const OutlivingValues none(in.function.values.size(), 0);
  for (uint32_t p = 0; p < in.stretches.stretches.size(); ++p) {
    const Stretch& stretch = in.stretches.stretches[p];
    code.regions.push_back({in.regions.at(p), false, {}, {}, 0});
    w.begin(code.regions.back());
    const CodeBlockId entry = w.newBlock("entry");
    code.regions.back().entries.push_back({p, entry});
    std::vector<CodeBlockId> at(in.function.blocks.size(), kNoCodeBlock);
    for (BlockId b : stretch.blocks) at[b] = w.newBlock("block");
    w.continueAt(entry);
    w.branch(at[stretch.first]);
    writeTogether(w, in, none, stretch.blocks, kAllLanes, at, [&](BlockId from, BlockId to) {
      w.assign(from, to, kAllLanes);
      w.branch(kRegionEnd);
    });
    w.finish();
  }
  return code;
}

}  // namespace ordito::simt
