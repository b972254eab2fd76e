#include "tools/compiler/service.h"

#include <gtest/gtest.h>

#include "tools/compiler/text.h"

namespace joedb::compiler {
namespace {

// Returns "LINE NAME SCHEMA" for each procedure; or the error.
std::string procedures_in(const std::string& text) {
  std::string result;
  try {
    for (const Service_Method& method : find_procedures(text, "Service.h", {"bank", "rpc"}))
      result += std::to_string(method.line) + " " + method.name + " " +
                (method.is_global ? "::" : "") + join(method.schema, "::") + "\n";
  } catch (const Schema_Errors& errors) {
    return errors.what();
  }
  return result;
}

// Returns the procedures of a service whose body begins in line 1.
std::string procedures_of(const std::string& body) {
  return procedures_in("namespace bank::rpc { class Service { public: " + body + " }; }");
}

TEST(Service_Scanner, FindsPublicMethodsWithAMessage) {
  const struct {
    std::string body;
    std::string procedures;
  } cases[] = {
      {"void put(deposit::Writable_Database &x) {}", "1 put deposit\n"},
      {"void put(deposit::Writable_Database& x);", "1 put deposit\n"},
      {"void put(deposit::Writable_Database & x) const noexcept {}", "1 put deposit\n"},
      {"void put(deposit::Writable_Database&x) {}", "1 put deposit\n"},
      {"void put(deposit::Writable_Database &) {}", "1 put deposit\n"},
      {"void put ( deposit :: Writable_Database & x ) {}", "1 put deposit\n"},
      {"void\n  put(\n    deposit::Writable_Database& x)\n{}", "1 put deposit\n"},
      {"\n\nvoid put(deposit::Writable_Database& x) {}", "3 put deposit\n"},
      {"virtual void put(deposit::Writable_Database& x) = 0;", "1 put deposit\n"},
      {"[[gnu::cold]] void put([[maybe_unused]] deposit::Writable_Database& x);",
       "1 put deposit\n"},
      {"void put(bank::rpc::deposit::Writable_Database& x);", "1 put bank::rpc::deposit\n"},
      {"void put(::bank::Writable_Database& x);", "1 put ::bank\n"},
      {"void put(/* in */ deposit::/**/Writable_Database& x // out\n);", "1 put deposit\n"},
      {"void a(x::Writable_Database& m) { if (m) { f(); } } void b(y::Writable_Database& m) {}",
       "1 a x\n1 b y\n"},
      {"Service(int a): a(a), b{2} {} void put(x::Writable_Database& m);", "1 put x\n"},
      {"private: void no(x::Writable_Database& m); public: void put(x::Writable_Database& m);",
       "1 put x\n"},
      {"protected: void no(x::Writable_Database& m); public: void put(x::Writable_Database& m);",
       "1 put x\n"},
  };
  for (const auto& c : cases) EXPECT_EQ(procedures_of(c.body), c.procedures) << c.body;
}

TEST(Service_Scanner, IgnoresOtherMethods) {
  const std::string bodies[] = {
      "int put(deposit::Writable_Database& x);",
      "void put();",
      "void put(Writable_Database& x);",
      "void put(deposit::Writable_Database x);",
      "void put(const deposit::Writable_Database& x);",
      "void put(deposit::Writable_Database* x);",
      "void put(deposit::Writable_Database&& x);",
      "void put(deposit::Writable_Database& x, int y);",
      "void put(deposit::Readonly_Database& x);",
      "void put(deposit::Writable_Database& x = other);",
      "// void put(deposit::Writable_Database& x);\n",
      "/* void put(deposit::Writable_Database& x); */",
      "std::string s = \"void put(deposit::Writable_Database& x);\";",
      "std::string s = R\"x(void put(deposit::Writable_Database& x);)\" )x\";",
      "\n#define PUT void put(deposit::Writable_Database& x); \\\n"
      "  void get(deposit::Writable_Database& x);\n",
      "struct Inner { void put(deposit::Writable_Database& x); };",
      "void f() { struct Inner { void put(deposit::Writable_Database& x); }; }",
  };
  for (const std::string& body : bodies) {
    EXPECT_EQ(procedures_of(body),
              "Service.h:1: Service has no procedure: no public method like "
              "void name(schema::Writable_Database& message)")
        << body;
    EXPECT_EQ(procedures_of(body + " void last(x::Writable_Database& m);").substr(2), "last x\n")
        << body;
  }
}

TEST(Service_Scanner, IsNotMisledByQuotes) {
  EXPECT_EQ(procedures_of("char a = '\"'; char b = '\\''; int n = 1'000'000; const char* s = "
                          "\"\\\"{\"; void put(x::Writable_Database& m);"),
            "1 put x\n");
}

TEST(Service_Scanner, FindsTheServiceInItsNamespace) {
  const std::string method = "void put(x::Writable_Database& m);";
  const std::string found = "1 put x\n";
  const std::string service = "class Service { public: " + method + " };";
  EXPECT_EQ(procedures_in("namespace bank { namespace rpc { " + service + " } }"), found);
  EXPECT_EQ(procedures_in("namespace bank { void f() {} namespace rpc { " + service + "}}"), found);
  EXPECT_EQ(procedures_in("namespace bank::rpc { class Service; " + service + "}"), found);
  EXPECT_EQ(procedures_in("namespace bank::rpc { struct Service { " + method + "}; }"), found);
  EXPECT_EQ(procedures_in("namespace bank::rpc { class Service final : public Base { public:" +
                          method + "}; }"),
            found);
  EXPECT_EQ(procedures_in("namespace bank::rpc { class Other { public: " + method + "}; " +
                          service + "}"),
            found);
}

TEST(Service_Scanner, SaysWhereThereIsNoService) {
  const std::string missing = "Service.h: there is no class Service (in the namespace bank::rpc)";
  EXPECT_EQ(procedures_in(""), missing);
  EXPECT_EQ(procedures_in("namespace bank::rpc { class Service; }"), missing);
  EXPECT_EQ(procedures_in("\nclass Service { public: void put(x::Writable_Database& m); };"),
            "Service.h:2: the class Service must be in the namespace bank::rpc");
}

TEST(Service_Scanner, ComesToAnEndWithAnyBeginningOfAText) {
  const std::string text =
      "/* a */ namespace bank::rpc {\n#include <a>\nclass Service final : B<int> { public: // b\n"
      "const char* s = \"\\\"\"; std::string r = R\"x(\")x\"; int n = 1'0;\n"
      "void put([[maybe_unused]] ::a::Writable_Database& m) { f({'\\'', '}'}); } }; }";
  for (std::size_t size = 0; size <= text.size(); ++size) procedures_in(text.substr(0, size));
  EXPECT_EQ(procedures_in(text), "5 put ::a\n");
}

}  // namespace
}  // namespace joedb::compiler
