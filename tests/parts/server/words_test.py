"""The table of words against the compiler's own tables: nothing is missing, nothing invented.

words_test.py REPOSITORY
"""
import pathlib
import sys
import unittest

import language

ROOT = pathlib.Path(sys.argv.pop(1)).resolve()


class Words(unittest.TestCase):
    def setUp(self):
        self.table = language.words(ROOT)
        self.compiler = language.compiler_words(ROOT)

    def at(self, *places):
        return {word for word, where in self.table.items() if where & set(places)}

    def test_every_row_is_read(self):
        rows = (ROOT / "codegen/server/words.def").read_text().count("\nWORD(")
        self.assertGreater(rows, 75)
        self.assertEqual(len(language.WORD.findall(
            (ROOT / "codegen/server/words.def").read_text())), rows)

    def test_types_are_those_of_the_compiler(self):
        self.assertEqual(self.at("TYPE"), self.compiler["types"])
        self.assertEqual(len(self.compiler["types"]), 19)

    def test_attributes_and_where_they_stand(self):
        places = {"ON_FIELD", "ON_PARAM", "ON_JOB", "ON_ENUM", "ON_VALUE", "ON_STRUCT", "ON_RESULT"}
        found = {word: where & places for word, where in self.table.items() if where & places}
        self.assertEqual(found, self.compiler["attributes"])
        self.assertGreater(len(found), 10)

    def test_all_other_words_are_the_compilers(self):
        others = set(self.table) - self.at("TYPE") - set(self.compiler["attributes"])
        # max is an attribute and a setting of a retry policy.
        self.assertEqual(others | {"max"}, self.compiler["words"])
        self.assertGreater(len(others), 50)


if __name__ == "__main__":
    unittest.main()
