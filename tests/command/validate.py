"""Holds JSON files against a JSON Schema: validate.py [--whole] SCHEMA FILE...

Files may end in .gz or .xz; those of another `schema` number than --number says are left out. With --whole a key that
the schema does not name is wrong too. Prints how many files were held against it. fastjsonschema is looked
for in the folder that LANESCOPE_SCHEMAS names.
"""

import argparse
import gzip
import json
import lzma
import os
import sys

sys.path.insert(0, os.environ.get("LANESCOPE_SCHEMAS", ""))
import fastjsonschema


def close(part):
    """Refuses keys that an object's schema does not name."""
    if isinstance(part, dict):
        if "properties" in part and "additionalProperties" not in part:
            part["additionalProperties"] = False
        for inner in part.values():
            close(inner)
    elif isinstance(part, list):
        for inner in part:
            close(inner)


arguments = argparse.ArgumentParser()
arguments.add_argument("--whole", action="store_true")
arguments.add_argument("--number", type=int)
arguments.add_argument("schema")
arguments.add_argument("files", nargs="+")
given = arguments.parse_args()
with open(given.schema, encoding="utf-8") as file:
    schema = json.load(file)
if given.whole:
    close(schema)
validate = fastjsonschema.compile(schema)
held, wrong = 0, 0
for path in given.files:
    opened = {"gz": gzip.open, "xz": lzma.open}.get(path.rpartition(".")[2], open)
    with opened(path, "rt", encoding="utf-8") as file:
        document = json.load(file)
    if given.number is not None and document.get("schema") != given.number:
        continue
    held += 1
    try:
        validate(document)
    except fastjsonschema.JsonSchemaException as error:
        wrong += 1
        print(f"{path}: {error.message}", file=sys.stderr)
print(held)
sys.exit(1 if wrong else 0)
