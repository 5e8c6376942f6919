import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { environmentOf, getPod, renderOverlay } from "./cluster.ts";
import { subgraphs } from "../../supergraph/subgraphs.ts";
import { readRules } from "../../scripts/verify/checks/alerts/monitoring-settings.ts";
import { root } from "./folders.ts";
import { issuer, serviceNames, units } from "./units.ts";

interface ComposeService {
  readonly image: string;
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

test.each(subgraphs.map(({ name }) => name))(
  "the jobs that create secrets and databases mount the secrets of %s",
  (name) => {
    expect(compose["secrets"]?.volumes).toContain(`${name}-secrets:/secrets/${name}`);
    expect(compose["databases"]?.volumes).toContain(`${name}-secrets:/secrets/${name}:ro`);
  },
);

test("the local overlay seeds with the image that compose builds", () => {
  expect(getPod(local, "seed").container.image).toBe(withDefaults(compose["seed"]!.image));
});

function alertOf(name: string) {
  const alert = readRules().find((rule) => rule.alert === name);
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
