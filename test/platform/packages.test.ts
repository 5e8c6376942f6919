import { type ChildProcessByStdio, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import {
  copyFileSync,
  globSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { type RunningSubgraph, startSubgraph } from "../../gateway/test/helpers/subgraphs.ts";
import { pickFreePort } from "../../kit/src/process/free-port.ts";

// Performs docs/run-the-gateway.md: packs the gateway and the REST proxy, installs the tarballs in an empty folder, and runs them with a graph and a
// service that are not of this platform.

const root = fileURLToPath(new URL("../..", import.meta.url));
const page = readFileSync(join(root, "docs/run-the-gateway.md"), "utf8");
const commands = blocksOf("sh");
const environment = {
  PATH: `${dirname(process.execPath)}:${process.env["PATH"]}`,
  HOME: process.env["HOME"],
  npm_config_update_notifier: "false",
};
const query = { query: "{ product(id: 1) { name reviews { text } } }" };
const data = { product: { name: "Chair", reviews: [{ text: "Soft" }] } };

let folder: string;
let products: RunningSubgraph;
let reviews: RunningSubgraph;
let service: Server;
/** By the port in the page. */
const ports: Record<string, number> = {};

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "packages-"));
  const pack = commands.find((command) => command.startsWith("npm run pack")) ?? "";
  await bash(pack, root);
  for (const tarball of globSync("dist/*.tgz", { cwd: root }))
    copyFileSync(join(root, tarball), join(folder, basename(tarball)));
  [products, reviews] = await Promise.all([startProducts(), startReviews()]);
  service = createServer((request, response) => response.end(JSON.stringify({ path: request.url })));
  await once(service.listen(0, "127.0.0.1"), "listening");
  for (const port of ["4000", "9464", "3000", "9465", "4010", "9466"]) ports[port] = await pickFreePort();
  ports["4101"] = Number(new URL(products.url).port);
  ports["4102"] = Number(new URL(reviews.url).port);
  ports["8080"] = (service.address() as AddressInfo).port;
  writeFileSync(join(folder, "gateway.yaml"), blocksOf("yaml")[0] ?? "");
  writeFileSync(join(folder, "server.mjs"), blocksOf("js")[0] ?? "");
  writeFileSync(join(folder, "routes.json"), blocksOf("json")[0] ?? "");
  // The registry has no part in the installation: nothing is missing.
  await run("npm install ./tributary-gateway", "--offline");
  await run("npm install ./tributary-rest-proxy", "--offline");
  await run("npx tributary-gateway compose");
});

afterAll(async () => {
  service.close();
  await Promise.all([products.close(), reviews.close()]);
  rmSync(folder, { recursive: true });
});

test("no link of a package's README leads out of the package", () => {
  for (const name of ["gateway", "rest-proxy"]) {
    const readme = readFileSync(join(folder, `node_modules/@tributary/${name}/README.md`), "utf8");
    expect(readme.match(/\]\((?!#|https:)[^)]*\)/g)).toBeNull();
  }
});

test("a package needs no other package, and contains no sources and tests", () => {
  expect(readdirSync(join(folder, "node_modules/@tributary")).toSorted()).toEqual(["gateway", "rest-proxy"]);
  expect(readdirSync(join(folder, "node_modules")).filter((name) => !name.startsWith("."))).toEqual(["@tributary"]);
  const files = globSync("node_modules/@tributary/*/**", { cwd: folder });
  expect(files.filter((file) => /(?<!\.d)\.ts$|\.test\./.test(file))).toEqual([]);
  expect(files.some((file) => /third-party\/@apollo\/query-planner@[\d.]+\/LICENSE$/.test(file))).toBe(true);
});

test("the gateway serves a foreign graph, and is ready, measured and configured as the page says", async () => {
  const { version } = JSON.parse(readFileSync(join(root, "gateway/package.json"), "utf8")) as {
    readonly version: string;
  };
  expect(await run("npx tributary-gateway --version")).toBe(`${version}\n`);
  const gateway = start("PORT=4000");
  await isReady("9464");
  expect(JSON.parse(await run("curl -s http://127.0.0.1:4000/graphql"))).toEqual({ data: { __typename: "Query" } });
  const response = await post(`http://127.0.0.1:${ports["4000"]}/graphql`, { "x-tenant-id": "t1" });
  expect(response).toEqual({ data });
  expect(products.requests.at(-1)?.headers["x-tenant-id"]).toBe("t1");
  expect(JSON.parse(await run("curl -s http://127.0.0.1:9464/health/ready"))).toMatchObject({
    status: "ready",
    version,
  });
  expect(await run("curl -s http://127.0.0.1:9464/metrics")).toContain("tributary_build_info");
  expect(await run("curl -s http://127.0.0.1:9464/config")).toContain('"timeout_ms"');
  const pageResponse = await fetch(`http://127.0.0.1:${ports["4000"]}/graphql`, { headers: { accept: "text/html" } });
  expect(await pageResponse.text()).toContain("/graphiql/assets/");
  await stop(gateway);
});

test("outside of node_modules, as in an image, the gateway prints nothing but its log", async () => {
  const { stderr, child } = startProgram(
    `PORT=0 SUPERGRAPH_FILE=supergraph.graphql node ${root}/dist/gateway/dist/main.js`,
  );
  for await (const line of createInterface({ input: child.stdout }))
    if (line.includes("supergraph-loaded")) child.kill();
  expect(await stderr).toBe("");
});

test("validate accepts the settings of the page, and names each problem of others with its line", async () => {
  expect(
    await run("SUPERGRAPH_FILE=supergraph.graphql SETTINGS_FILE=gateway.yaml npx tributary-gateway validate"),
  ).toBe("The settings are valid.\n");
  writeFileSync(join(folder, "bad.yaml"), "subgraphs:\n  products:\n    timeout: 2000\n");
  const validate = "SUPERGRAPH_FILE=supergraph.graphql npx tributary-gateway validate";
  await expect(bash(`${validate} bad.yaml`)).rejects.toThrow(/bad\.yaml:3.*timeout_ms/);
  await expect(bash("SUPERGRAPH_FILE=supergraph.graphql SETTINGS_FILE=bad.yaml npx tributary-gateway")).rejects.toThrow(
    /bad\.yaml:3/,
  );
  await expect(bash("npx tributary-gateway serve")).rejects.toThrow("serve is no command");
});

test("a program of ten lines serves the gateway, and on SIGTERM completes a request in flight and ends", async () => {
  expect(blocksOf("js")[0]?.trim().split("\n").length).toBeLessThanOrEqual(10);
  const express = join(folder, "node_modules/express");
  symlinkSync(join(root, "node_modules/express"), express);
  onTestFinished(() => rmSync(express));
  const program = start("PORT=3000");
  const url = `http://127.0.0.1:${ports["3000"]}/graphql`;
  await isReady("9465");
  const page = await (await fetch(url, { headers: { accept: "text/html" } })).text();
  const script = /src="([^"]+)"/.exec(page)?.[1] ?? "";
  expect((await fetch(new URL(script, url))).status).toBe(200);
  expect(await post(url)).toEqual({ data });
  const held = Promise.withResolvers<() => void>();
  products.fault = (response, _body, _request, resolve) =>
    held.resolve(
      () =>
        void resolve().then((result) =>
          response.setHeader("content-type", "application/json").end(JSON.stringify(result)),
        ),
    );
  onTestFinished(() => void (products.fault = undefined));
  const inFlight = post(url);
  const release = await held.promise;
  const stopped = stop(program);
  await expect
    .poll(() =>
      fetch(url).then(
        () => "open",
        () => "closed",
      ),
    )
    .toBe("closed");
  release();
  expect(await inFlight).toEqual({ data });
  expect(await stopped).toBe(0);
});

test("the declarations of the package are complete, and reject an unknown option", async () => {
  writeFileSync(
    join(folder, "embedding.mts"),
    `
    import { createServer } from "node:http";
    import { createGateway, type EmbeddedGateway } from "@tributary/gateway";
    const gateway: EmbeddedGateway = await createGateway({ supergraphUrl: "http://127.0.0.1/", variables: process.env });
    createServer(gateway.handler);
    // @ts-expect-error -- the option is not known
    await createGateway({ supergraph: "supergraph.graphql" });
  `,
  );
  const typeRoots = join(root, "node_modules/@types");
  await bash(
    `${join(root, "node_modules/.bin/tsc")} --noEmit --strict --module nodenext --target es2024 --types node --typeRoots ${typeRoots} embedding.mts`,
  );
});

test("the REST proxy serves the routes of a foreign service by the paths that the service has", async () => {
  const proxy = start("PORT=4010");
  await isReady("9466");
  expect(await run("curl -s http://127.0.0.1:4010/v1/products/1")).toBe('{"path":"/api/products/1"}');
  const { headers } = await fetch(`http://127.0.0.1:${ports["4010"]}/v1/products/1?currency=EUR`);
  expect([headers.get("api-version"), headers.get("deprecation"), headers.get("sunset")]).toEqual(["1", null, null]);
  const docs = await fetch(`http://127.0.0.1:${ports["4010"]}/docs/docs.css`);
  expect(docs.status).toBe(200);
  await stop(proxy);
  await expect(bash("ROUTES_FILE=routes.json npx tributary-rest-proxy")).rejects.toThrow("PRODUCTS_URL is required");
});

function startProducts(): Promise<RunningSubgraph> {
  return startSubgraph({
    name: "products",
    typeDefs: `type Query { product(id: ID!): Product } type Product @key(fields: "id") { id: ID! name: String }`,
    resolvers: { Query: { product: (_: unknown, { id }: { readonly id: string }) => ({ id, name: "Chair" }) } },
  });
}

function startReviews(): Promise<RunningSubgraph> {
  return startSubgraph({
    name: "reviews",
    typeDefs: `type Product @key(fields: "id") { id: ID! reviews: [Review!] } type Review { text: String }`,
    resolvers: { Product: { __resolveReference: (product: object) => ({ ...product, reviews: [{ text: "Soft" }] }) } },
  });
}

interface Started {
  readonly child: ChildProcessByStdio<null, Readable, Readable>;
  /** Once the program has ended. */
  readonly stderr: Promise<string>;
}

/** The code blocks of the page in this language. */
function blocksOf(language: string): readonly string[] {
  return [...page.matchAll(new RegExp(`\`\`\`${language}\\n(.*?)\`\`\``, "gs"))].map(([, block = ""]) => block);
}

/** The command of the page that begins so, with the ports of this test. */
function commandOf(beginning: string): string {
  const command = commands.find((block) => block.startsWith(beginning));
  if (command === undefined) throw new Error(`The page has no command that begins with: ${beginning}`);
  return command
    .trim()
    .replaceAll(/\b(?:4000|9464|3000|9465|4010|9466|4101|4102|8080)\b/g, (port) => String(ports[port]));
}

function run(beginning: string, option = ""): Promise<string> {
  return bash(`${commandOf(beginning)} ${option}`);
}

/** Rejects with standard error, if the command fails. */
async function bash(command: string, cwd = folder): Promise<string> {
  const { stdout } = await promisify(execFile)("bash", ["-c", command], { cwd, env: environment });
  return stdout;
}

function start(beginning: string): Started {
  const started = startProgram(commandOf(beginning));
  started.child.stdout.resume();
  return started;
}

function startProgram(command: string): Started {
  // A group of its own, since npx starts the program as its child.
  const child = spawn("bash", ["-c", command], {
    cwd: folder,
    env: environment,
    detached: true,
    stdio: ["ignore", "pipe", "pipe"],
  });
  onTestFinished(() => {
    if (child.exitCode === null && child.signalCode === null) process.kill(-(child.pid ?? 0), "SIGKILL");
  });
  return { child, stderr: text(child.stderr) };
}

async function isReady(adminPort: string): Promise<void> {
  const status = () =>
    fetch(`http://127.0.0.1:${ports[adminPort]}/health/ready`).then(
      (response) => response.status,
      () => 0,
    );
  await expect.poll(status).toBe(200);
}

/** @returns the exit code, once the program has ended by itself. */
async function stop({ child }: Started): Promise<number | null> {
  const exited = once(child, "exit") as Promise<[number | null]>;
  process.kill(-(child.pid ?? 0), "SIGTERM");
  const [code] = await exited;
  return code;
}

async function post(url: string, headers: Readonly<Record<string, string>> = {}): Promise<unknown> {
  const response = await fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify(query),
  });
  return response.json();
}
