"""The stubs, which are also the documentation, have what is there."""

import ast
import inspect
import pathlib

import pytest

import joedb
from joedb import _joedb

STUBS = ast.parse(
    pathlib.Path(joedb.__file__).with_name("_joedb.pyi").read_text(encoding="utf-8")
)
CLASSES = {node.name: node for node in STUBS.body if isinstance(node, ast.ClassDef)}


def names_of(node: ast.ClassDef) -> set[str]:
    return {item.name for item in node.body if isinstance(item, ast.FunctionDef)}


@pytest.mark.parametrize("name", CLASSES)
def test_a_class_has_the_functions_of_its_stub(name):
    kind = getattr(_joedb, name)
    own = {
        attribute
        for attribute in vars(kind)
        if attribute not in vars(object) and attribute not in ("__module__", "__weakref__")
    }
    # __nb_* differs between versions; the stub's attribute access is implemented by slots.
    own = {attribute for attribute in own if not attribute.startswith("__nb_")}
    expected = names_of(CLASSES[name]) - {"__getattr__", "__setattr__"}
    assert own - {"__getattr__"} == expected


def test_the_module_has_the_functions_of_the_stubs():
    functions = {node.name for node in STUBS.body if isinstance(node, ast.FunctionDef)}
    there = {
        name
        for name, value in vars(_joedb).items()
        if callable(value) and not isinstance(value, type)
    }
    assert there == functions


def test_all_public_functions_are_documented():
    for name in ("open", "Rows", "Error", "IoError", "CorruptionError"):
        assert getattr(joedb, name).__doc__
    for node in CLASSES.values():
        assert ast.get_docstring(node), node.name


@pytest.mark.parametrize("name", CLASSES)
def test_help_shows_what_the_stub_says(name):
    kind = getattr(_joedb, name)
    assert inspect.getdoc(kind) == ast.get_docstring(CLASSES[name])
    for item in CLASSES[name].body:
        if isinstance(item, ast.FunctionDef) and (text := ast.get_docstring(item)):
            shown = inspect.getdoc(getattr(kind, item.name)) or ""
            assert " ".join(shown.split()).endswith(" ".join(text.split())), item.name
