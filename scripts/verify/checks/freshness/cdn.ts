// The part `cdn` of freshness: Varnish in front of the gateway and the REST proxy, and the purger (infra/purger), which purges what has changed.
import { createHash } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { pickFreePort } from "@tributary/kit/process/free-port";
import { endpointKeys, type PartProcess, startProcess } from "../../platform/part-process.ts";
import { toVariablePrefix } from "../../../../supergraph/services.ts";
import { type Platform, replicaOf, startPlatform } from "../../platform/platform.ts";
import { createHttpClient, type HttpClient, type HttpClientRequest } from "../../traffic/http-client.ts";
import { writerId } from "../../traffic/seeded.ts";
import type { FreshnessPart, PartRun } from "./part.ts";
import { startVarnish } from "./varnish.ts";

const services = ["users", "posts"] as const;
const purgeToken = "token-for-verifications";
/** A read that is sent later than this after the response to a write must get the new value. */
const staleMsMax = 2_000;
/**
 * How long reads continue after a write. `untilNewMax`: while they get the older value; longer than the 10 s for which Varnish may use a response.
 * `afterNew`: after the first read with the new value, to find an older value after it.
 */
const watchMs = { untilNewMax: 15_000, afterNew: 1_500 };
const pollMs = 10;

export const cdnPart: FreshnessPart = {
  name: "cdn",
  purpose:
    "Varnish serves GET /graphql by hash and REST reads, and the new value within 2 s of a write. Needs Debian's Varnish",
  control: "no purger",
  async run(run) {
    const platform = await startPlatform({
      run,
      isSeeded: true,
      replicas: { users: 1, posts: 1, gateway: 1, "rest-proxy": 1 },
      environment: (part) => (part === "gateway" || part === "rest-proxy" ? { CDN_TAG_HEADER: "Surrogate-Key" } : {}),
    });
    const url = await startVarnish({
      run,
      folder: platform.folder,
      purgeToken,
      gatewayUrl: replicaOf(platform, "gateway").url,
      restProxyUrl: replicaOf(platform, "rest-proxy").url,
    });
    const purger = run.isControl ? undefined : await startPurger(platform, url, await pickFreePort(), run);
    const client = createHttpClient(url);
    run.onCleanup(() => client.close());
    await registerDocument(client);
    await checkHits(client, run);
    await checkPurgeAccess(client, run);
    await checkWrites(client, platform, run);
    if (purger) await checkRestart(client, purger, platform, run);
  },
};

function startPurger(
  { replicas }: Platform,
  varnishUrl: string,
  port: number,
  { onCleanup }: PartRun,
): Promise<PartProcess> {
  const feeds = services.map((name) => [
    `${toVariablePrefix(name)}_FEED_URL`,
    replicas[name].map(({ feedUrl }) => feedUrl).join(","),
  ]);
  return startProcess("infra/purger", `http://127.0.0.1:${port}`, {
    environment: {
      PROFILE: "production",
      PORT: String(port),
      LOG_LEVEL: "warn",
      SERVICES: services.join(","),
      ...(Object.fromEntries(feeds) as Record<string, string>),
      FEED_KEYS: endpointKeys.FEED_KEYS,
      PURGE_URL: `${varnishUrl}/`,
      PURGE_TOKEN: purgeToken,
    },
    onCleanup,
  });
}

const query = `query ($id: ID!) { user(id: $id) { name posts(first: 2) { title } } }`;
const sha256Hash = createHash("sha256").update(query).digest("hex");
const extensions = { persistedQuery: { version: 1, sha256Hash } };

/** Makes the document known to the gateway (automatic persisted query). */
async function registerDocument(client: HttpClient): Promise<void> {
  const { status, text } = await client.send({
    method: "POST",
    path: "/graphql",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ query, variables: { id: writerId }, extensions }),
  });
  if (status !== 200) throw new Error(`The gateway does not know the document: ${status} ${text}`);
}

interface CachedRead {
  readonly name: string;
  readonly path: string;
  readonly nameOf: (body: unknown) => unknown;
}

/** The reads add no request headers, like the reads of most clients. */
const reads: readonly CachedRead[] = [
  {
    name: "GET /graphql by hash",
    path: `/graphql?${new URLSearchParams({ extensions: JSON.stringify(extensions), variables: JSON.stringify({ id: writerId }) }).toString()}`,
    nameOf: (body) => (body as { data: { user: { name: string } } }).data.user.name,
  },
  {
    name: "GET /v2/users/1",
    path: `/v2/users/${writerId}`,
    nameOf: (body) => (body as { name: string }).name,
  },
];

async function checkHits(client: HttpClient, { claim }: PartRun): Promise<void> {
  for (const { name, path } of reads) {
    const first = await client.send({ method: "GET", path });
    const second = await client.send({ method: "GET", path });
    const statuses = [first, second].map(({ status, headers }) => `${status} ${String(headers["x-cache"])}`);
    claim(
      `the second ${name} is a hit in Varnish`,
      statuses.join() === "200 miss,200 hit" && first.text === second.text,
      {
        measured: statuses.join(", "),
        control: "holds",
      },
    );
  }
}

async function checkPurgeAccess(client: HttpClient, { claim }: PartRun): Promise<void> {
  const headers = { "xkey-purge": "service:users", authorization: "Bearer another" };
  const { status } = await client.send({ method: "PURGE", path: "/", headers });
  claim("Varnish rejects a purge without the token", status === 401, { measured: String(status), control: "holds" });
}

/** What the repeated requests of one `CachedRead` returned after one write. */
interface Staleness {
  /** When the last request that got an older value was sent, in milliseconds after the write's response; 0 if no request got an older value. */
  readonly lastStaleMs: number;
  readonly reads: number;
  readonly hits: number;
  readonly stale: number;
}

async function checkWrites(client: HttpClient, { token }: Platform, run: PartRun): Promise<void> {
  const measured = new Map<string, Staleness[]>();
  // Without a purger, the new value appears only after the 10 s for which Varnish may use a response.
  const writes = run.isControl ? 1 : run.options.writes;
  for (let count = 0; count < writes; count++) {
    for (const [api, createWrite] of Object.entries(createWrites)) {
      await fill(client);
      const name = `Ada ${api} ${count}`;
      await write(client, createWrite(name, token));
      const results = await Promise.all(reads.map((read) => watch(client, read, name)));
      for (const [index, read] of reads.entries()) {
        const key = `${read.name} after a write by ${api}`;
        measured.set(key, [...(measured.get(key) ?? []), ...results.slice(index, index + 1)]);
      }
    }
  }
  for (const [key, values] of measured) {
    const staleMs = Math.max(...values.map(({ lastStaleMs }) => lastStaleMs));
    const sum = (of: "reads" | "hits" | "stale") => values.reduce((total, value) => total + value[of], 0);
    run.print(`${key}: ${sum("hits")} hits and ${sum("stale")} older values in ${sum("reads")} reads`);
    run.claim(`${key} has the new value within ${staleMsMax / 1_000} s`, staleMs <= staleMsMax, {
      measured: `the last older value after ${staleMs.toFixed(0)} ms, of ${values.length} writes`,
      control: "fails",
    });
  }
}

/** A restarted purger does not know what changed while it was down: it purges everything of the service before it is ready. */
async function checkRestart(
  client: HttpClient,
  purger: PartProcess,
  { token }: Platform,
  { claim }: PartRun,
): Promise<void> {
  await purger.end("SIGKILL");
  await fill(client);
  const name = "Ada without purger";
  await write(client, createWrites.REST(name, token));
  const readNames = () =>
    Promise.all(
      reads.map(async ({ path, nameOf }) => nameOf(JSON.parse((await client.send({ method: "GET", path })).text))),
    );
  const before = await readNames();
  await purger.start();
  const after = await readNames();
  const isNew = (read: unknown) => read === name;
  claim("a purger that starts purges what has changed before", !before.some(isNew) && after.every(isNew), {
    measured: `without it ${before.join(", ")}; then ${after.join(", ")}`,
  });
}

/** @throws Error unless the write succeeds. */
async function write(client: HttpClient, request: HttpClientRequest): Promise<void> {
  const { status, text } = await client.send(request);
  if (status !== 200 || text.includes('"errors"')) throw new Error(`The write failed: ${status} ${text}`);
}

const createWrites: Readonly<Record<"REST" | "GraphQL", (name: string, token: string) => HttpClientRequest>> = {
  REST: (name, token) => ({
    ...{ method: "PATCH", path: `/v2/users/${writerId}` },
    headers: {
      authorization: `Bearer ${token}`,
      "content-type": "application/merge-patch+json",
      "if-match": "*",
    },
    body: JSON.stringify({ name }),
  }),
  GraphQL: (name, token) => ({
    ...{ method: "POST", path: "/graphql" },
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    body: JSON.stringify({
      query: "mutation ($input: UpdateUserInput!) { updateUser(input: $input) { user { name } } }",
      variables: { input: { id: writerId, name } },
    }),
  }),
};

/** Reads until all responses are hits. */
async function fill(client: HttpClient): Promise<void> {
  const deadline = performance.now() + watchMs.untilNewMax;
  for (const { path } of reads) {
    while ((await client.send({ method: "GET", path })).headers["x-cache"] !== "hit") {
      if (performance.now() > deadline) throw new Error(`Varnish does not store ${path}.`);
      await sleep(pollMs);
    }
  }
}

/** Reads after a write until the new value has been served for `afterNew`, or has not been served for `untilNewMax`. */
async function watch(client: HttpClient, { path, nameOf }: CachedRead, name: string): Promise<Staleness> {
  const startMs = performance.now();
  const counts = { lastStaleMs: 0, reads: 0, hits: 0, stale: 0 };
  /** When the first read with the new value was sent; undefined again after a read with an older value. */
  let newSinceMs: number | undefined;
  const isOver = (nowMs: number) =>
    newSinceMs === undefined ? nowMs - startMs >= watchMs.untilNewMax : nowMs - newSinceMs >= watchMs.afterNew;
  while (!isOver(performance.now())) {
    const sentMs = performance.now();
    const { status, headers, text } = await client.send({ method: "GET", path });
    if (status !== 200) throw new Error(`${path}: ${status} ${text}`);
    counts.reads++;
    if (headers["x-cache"] === "hit") counts.hits++;
    if (nameOf(JSON.parse(text)) === name) newSinceMs ??= sentMs;
    else {
      counts.stale++;
      counts.lastStaleMs = sentMs - startMs;
      newSinceMs = undefined;
    }
    await sleep(pollMs);
  }
  return counts;
}
