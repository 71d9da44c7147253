"""Neovim with `culexc lsp`, by tests/product/editors/lsp.lua.

neovim_test.py CULEXC NVIM REPOSITORY
"""
import os
import pathlib
import subprocess
import sys
import tempfile

COMMON = "package shop;\nenum lang : uint8 { EN = 1, IT = 2 }\n"
MAIL = """package shop.mail;
import "common.job";

job send_email {
    params {
        string to [[nonempty]]; ///< RFC 5321 address
        sting subject; // \U0001f600
        shop.lang lang = EN;
    }
    unique by (to) for 10m;
}
"""


def main():
    culexc, nvim, root = sys.argv[1], sys.argv[2], pathlib.Path(sys.argv[3])
    with tempfile.TemporaryDirectory() as folder:
        work = pathlib.Path(folder) / "schemas"
        work.mkdir()
        (work / "common.job").write_text(COMMON)
        (work / "mail.job").write_text(MAIL)
        env = {**os.environ, "CULEXC": str(pathlib.Path(culexc).resolve()), "HOME": folder,
               "XDG_STATE_HOME": folder, "XDG_CACHE_HOME": folder, "XDG_DATA_HOME": folder}
        done = subprocess.run(
            [nvim, "--headless", "-u", "NONE", "-i", "NONE", "-n", "--cmd",
             f"set runtimepath^={root / 'editors/vim'}", "--cmd", "filetype plugin on", "-c",
             f"luafile {root / 'tests/product/editors/lsp.lua'}"],
            cwd=work, env=env, stdin=subprocess.DEVNULL, capture_output=True, text=True,
            timeout=110, check=False)
    print(done.stdout + done.stderr)
    return 0 if done.returncode == 0 and "all steps done" in done.stderr else 1


sys.exit(main())
