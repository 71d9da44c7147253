"""What `culexc gen --plugin cpp` writes of schemas that have everything, beside golden/*.hpp.

cpp_test.py [--accept] CULEXC SCHEMA...
"""
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1] / "lib"))

from goldens import holds  # noqa: E402


def main() -> int:
    arguments = [argument for argument in sys.argv[1:] if argument != "--accept"]
    culexc, *schemas = arguments
    with tempfile.TemporaryDirectory() as out:
        subprocess.run([culexc, "gen", "--plugin", "cpp", "--out", out, *schemas], check=True, timeout=60)
        made = sorted(pathlib.Path(out).iterdir())
        differ = [path.name for path in made
                  if not holds(HERE / "golden" / path.name, path.read_text(), "--accept" in sys.argv)]
    print(f"{len(made)} files, {len(differ)} of them differ")
    return 1 if differ or len(made) != len(schemas) else 0


sys.exit(main())
