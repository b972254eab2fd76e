#ifndef JOEDB_BASE_VERSION_H
#define JOEDB_BASE_VERSION_H

namespace joedb::inline v1 {

// Of the library: MAJOR.MINOR.PATCH.
inline constexpr char version[] = "0.1.0";

// Goes up whenever code that joedbc generated before does not fit the library any more. Such code
// does not compile then, and must be generated again.
inline constexpr int generated_code_version = 5;

}  // namespace joedb::inline v1

#endif
