import { once } from "node:events";
import { PassThrough } from "node:stream";
import { expect, test } from "vitest";
import { lineCharsMax, readLines } from "./lines.ts";

test("text is handed over line by line, however it is cut, the last one too", async () => {
  expect(await linesOf(["one\ntw", "o\r\n", "\nthr", "ee"])).toEqual(["one", "two", "", "three"]);
});

test("a character cut in two is whole again", async () => {
  const bytes = Buffer.from("grüße\n");
  expect(await linesOf([bytes.subarray(0, 3), bytes.subarray(3)])).toEqual(["grüße"]);
});

test("a line without an end is cut, so that memory stays bounded", async () => {
  const lines = await linesOf(Array.from({ length: 5 }, () => "x".repeat(lineCharsMax / 2)));
  expect(lines.map((line) => line.length)).toEqual([lineCharsMax, lineCharsMax, lineCharsMax / 2]);
});

async function linesOf(chunks: readonly (string | Buffer)[]): Promise<string[]> {
  const stream = new PassThrough();
  const lines: string[] = [];
  readLines(stream, (line) => lines.push(line));
  for (const chunk of chunks) stream.write(chunk);
  stream.end();
  await once(stream, "close");
  return lines;
}
