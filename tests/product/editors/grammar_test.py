"""The editors' grammars: every word of the language in every place that it may stand in, names
that only look like one, and the feature schemas without a word left plain.

grammar_test.py REPOSITORY textmate
grammar_test.py REPOSITORY vim EDITOR
"""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

import samples
import textmate

ROOT = pathlib.Path(sys.argv[1]).resolve()
EDITOR = sys.argv[3] if len(sys.argv) > 3 else None
del sys.argv[1:]
sys.path.insert(0, str(ROOT / "tests/parts/server"))
import language  # noqa: E402

VSCODE = ROOT / "editors/vscode"
VIM = ROOT / "editors/vim"
FEATURES = sorted((ROOT / "schemas/feature").glob("*.job"))
TOKEN = re.compile(r"\w+")

VIM_WORDS = {"jobKeyword", "jobSection", "jobSettingName", "jobSettingWord", "jobPolicyWord",
             "jobRetryNone", "jobState", "jobOwnWith", "jobType", "jobOptional", "jobAttr", "jobBoolean",
             "jobEnumReserved"}
# Groups of regions: a word that has one of them was recognised by nothing inside of it.
VIM_PLAIN = {"", "jobPackage", "jobImport", "jobAttrs", "jobAttrArgs", "jobFields", "jobShape",
             "jobDefault", "jobReserved", "jobPolicyBlock", "jobPolicyItem", "jobSetting",
             "jobKeys", "jobStates", "jobRetry", "jobJob", "jobJobBlock", "jobParams",
             "jobDefaults", "jobDefaultsBlock", "jobStruct", "jobPolicy", "jobEnum", "jobEnumBase",
             "jobEnumBlock", "jobOwn", "jobOwnText", "jobChain", "jobChainBlock"}
TEXTMATE_WORDS = ("keyword.", "storage.", "constant.language.", "entity.other.attribute-name.")


def vim_run(script, files, **env):
    """Runs a script in the editor, with our files and no others."""
    command = [EDITOR, "-es", "-N", "-u", "NONE", "-i", "NONE", "-n",
               "--cmd", f"set runtimepath={VIM},$VIMRUNTIME", "--cmd",
               "filetype plugin indent on", "--cmd", "syntax on", "-S", str(script), *map(str, files)]
    return subprocess.run(command, env={**os.environ, **env}, timeout=100, check=False,
                          stdin=subprocess.DEVNULL, capture_output=True)


def vim_groups(texts):
    """Per text the group of every character."""
    with tempfile.TemporaryDirectory() as folder:
        source, target = pathlib.Path(folder) / "texts", pathlib.Path(folder) / "groups"
        source.write_text(json.dumps([text.split("\n") for text in texts]))
        vim_run(ROOT / "tests/product/editors/highlight.vim", [], CULEX_TEXTS=str(source),
                CULEX_GROUPS=str(target))
        found = json.loads(target.read_text())
    groups = []
    for text, lines in zip(texts, found, strict=True):
        here = []
        for line, bytes_ in zip(text.split("\n"), lines, strict=True):
            at = 0
            for character in line:
                here.append(bytes_[at])
                at += len(character.encode())
            here.append("")
        groups.append(here[:-1])
    return groups


def textmate_groups(texts):
    grammar = textmate.Grammar(json.loads(
        (VSCODE / "syntaxes/culex-job.tmLanguage.json").read_text()))
    return [grammar.scopes(text) for text in texts]


class Grammar:
    """What both grammars are held to."""

    def highlight(self, marked):
        """For pairs of a text with § and what stands there: the set of groups of each."""
        texts = [text.replace("§", word) for text, word in marked]
        return [set(groups[text.index("§"):text.index("§") + len(word)])
                for (text, word), groups in zip(marked, self.groups(texts), strict=True)]

    def test_every_word_in_every_place(self):
        marked = []
        for word, places in language.words(ROOT).items():
            for place in places:
                texts = samples.WORDS.get((place, word)) or samples.PLACES[place]
                marked += [(text, word) for text in texts]
        self.assertGreater(len(marked), 150)
        plain = [(text, word, groups) for (text, word), groups
                 in zip(marked, self.highlight(marked), strict=True)
                 if len(groups) != 1 or not self.is_word(*groups)]
        self.assertEqual(plain, [])

    def test_names_that_look_like_words(self):
        wrong = [(text, word, groups) for (text, word), groups
                 in zip(samples.NAMES, self.highlight(samples.NAMES), strict=True)
                 if len(groups) != 1 or self.is_word(*groups) or self.is_plain(*groups)]
        self.assertEqual(wrong, [])

    def test_no_word_of_the_feature_schemas_is_plain(self):
        texts = [path.read_text() for path in FEATURES]
        plain = []
        count = 0
        for path, text, groups in zip(FEATURES, texts, self.groups(texts), strict=True):
            for token in TOKEN.finditer(text):
                count += 1
                if any(self.is_plain(group) for group in groups[token.start():token.end()]):
                    plain.append((path.name, text[:token.start()].count("\n") + 1, token[0]))
        self.assertEqual(plain, [])
        self.assertGreater(count, 800)

    def test_places_of_the_feature_schemas(self):
        names = sorted({spot[0] for spot in samples.SPOTS})
        texts = {name: (ROOT / "schemas/feature" / name).read_text() for name in names}
        groups = dict(zip(names, self.groups(list(texts.values())), strict=True))
        for name, before, what, *wanted in samples.SPOTS:
            pattern = re.escape(before).replace(r"\ ", r"\s+") + f"({re.escape(what)})"
            found = re.search(pattern, texts[name])
            self.assertIsNotNone(found, (name, before, what))
            at = found.start(1)
            self.assertTrue(self.fits(groups[name][at], wanted), (name, what, groups[name][at]))

    def test_half_written_text_does_not_spill(self):
        text = "job a { params { string s\n}\n}\n§ b;"
        self.assertTrue(self.is_word(*self.highlight([(text, "job")])[0]))


class Vim(Grammar, unittest.TestCase):
    groups = staticmethod(vim_groups)

    def is_word(self, group):
        return group in VIM_WORDS

    def is_plain(self, group):
        return group in VIM_PLAIN

    def fits(self, group, wanted):
        return group == wanted[0]

    def test_every_group_has_a_colour(self):
        text = (VIM / "syntax/job.vim").read_text()
        groups = set(re.findall(r"^syntax \w+ (job\w+)", text, re.M))
        groups |= set(re.findall(r"matchgroup=(\w+)", text))
        linked = set(re.findall(r"^highlight default link (job\w+)", text, re.M))
        self.assertEqual(groups - linked - {"jobComments", "jobValues"} - VIM_PLAIN,
                         {"jobEnumReservedItem", "jobEnumReservedComma"})
        self.assertGreater(len(linked), 30)

    def run_on_file(self, lines, *commands):
        """The lines that `commands` leave in OUT, run on a file of `lines`."""
        with tempfile.TemporaryDirectory() as folder:
            path, out = pathlib.Path(folder) / "a.job", pathlib.Path(folder) / "out"
            script = pathlib.Path(folder) / "script.vim"
            path.write_text("\n".join(lines) + "\n")
            script.write_text("\n".join([*commands, "quitall!"]))
            vim_run(script, [path], OUT=str(out))
            return out.read_text().splitlines()

    def test_files_are_recognised(self):
        self.assertEqual(
            self.run_on_file(["job a;"], "call writefile([&filetype, &commentstring, "
                             "b:current_syntax, &shiftwidth, &expandtab], $OUT)"),
            ["job", "// %s", "job", "4", "1"])

    def test_flat_lines_are_indented_as_fmt_does(self):
        for name in ("mail.job", "nightly.job", "attributes.job"):
            lines = (ROOT / "schemas/feature" / name).read_text().splitlines()
            flat = [line.lstrip() for line in lines]
            self.assertNotEqual(flat, lines)
            self.assertEqual(self.run_on_file(flat, "normal! gg=G",
                                              "call writefile(getline(1, '$'), $OUT)"), lines, name)


class TextMate(Grammar, unittest.TestCase):
    groups = staticmethod(textmate_groups)

    def is_word(self, group):
        return group.startswith(TEXTMATE_WORDS)

    def is_plain(self, group):
        return group == ""

    def fits(self, group, wanted):
        return group.startswith(wanted[1])

    def test_regexes_compile_and_match_no_emptiness_forever(self):
        grammar = textmate.Grammar(json.loads(
            (VSCODE / "syntaxes/culex-job.tmLanguage.json").read_text()))
        regexes = grammar.regexes()
        self.assertGreater(len(regexes), 60)
        for pattern in regexes:
            re.compile(pattern)
        for rule in grammar.grammar["repository"].values():
            if "begin" in rule:
                self.assertIsNone(re.compile(rule["begin"]).match(""), rule)

    def test_package_names_files_that_are_there(self):
        package = json.loads((VSCODE / "package.json").read_text())["contributes"]
        language_, = package["languages"]
        grammar, = package["grammars"]
        content = json.loads((VSCODE / grammar["path"]).read_text())
        self.assertEqual(content["scopeName"], grammar["scopeName"])
        self.assertEqual(language_["id"], grammar["language"])
        self.assertEqual(language_["extensions"], [".job"])
        settings = json.loads((VSCODE / language_["configuration"]).read_text())
        self.assertEqual(settings["comments"]["lineComment"], "//")
        for pattern in settings["indentationRules"].values():
            re.compile(pattern)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], "Vim" if EDITOR else "TextMate"])
