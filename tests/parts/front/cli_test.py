"""What culexc answers to command lines that people try: asking for help, misspelt verbs and options.

cli_test.py CULEXC
"""
import os
import pathlib
import re
import subprocess
import sys
import unittest

CULEXC = pathlib.Path(sys.argv.pop(1)).resolve()


def culexc(*words):
    done = subprocess.run([CULEXC, *words], env={**os.environ, "NO_COLOR": "1"}, timeout=60,
                          capture_output=True, text=True, check=False)
    return done.returncode, done.stdout, done.stderr


class Help(unittest.TestCase):
    def test_every_spelling_prints_it(self):
        shown = culexc("--help")
        self.assertEqual((shown[0], shown[2]), (0, ""))
        self.assertIn("\n  check ", shown[1])
        for word in ["-h", "help", "-help", "-?"]:
            self.assertEqual(culexc(word), shown, word)

    def test_of_a_verb_wherever_it_stands(self):
        verbs = re.findall(r"^  (\w+) ", culexc("--help")[1], re.M)
        self.assertGreater(len(verbs), 8)
        for verb in verbs:
            shown = culexc(verb, "--help")
            self.assertEqual((shown[0], shown[2]), (0, ""))
            self.assertTrue(shown[1].startswith(f"usage: culexc {verb}"), shown)
            for words in [("help", verb), (verb, "-h"), (verb, "a.job", "--help")]:
                self.assertEqual(culexc(*words), shown, words)

    def test_behind_two_dashes_it_is_a_file(self):
        self.assertIn("cannot read '--help'", culexc("check", "--", "--help")[2])

    def test_each_spelling_of_version_says_the_same(self):
        shown = culexc("--version")
        self.assertRegex(shown[1], r"^culexc \d")
        for word in ["version", "-V", "-version"]:
            self.assertEqual(culexc(word), shown, word)


class Misspelt(unittest.TestCase):
    def assert_said(self, words, line):
        status, out, err = culexc(*words)
        self.assertEqual((status, out), (2, ""), words)
        self.assertEqual(err.splitlines()[0], f"culexc: {line}")

    def test_misspelt_verb_is_answered_with_the_nearest(self):
        for word, meant in [("chekc", "check"), ("brekaing", "breaking"), ("--hlep", "--help"),
                            ("build", "gen"), ("compile", "gen"), ("generate", "gen"),
                            ("format", "fmt"), ("validate", "check"), ("new", "init")]:
            line = f"no such verb: '{word}'; did you mean '{meant}'?"
            self.assert_said([word, "a.job"], line)
            self.assert_said(["help", word], line)
        self.assert_said(["zzzzzz"], "no such verb: 'zzzzzz'; 'culexc --help' lists them")

    def test_verb_that_is_missing(self):
        self.assert_said(["a.job"], "a verb comes first: did you mean 'culexc check a.job'?")

    def test_misspelt_option_is_answered_with_the_nearest(self):
        for words, meant in [(["check", "--fxi"], "--fix"), (["gen", "-o", "d"], "--out"),
                             (["gen", "--output=d"], "--out"), (["lint", "--teir", "x"], "--tier"),
                             (["check", "--format", "json"], "--message-format"),
                             (["explain", "--lsit"], "--list"), (["check", "--hlep"], "--help")]:
            self.assert_said(words, f"no such option: '{words[1]}'; did you mean '{meant}'?")

    def test_option_that_the_verb_lacks_is_not_offered(self):
        self.assert_said(["check", "-o", "d"], "no such option: '-o'")

    def test_option_without_its_value_is_refused_and_a_flag_with_one(self):
        self.assert_said(["gen", "a.job", "--out"], "the option '--out' needs a value")
        self.assert_said(["gen", "--out=", "a.job"], "the option '--out' needs a value")
        self.assert_said(["check", "--fix=1"], "the option '--fix' takes no value")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
