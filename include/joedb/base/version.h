#ifndef JOEDB_BASE_VERSION_H
#define JOEDB_BASE_VERSION_H

namespace joedb::inline v1 {

inline constexpr char version[] = "0.1.0";

// Goes up whenever code that joedbc generated before does not fit the library any more.
inline constexpr int generated_code_version = 4;

}  // namespace joedb::inline v1

#endif
