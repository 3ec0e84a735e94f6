-- Records as tables: DuckDB reads the JSON itself; the columns that are named are all that it keeps.
CREATE TEMP TABLE records AS SELECT * FROM read_json('records/*/result.json', filename = true,
  maximum_object_size = 1073741824, columns = {
    started_utc: 'VARCHAR',
    devices: 'STRUCT(id VARCHAR, name VARCHAR, backend VARCHAR, subgroup_width_run INTEGER, trust VARCHAR, self_test STRUCT(part VARCHAR, executions_right BOOLEAN, lanes_right BOOLEAN)[], flags STRUCT(tag VARCHAR)[])[]',
    measurements: 'STRUCT(device VARCHAR, kernel VARCHAR, parameters JSON, status VARCHAR, output VARCHAR, efficiency_ratio DOUBLE, time STRUCT(median_ns DOUBLE))[]'
  });
CREATE TEMP TABLE devices AS SELECT filename, unnest(devices, max_depth := 2) FROM records;
CREATE TEMP TABLE measurements AS SELECT filename, unnest(measurements, max_depth := 2) FROM records;

-- Which devices there are, and at which widths they ran.
SELECT name, backend, list_sort(list(DISTINCT subgroup_width_run)) AS widths, count(*) AS records
FROM devices WHERE NOT id LIKE 'sim:%'
GROUP BY ALL ORDER BY ALL;

-- Devices that fail a part of the self-test, or whose outputs are wrong.
SELECT d.name, d.subgroup_width_run AS width,
  len(list_filter(d.self_test, lambda part: NOT (part.executions_right AND part.lanes_right))) AS parts_failed,
  (SELECT count(*) FROM measurements m WHERE m.filename = d.filename AND m.device = d.id AND m.output = 'mismatch') AS outputs_wrong
FROM devices d WHERE NOT d.id LIKE 'sim:%'
ORDER BY ALL;

-- What lanes are active in each pattern, by width.
PIVOT (SELECT m.kernel || ' ' || (m.parameters ->> 'form') AS pattern, d.subgroup_width_run AS width,
    round(100 * median(m.efficiency_ratio), 1) AS active_percent
  FROM measurements m JOIN devices d
    ON m.filename = d.filename AND m.device = d.id
  WHERE m.parameters ->> 'form' IS NOT NULL GROUP BY ALL)
ON width USING first(active_percent) ORDER BY pattern;

-- Time over the baseline's, and how far records of one device lie apart.
SELECT d.name, d.subgroup_width_run AS width, m.kernel,
  round(median(m.time.median_ns / base.time.median_ns), 2) AS time_ratio, count(*) AS records
FROM measurements m
JOIN measurements base ON base.filename = m.filename AND base.device = m.device
  AND base.kernel = 'five_patterns/uniform' AND base.parameters = m.parameters
JOIN devices d ON m.filename = d.filename AND m.device = d.id
WHERE m.kernel <> base.kernel AND m.time IS NOT NULL AND m.parameters ->> 'form' = 'sealed'
GROUP BY ALL ORDER BY ALL;
