import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { parse } from "yaml";
import { environmentOf, getPod, renderOverlay } from "./cluster.ts";
import { readConfig as readPurger } from "../../infra/purger/src/config.ts";
import { describeEnvironment } from "../../kit/src/process/env.ts";
import { alerts } from "../observability/files.ts";
import { root } from "./folders.ts";
import { serviceNames, services } from "../services.ts";
import { issuer, units } from "./units.ts";

interface ComposeService {
  readonly image: string;
  readonly profiles?: readonly string[];
  readonly networks?: readonly string[];
  readonly pull_policy?: string;
  readonly build: { readonly target: string; readonly args?: Readonly<Record<string, string>> };
  readonly command?: readonly string[];
  readonly ports?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  readonly mem_limit?: string;
  readonly stop_grace_period?: string;
  readonly restart?: string;
  readonly init?: boolean;
  readonly healthcheck?: { readonly test: readonly string[] };
  readonly volumes?: readonly string[];
}

const read = (path: string) => readFileSync(join(root, path), "utf8");
const compose: Readonly<Record<string, ComposeService>> = parse(read("docker-compose.yml"), { merge: true }).services;
const dockerfile = read("Dockerfile");
const local = renderOverlay("local");
const production = renderOverlay("production");

/** Replaces `${NAME:-value}` by `value`. */
const withDefaults = (text: string) => text.replaceAll(/\$\{\w+:-([^}]*)\}/g, "$1");

test.each([...units, issuer].map((unit) => [unit.name, unit] as const))(
  "%s runs the image that compose builds, and listens on the same port",
  (name, unit) => {
    const { image, build, ports = [] } = compose[name]!;
    const pod = getPod(local, name);
    expect(pod.container.image).toBe(withDefaults(image));
    expect(dockerfile).toMatch(new RegExp(`^FROM \\S+ AS ${build.target}$`, "m"));
    const { port } = unit.readConfig(environmentOf(local, pod));
    const isService = build.target === "service";
    if (isService) expect(build.args).toMatchObject({ SERVICE: name, PORT: String(port) });
    else expect(portOfTarget(build.target)).toBe(port);
    for (const published of ports) expect(withDefaults(published)).toMatch(new RegExp(`:${port}$`));
  },
);

test.each(units.map(({ name }) => name))(
  "%s has the same memory limit in compose, Kubernetes and the alert, and enough time to shut down",
  (name) => {
    const { mem_limit: limit = "", stop_grace_period: grace = "", environment = {} } = compose[name]!;
    const { container } = getPod(production, name);
    expect(toMib(limit)).toBe(toMib(String(container.resources?.limits?.["memory"])));
    const alertLines = alertOf("MemoryNearLimit")
      .expr.split("\n")
      .filter((line) => new RegExp(`\\b${name}\\b`).test(line));
    expect(alertLines).toEqual([expect.stringMatching(new RegExp(`> 0\\.9 \\* ${toMib(limit)} \\* 2\\^20$`))]);
    const graceMs = container.env?.find(({ name: variable }) => variable === "SHUTDOWN_GRACE_MS")?.value;
    expect(environment["SHUTDOWN_GRACE_MS"]).toBe(graceMs);
    const drainMs = Number(withDefaults(environment["DRAIN_DELAY_MS"] ?? ""));
    expect(Number.parseInt(grace, 10) * 1_000).toBeGreaterThan(drainMs + Number(graceMs ?? 10_000));
  },
);

test.each([...units, issuer].map(({ name }) => name))("compose restarts %s when it exits or hangs", (name) => {
  expect(compose[name]).toMatchObject({
    restart: "unless-stopped",
    init: true,
    healthcheck: { test: ["CMD", "/app/infra/images/restart-frozen", "2", "20"], timeout: "30s" },
    environment: { HEALTH_DIR: "/dev/shm" },
  });
});

test.each(serviceNames)("the migration of %s uses the same command in compose and Kubernetes", (name) => {
  expect(getPod(local, `migrate-${name}`).container.args).toEqual(compose[`migrate-${name}`]?.command);
});

test.each(serviceNames)("the jobs that create secrets and databases mount the secrets of %s", (name) => {
  expect(compose["secrets"]?.volumes).toContain(`${name}-secrets:/secrets/${name}`);
  expect(compose["databases"]?.volumes).toContain(`${name}-secrets:/secrets/${name}:ro`);
});

test("the services have the keys of the gateway and the REST proxy for change feeds, and no key for receipts", () => {
  const volumes = compose["secrets"]?.volumes ?? [];
  expect(volumes).toEqual(
    expect.arrayContaining(["feed-keys:/secrets/feed-keys", "consistency-keys:/secrets/consistency-keys"]),
  );
  for (const { name } of units) {
    const isEndpoint = name === "gateway" || name === "rest-proxy";
    const mounted = (compose[name]?.volumes ?? []).filter((volume) => /^(feed|consistency)-keys:/.test(volume));
    const ofReceipts = isEndpoint ? ["consistency-keys:/run/secrets/consistency:ro"] : [];
    expect(mounted).toEqual(["feed-keys:/run/secrets/feed:ro", ...ofReceipts]);
    const { FEED_KEYS_FILE, CONSISTENCY_KEYS_FILE } = compose[name]?.environment ?? {};
    expect(FEED_KEYS_FILE).toBe("/run/secrets/feed/keys");
    expect(CONSISTENCY_KEYS_FILE).toBe(isEndpoint ? "/run/secrets/consistency/keys" : undefined);
  }
});

test("images that are built here are never pulled: their names on Docker Hub are not ours", () => {
  for (const [name, { build, image, pull_policy: policy }] of Object.entries(compose)) {
    expect(image.startsWith("tributary/"), name).toBe(build !== undefined);
    expect(policy, name).toBe(build === undefined ? undefined : "never");
  }
});

test("the purger runs only with the profile cdn, and has the feeds and keys of all services", () => {
  const { profiles, image, build, volumes, ports, environment = {}, ...others } = compose["purger"]!;
  expect({ profiles, image: withDefaults(image), volumes, ports }).toEqual({
    profiles: ["cdn"],
    image: "tributary/purger:local",
    volumes: ["feed-keys:/run/secrets/feed:ro"],
    ports: undefined,
  });
  expect(others).toMatchObject({ restart: "unless-stopped", init: true, networks: ["inside"] });
  const variables = Object.entries(environment).map(([name, value]) => [name, withDefaults(value)]);
  const secrets = { FEED_KEYS: "0123456789abcdef", PURGE_URL: "http://varnish/" };
  const { port, feedUrls } = readPurger({ ...Object.fromEntries(variables), ...secrets });
  expect(port).toBe(portOfTarget(build.target));
  const feedOf = (name: string) => `http://${name}:${Number(compose[name]?.build.args?.["PORT"]) + 100}`;
  expect(feedUrls).toEqual(Object.fromEntries(serviceNames.map((name) => [name, [feedOf(name)]])));
});

test("the port of a change feed is not published", () => {
  for (const name of serviceNames) expect(compose[name]?.ports).toBe(undefined);
});

test("an image reads each secret variable of its process from a file", () => {
  const folder = mkdtempSync(join(tmpdir(), "tributary-secret-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  writeFileSync(join(folder, "secret"), "from a file");
  const processes = [...units, { readConfig: readPurger }];
  const secrets = processes.flatMap(({ readConfig }) => describeEnvironment(readConfig).filter(({ secret }) => secret));
  const passwords = services.map(({ variablePrefix }) => `${variablePrefix}_PASSWORD`);
  const names = [...new Set([...secrets.map(({ name }) => name), ...passwords, "LINE_ITEMS_PASSWORD"])];
  const files = Object.fromEntries(names.map((name) => [`${name}_FILE`, join(folder, "secret")]));
  const env = { PATH: process.env["PATH"], ...files };
  const output = execFileSync(join(root, "infra/images/start"), ["env"], { env, encoding: "utf8" });
  expect(output.split("\n")).toEqual(expect.arrayContaining(names.map((name) => `${name}=from a file`)));
});

test("the local overlay seeds with the image that compose builds", () => {
  expect(getPod(local, "seed").container.image).toBe(withDefaults(compose["seed"]!.image));
});

// secrets.sh needs the GNU tools of its image.
describe.runIf(process.platform === "linux")("the secrets of compose", () => {
  const secretsScript = read("infra/compose/secrets.sh");
  /** The volumes of secrets, which are mounted in /secrets. */
  let folder: string;

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "tributary-secrets-"));
    const created = folder;
    onTestFinished(() => rmSync(created, { recursive: true }));
    mount("postgres", "users");
  });

  test("a service that is added later gets secrets, and the existing secrets do not change", () => {
    runScript();
    const before = readSecrets();
    expect(Object.keys(before)).toEqual(["postgres/password", "users/cursor-keys", "users/password"]);
    for (const secret of Object.values(before)) expect(secret).toMatch(/^[0-9a-f]{48}$/);
    mount("billing-core");
    runScript();
    const after = readSecrets();
    expect(after).toMatchObject(before);
    expect(after["billing-core/password"]).toMatch(/^[0-9a-f]{48}$/);
    expect(after["billing-core/cursor-keys"]).toMatch(/^[0-9a-f]{48}$/);
  });

  test("keys that several processes share are in volumes without a password, and a variable replaces them", () => {
    mount("feed-keys", "consistency-keys");
    runScript();
    const before = readSecrets();
    const keys = [before["feed-keys/keys"], before["consistency-keys/keys"]];
    for (const key of keys) expect(key).toMatch(/^[0-9a-f]{48}$/);
    expect(new Set(keys).size).toBe(2);
    expect(Object.keys(before)).toHaveLength(5);
    runScript({ FEED_KEYS: "f,g", CONSISTENCY_KEYS: "c" });
    expect(readSecrets()).toEqual({ ...before, "feed-keys/keys": "f,g", "consistency-keys/keys": "c" });
  });

  test("a variable replaces a service's random secret, but not the superuser's", () => {
    mount("billing-core");
    runScript();
    const before = readSecrets();
    runScript({ USERS_PASSWORD: "u", BILLING_CORE_PASSWORD: "b", POSTGRES_PASSWORD: "p" });
    expect(readSecrets()).toEqual({ ...before, "users/password": "u", "billing-core/password": "b" });
  });

  function mount(...names: readonly string[]): void {
    for (const name of names) mkdirSync(join(folder, name));
  }

  /** Runs the script on the temporary folder; in its container the volumes are mounted in /secrets. */
  function runScript(variables: Readonly<Record<string, string>> = {}): void {
    const localScript = secretsScript.replaceAll("/secrets/", `${folder}/`);
    execFileSync("bash", ["--norc", "-c", localScript], {
      env: { PATH: process.env["PATH"], ...variables },
      stdio: ["ignore", "ignore", "inherit"],
    });
  }

  function readSecrets(): Readonly<Record<string, string>> {
    const files = readdirSync(folder).flatMap((name) =>
      readdirSync(join(folder, name)).map((file) => `${name}/${file}`),
    );
    return Object.fromEntries(files.toSorted().map((file) => [file, readFileSync(join(folder, file), "utf8")]));
  }
});

function alertOf(name: string) {
  const alert = alerts.find((rule) => rule.alert === name);
  if (!alert) throw new Error(`Unknown alert ${name}.`);
  return alert;
}

/** Converts `384m`, `1g`, `384Mi` or `1Gi`. */
function toMib(text: string): number {
  const [, number, unit = ""] = /^(\d+)([mg])i?$/i.exec(text) ?? [];
  return Number(number) * (unit.toLowerCase() === "g" ? 1_024 : 1);
}

function portOfTarget(target: string): number {
  const [, stage = ""] = dockerfile.split(new RegExp(`^FROM \\S+ AS ${target}$`, "m"));
  return Number(/^EXPOSE (\d+)$/m.exec(stage)?.[1]);
}
