"""Writes the generated files of one of samples.py: sample.py NAME FOLDER"""

import sys

from rendering import write
from samples import CASES

write(CASES[sys.argv[1]](), sys.argv[2])
