"""Runs the statements of queries.sql over the folder `records`: DuckDB's package is all it takes."""
import pathlib
import duckdb

connection = duckdb.connect()
text = pathlib.Path(__file__).with_name("queries.sql").read_text()
for statement in text.split(";\n"):
    words = "\n".join(line for line in statement.splitlines() if not line.startswith("--"))
    for line in statement.splitlines():
        if line.startswith("--"):
            print(line)
    if words.strip().startswith("CREATE"):
        connection.execute(words)
    elif words.strip():
        connection.sql(words).show(max_width=160, max_rows=1000)
