// The working state of writeModel: what has a name, and the bodies that are open.
#pragma once
#include <map>
#include <set>

#include "frontend/model_writer.h"
#include "frontend/writer/contents.h"
#include "frontend/writer/layout.h"

namespace svod {

class ModelWriter {
 public:
  ModelWriter(GraphBuilder& builder, const BuildLog& log, std::string weightFile)
      : b_(builder), log_(log), weightFile_(std::move(weightFile)), definitions_(builder, log),
        layout_(log, definitions_, builder.model()) {}
  Result<WrittenModel> write();

 private:
  Status declare();
  void weight(const ModelPort& port);
  Status temporary(const BuildLog::Step& step);
  Status loop(const BuildLog::Step& step);
  Status step(const BuildLog::Step& step);
  Status expectation(const BuildLog::Step& step);
  Status item(const Item& item);
  bool isInlined(const Item& item, const GraphExpr& e);
  bool isStorage(UOp node) const;
  void findHeld();
  void hold();
  const BuildLog::Step* noteOf(const Item& item) const;
  void comment(Statement& s, const Item& item);

  Result<GraphExpr> operand(const BuildLog::Operand& o);
  Result<GraphExpr> call(const Definition& d, bool inlinesStorage);
  Result<GraphExpr> unnamed(const BuildLog::Operand& o);
  Result<TypeExpr> typeOf(DType dtype, std::span<const UOp> dims);
  std::string newName(std::string_view wanted);
  std::string sizeName(UOp size) const;
  Statement& add(StatementKind kind, std::string name = {});

  GraphBuilder& b_;
  const BuildLog& log_;
  std::string weightFile_;
  Definitions definitions_;
  Layout layout_;
  WrittenModel out_;
  std::vector<std::vector<Statement>*> bodies_;      // open ones, innermost last
  std::map<uint32_t, std::string> names_;            // of values, by node id
  std::map<uint32_t, GraphExpr> inlined_;            // values written where they are used
  std::map<uint32_t, std::string> slotNames_;        // of ports
  std::map<uint32_t, std::string> counters_;         // by id of a range
  std::map<std::string, std::string> counterNames_;  // by that of the model: loops behind each other may share one
  std::set<std::string, std::less<>> taken_;
  Contents contents_;             // at the place that is written
  std::map<uint32_t, UOp> held_;  // contents that are read after a later assignment, by id
  std::map<uint32_t, std::string> heldNames_;
  std::vector<const BuildLog::Step*> notes_;
  std::map<const BuildLog::Step*, int> noteSizes_;  // values that belong to a note; 0 once it is written
  int unnamed_ = 0;
};

}  // namespace svod
