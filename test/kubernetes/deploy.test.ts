import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { kubernetes } from "./folders.ts";
import { renderFolder } from "./kustomize.ts";
import { nameOf } from "./manifest.ts";

let bin: string;
beforeEach(() => void (bin = mkdtempSync(join(tmpdir(), "kubectl-"))));
afterEach(() => rmSync(bin, { recursive: true, force: true }));

const allComplete = "Complete Complete Complete Complete";
const everythingThere = { crd: true, secrets: true, jobs: allComplete };

test("databases come first, then their migrations, the services, and last the supergraph with the doors", () => {
  const { status, calls } = deploy("production", everythingThere);
  expect(status).toBe(0);
  const order = [
    "apply -k overlays/production/ground",
    "wait clusters.postgresql.cnpg.io --all --for=condition=Ready",
    "delete job --selector app.kubernetes.io/component=migration --ignore-not-found",
    "apply -k overlays/production/migrations",
    "get job --selector app.kubernetes.io/component=migration",
    "apply -k overlays/production --selector app.kubernetes.io/component notin (supergraph,door)",
    "rollout status deployment/users",
    "rollout status deployment/orders",
    "apply -k overlays/production",
    "rollout status deployment/gateway",
    "rollout status deployment/rest-proxy",
  ];
  let at = -1;
  for (const step of order) {
    at = calls.findIndex((call, index) => index > at && call.includes(step));
    expect(at, `${step}, in its place`).toBeGreaterThan(-1);
  }
});

test("what is kept for last is the supergraph, and each door's Deployment", () => {
  const manifests = renderFolder(join(kubernetes, "overlays/production"));
  const last = manifests.filter(({ metadata }) => {
    const { "app.kubernetes.io/component": component = "" } = (metadata["labels"] ?? {}) as Record<string, string>;
    return ["supergraph", "door"].includes(component);
  });
  expect(last.map(nameOf).sort()).toEqual(["ConfigMap supergraph", "Deployment gateway", "Deployment rest-proxy"]);
});

test("when a migration fails nothing is rolled out, and its log is shown", () => {
  const { status, calls, errors } = deploy("production", { ...everythingThere, jobs: "Complete FailureTarget Failed" });
  expect(status).toBe(1);
  expect(errors).toContain("A migration failed. Nothing was rolled out.");
  expect(calls.some((call) => call.includes("logs --selector app.kubernetes.io/component=migration"))).toBe(true);
  expect(calls.filter((call) => call.includes("rollout") || /apply -k overlays\/production( |$)/.test(call))).toEqual(
    [],
  );
});

test("a database that does not come up in time keeps everything as it is", () => {
  const { status, calls } = deploy("production", { ...everythingThere, fails: "wait clusters" });
  expect(status).not.toBe(0);
  expect(calls.at(-1)).toContain("wait clusters.postgresql.cnpg.io");
});

test("an operator that just started is waited for; what else is wrong with the ground ends it at once", () => {
  const appliesOf = (calls: readonly string[]) =>
    calls.filter((call) => call.endsWith("apply -k overlays/local/ground"));
  const late = deploy("local", { ...everythingThere, webhookIsLateBy: 1 });
  expect(late.status).toBe(0);
  expect(appliesOf(late.calls)).toHaveLength(2);
  const broken = deploy("local", { ...everythingThere, fails: `-k ${kubernetes}/overlays/local/ground` });
  expect(broken.status).toBe(1);
  expect(appliesOf(broken.calls)).toHaveLength(1);
});

test("services that do not become ready keep the supergraph and the doors as they are", () => {
  const { status, calls } = deploy("production", { ...everythingThere, fails: "rollout status deployment/orders" });
  expect(status).not.toBe(0);
  expect(calls.at(-1)).toContain("rollout status deployment/orders");
});

test("production makes no secret: it names what is missing, before it migrates", () => {
  const { status, calls, errors } = deploy("production", { ...everythingThere, secrets: false });
  expect(status).toBe(1);
  const names = ["users", "posts", "comments", "orders"].map((service) => `${service}-cursor-keys`).join(" ");
  expect(errors).toContain(names);
  expect(calls.filter((call) => call.includes("create") || call.includes("migrations"))).toEqual([]);
});

test("a local cluster gets the operator, keys of its own for each service, and seeded data", () => {
  const { status, calls } = deploy("local", { crd: false, secrets: false, jobs: allComplete });
  expect(status).toBe(0);
  const created = calls.filter((call) => call.includes("create secret generic"));
  expect(created).toHaveLength(4);
  expect(new Set(created.map((call) => /keys=([0-9a-f]{64})$/.exec(call)?.[1])).size).toBe(4);
  const seeded = calls.findIndex((call) => call.includes("wait job/seed --for=condition=Complete"));
  expect(seeded).toBeGreaterThan(calls.indexOf("apply -k overlays/local/migrations"));
  expect(calls.indexOf("apply -k overlays/local")).toBeGreaterThan(seeded);
  expect(calls.some((call) => /apply --server-side -f https:\/\/\S+\/cnpg-[\d.]+\.yaml$/.test(call))).toBe(true);
});

test("production installs no operator: it says how", () => {
  const { status, errors, calls } = deploy("production", { ...everythingThere, crd: false });
  expect(status).toBe(1);
  expect(errors).toContain("kubectl apply --server-side -f https://");
  expect(calls.filter((call) => call.includes("apply"))).toEqual([]);
});

test("without Gateway API nothing is changed in production, and a local cluster needs none", () => {
  const { status, errors, calls } = deploy("production", { ...everythingThere, gatewayApi: false });
  expect(status).toBe(1);
  expect(errors).toContain("Gateway API is not installed");
  expect(calls.filter((call) => call.includes("apply"))).toEqual([]);
  expect(deploy("local", { ...everythingThere, gatewayApi: false }).status).toBe(0);
});

test("with databases of one's own nobody asks for an operator, or waits for its databases", () => {
  const { status, calls } = deploy("production", { crd: false, secrets: true, jobs: allComplete, databases: false });
  expect(status).toBe(0);
  expect(calls.filter((call) => call.includes("crd clusters") || call.includes("wait"))).toEqual([]);
});

interface Situation {
  /** Whether CloudNativePG is installed. */
  readonly crd: boolean;
  /** Default: true. */
  readonly gatewayApi?: boolean;
  readonly secrets: boolean;
  /** What the Jobs' conditions are. */
  readonly jobs: string;
  /** Whether the overlay has CloudNativePG's. Default: true. */
  readonly databases?: boolean;
  /** The call that fails. */
  readonly fails?: string;
  /** How often the operator's webhook does not answer yet. Default: 0. */
  readonly webhookIsLateBy?: number;
}

/** Runs deploy.sh with a kubectl that only writes down what it is asked. */
function deploy(overlay: string, { crd, secrets, jobs, ...o }: Situation) {
  const { databases = true, gatewayApi = true, fails = "nothing", webhookIsLateBy = 0 } = o;
  const log = join(bin, "calls");
  writeFileSync(log, "");
  const stub = `#!/bin/bash
echo "$*" >> '${log}'
case "$*" in
  *"${fails}"*) exit 1 ;;
  *kustomize*/ground) echo "kind: ${databases ? "Cluster" : "Namespace"}" ;;
  "apply -k "*/ground)
    if (($(grep -c "^$*$" '${log}') <= ${webhookIsLateBy})); then
      echo 'Internal error occurred: failed calling webhook "mcluster.cnpg.io"' >&2
      exit 1
    fi ;;
  *kustomize*/production) echo "kind: HTTPRoute" ;;
  *"get crd httproutes"*) ${gatewayApi} ;;
  *"get crd"*) ${crd} ;;
  *"get secret"*) ${secrets} ;;
  *"get job"*) echo "${jobs}" ;;
esac
`;
  writeFileSync(join(bin, "kubectl"), stub, { mode: 0o755 });
  const env = { PATH: `${bin}:${process.env["PATH"]}` };
  const { status, stderr } = spawnSync(join(kubernetes, "deploy.sh"), [overlay], {
    env,
    encoding: "utf8",
    timeout: 30_000,
  });
  const calls = readFileSync(log, "utf8").trim().split("\n");
  return { status, errors: stderr, calls: calls.map((call) => call.replaceAll(`${kubernetes}/`, "")) };
}
