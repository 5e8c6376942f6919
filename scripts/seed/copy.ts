import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { Client } from "pg";
import { from as copyFrom } from "pg-copy-streams";

export type Value = string | number | boolean | Date | object | null;

const rowsPerChunk = 500;
const escapedCharacter = /[\\\t\n\r]/g;
const escapes: Readonly<Record<string, string>> = { "\\": "\\\\", "\t": "\\t", "\n": "\\n", "\r": "\\r" };

/** By PostgreSQL's `COPY`, the fastest method, in chunks: not all rows are in memory at once. */
export async function copyRows(
  client: Client,
  table: string,
  columns: readonly string[],
  rows: Iterable<readonly Value[]>,
): Promise<void> {
  const copyStream = client.query(copyFrom(`copy ${table} (${columns.join(", ")}) from stdin`));
  await pipeline(Readable.from(toChunks(rows)), copyStream);
}

function* toChunks(rows: Iterable<readonly Value[]>): Generator<Buffer> {
  let lines: string[] = [];
  for (const row of rows) {
    lines.push(row.map(toField).join("\t"));
    if (lines.length === rowsPerChunk) {
      yield toChunk(lines);
      lines = [];
    }
  }
  if (lines.length > 0) yield toChunk(lines);
}

function toChunk(lines: readonly string[]): Buffer {
  return Buffer.from(`${lines.join("\n")}\n`);
}

/** A value in COPY's text format (PostgreSQL, COPY, "Text Format"). */
export function toField(value: Value): string {
  if (value === null) return "\\N";
  return toText(value).replaceAll(escapedCharacter, (character) => escapes[character] ?? character);
}

function toText(value: NonNullable<Value>): string {
  if (value instanceof Date) return value.toISOString();
  if (typeof value === "object") return JSON.stringify(value);
  return String(value);
}
