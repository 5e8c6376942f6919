// `npm run example:python` in a clone: the service in Python as a member of the platform, from its contract to a write that every cache sees.
import { execFileSync, spawnSync } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { parse } from "yaml";
import { fetchToken } from "../../scripts/token.ts";
import { cloneRepository, removeClone } from "../start/clone.ts";
import { pickPorts, pickServicePort, portVariables, type Started, startProgram } from "../start/started.ts";

const repository = fileURLToPath(new URL("../..", import.meta.url));
/** Of `run` in the example: Python or its packages are missing. */
const unavailable = 69;
const writes = 200;
/** Its neighbours in the graph. */
const only = "issuer,users,posts,reviews,gateway,rest-proxy";
const ports = await pickPorts();
const gateway = `http://127.0.0.1:${ports.gateway}`;
const restProxy = `http://127.0.0.1:${ports["rest-proxy"]}`;
let variables: Readonly<Record<string, string>>;
let missing: string | undefined;
let clone: string;
let platform: Started | undefined;
let ada: string;

beforeAll(async () => {
  missing = installExample();
  if (missing !== undefined) {
    process.stderr.write(`SKIPPED: the tests of the service in Python. ${missing}\n`);
    return;
  }
  const port = String(await pickServicePort());
  const limits = { RATE_LIMIT_READS_PER_MINUTE: "1000000", RATE_LIMIT_WRITES_PER_MINUTE: "1000000" };
  variables = { ...portVariables(ports), ...limits, REVIEWS_PORT: port };
  clone = cloneRepository();
  for (const path of ["Dockerfile", "docker-compose.yml", "docker-compose.observability.yml", ".github"])
    cpSync(join(repository, path), join(clone, path), { recursive: true });
  // The packages of Python are installed once, in the folder of the repository.
  symlinkSync(join(repository, "examples"), join(clone, "examples"));
  writeFileSync(join(clone, ".gitignore"), "node_modules\n.data\n");
  execFileSync("git", ["init", "--quiet"], { cwd: clone });
  execFileSync("git", ["add", "--all"], { cwd: clone });
  const author = ["-c", "user.name=Ada", "-c", "user.email=ada@example.org"];
  execFileSync("git", [...author, "commit", "--quiet", "--message", "State"], { cwd: clone });
  await start();
});
beforeEach(({ skip }) => skip(missing !== undefined, missing));
afterAll(async () => {
  if (clone === undefined) return;
  await stop();
  removeClone(clone);
});

test("the first start adds the contract and all that is generated from it", () => {
  expect(platform?.output()).toContain("Added the contract services/reviews (4 files)");
  const read = (path: string) => readFileSync(join(clone, path), "utf8");
  const { services } = parse(read("docker-compose.yml"), { merge: true }) as { readonly services: object };
  expect(services).toHaveProperty("reviews.image", "registry.example/reviews:1.0.0");
  expect(services).toHaveProperty("gateway.environment.SUBGRAPH_FEED_URL_REVIEWS", "http://reviews:4105");
  expect(read("infra/kubernetes/base/reviews.yaml")).toContain("image: registry.example/reviews:1.0.0");
  expect(read("infra/observability/prometheus.yml")).toContain("names: [reviews], type: A, port: 9464");
  expect(read("infra/observability/rules/alerts.yml")).toContain('absent(up{job="reviews"})');
  expect(read(".github/CODEOWNERS")).toContain("/services/reviews/  @tributary/reviews-team");
});

test("a query joins its types with those of the other services, in both directions", async () => {
  const id = await createReview("1");
  const { data, errors } = await query(
    `{ review(id: ${id}) { stars post { title reviews { nodes { id } } averageStars } author { name reviews { nodes { id post { id } } } } } }`,
  );
  expect(errors).toBe(undefined);
  expect(data).toEqual({
    review: {
      stars: 4,
      post: { title: expect.any(String), reviews: { nodes: [{ id }] }, averageStars: 4 },
      author: { name: "Ada Lovelace", reviews: { nodes: [{ id, post: { id: "1" } }] } },
    },
  });
});

test("both versions of REST serve it, and the reference describes it with a form", async () => {
  const id = await createReview("2");
  const get = async (path: string) => (await fetch(restProxy + path)).json();
  const review = { id, postId: "2", authorId: "1", stars: 4, title: "Good", body: "Read it." };
  expect(await get(`/v2/reviews/${id}`)).toMatchObject(review);
  expect(await get("/v2/posts/2/reviews")).toMatchObject({ data: [review] });
  expect(await get("/v1/posts/2/reviews")).toMatchObject([{ id, stars: 4 }]);
  const page = await (await fetch(`${restProxy}/docs/v2/reviews`)).text();
  expect(page).toContain(`<form data-method="POST" data-path="/v2/reviews">`);
  const rejected = await fetch(`${restProxy}/v2/reviews?a=1`);
  expect([rejected.status, rejected.headers.get("content-type")]).toEqual([400, "application/problem+json"]);
});

test("a write by either API is seen at once with its receipt, and soon by everyone", async () => {
  const id = await createReview("3");
  const visibleMs: number[] = [];
  let stale = 0;
  for (let n = 1; n <= writes; n++) {
    const title = `Title ${n}`;
    const receipt = await (n % 2 === 0 ? changeByGraphql(id, title) : changeByRest(id, title));
    const writtenMs = performance.now();
    const titles = await readTitles(id, { "consistency-token": receipt });
    stale += titles.filter((read) => read !== title).length;
    while ((await readTitles(id)).some((read) => read !== title));
    visibleMs.push(performance.now() - writtenMs);
  }
  const sortedMs = visibleMs.toSorted((a, b) => a - b);
  const [p50, p99] = [0.5, 0.99].map((part) => sortedMs[Math.floor(writes * part)]?.toFixed(1));
  process.stdout.write(`Visible to everyone through both APIs: p50 ${p50} ms, p99 ${p99} ms of ${writes} writes\n`);
  expect(stale).toBe(0);
});

test("while its process is down only its fields are missing, and it comes back", async () => {
  const id = await createReview("4");
  const text = `{ post(id: 4) { title reviews(first: 7) { nodes { id } } } }`;
  const supervised = platform?.processes().find(({ name }) => name === "reviews");
  process.kill(Number(execFileSync("pgrep", ["-P", String(supervised?.pid)], { encoding: "utf8" })), "SIGKILL");
  await platform?.line(/^reviews .* ended with exit code 137; restarting/);
  await expect.poll(() => query(text)).toMatchObject({ errors: [{ path: ["post", "reviews"] }] });
  expect((await query(text)).data).toEqual({ post: { title: expect.any(String), reviews: null } });
  await expect
    .poll(() => query(text))
    .toEqual({ data: { post: { title: expect.any(String), reviews: { nodes: [{ id }] } } } });
});

test("without its feed, a read with a receipt is still right; the second start adds nothing", async () => {
  await stop();
  const file = join(clone, "services/reviews/service.json");
  const descriptor = JSON.parse(readFileSync(file, "utf8")) as { readonly external: object };
  const { feed: _, ...external } = descriptor.external as { readonly feed: string };
  writeFileSync(file, JSON.stringify({ ...descriptor, external }));
  await start();
  expect(platform?.output()).not.toContain("Added the contract");
  const id = await createReview("5");
  for (let n = 1; n <= 10; n++) {
    const title = `Title ${n}`;
    await readTitles(id);
    const receipt = await (n % 2 === 0 ? changeByGraphql(id, title) : changeByRest(id, title));
    expect(await readTitles(id, { "consistency-token": receipt })).toEqual([title, title]);
  }
});

/** Why the example cannot run here. @throws Error if it is the example's fault. */
function installExample(): string | undefined {
  const folder = mkdtempSync(join(tmpdir(), "tributary-contract-"));
  const command = join(repository, "examples/reviews-python/run");
  const { status, stderr } = spawnSync(command, ["contract", folder], { encoding: "utf8" });
  rmSync(folder, { recursive: true });
  if (status === 0) return undefined;
  if (status !== unavailable) throw new Error(stderr);
  return stderr.trim().split("\n").at(-1);
}

async function start(): Promise<void> {
  const { scripts } = JSON.parse(readFileSync(join(repository, "package.json"), "utf8")) as {
    readonly scripts: Readonly<Record<string, string>>;
  };
  // Without the installation: in a clone whose packages are a link, npm would replace them.
  const command = scripts["example:python"]?.replaceAll("node scripts/bootstrap.mjs", process.execPath) ?? "";
  const started = startProgram("sh", ["-c", `${command} --only ${only}`], join(clone, ".data"), variables, clone);
  platform = started;
  await started.ready();
  ada = await fetchToken(`http://127.0.0.1:${ports.issuer}`, { user: "ada", scope: undefined, ttlSeconds: undefined });
}

async function stop(): Promise<void> {
  platform?.child.kill("SIGTERM");
  await platform?.exited();
}

interface QueryResult {
  readonly data?: unknown;
  readonly errors?: readonly unknown[];
}

async function send(text: string, headers: Readonly<Record<string, string>>): Promise<[QueryResult, Response]> {
  const response = await fetch(`${gateway}/graphql`, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify({ query: text }),
  });
  return [(await response.json()) as QueryResult, response];
}

async function query(text: string, headers: Readonly<Record<string, string>> = {}): Promise<QueryResult> {
  const [result] = await send(text, headers);
  return result;
}

async function createReview(postId: string): Promise<string> {
  const response = await fetch(`${restProxy}/v2/reviews`, {
    method: "POST",
    headers: { authorization: `Bearer ${ada}`, "content-type": "application/json" },
    body: JSON.stringify({ postId, stars: 4, title: "Good", body: "Read it." }),
  });
  const body = (await response.json()) as { readonly id: string };
  expect(response.status, JSON.stringify(body)).toBe(201);
  return body.id;
}

/** Returns the receipt. */
async function changeByRest(id: string, title: string): Promise<string> {
  const response = await fetch(`${restProxy}/v2/reviews/${id}`, {
    method: "PATCH",
    headers: { authorization: `Bearer ${ada}`, "if-match": "*", "content-type": "application/merge-patch+json" },
    body: JSON.stringify({ title }),
  });
  expect(response.status, await response.text()).toBe(200);
  return response.headers.get("consistency-token") ?? "";
}

/** Returns the receipt. */
async function changeByGraphql(id: string, title: string): Promise<string> {
  const text = `mutation { changeReview(input: { id: ${id}, title: "${title}" }) { review { title } } }`;
  const [result, response] = await send(text, { authorization: `Bearer ${ada}` });
  expect(result).toEqual({ data: { changeReview: { review: { title } } } });
  return response.headers.get("consistency-token") ?? "";
}

/** As an anonymous client reads it, so that both may have it from a cache: through the gateway, and through the REST proxy. */
function readTitles(id: string, headers: Readonly<Record<string, string>> = {}): Promise<readonly unknown[]> {
  return Promise.all([
    query(`{ review(id: ${id}) { title } }`, headers).then(
      ({ data }) => (data as { readonly review: { readonly title: string } | null } | undefined)?.review?.title,
    ),
    fetch(`${restProxy}/v2/reviews/${id}`, { headers })
      .then((response) => response.json() as Promise<{ readonly title: string }>)
      .then(({ title }) => title),
  ]);
}
