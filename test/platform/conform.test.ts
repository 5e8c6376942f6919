// `npm run conform` finds each broken rule, and reports no other one. The services of this repository break none.
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { startTestIssuer, type TestIssuer } from "@tributary/kit/testing/issuer";
import { afterAll, beforeAll, expect, inject, onTestFinished, test } from "vitest";
import { toCurl } from "../../scripts/conform/exchange.ts";
import { readTestedService } from "../../scripts/conform/read-service.ts";
import { conformRules } from "../../scripts/conform/rules.ts";
import { type RuleResult, runRules } from "../../scripts/conform/run-rules.ts";
import { startService } from "../../scripts/conform/start-service.ts";
import { createSubject } from "../../scripts/conform/subject.ts";
import { startNotes } from "../conform/notes-service.ts";
import { services } from "../services.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const folders = mkdtempSync(join(tmpdir(), "tributary-conform-test-"));
let issuer: TestIssuer;
beforeAll(async () => {
  issuer = await startTestIssuer();
});
afterAll(async () => {
  await issuer.stop();
  rmSync(folders, { recursive: true, force: true });
});

/** Rules that need what the broken one is about. */
const alsoBroken: Readonly<Record<string, readonly string[]>> = {
  // Their requests have a token.
  "token-valid": ["trace-context", "deadline-ignored"],
};

test("a service that follows every rule", async () => {
  const results = await check(createContract("nothing"));
  expect(idsOf(results, "failed")).toEqual([]);
  expect(idsOf(results, "absent")).toEqual([]);
  expect(idsOf(results, "skipped")).toEqual([]);
});

test.concurrent.for(conformRules)("a service that breaks $id", async ({ id, needs }) => {
  const results = needs === "start" ? await check(createContract(id)) : await checkHere(id);
  expect(idsOf(results, "failed").toSorted()).toEqual([id, ...(alsoBroken[id] ?? [])].toSorted());
  const [failure] = results.find(({ rule }) => rule.id === id)?.failures ?? [];
  expect(failure?.how).toMatch(/^(?:curl|kill -TERM) /);
});

test("a service whose REST paths have another prefix", async () => {
  const folder = createContract("prefix", { rest: "/api/v{version}" });
  const file = join(folder, "openapi.yaml");
  writeFileSync(file, readFileSync(file, "utf8").replaceAll("/rest/v1/", "/api/v1/"));
  const results = await check(folder);
  expect(idsOf(results, "failed")).toEqual([]);
  expect(idsOf(results, "skipped")).toEqual([]);
});

test("a service that offers no optional part breaks no rule", async () => {
  const results = await checkHere("optional");
  expect(idsOf(results, "failed")).toEqual([]);
  const absent = results.filter(({ outcome }) => outcome === "absent");
  expect(absent.map(({ rule }) => rule.id)).toEqual(["rest-etag", "cache-control", "write-position", "deadline"]);
  expect(absent.every(({ rule }) => rule.without)).toBe(true);
});

/** It is about the OpenAPI document of an external service. */
const notHere = ["drift-openapi"];

test("the services of this repository follow all rules, and each rule is about one of them", async () => {
  const checked = await Promise.all(services.map(({ folder }) => check(join(root, folder))));
  const results = checked.flat();
  expect(results.flatMap(({ failures }) => failures)).toEqual([]);
  expect(idsOf(results, "absent")).toEqual([]);
  const followed = new Set(idsOf(results, "ok"));
  expect(conformRules.map(({ id }) => id).filter((id) => !followed.has(id))).toEqual(notHere);
});

test("each rule comes from a section of the contract of a service", () => {
  const page = readFileSync(join(root, "docs/service-contract.md"), "utf8");
  const headings = new Set([...page.matchAll(/^#+ (.*)$/gm)].map(([, heading]) => heading));
  expect(conformRules.filter(({ section }) => !headings.has(section))).toEqual([]);
});

test("a command with a long body is short, and sends the same body", async () => {
  const body = `{"text":"it's ${"a".repeat(100_000)}"}`;
  const command = toCurl({ method: "POST", url: "http://notes.example", headers: {}, body });
  expect(command.length).toBeLessThan(200);
  const shell = spawn("sh", ["-c", command.replace(/^curl .* --data-raw/, "printf %s")]);
  expect(await text(shell.stdout)).toBe(body);
});

test("the command prints what is broken, and its exit code says whether something is", async () => {
  const server = createServer((_, response) => void response.writeHead(500).end()).listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => void server.close());
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const folder = createContract("command");
  const broken = await runCommand(folder, "--url", url);
  expect(broken).toMatchObject({ exitCode: 1, output: expect.stringContaining("FAILED   health-ready") });
  expect(broken.output).toContain(`$ curl -i '${url}/health/ready'\n    expected: 200\n    got:      500`);
  expect(broken.output).toContain("needs tokens of the test issuer: run it without --url");
  expect(await runCommand(folder, "--url", "http://127.0.0.1:1")).toMatchObject({ exitCode: 2 });
  expect(await runCommand(folders)).toMatchObject({ exitCode: 2, output: `${folders} has no service.json.\n` });
  expect(await runCommand()).toMatchObject({ exitCode: 2, output: expect.stringContaining("Usage: npm run conform") });
});

async function runCommand(...args: readonly string[]): Promise<{ readonly exitCode: number; readonly output: string }> {
  const child = spawn(process.execPath, [join(root, "scripts/conform.ts"), ...args]);
  const [stdout, stderr, [exitCode]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, "exit")]);
  return { exitCode: exitCode as number, output: stdout + stderr };
}

function idsOf(results: readonly RuleResult[], wanted: RuleResult["outcome"]): readonly string[] {
  return results.filter(({ outcome }) => outcome === wanted).map(({ rule }) => rule.id);
}

/** Of the notes service. @param broken the rule that it breaks. */
function createContract(broken: string, external: object = {}): string {
  const folder = join(folders, broken);
  cpSync(new URL("../conform/contract", import.meta.url), folder, { recursive: true });
  const program = fileURLToPath(new URL("../conform/notes-service.ts", import.meta.url));
  const descriptor = {
    ...{ name: "notes", description: "Owns notes.", team: "@tributary/notes-team", port: 4_900 },
    external: {
      url: "http://notes:4900",
      feed: "http://notes:5000",
      command: [process.execPath, program, folder, broken],
      ...external,
    },
  };
  writeFileSync(join(folder, "service.json"), JSON.stringify(descriptor));
  return folder;
}

/** The notes service in this process, by all rules but those that stop it: starting a program takes longer than checking it. */
async function checkHere(broken: string): Promise<readonly RuleResult[]> {
  const folder = createContract(broken);
  const { contract } = readTestedService(root, folder);
  const { issuer: ISSUER, audience: AUDIENCE, jwksUrl: JWKS_URL } = issuer;
  const key = "conform-feed-key-for-tests";
  const environment = { PORT: "0", FEED_PORT: "0", FEED_KEYS: key, ISSUER, AUDIENCE, JWKS_URL };
  const { url, feedUrl, close } = await startNotes(folder, broken, environment);
  try {
    // As the start of a process does.
    await fetch(url + contract.healthPath);
    const service = { url, feed: { url: feedUrl, key }, issuer, drain: undefined };
    return await runRules(conformRules, createSubject(contract, service));
  } finally {
    close();
  }
}

/** Its process, by all rules. */
async function check(folder: string): Promise<readonly RuleResult[]> {
  const tested = readTestedService(root, folder);
  const service = await startService({ ...tested, root, folder, postgresUrl: inject("postgresUrl") });
  try {
    return await runRules(conformRules, createSubject(tested.contract, service));
  } finally {
    await service.stop();
  }
}
