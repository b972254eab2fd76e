"""Makes a C++ header of the documentation in a stub, so that help() shows it: one text for both.

usage: stub_docs.py STUB HEADER
"""

import ast
import sys


def constant(name: str, text: str) -> str:
    return f'inline constexpr char {name}[] = R"doc({text})doc";\n'


def header(stub: str) -> str:
    parts = [
        "#pragma once\n\n// Made of the stub by stub_docs.py.\n\nnamespace joedb::python::docs {\n\n"
    ]
    for node in ast.parse(stub).body:
        if not isinstance(node, ast.ClassDef):
            continue
        parts.append(constant(node.name, ast.get_docstring(node) or ""))
        for item in node.body:
            if isinstance(item, ast.FunctionDef) and (text := ast.get_docstring(item)):
                parts.append(constant(f"{node.name}_{item.name}", text))
    parts.append("\n}  // namespace joedb::python::docs\n")
    return "".join(parts)


def main() -> None:
    with open(sys.argv[1], encoding="utf-8") as file:
        text = header(file.read())
    with open(sys.argv[2], "w", encoding="utf-8") as file:
        file.write(text)


if __name__ == "__main__":
    main()
