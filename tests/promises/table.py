"""What the pages promise, and what holds it at each door.

A door has tests, or one reason why the promise does not concern it. `test_table.py` refuses a table with a door that
has neither, and a page, docs/promises.md, that was not printed of it.
"""

from about_files import OF_FILES
from about_samples import OF_SAMPLES
from about_words import OF_WORDS

PROMISES = (*OF_SAMPLES, *OF_FILES, *OF_WORDS)
