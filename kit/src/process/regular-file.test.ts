import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { readRegularFile, readRegularFileSync } from "./regular-file.ts";

test("a file and a link to it are read, but no FIFO, device or folder", async () => {
  const folder = mkdtempSync(join(tmpdir(), "regular-file-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const [file, link, fifo] = ["file", "link", "fifo"].map((name) => join(folder, name)) as [string, string, string];
  writeFileSync(file, "text");
  symlinkSync(file, link);
  execFileSync("mkfifo", [fifo]);
  for (const path of [file, link])
    expect([await readRegularFile(path), readRegularFileSync(path)]).toEqual(["text", "text"]);
  for (const path of [fifo, "/dev/zero", folder]) {
    await expect(readRegularFile(path)).rejects.toThrow(`${path} is not a regular file`);
    expect(() => readRegularFileSync(path)).toThrow(`${path} is not a regular file`);
  }
});
