import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { listPods, renderOverlay } from "./cluster.ts";
import { kubernetes } from "./folders.ts";
import { renderFolder } from "./kustomize.ts";
import { nameOf } from "./manifest.ts";
import { serviceNames } from "../services.ts";
import { issuer } from "./units.ts";

let bin: string;
beforeEach(() => void (bin = mkdtempSync(join(tmpdir(), "deploy-"))));
afterEach(() => rmSync(bin, { recursive: true, force: true }));

const allComplete = serviceNames.map(() => "Complete").join(" ");
const complete = { crd: true, secrets: true, jobs: allComplete };

test("deploy.sh applies the databases, the migrations, the services, and last the supergraph with gateway and REST proxy", () => {
  const { status, calls } = deploy("production", complete);
  expect(status).toBe(0);
  const order = [
    "apply -k overlays/production/prerequisites",
    "wait clusters.postgresql.cnpg.io --all --for=condition=Ready",
    "delete job --selector app.kubernetes.io/component=migration --ignore-not-found",
    "apply -k overlays/production/migrations",
    "get job --selector app.kubernetes.io/component=migration",
    "apply -k overlays/production --selector app.kubernetes.io/component notin (supergraph,endpoint)",
    ...serviceNames.toSorted().map((name) => `rollout status deployment/${name}`),
    "apply -k overlays/production",
    "rollout status deployment/gateway",
    "rollout status deployment/rest-proxy",
  ];
  let at = -1;
  for (const step of order) {
    at = calls.findIndex((call, index) => index > at && call.includes(step));
    expect(at, `${step}, in order`).toBeGreaterThan(-1);
  }
});

test("the objects applied last are the supergraph and the Deployments of gateway and REST proxy", () => {
  const manifests = renderFolder(join(kubernetes, "overlays/production"));
  const last = manifests.filter(({ metadata }) => {
    const { "app.kubernetes.io/component": component = "" } = (metadata["labels"] ?? {}) as Record<string, string>;
    return ["supergraph", "endpoint"].includes(component);
  });
  expect(last.map(nameOf).sort()).toEqual(["ConfigMap supergraph", "Deployment gateway", "Deployment rest-proxy"]);
});

test("after a failed migration nothing is rolled out, and the log of the migration is printed", () => {
  const { status, calls, errors } = deploy("production", { ...complete, jobs: "Complete FailureTarget Failed" });
  expect(status).toBe(1);
  expect(errors).toContain("A migration failed. Nothing was rolled out.");
  expect(calls.some((call) => call.includes("logs --selector app.kubernetes.io/component=migration"))).toBe(true);
  expect(calls.filter((call) => call.includes("rollout") || /apply -k overlays\/production( |$)/.test(call))).toEqual(
    [],
  );
});

test("if a database is not ready in time, nothing else is applied", () => {
  const { status, calls } = deploy("production", { ...complete, fails: "wait clusters" });
  expect(status).not.toBe(0);
  expect(calls.at(-1)).toContain("wait clusters.postgresql.cnpg.io");
});

test("the databases are applied again while the operator's webhook starts; any other error ends the deployment", () => {
  const appliesOf = (calls: readonly string[]) =>
    calls.filter((call) => call.endsWith("apply -k overlays/local/prerequisites"));
  const late = deploy("local", { ...complete, webhookFailures: 1 });
  expect(late.status).toBe(0);
  expect(appliesOf(late.calls)).toHaveLength(2);
  const failed = deploy("local", { ...complete, fails: `-k ${kubernetes}/overlays/local/prerequisites` });
  expect(failed.status).toBe(1);
  expect(appliesOf(failed.calls)).toHaveLength(1);
});

test("if a service does not become ready, supergraph, gateway and REST proxy are not applied", () => {
  const { status, calls } = deploy("production", { ...complete, fails: "rollout status deployment/orders" });
  expect(status).not.toBe(0);
  expect(calls.at(-1)).toContain("rollout status deployment/orders");
});

test("production creates no secrets: missing ones are reported before the migration", () => {
  const { status, calls, errors } = deploy("production", { ...complete, secrets: false });
  expect(status).toBe(1);
  const names = serviceNames.toSorted().map((service) => `${service}-cursor-keys`);
  expect(errors).toContain([...names, "feed-keys", "consistency-keys"].join(" "));
  expect(calls.filter((call) => call.includes("create") || call.includes("migrations"))).toEqual([]);
});

test("a local cluster gets the operator, different keys for each purpose, and seeded data", () => {
  const { status, calls } = deploy("local", { crd: false, secrets: false, jobs: allComplete });
  expect(status).toBe(0);
  const created = calls.filter((call) => call.includes("create secret generic"));
  expect(created).toHaveLength(serviceNames.length + 2);
  expect(new Set(created.map((call) => /keys=([0-9a-f]{64})$/.exec(call)?.[1])).size).toBe(created.length);
  const seeded = calls.findIndex((call) => call.includes("wait job/seed --for=condition=Complete"));
  expect(seeded).toBeGreaterThan(calls.indexOf("apply -k overlays/local/migrations"));
  expect(calls.indexOf("apply -k overlays/local")).toBeGreaterThan(seeded);
  expect(calls.some((call) => /apply --server-side -f https:\/\/\S+\/cnpg-[\d.]+\.yaml$/.test(call))).toBe(true);
});

test("production does not install the operator, and prints the command for it", () => {
  const { status, errors, calls } = deploy("production", { ...complete, crd: false });
  expect(status).toBe(1);
  expect(errors).toContain("kubectl apply --server-side -f https://");
  expect(calls.filter((call) => call.includes("apply"))).toEqual([]);
});

test("production requires Gateway API before the first change, and a local cluster does not need it", () => {
  const { status, errors, calls } = deploy("production", { ...complete, gatewayApi: false });
  expect(status).toBe(1);
  expect(errors).toContain("Gateway API is not installed");
  expect(calls.filter((call) => call.includes("apply"))).toEqual([]);
  expect(deploy("local", { ...complete, gatewayApi: false }).status).toBe(0);
});

test("production requires the plugin for backups before the first change, and their secret before the migrations", () => {
  const withoutPlugin = deploy("production", { ...complete, backups: false });
  expect(withoutPlugin.status).toBe(1);
  expect(withoutPlugin.errors).toContain("The plugin for backups is not installed");
  expect(withoutPlugin.calls.filter((call) => call.includes("apply"))).toEqual([]);
  const withoutSecret = deploy("production", { ...complete, backupSecret: false });
  expect(withoutSecret.status).toBe(1);
  expect(withoutSecret.errors).toContain("backup-credentials");
  expect(withoutSecret.calls.filter((call) => call.includes("migrations"))).toEqual([]);
  expect(deploy("local", { ...complete, backups: false, backupSecret: false }).status).toBe(0);
});

test("with external databases the operator is not required, and its databases are not awaited", () => {
  const { status, calls } = deploy("production", { crd: false, secrets: true, jobs: allComplete, databases: false });
  expect(status).toBe(0);
  expect(calls.filter((call) => call.includes("crd clusters") || call.includes("wait"))).toEqual([]);
});

const names = ["gateway", "rest-proxy", ...serviceNames.toSorted()];
const localNames = [...names, issuer.name, "seed"];

test.each([
  ["kind", "kind load docker-image"],
  ["minikube", "minikube image load"],
])("every image of the local overlay is built and loaded into %s", (where, load) => {
  const { status, calls } = deliver([where]);
  expect(status).toBe(0);
  expect(calls[0]).toMatch(new RegExp(`^docker compose --env-file \\S+ build ${localNames.join(" ")} VERSION=local$`));
  const images = listBuiltImages("local");
  expect(new Set(calls.slice(1))).toEqual(new Set([...images].map((image) => `${load} ${image}`)));
});

test("every image of production is pushed with the name and the tag of the overlay", () => {
  const images = listBuiltImages("production");
  const [first = ""] = images;
  const [, registry = "", tag = ""] = /^(.*)\/[^/:]+:(.*)$/.exec(first) ?? [];
  const { status, calls } = deliver([registry, tag]);
  expect(status).toBe(0);
  expect(calls[0]).toMatch(new RegExp(` build ${names.join(" ")} VERSION=${tag}$`));
  const pushed = calls.filter((call) => call.startsWith("docker push"));
  expect(new Set(pushed)).toEqual(new Set([...images].map((image) => `docker push ${image}`)));
  // The pushed images are those that were just built.
  const tagged = calls.filter((call) => call.startsWith("docker tag"));
  expect(tagged).toEqual(names.map((name) => `docker tag tributary/${name}:${tag} ${registry}/${name}:${tag}`));
});

test("images that are named as further arguments, such as the purger, are built and delivered too", () => {
  const { calls } = deliver(["kind", "purger"]);
  expect(calls[0]).toContain(` build ${[...localNames, "purger"].join(" ")} `);
  expect(calls).toContain("kind load docker-image tributary/purger:local");
  const pushed = deliver(["registry.example.com/tributary", "1.2.3", "purger"]).calls;
  expect(pushed).toContain("docker push registry.example.com/tributary/purger:1.2.3");
});

test("a failed build delivers no image, and a registry without a tag is an error before the build", () => {
  expect(deliver(["kind"], "compose")).toMatchObject({ status: 1, calls: [expect.stringContaining(" build ")] });
  const { status, calls, errors } = deliver(["registry.example.com/tributary"]);
  expect([status, calls]).toEqual([1, []]);
  expect(errors).toContain("a tag, such as the version or the commit");
});

interface ClusterState {
  /** CloudNativePG is installed. */
  readonly crd: boolean;
  readonly gatewayApi?: boolean;
  readonly secrets: boolean;
  readonly jobs: string;
  /** The overlay has CloudNativePG databases. Default: true. */
  readonly databases?: boolean;
  /** The plugin for backups is installed. Default: true. */
  readonly backups?: boolean;
  readonly backupSecret?: boolean;
  readonly fails?: string;
  /** How many calls of the operator's webhook fail. Default: 0. */
  readonly webhookFailures?: number;
}

/** Runs deploy.sh with a stub of kubectl that records its calls. */
function deploy(overlay: string, { crd, secrets, jobs, ...o }: ClusterState) {
  const {
    databases = true,
    backups = true,
    backupSecret = true,
    gatewayApi = true,
    fails = "nothing",
    webhookFailures = 0,
  } = o;
  const log = join(bin, "calls");
  writeFileSync(log, "");
  const stub = `#!/bin/bash
echo "$*" >> '${log}'
case "$*" in
  *"${fails}"*) exit 1 ;;
  *kustomize*/prerequisites) printf '${databases ? (overlay === "production" ? "kind: Cluster\\nkind: ObjectStore\\n" : "kind: Cluster\\n") : "kind: Namespace\\n"}' ;;
  "apply -k "*/prerequisites)
    if (($(grep -c "^$*$" '${log}') <= ${webhookFailures})); then
      echo 'Internal error occurred: failed calling webhook "mcluster.cnpg.io"' >&2
      exit 1
    fi ;;
  *kustomize*/production) echo "kind: HTTPRoute" ;;
  *"get crd httproutes"*) ${gatewayApi} ;;
  *"get crd objectstores"*) ${backups} ;;
  *"get secret backup-credentials"*) ${backupSecret} ;;
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

/** The images of an overlay that are built from this repository. */
function listBuiltImages(overlay: string): ReadonlySet<string> {
  const images = listPods(renderOverlay(overlay)).map(({ container }) => container.image ?? "");
  return new Set(images.filter((image) => image.includes("tributary/")));
}

/** Runs images.sh with stubs of the tools that record their calls; a call that contains `fails` fails. */
function deliver(args: readonly string[], fails = "nothing") {
  const log = join(bin, "calls");
  writeFileSync(log, "");
  const stub = `#!/bin/bash
[[ $* == "compose version" ]] && exit 0
echo "\${0##*/} $*$([[ $* == *build* ]] && echo " VERSION=$VERSION")" >> '${log}'
[[ $* != *"${fails}"* ]]
`;
  for (const tool of ["docker", "kind", "minikube"]) writeFileSync(join(bin, tool), stub, { mode: 0o755 });
  const env = { PATH: `${bin}:${process.env["PATH"]}` };
  const script = join(kubernetes, "images.sh");
  const { status, stderr } = spawnSync(script, args, { env, encoding: "utf8", timeout: 30_000 });
  const calls = readFileSync(log, "utf8").split("\n").filter(Boolean);
  return { status, errors: stderr, calls };
}
