// A plugin of clang-tidy: checks walk through our own declarations only, not through those of system headers.
//
// clang-tidy 19 matches every check against every declaration of every header, and throws away what it finds outside of
// our sources. With LLVM's headers that is nearly all of its time. An AST consumer that runs before the checks' narrows
// the scope of the walk (clang::ASTContext::setTraversalScope) to what stands in no system header, as clang-tidy does
// by itself from release 21 on. Templates of system headers that our code instantiates are not walked either.
#include <clang/AST/ASTConsumer.h>
#include <clang/AST/ASTContext.h>
#include <clang/Basic/SourceManager.h>
#include <clang/Frontend/CompilerInstance.h>
#include <clang/Frontend/FrontendPluginRegistry.h>

#include <memory>
#include <string>
#include <vector>

namespace {

class OwnDeclarations : public clang::ASTConsumer {
 public:
  explicit OwnDeclarations(const clang::SourceManager& sources) : sources_(sources) {}
  bool HandleTopLevelDecl(clang::DeclGroupRef group) override {
    for (clang::Decl* declaration : group)
      if (!sources_.isInSystemHeader(declaration->getLocation())) own_.push_back(declaration);
    return true;
  }
  void HandleTranslationUnit(clang::ASTContext& context) override { context.setTraversalScope(own_); }

 private:
  const clang::SourceManager& sources_;
  std::vector<clang::Decl*> own_;
};

class NarrowScope : public clang::PluginASTAction {
  std::unique_ptr<clang::ASTConsumer> CreateASTConsumer(clang::CompilerInstance& compiler, llvm::StringRef) override {
    return std::make_unique<OwnDeclarations>(compiler.getSourceManager());
  }
  bool ParseArgs(const clang::CompilerInstance&, const std::vector<std::string>&) override { return true; }
  ActionType getActionType() override { return AddBeforeMainAction; }
};

const clang::FrontendPluginRegistry::Add<NarrowScope> kRegistration("own-declarations", "hide system headers");

}  // namespace
