// What `npm start` requires and prepares before the first part starts.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { beforeEach, expect, onTestFinished, test } from "vitest";
import { pickFreePort } from "@tributary/kit/process/free-port";
import { identifyProcess } from "@tributary/kit/process/process-identity";
import { formerSubgraph } from "../../supergraph/subgraphs.ts";
import { deleteLocalData } from "../new-service/local-data.ts";
import { environmentOf, type PartContext } from "./environments.ts";
import { partNames, serviceNames } from "./parts.ts";
import { findPortProblems, readPorts } from "./ports.ts";
import { hasBreakingChanges, publishCommitted } from "./published-files.ts";
import { acquireRunFile, findRunningIssuer } from "./run-file.ts";
import { loadSecrets, type Secrets } from "./secrets.ts";
import { requireServiceFiles } from "./service-files.ts";

let root: string;
const list = ["users", "reviews"].map(formerSubgraph);

beforeEach(() => {
  root = newFolder();
  for (const name of ["users", "reviews"]) {
    for (const file of [
      "package.json",
      "schema.graphql",
      "src/main.ts",
      "src/rest/routes.ts",
      "src/rest/openapi.ts",
      "migrations/0001-a.sql",
    ])
      write(`services/${name}/${file}`);
  }
  write("package-lock.json", JSON.stringify({ packages: { "services/users": {}, "services/reviews": {} } }));
  write("supergraph/routes.json", JSON.stringify({ routes: [{ service: "users" }] }));
});

test("every file that a listed service lacks is named, with its owner and what to do", () => {
  expect(() => requireServiceFiles(root, list)).not.toThrow();
  rmSync(join(root, "services/reviews/migrations"), { recursive: true });
  rmSync(join(root, "services/reviews/src"), { recursive: true });
  expect(() => requireServiceFiles(root, list)).toThrow(
    [
      "services/reviews/service.json describes the service reviews (@tributary/reviews-team), but these files are missing:",
      "  services/reviews/src/main.ts: its process",
      "  services/reviews/src/rest/routes.ts: its REST routes; a service without any exports an empty list",
      "  services/reviews/src/rest/openapi.ts: the OpenAPI documents of its REST routes; a service without any exports documents without operations",
      "  services/reviews/migrations: the folder of its database's migrations",
      'Add them (CONTRIBUTING.md, "Add a service"), or delete services/reviews/service.json. Without them: npm start -- --mock reviews',
    ].join("\n"),
  );
});

test("a mock needs only its schema, and a service that runs at the remote no file", () => {
  for (const path of ["package.json", "src", "migrations"])
    rmSync(join(root, "services/reviews", path), { recursive: true });
  expect(() => requireServiceFiles(root, list)).toThrow("services/reviews/src/main.ts");
  expect(() => requireServiceFiles(root, list, new Map([["reviews", "mock"]]))).not.toThrow();
  rmSync(join(root, "services/reviews/schema.graphql"));
  expect(() => requireServiceFiles(root, list, new Map([["reviews", "mock"]]))).toThrow("reviews/schema.graphql");
  expect(() => requireServiceFiles(root, list, new Map([["reviews", "remote"]]))).not.toThrow();
});

test("a service that package-lock.json lacks is reported, because npm ci would fail", () => {
  write("package-lock.json", JSON.stringify({ packages: { "services/users": {} } }));
  expect(() => requireServiceFiles(root, list)).toThrow(
    "package-lock.json lacks the workspace services/reviews. Add it: npm install",
  );
});

test("an unlisted service in the committed route table is reported before the REST proxy starts", () => {
  const check = () => requireServiceFiles(root, list.slice(1));
  expect(check).toThrow(
    "supergraph/routes.json has routes of the service users, which has no services/users/service.json",
  );
  expect(check).toThrow("npm run generate");
});

test("a route table with merge conflict markers is reported", () => {
  write("supergraph/routes.json", "<<<<<<< HEAD\n");
  expect(() => requireServiceFiles(root, list)).toThrow("supergraph/routes.json is not valid JSON");
});

test("secrets are created once, readable only by their owner", () => {
  const folder = newFolder();
  const secrets = loadSecrets(folder);
  const { databasePasswords, cursorKey, feedKey, consistencyKey } = secrets;
  expect(Object.keys(databasePasswords)).toEqual(serviceNames);
  const all = [...Object.values(databasePasswords), cursorKey, feedKey, consistencyKey];
  expect(new Set(all).size).toBe(serviceNames.length + 3);
  for (const secret of all) expect(secret).toMatch(/^[0-9a-f]{48}$/);
  expect(loadSecrets(folder)).toEqual(secrets);
  expect(statSync(join(folder, "secrets.json")).mode & 0o777).toBe(0o600);
  expect(readdirSync(folder)).toEqual(["secrets.json"]);
});

test("a data folder of an older release gets the missing keys, and its other secrets do not change", () => {
  const folder = newFolder();
  const { feedKey: _, consistencyKey: __, ...older } = loadSecrets(folder);
  writeFileSync(join(folder, "secrets.json"), JSON.stringify(older));
  const secrets = loadSecrets(folder);
  expect(secrets).toEqual({ ...older, feedKey: expect.any(String), consistencyKey: expect.any(String) });
  expect(loadSecrets(folder)).toEqual(secrets);
});

test("the error for a file that is not JSON names the file and what to do", () => {
  const folder = newFolder();
  writeFileSync(join(folder, "secrets.json"), "{");
  expect(() => loadSecrets(folder)).toThrow(/secrets\.json is not valid JSON.*Delete it/s);
  writeFileSync(join(folder, "secrets.json"), "null");
  expect(() => loadSecrets(folder)).toThrow(/secrets\.json is not valid JSON.*Delete it/s);
});

const schema = `extend schema @link(url: "https://specs.apollo.dev/federation/v2.9", import: ["@key"])
type Query { user(id: ID!): User }
type User @key(fields: "id") { id: ID! name: String }
extend type Post @key(fields: "id") { id: ID! author: User }`;

test("the gateway loads a supergraph with breaking changes before the service restarts", () => {
  const isBreaking = (from: string, to: string) => hasBreakingChanges(schema, schema.replace(from, to));
  expect(isBreaking("name: String", "name: String nick: String")).toBe(false);
  expect(isBreaking("name: String", "")).toBe(true);
  expect(isBreaking("name: String", "name: Int")).toBe(true);
  expect(isBreaking("user(id: ID!)", "person(id: ID!)")).toBe(true);
  const byDefault = (text: string) => `scalar JSON type Query { find(where: JSON = ${text}): String }`;
  expect(hasBreakingChanges(byDefault("{}"), byDefault("{ a: [1] }"))).toBe(false);
});

test("the error for missing generated files names the command that generates them", () => {
  expect(() => publishCommitted(newFolder(), newFolder())).toThrow("is missing. Generate it: npm run generate");
});

test("an invalid port and two parts on one port are reported together", () => {
  const read = () => readPorts({ USERS_PORT: "x", POSTS_PORT: "4000" });
  expect(read).toThrow("USERS_PORT");
  expect(read).toThrow("POSTS_PORT and GATEWAY_PORT are both 4000");
});

test("a change feed on the port of another part is reported", () => {
  expect(() => readPorts({ USERS_PORT: "3910" })).toThrow("USERS_PORT + 100 and REST_PROXY_PORT are both 4010");
  expect(() => readPorts({ USERS_PORT: "65436" })).toThrow("USERS_PORT");
});

test("the port of a change feed in use is reported with the variable that changes it", async () => {
  const port = await pickFreePort("127.0.0.1", 100);
  const server = createServer().listen(port + 100, "127.0.0.1");
  onTestFinished(() => void server.close());
  await once(server, "listening");
  const ports = readPorts({ USERS_PORT: String(port) });
  expect(await findPortProblems(["users"], ports)).toEqual([
    `Port ${port + 100} (the change feed of users) is in use. Free it, or choose another port: USERS_PORT=${port + 1_000} npm start`,
  ]);
  expect(await findPortProblems(["gateway"], ports)).toEqual([]);
});

test("every service serves its change feed with the key that the gateway and the REST proxy have", () => {
  const environments = partNames.map((name) => [name, environmentOf(name, context({ FEED_PORT: "1" }))] as const);
  const { issuer, gateway, "rest-proxy": restProxy, ...services } = Object.fromEntries(environments);
  for (const environment of Object.values(services)) {
    expect(environment?.["FEED_PORT"]).toBe(String(Number(environment?.["PORT"]) + 100));
    expect(environment).toMatchObject({ FEED_KEYS: "feed-key" });
    expect(environment).not.toHaveProperty("CONSISTENCY_KEYS");
  }
  for (const environment of [gateway, restProxy])
    expect(environment).toMatchObject({ FEED_KEYS: "feed-key", CONSISTENCY_KEYS: "consistency-key" });
  expect(issuer).not.toHaveProperty("FEED_KEYS");
});

test("every part inherits the environment, except addresses, ports and databases", () => {
  const outside = {
    LOG_LEVEL: "debug",
    ISSUER: "https://id.example.com",
    PORT: "80",
    HOST: "0.0.0.0",
    DATABASE_URL: "x",
  };
  for (const name of partNames) {
    const environment = environmentOf(name, context(outside));
    expect(environment).toMatchObject({ LOG_LEVEL: "debug", ISSUER: "https://id.example.com", HOST: "127.0.0.1" });
    expect(environment["PORT"]).not.toBe("80");
  }
  expect(environmentOf("users", context(outside))["DATABASE_URL"]).toContain("@127.0.0.1:4032/users");
});

const endedProcess = { pid: 2 ** 22 + 1, startedAt: "1" };

test("processes that a killed supervisor left are ended; another process with a reused pid is not", async () => {
  const folder = newFolder();
  const [leftover, unrelated] = [sleeper(), sleeper()];
  const parts = [
    { name: "users", ...identifyProcess(leftover.pid!) },
    { name: "posts", pid: unrelated.pid, startedAt: "long ago" },
    { name: "orders", ...endedProcess },
  ];
  writeFileSync(join(folder, "run.json"), JSON.stringify({ supervisor: endedProcess, parts }));
  const run = acquireRunFile(folder);
  expect(await run.endLeftovers()).toEqual(["users"]);
  expect(identifyProcess(leftover.pid!)).toBe(undefined);
  expect(identifyProcess(unrelated.pid!)).not.toBe(undefined);
  run.release();
});

test("removing a service's data ends the processes that a killed start left, and deletes its password alone", async () => {
  const folder = newFolder();
  const leftover = sleeper();
  const parts = [{ name: "users", ...identifyProcess(leftover.pid!) }];
  writeFileSync(join(folder, "run.json"), JSON.stringify({ supervisor: endedProcess, parts }));
  const databasePasswords = { users: "a", reviews: "b" };
  writeFileSync(join(folder, "secrets.json"), JSON.stringify({ feedKey: "k", databasePasswords }));
  expect(await deleteLocalData(folder, "reviews")).toBe(true);
  expect(identifyProcess(leftover.pid!)).toBe(undefined);
  const secrets = { feedKey: "k", databasePasswords: { users: "a" } };
  expect(JSON.parse(readFileSync(join(folder, "secrets.json"), "utf8"))).toEqual(secrets);
  expect(await deleteLocalData(folder, "reviews")).toBe(false);
  writeFileSync(join(folder, "secrets.json"), "{");
  await expect(deleteLocalData(folder, "users")).rejects.toThrow("secrets.json is not valid JSON");
});

test("leftover processes remain recorded until they are ended, also if the start that ends them is killed", () => {
  const folder = newFolder();
  const parts = [{ name: "users", ...identifyProcess(sleeper().pid!) }];
  writeFileSync(join(folder, "run.json"), JSON.stringify({ supervisor: endedProcess, parts }));
  acquireRunFile(folder);
  expect(partsOf(folder)).toEqual(parts);
});

test("the issuer's URL is found by the data folder while its start runs, not after it ends or is killed", () => {
  const folder = newFolder();
  const issuerUrl = "http://127.0.0.1:5020";
  const run = acquireRunFile(folder, issuerUrl);
  run.add("users", process.pid);
  expect(findRunningIssuer(folder)).toBe(issuerUrl);
  run.release();
  expect(findRunningIssuer(folder)).toBe(undefined);
  writeFileSync(join(folder, "run.json"), JSON.stringify({ supervisor: endedProcess, parts: [], issuerUrl }));
  expect(findRunningIssuer(folder)).toBe(undefined);
});

test("of starts that replace the same file of a killed start, one uses the folder", async () => {
  const module = new URL("run-file.ts", import.meta.url).href;
  const code = `const { acquireRunFile } = await import("${module}");
    process.on("message", (folder) => {
      try { acquireRunFile(folder); process.send("acquired"); } catch { process.send("rejected"); }
    });
    process.send("ready");`;
  const arguments_ = ["--input-type=module", "-e", code];
  const starts = [1, 2, 3].map(() =>
    spawn(process.execPath, arguments_, { stdio: ["ignore", "ignore", "inherit", "ipc"] }),
  );
  onTestFinished(() => starts.forEach((start) => start.kill()));
  const nextMessages = () => Promise.all(starts.map(async (start) => (await once(start, "message"))[0] as string));
  await nextMessages();
  for (let round = 0; round < 200; round++) {
    const folder = newFolder();
    writeFileSync(join(folder, "run.json"), JSON.stringify({ supervisor: endedProcess, parts: [] }));
    const results = nextMessages();
    for (const start of starts) start.send(folder);
    expect((await results).toSorted()).toEqual(["acquired", "rejected", "rejected"]);
  }
});

test("a run file that is not JSON does not prevent a start", () => {
  const folder = newFolder();
  writeFileSync(join(folder, "run.json"), "{");
  acquireRunFile(folder).release();
});

test("with a remote, every part gets its issuer, and a service that runs there is a substitute that is not cached", () => {
  const issuer = { issuer: "the-issuer", jwksUrl: "https://issuer.example/keys", url: "https://issuer.example" };
  const remote = { graphqlUrl: "https://gateway.example/graphql", restUrl: undefined };
  const substitutes = new Map([["users", "remote"] as const, ["orders", "mock"] as const]);
  const alone = { ...context({}), substitutes, remote, findRemoteIssuer: () => issuer };
  const identity = { ISSUER: "the-issuer", JWKS_URL: "https://issuer.example/keys" };
  expect(environmentOf("posts", alone)).toMatchObject({ ...identity, DATABASE_URL: expect.any(String) });
  const gateway = environmentOf("gateway", alone);
  expect(gateway).toMatchObject({ ...identity, ISSUER_URL: "https://issuer.example", ENTITY_CACHE_POSTS: "on" });
  expect(Object.keys(gateway)).not.toEqual(expect.arrayContaining(["ENTITY_CACHE_USERS"]));
  expect(Object.keys(gateway)).not.toEqual(expect.arrayContaining(["ENTITY_CACHE_ORDERS"]));
  expect(environmentOf("rest-proxy", alone)).toMatchObject({
    USERS_FEED_URL: "none",
    ORDERS_FEED_URL: "none",
    ISSUER_URL: "https://issuer.example",
  });
  expect(JSON.parse(environmentOf("users", alone)["SUBSTITUTE"] ?? "")).toMatchObject({
    remote: { graphqlUrl: "https://gateway.example/graphql" },
    schemaFile: "/data/remote/users.graphql",
  });
  const mock = environmentOf("orders", alone);
  const mockConfig = JSON.parse(mock["SUBSTITUTE"] ?? "") as object;
  expect(mockConfig).toMatchObject({ schemaFile: "/repository/services/orders/schema.graphql" });
  expect(mockConfig).not.toHaveProperty("remote");
  expect(mock["DATABASE_URL"]).toBe(undefined);
  // Until the remote responds for the first time, no issuer is known.
  const unknown = { ...alone, findRemoteIssuer: () => undefined };
  expect(environmentOf("gateway", unknown)["ISSUER_URL"]).toBe(undefined);
  expect(environmentOf("gateway", { ...unknown, inherited: { ISSUER: "own" } })["ISSUER"]).toBe("own");
});

function write(path: string, content = ""): void {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), content);
}

function context(inherited: Record<string, string>): PartContext {
  const passwords = serviceNames.map((name) => [name, `password-of-${name}`]);
  const databasePasswords = Object.fromEntries(passwords) as Secrets["databasePasswords"];
  const keys = { cursorKey: "k", feedKey: "feed-key", consistencyKey: "consistency-key" };
  const paths = { root: "/repository", dataDir: "/data" };
  const alone = { substitutes: new Map(), addresses: new Map(), remote: undefined, findRemoteIssuer: () => undefined };
  return { ...paths, ...alone, ports: readPorts({}), secrets: { databasePasswords, ...keys }, inherited };
}

function partsOf(folder: string): unknown {
  return (JSON.parse(readFileSync(join(folder, "run.json"), "utf8")) as { parts: unknown }).parts;
}

function sleeper(): ChildProcess {
  const child = spawn("sleep", ["600"], { detached: true });
  onTestFinished(() => void child.kill("SIGKILL"));
  return child;
}

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "tributary-setup-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return folder;
}
