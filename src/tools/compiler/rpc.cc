#include "tools/compiler/rpc.h"

#include <algorithm>
#include <array>
#include <set>

#include "joedb/base/version.h"
#include "tools/compiler/names.h"
#include "tools/compiler/rpc_templates.h"
#include "tools/compiler/service.h"
#include "tools/compiler/text.h"

namespace joedb::compiler {

namespace {

using namespace templates;

constexpr std::array<std::string_view, 4> generated_names{"Client", "Procedures", "Service",
                                                          "Signatures"};

// A method of the service, with the schema of its parameter.
struct Procedure {
  Service_Method method;
  const Model* schema;
};

std::vector<std::string> rpc_name_space(const Model& main) {
  std::vector<std::string> names = main.name_space;
  names.emplace_back("rpc");
  return names;
}

// Finds the schema of a method by the rules of C++ for the namespace of the service: first in this
// namespace, then in the enclosing ones.
const Model* find_schema(const Service_Method& method, const Model& main,
                         const std::vector<Model>& messages) {
  std::vector<std::string> around;
  if (!method.is_global) around = rpc_name_space(main);
  for (;;) {
    std::vector<std::string> name = around;
    name.insert(name.end(), method.schema.begin(), method.schema.end());
    if (name == main.name_space) return &main;
    for (const Model& message : messages)
      if (name == message.name_space) return &message;
    if (around.empty()) return nullptr;
    around.pop_back();
  }
}

// Returns the error of a procedure; empty if there is none.
std::string problem_of(const Procedure& procedure, const Model& main) {
  const std::string& name = procedure.method.name;
  const std::string schema = join(procedure.method.schema, "::");
  if (procedure.schema == nullptr)
    return "procedure " + name + ": there is no message schema " + schema;
  if (name == procedure.schema->name_space.back())
    return "procedure " + name + " has the name of its message schema: rename one of them";
  if (name == "Client" || is_cpp_keyword(name))
    return "procedure " + name + ": the generated Client cannot have a function of this name";
  if (procedure.schema == &main && main.has_timestamps)
    return "procedure " + name + ": " + schema +
           " has timestamp_transactions, so that the first bytes of client and server would "
           "differ: "
           "give the message a schema of its own";
  return "";
}

std::vector<Procedure> resolve(std::vector<Service_Method> methods, const std::string& file,
                               const Model& main, const std::vector<Model>& messages) {
  std::vector<Procedure> procedures;
  std::vector<Diagnostic> errors;
  for (Service_Method& method : methods) {
    const Model* const schema = find_schema(method, main, messages);
    procedures.push_back({std::move(method), schema});
    const std::string problem = problem_of(procedures.back(), main);
    if (!problem.empty()) errors.push_back({file, procedures.back().method.line, problem});
  }
  if (!errors.empty()) throw Schema_Errors(std::move(errors));
  return procedures;
}

// Fills the template `text` for each procedure, and joins the results with `between`.
std::string for_each_procedure(const std::vector<Procedure>& procedures, std::string_view text,
                               std::string_view between = "") {
  std::vector<std::string> parts;
  for (std::size_t i = 0; i < procedures.size(); ++i)
    parts.push_back(fill(text, {{"name", procedures[i].method.name},
                                {"number", std::to_string(i)},
                                {"schema", "::" + join(procedures[i].schema->name_space, "::")}}));
  return join(parts, between);
}

std::string schema_includes(const std::vector<Procedure>& procedures, const Model& main) {
  std::set<std::string> headers;
  for (const Procedure& procedure : procedures)
    headers.insert((procedure.schema == &main ? "../../" : "") +
                   procedure.schema->name_space.back() + ".h");
  std::string text;
  for (const std::string& header : headers) text += "#include \"" + header + "\"\n";
  return text;
}

}  // namespace

void require_message_schema(const Model& model, const Options& options, const std::string& name) {
  const auto fail = [&](const std::string& text) {
    throw Schema_Errors({{options.file, options.name_space_line, text}});
  };
  if (std::find(generated_names.begin(), generated_names.end(), name) != generated_names.end())
    fail("a message schema cannot have the name " + name +
         ": joedbc makes a header of this name for the service");
  if (model.name_space.back() != name)
    fail("the namespace of this message schema must end with its name, " + name);
  if (model.has_timestamps)
    fail(
        "timestamp_transactions: not in a message schema: the first bytes of client and server "
        "would differ");
}

std::vector<Generated_File> generate_rpc(const Model& main, const std::vector<Model>& messages,
                                         std::string_view text, const std::string& file) {
  const std::vector<std::string> name_space = rpc_name_space(main);
  const std::vector<Procedure> procedures =
      resolve(find_procedures(text, file, name_space), file, main, messages);
  const std::string includes = schema_includes(procedures, main);
  const std::string folder = main.name_space.back() + "/rpc/";
  const std::string guard = join(name_space, "_");
  const auto generate = [&](std::string_view name, std::string_view header, std::string_view line,
                            std::string_view between) {
    return Generated_File{
        folder + std::string(name) + ".h",
        fill(header, {{"version", version},
                      {"guard", guard},
                      {"namespace", join(name_space, "::")},
                      {"includes", includes},
                      {"procedures", for_each_procedure(procedures, line, between)}})};
  };
  return {
      {folder + "Service.h",
       fill(service_copy, {{"version", version}, {"file", cpp_literal(file)}}) + std::string(text)},
      generate("Procedures", procedures_header, procedures_line, ",\n"),
      generate("Signatures", signatures_header, signatures_line, ",\n"),
      generate("Client", rpc_client_header, rpc_client_method, "")};
}

}  // namespace joedb::compiler
