// docs/call-the-api.md: its examples in JavaScript are one program, whose output is in their comments.
import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { promisify } from "node:util";
import { expect, inject, onTestFinished, test } from "vitest";
import { startPlatform } from "./platform.ts";

const page = readFileSync(new URL("../../docs/call-the-api.md", import.meta.url), "utf8");
const examples = [...page.matchAll(/^```js\n(.*?)^```/gms)].map(([, code = ""]) => code).join("\n");
const expected = [...examples.matchAll(/^console\.log\(.*\); \/\/ (.*)$/gm)].map(([, output = ""]) => output);

test("the examples of the page for client teams do what it says", async () => {
  expect(expected.length).toBeGreaterThan(5);
  const platform = await startPlatform(inject("postgresUrl"));
  onTestFinished(() => platform.stop());
  const token = await platform.tokenOf("1");
  const program = `const token = ${JSON.stringify(token)};\n${examples}`.replace(
    "http://127.0.0.1:4010",
    platform.proxyUrl,
  );
  // A process of its own: the platform runs in this one.
  const { stdout } = await promisify(execFile)(process.execPath, ["--input-type=module", "--eval", program]);
  expect(stdout.trim().split("\n")).toEqual(expected);
});
