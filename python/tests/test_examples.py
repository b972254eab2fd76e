"""Programs in examples/python/ print what stands beside them."""

import os
import pathlib
import subprocess
import sys

import pytest

FOLDER = pathlib.Path(__file__).parents[2] / "examples" / "python"


@pytest.mark.parametrize("program", sorted(FOLDER.glob("*.py")), ids=lambda path: path.name)
def test_an_example_prints_what_stands_beside_it(program: pathlib.Path, tmp_path: pathlib.Path):
    result = subprocess.run(
        [sys.executable, "-W", "error", program],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert result.stderr == ""
    assert result.returncode == 0
    expected = program.with_suffix(".txt")
    if os.environ.get("JOEDB_UPDATE_GOLDEN") == "1":
        expected.write_text(result.stdout, encoding="utf-8")
    assert result.stdout == expected.read_text(encoding="utf-8")
