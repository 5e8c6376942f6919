// Two planted services with unusual names: `npm run generate` derives everything that a service needs outside its folder, and removes it again.
import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { parse } from "yaml";
import { generateRepository } from "../scripts/generate.ts";
import { runGenerator } from "../supergraph/composition/generator-command.ts";
import { renderFolder } from "./kubernetes/kustomize.ts";
import { nameOf } from "./kubernetes/manifest.ts";
import { root } from "./kubernetes/folders.ts";
import { serviceNames } from "./services.ts";
import { cloneRepository } from "./start/clone.ts";
import { stubSchema } from "./start/stub-platform.ts";

let clone: string;
let before: ReadonlyMap<string, string>;
let printed = "";

beforeAll(async () => {
  clone = cloneRepository();
  for (const path of [
    "Dockerfile",
    "docker-compose.yml",
    "docker-compose.observability.yml",
    ".github",
    ".prettierignore",
  ])
    cpSync(join(root, path), join(clone, path), { recursive: true });
  before = readTree();
  const scopes = { "odd-parts:read": "Read.", "odd-parts:write:all": "Write." };
  plant("odd-parts", 4055, { scopes, codes: ["SOLD_OUT", "TOO_ODD"] }, ["/odd-parts"]);
  plant("p9", 4066, { seed: true }, []);
  plantContract("py-parts", 4057, {
    url: "http://py-parts:4057",
    feed: "http://py-parts:4157",
    image: "registry.example/py:1.0",
    metrics: 9_500,
  });
  plantContract("far-parts", 4058, { url: "https://parts.example", graphql: "/api/graphql" });
  expect(await generate("--check")).toBe(1);
  expect(await generate()).toBe(0);
});

afterAll(() => rmSync(clone, { recursive: true }));

describe.each([
  {
    name: "odd-parts",
    prefix: "ODD_PARTS",
    port: 4055,
    feedPort: 4155,
    isSeeded: false,
    codes: ["SOLD_OUT", "TOO_ODD"],
  },
  { name: "p9", prefix: "P9", port: 4066, feedPort: 4166, isSeeded: true, codes: [] },
])("$name", ({ name, prefix, port, feedPort, isSeeded, codes }) => {
  test("compose has its container, migration, secrets and database, and every other process knows its address", () => {
    const { services, volumes } = parse(read("docker-compose.yml"), { merge: true }) as Compose;
    const image = `tributary/${name}:\${VERSION:-local}`;
    expect(services[name]).toMatchObject({
      image,
      build: { target: "service", args: { SERVICE: name, PORT: String(port) } },
      environment: { DATABASE_URL: `\${${prefix}_DATABASE_URL:-postgres://${name}@postgres:5432/${name}}` },
      volumes: expect.arrayContaining([`${name}-secrets:/run/secrets/tributary:ro`]),
    });
    expect(services[`migrate-${name}`]).toMatchObject({ image, command: ["node", "src/main.ts", "migrate"] });
    expect(volumes).toHaveProperty(`${name}-secrets`);
    expect(services["secrets"]).toMatchObject({
      environment: { [`${prefix}_PASSWORD`]: `\${${prefix}_PASSWORD:-}` },
      volumes: expect.arrayContaining([`${name}-secrets:/secrets/${name}`]),
    });
    expect(services["databases"]?.volumes).toContain(`${name}-secrets:/secrets/${name}:ro`);
    expect(services["gateway"]?.environment?.[`SUBGRAPH_URL_${prefix}`]).toBe(`http://${name}:${port}/graphql`);
    expect(services["rest-proxy"]?.environment?.[`${prefix}_URL`]).toBe(`http://${name}:${port}`);
    for (const endpoint of ["gateway", "rest-proxy"])
      expect(services[endpoint]?.depends_on).toHaveProperty(name, { condition: "service_healthy" });
    expect(services["purger"]?.environment?.["SERVICES"]?.split(",")).toEqual([
      ...serviceNames,
      "odd-parts",
      "py-parts",
      "p9",
    ]);
    expect(services["purger"]?.environment?.[`${prefix}_FEED_URL`]).toBe(`http://${name}:${feedPort}`);
    const seedPassword = services["seed"]?.environment?.[`${prefix}_PASSWORD_FILE`];
    expect(seedPassword).toBe(isSeeded ? `/secrets/${name}/password` : undefined);
    expect(Object.keys(services["seed"]?.depends_on ?? {}).includes(`migrate-${name}`)).toBe(isSeeded);
  });

  test("every overlay of Kubernetes has its objects, its image, and policies that admit its ports", () => {
    const base = [
      ...["Deployment", "Service", "ServiceAccount", "HorizontalPodAutoscaler", "PodDisruptionBudget", "NetworkPolicy"],
    ].map((kind) => `${kind} ${name}`);
    const database = [`Cluster ${name}-db`, `NetworkPolicy ${name}-db`, `NetworkPolicy ${name}-to-database`];
    for (const overlay of ["local", "production"]) {
      const objects = render(overlay, ".");
      expect(objects.map(nameOf)).toEqual(expect.arrayContaining([...base, ...database]));
      expect(render(overlay, "migrations").map(nameOf)).toContain(`Job migrate-${name}`);
      for (const endpoint of ["gateway", "rest-proxy"]) {
        const policy = JSON.stringify(objects.find((object) => nameOf(object) === `NetworkPolicy ${endpoint}`));
        for (const number of [port, feedPort]) expect(policy).toContain(`"port":${number}}`);
        const deployment = JSON.stringify(objects.find((object) => nameOf(object) === `Deployment ${endpoint}`));
        expect(deployment).toContain(`"http://${name}:${port}${endpoint === "gateway" ? "/graphql" : ""}"`);
      }
      const images = JSON.stringify(objects.find((object) => nameOf(object) === `Deployment ${name}`));
      expect(images).toContain(overlay === "local" ? `"tributary/${name}:local"` : `/tributary/${name}:0.1.0"`);
    }
    expect(JSON.stringify(render("local", "seed")).includes(`"${prefix}_DATABASE_URL"`)).toBe(isSeeded);
  });

  test("Prometheus scrapes it, its metrics are exported, and alerts fire when it is down or near its memory limit", () => {
    const { scrape_configs: scrapes } = parse(read("infra/observability/prometheus.yml")) as {
      readonly scrape_configs: readonly { readonly job_name: string; readonly dns_sd_configs: unknown }[];
    };
    const discovery = { names: [name], type: "A", port: 9464, refresh_interval: "5s" };
    expect(scrapes.find(({ job_name: job }) => job === name)?.dns_sd_configs).toEqual([discovery]);
    const observed = parse(read("docker-compose.observability.yml"), { merge: true }) as Compose;
    expect(observed.services[name]?.environment).toMatchObject({ ADMIN_PORT: "9464" });
    const { groups } = parse(read("infra/observability/rules/alerts.yml")) as {
      readonly groups: readonly { readonly rules: readonly { readonly alert: string; readonly expr: string }[] }[];
    };
    const expressionOf = (alert: string) =>
      groups.flatMap(({ rules }) => rules).find((rule) => rule.alert === alert)?.expr;
    expect(expressionOf("UnitDown")).toContain(`or absent(up{job="${name}"})`);
    for (const alert of ["UnitDown", "ReplicaDown", "MemoryNearLimit"])
      expect(expressionOf(alert)).toMatch(new RegExp(`job=~"[^"]*\\|${name}["|]`));
  });

  test("the gateway publishes its error codes", () => {
    const { errors } = parse(read("supergraph/gateway.yaml")) as {
      readonly errors: { readonly subgraphs: Readonly<Record<string, object>> };
    };
    expect(errors.subgraphs[name]).toEqual({ codes });
  });

  test("its team owns its folder, its packages are in the images, and development has its address", () => {
    expect(read(".github/CODEOWNERS")).toContain(`\n/services/${name}/  @tributary/${name}-team\n`);
    expect(read(".github/CODEOWNERS")).toContain(`/services/${name}/schema.graphql  @tributary/${name}-team @`);
    expect(read("Dockerfile")).toContain(`\nCOPY services/${name}/package.json services/${name}/\n`);
    for (const file of ["rest-proxy/src/config.ts", "infra/purger/src/config.ts"])
      expect(read(file)).toContain(`["${name}", "http://127.0.0.1:${port}"]`);
  });

  test("npm start has it as a part", async () => {
    const { parts } = (await import(/* @vite-ignore */ join(clone, "scripts/start/parts.ts"))) as {
      readonly parts: readonly object[];
    };
    const part = {
      name,
      folder: `services/${name}`,
      portVariable: `${prefix}_PORT`,
      defaultPort: port,
      external: undefined,
    };
    expect(parts).toContainEqual(part);
  });
});

test("an external service with an image is a container with its own settings, without database, migration and secrets of ours", () => {
  const { services, volumes } = parse(read("docker-compose.yml"), { merge: true }) as Compose;
  expect(services["py-parts"]).toMatchObject({
    image: "registry.example/py:1.0",
    environment: { PORT: "4057", FEED_PORT: "4157", DATABASE_URL: "${PY_PARTS_DATABASE_URL:-}", HOST: "0.0.0.0" },
  });
  expect(services["py-parts"]).not.toHaveProperty("build");
  for (const name of ["migrate-py-parts", "far-parts", "migrate-far-parts"]) expect(services).not.toHaveProperty(name);
  expect(Object.keys(volumes).filter((name) => /(?:py|far)-parts/.test(name))).toEqual([]);
  for (const endpoint of ["gateway", "rest-proxy"])
    expect(services[endpoint]?.depends_on).toHaveProperty("py-parts", { condition: "service_started" });
  for (const overlay of ["local", "production"]) {
    const objects = render(overlay, ".");
    const ofService = objects.filter((object) => nameOf(object).endsWith(" py-parts")).map(nameOf);
    const kinds = [
      "Deployment",
      "Service",
      "ServiceAccount",
      "HorizontalPodAutoscaler",
      "PodDisruptionBudget",
      "NetworkPolicy",
    ];
    expect(ofService.toSorted()).toEqual(kinds.map((kind) => `${kind} py-parts`).toSorted());
    const deployment = JSON.stringify(objects.find((object) => nameOf(object) === "Deployment py-parts"));
    expect(deployment).toContain('"image":"registry.example/py:1.0"');
    // The patches of our own processes do not apply: its admin port has no probes.
    expect(deployment).not.toContain('"port":"admin"');
    const policy = JSON.stringify(objects.find((object) => nameOf(object) === "NetworkPolicy py-parts"));
    expect(policy).toContain('"kubernetes.io/metadata.name":"monitoring"}}}],"ports":[{"protocol":"TCP","port":9500}]');
    expect(policy).toContain('"egress":[{"ports":[{"protocol":"TCP","port":5432}]}]');
    expect(render(overlay, "migrations").map(nameOf)).not.toContain("Job migrate-py-parts");
  }
});

test("every other process knows the addresses of external services, and follows a change feed only where there is one", () => {
  const { services } = parse(read("docker-compose.yml"), { merge: true }) as Compose;
  const gateway = services["gateway"]?.environment ?? {};
  expect(gateway).toMatchObject({
    SUBGRAPH_URL_PY_PARTS: "http://py-parts:4057/graphql",
    SUBGRAPH_URL_FAR_PARTS: "https://parts.example/api/graphql",
    ENTITY_CACHE_PY_PARTS: "on",
    SUBGRAPH_FEED_URL_PY_PARTS: "http://py-parts:4157",
  });
  expect(gateway).not.toHaveProperty("ENTITY_CACHE_FAR_PARTS");
  expect(services["rest-proxy"]?.environment).toMatchObject({
    PY_PARTS_URL: "http://py-parts:4057",
    PY_PARTS_FEED_URL: "http://py-parts:4157",
    FAR_PARTS_URL: "https://parts.example",
    FAR_PARTS_FEED_URL: "none",
  });
  expect(services["purger"]?.environment?.["SERVICES"]).toMatch(/,py-parts(?!.*far-parts)/);
  for (const endpoint of ["gateway", "rest-proxy"]) {
    const policy = render("production", ".").find((object) => nameOf(object) === `NetworkPolicy ${endpoint}`);
    expect(JSON.stringify(policy)).toContain('{"ports":[{"protocol":"TCP","port":443}]}');
  }
});

test("an external service with metrics is scraped and watched, and the platform's owners review what it may do", () => {
  const prometheus = read("infra/observability/prometheus.yml");
  expect(prometheus).toContain("names: [py-parts], type: A, port: 9500");
  expect(prometheus).not.toContain("job_name: far-parts");
  const alerts = read("infra/observability/rules/alerts.yml");
  expect(alerts).toContain('absent(up{job="py-parts"})');
  expect(alerts).not.toContain("far-parts");
  expect(alerts).not.toMatch(/process_resident_memory_bytes\{job=~"[^"]*py-parts/);
  for (const name of ["py-parts", "far-parts"]) {
    expect(read(".github/CODEOWNERS")).toContain(
      `\n/services/${name}/openapi.overlay.yaml  @tributary/platform-team\n`,
    );
    expect(read(".github/CODEOWNERS")).toContain(`\n/services/${name}/service.json  @tributary/platform-team\n`);
  }
  expect(read("Dockerfile")).not.toContain("py-parts");
  expect(read("supergraph/routes.json")).toContain('"path":"/py-parts/:id"');
  expect(read("supergraph/openapi/v2.json")).toContain("/py-parts/{id}");
});

test("the format of a contract is its team's, that of other files is checked", () => {
  const oxfmt = join(root, "node_modules/.bin/oxfmt");
  const folders = ["services/odd-parts", "services/py-parts"];
  const { stdout } = spawnSync(oxfmt, ["--list-different", ...folders], { cwd: clone, encoding: "utf8" });
  expect(stdout).toContain("services/odd-parts/service.json");
  expect(stdout).not.toContain("py-parts");
});

test("the issuer grants scopes for own data to every user and all scopes to the operator, and production publishes the paths", () => {
  const text = read("infra/issuer/src/demo-users.ts");
  const [own = "", operator = ""] = text.split("const operatorScopes");
  expect(own).toContain('"odd-parts:read",\n');
  expect(operator).toContain('"odd-parts:write:all",\n');
  const routes = read("infra/kubernetes/overlays/production/routes/rest.yaml");
  expect(routes).toContain("- path: { type: PathPrefix, value: /odd-parts }\n");
});

test("removing the folders of services restores every file, and the check fails until then", async () => {
  for (const name of ["odd-parts", "p9", "py-parts", "far-parts"])
    rmSync(join(clone, "services", name), { recursive: true });
  printed = "";
  expect(await generate("--check")).toBe(1);
  expect(printed).toContain("infra/kubernetes/base/odd-parts.yaml is stale. Run: npm run generate\n");
  expect(await generate()).toBe(0);
  expect(printed).toContain("removed infra/kubernetes/postgres/p9.yaml\n");
  expect(await generate("--check")).toBe(0);
  expect([...readTree()]).toEqual([...before]);
});

test("a file by hand is not overwritten, and a damaged region is reported", async () => {
  const file = "infra/kubernetes/base/q9-parts.yaml";
  plant("q9-parts", 4077, {}, []);
  write(file, "kind: Mine\n");
  printed = "";
  expect(await generate()).toBe(1);
  expect(printed).toContain(`${file} exists and is not generated. Delete it, or choose another name for the service.`);
  rmSync(join(clone, file));
  const compose = read("docker-compose.yml");
  for (const [from, to, problem] of [
    ["# | <NAME>_URL: <url>", "# | <NOME>_URL: <url>", "Unknown placeholder <NOME>. Known: <name>, <NAME>"],
    ["# END generated", "# The end", "begins no valid region"],
    ["`npm run generate`, line by line:", "hand", '"# BEGIN generated by hand" begins no valid region'],
    ["line by line with code here", "line by line with codes here", "begins no valid region"],
  ] as const) {
    write("docker-compose.yml", compose.replace(from, to));
    printed = "";
    expect(await generate()).toBe(1);
    expect(printed).toMatch(/docker-compose\.yml/);
    expect(printed).toContain(problem);
  }
});

interface Container {
  readonly environment?: Readonly<Record<string, string>>;
  readonly volumes?: readonly string[];
  readonly depends_on?: object;
}

interface Compose {
  readonly services: Readonly<Record<string, Container>>;
  readonly volumes: object;
}

function plant(name: string, port: number, more: object, paths: readonly string[]): void {
  const descriptor = { name, description: "Is planted.", team: `@tributary/${name}-team`, port, ...more };
  write(`services/${name}/service.json`, JSON.stringify(descriptor));
  write(`services/${name}/package.json`, "{}");
  write(`services/${name}/schema.graphql`, stubSchema(name.replace("-", ""), ["name"]));
  const id = (path: string) => `list${path.length}`;
  const routes = paths.map((path) => ({
    id: id(path),
    method: "GET",
    path,
    versions: [1],
    query: [],
    cache: "none",
    summary: "List.",
  }));
  write(`services/${name}/src/rest/routes.ts`, `export const routes = ${JSON.stringify(routes)};\n`);
  const operation = `{ 1: { description: "", callers: "everyone", response: { status: 200, description: "" }, examples: [] } }`;
  const operations = paths.map((path) => `${id(path)}: ${operation}`).join();
  write(
    `services/${name}/src/rest/openapi.ts`,
    `export const documents = { tag: { name: "${name}", description: "" }, operations: { ${operations} } };\n`,
  );
}

function plantContract(name: string, port: number, external: object): void {
  const descriptor = { name, description: "Is planted.", team: `@tributary/${name}-team`, port, external };
  write(`services/${name}/service.json`, JSON.stringify(descriptor));
  write(`services/${name}/schema.graphql`, stubSchema(name.replace("-", ""), ["name"]));
  const operation = { operationId: name.replace("-", ""), summary: "One", responses: { 200: { description: "It." } } };
  const parameters = [{ name: "id", in: "path", required: true, schema: { type: "string" } }];
  const paths = { [`/rest/v2/${name}/{id}`]: { parameters, get: operation } };
  write(
    `services/${name}/openapi.json`,
    JSON.stringify({ openapi: "3.1.0", info: { title: name, version: "2" }, paths }),
  );
}

function generate(...args: readonly string[]): Promise<number> {
  const print = (text: string) => void (printed += text);
  return runGenerator({ root: clone, args, generate: generateRepository, print });
}

function render(overlay: string, folder: string) {
  return renderFolder(join(clone, "infra/kubernetes/overlays", overlay, folder));
}

function read(path: string): string {
  return readFileSync(join(clone, path), "utf8");
}

function write(path: string, text: string): void {
  mkdirSync(dirname(join(clone, path)), { recursive: true });
  writeFileSync(join(clone, path), text);
}

/** The bytes of every file of the clone, by its path. */
function readTree(): ReadonlyMap<string, string> {
  const paths = readdirSync(clone, { recursive: true, encoding: "utf8" })
    .map((path) => join(clone, path))
    .filter((path) => !relative(clone, path).startsWith("node_modules") && statSync(path).isFile());
  return new Map(paths.toSorted().map((path) => [relative(clone, path), readFileSync(path, "latin1")]));
}
