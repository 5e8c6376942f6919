import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { Client } from "pg";
import { from as copyFrom } from "pg-copy-streams";

export type Value = string | number | boolean | Date | object | null;

const rowsPerChunk = 500;

/** Loads generated rows for seed.ts with PostgreSQL's `COPY`, the fastest method, in chunks: not all rows are in memory at once. */
export async function copyRows(
  client: Client,
  table: string,
  columns: readonly string[],
  rows: Iterable<readonly Value[]>,
): Promise<void> {
  const target = client.query(copyFrom(`copy ${table} (${columns.join(", ")}) from stdin`));
  await pipeline(Readable.from(toChunks(rows)), target);
}

function* toChunks(rows: Iterable<readonly Value[]>): Generator<Buffer> {
  let lines: string[] = [];
  for (const row of rows) {
    lines.push(row.map(toField).join("\t"));
    if (lines.length < rowsPerChunk) continue;
    yield Buffer.from(`${lines.join("\n")}\n`);
    lines = [];
  }
  if (lines.length > 0) yield Buffer.from(`${lines.join("\n")}\n`);
}

const escapes: Readonly<Record<string, string>> = { "\\": "\\\\", "\t": "\\t", "\n": "\\n", "\r": "\\r" };

/** A value in COPY's text format (PostgreSQL, COPY, "Text Format"). */
export function toField(value: Value): string {
  if (value === null) return "\\N";
  const text =
    value instanceof Date ? value.toISOString() : typeof value === "object" ? JSON.stringify(value) : String(value);
  return text.replaceAll(/[\\\t\n\r]/g, (character) => escapes[character] ?? character);
}
