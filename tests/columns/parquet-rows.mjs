// SPDX-License-Identifier: BSD-2-Clause
// parquet-rows.mjs MODULES duckdb|hyparquet FILE.parquet...: each row as a JSON array, of values as sqlite-rows.py writes
// them. parquet-rows.mjs MODULES sql SELECT: what DuckDB answers, as text with tabs.
import { resolve } from 'node:path';

const [folder, reader, ...files] = process.argv.slice(2);
const modules = resolve(folder);

const load = (module) => import(`${modules}/${module}`);

function real(number) {
  const bytes = Buffer.alloc(8);
  bytes.writeDoubleBE(number);
  return ['real', bytes.toString('hex')];
}

function show(value) {
  if (value === null || value === undefined) return null;
  if (typeof value === 'bigint') return ['integer', String(value)];
  if (typeof value === 'number') return real(value);
  if (typeof value === 'string') return ['text', Buffer.from(value).toString('hex')];
  return ['blob', Buffer.from(value.bytes ?? value).toString('hex')];
}

function select(sql) {
  return load('@duckdb/node-api/lib/index.js')
    .then((module) => module.default.DuckDBInstance.create(':memory:'))
    .then((instance) => instance.connect())
    .then((connection) => connection.runAndReadAll(sql))
    .then((result) => result.getRows());
}

function decode(path) {
  return Promise.all([load('hyparquet/src/node.js'), load('hyparquet-compressors/src/index.js')])
    .then(([reader, { compressors }]) =>
      reader.asyncBufferFromFile(path).then((file) => reader.parquetReadObjects({ file, compressors, utf8: false }))
    )
    .then((objects) => objects.map((object) => Object.values(object)));
}

function print(rows) {
  for (const row of rows)
    console.log(reader === 'sql' ? row.map((value) => value ?? '').join('\t') : JSON.stringify(row.map(show)));
}

function read(file) {
  if (reader === 'sql') return select(file);
  return reader === 'duckdb' ? select(`SELECT * FROM read_parquet('${file}')`) : decode(file);
}

const printed = files.reduce((before, file) => before.then(() => read(file)).then(print), Promise.resolve());

// DuckDB's threads would keep the process; what is printed to a pipe is written first.
printed.then(
  () => process.stdout.write('', () => process.exit(0)),
  (error) => {
    console.error(error.message);
    process.exit(1);
  }
);
