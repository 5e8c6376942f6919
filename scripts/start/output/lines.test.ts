import { once } from "node:events";
import { PassThrough } from "node:stream";
import { expect, test } from "vitest";
import { lineCharsMax, readLines } from "./lines.ts";

test("each line is reported once, however the chunks split it, also the last one", async () => {
  expect(await linesOf(["one\ntw", "o\r\n", "\nthr", "ee"])).toEqual(["one", "two", "", "three"]);
});

test("a character that two chunks split is joined", async () => {
  const bytes = Buffer.from("grüße\n");
  expect(await linesOf([bytes.subarray(0, 3), bytes.subarray(3)])).toEqual(["grüße"]);
});

test("a line without a line break is split, so that memory remains bounded", async () => {
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
