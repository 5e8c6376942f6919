import { execFile, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, inject, test } from "vitest";
import { type OpenApi, operationsOf } from "../../rest-proxy/src/documents/open-api.ts";
import { createSamples, exampleOrigin, type Sample } from "../../rest-proxy/src/documents/samples.ts";
import { readOpenApi } from "./documents.ts";
import { type RunningRestProxy, startRestProxy } from "./rest-proxy.ts";
import { type Services, startServices } from "./services.ts";

const run = promisify(execFile);
const document = (await readOpenApi(2)) as unknown as OpenApi;
const folder = mkdtempSync(join(tmpdir(), "tributary-samples-"));
// The shell's curl samples use uuidgen, which slim images lack.
const uuidgen = isInstalled("uuidgen") ? "" : "uuidgen() { cat /proc/sys/kernel/random/uuid; }\n";

let services: Services;
let proxy: RunningRestProxy;
beforeAll(async () => {
  services = await startServices(inject("postgresUrl"));
  proxy = await startRestProxy(services.urls);
});
afterAll(async () => {
  await proxy.close();
  await services.stop();
  rmSync(folder, { recursive: true });
});

const interpreters: Readonly<Record<Sample["language"], string>> = {
  curl: "curl",
  JavaScript: process.execPath,
  Python: "python3",
};

for (const [language, program] of Object.entries(interpreters) as [Sample["language"], string][]) {
  const isRunnable = isInstalled(program);
  if (!isRunnable) process.stderr.write(`SKIPPED: the ${language} samples need ${program}, which is not installed.\n`);

  test.runIf(isRunnable)(`the ${language} samples of two reads and three writes run as shown`, async () => {
    expect(await runSample("getUser", language)).toMatch(/200[^]*Ada Lovelace/);
    expect(await runSample("listOrders", language)).toMatch(/200[^]*customerId/);
    expect(await runSample("placeOrder", language)).toMatch(/201[^]*PRINT-0001/);
    expect(await runSample("updateUser", language)).toMatch(/200/);
    expect(await runSample("addComment", language)).toMatch(/201[^]*Well said/);
  });
}

function isInstalled(program: string): boolean {
  return spawnSync("sh", ["-c", `command -v ${program}`]).status === 0;
}

/** Runs the sample that the reference shows for an operation, with the address of this test's proxy, as Ada. */
async function runSample(operationId: string, language: Sample["language"]): Promise<string> {
  const entry = operationsOf(document).find(({ operation }) => operation.operationId === operationId)!;
  const sample = createSamples(document, entry).find((sample) => sample.language === language)!;
  const code = sample.code.replaceAll(exampleOrigin, proxy.url);
  const file = join(folder, language === "JavaScript" ? "sample.mjs" : "sample");
  writeFileSync(file, language === "curl" ? uuidgen + code : code);
  const program = language === "curl" ? "sh" : interpreters[language];
  const env = { ...process.env, TOKEN: await services.tokenOf("ada"), NO_PROXY: "*" };
  const { stdout } = await run(program, [file], { env, timeout: 20_000 });
  return stdout;
}
