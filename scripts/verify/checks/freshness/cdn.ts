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
  // What `--control` breaks on purpose: each claim below with `control: "fails"` has to fail then.
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
  const feedUrls = Object.fromEntries(feeds) as Record<string, string>;
  return startProcess("infra/purger", `http://127.0.0.1:${port}`, {
    environment: {
      PROFILE: "production",
      PORT: String(port),
      LOG_LEVEL: "warn",
      SERVICES: services.join(","),
      ...feedUrls,
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
  readonly userNameOf: (body: unknown) => unknown;
}

const hashParameters = new URLSearchParams({
  extensions: JSON.stringify(extensions),
  variables: JSON.stringify({ id: writerId }),
});

/** The reads add no request headers, like the reads of most clients. */
const cachedReads: readonly CachedRead[] = [
  {
    name: "GET /graphql by hash",
    path: `/graphql?${hashParameters.toString()}`,
    userNameOf: (body) => (body as { data: { user: { name: string } } }).data.user.name,
  },
  {
    name: "GET /v2/users/1",
    path: `/v2/users/${writerId}`,
    userNameOf: (body) => (body as { name: string }).name,
  },
];

const createWriteBy: Readonly<Record<"REST" | "GraphQL", (userName: string, token: string) => HttpClientRequest>> = {
  REST: (userName, token) => ({
    method: "PATCH",
    path: `/v2/users/${writerId}`,
    headers: {
      authorization: `Bearer ${token}`,
      "content-type": "application/merge-patch+json",
      "if-match": "*",
    },
    body: JSON.stringify({ name: userName }),
  }),
  GraphQL: (userName, token) => ({
    method: "POST",
    path: "/graphql",
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    body: JSON.stringify({
      query: "mutation ($input: UpdateUserInput!) { updateUser(input: $input) { user { name } } }",
      variables: { input: { id: writerId, name: userName } },
    }),
  }),
};

async function checkHits(client: HttpClient, { claim }: PartRun): Promise<void> {
  for (const { name, path } of cachedReads) {
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
  /** By read and API: one result for each write. */
  const results = new Map<string, Staleness[]>();
  // Without a purger, the new value appears only after the 10 s for which Varnish may use a response.
  const writes = run.isControl ? 1 : run.options.writes;
  for (let writeNumber = 0; writeNumber < writes; writeNumber++) {
    for (const [api, createWrite] of Object.entries(createWriteBy)) {
      await fillCache(client);
      const userName = `Ada ${api} ${writeNumber}`;
      await write(client, createWrite(userName, token));
      const ofReads = await Promise.all(
        cachedReads.map(async (read) => ({ read, staleness: await measureStaleness(client, read, userName) })),
      );
      for (const { read, staleness } of ofReads) {
        const key = `${read.name} after a write by ${api}`;
        results.set(key, [...(results.get(key) ?? []), staleness]);
      }
    }
  }
  for (const [key, ofWrites] of results) {
    const staleMs = Math.max(...ofWrites.map(({ lastStaleMs }) => lastStaleMs));
    const sum = (counted: "reads" | "hits" | "stale") =>
      ofWrites.reduce((total, staleness) => total + staleness[counted], 0);
    run.print(`${key}: ${sum("hits")} hits and ${sum("stale")} older values in ${sum("reads")} reads`);
    run.claim(`${key} has the new value within ${staleMsMax / 1_000} s`, staleMs <= staleMsMax, {
      measured: `the last older value after ${staleMs.toFixed(0)} ms, of ${ofWrites.length} writes`,
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
  await fillCache(client);
  const newName = "Ada without purger";
  await write(client, createWriteBy.REST(newName, token));
  const readUserName = async ({ path, userNameOf }: CachedRead) => {
    const { text } = await client.send({ method: "GET", path });
    return userNameOf(JSON.parse(text));
  };
  const before = await Promise.all(cachedReads.map(readUserName));
  await purger.start();
  const after = await Promise.all(cachedReads.map(readUserName));
  const isNew = (userName: unknown) => userName === newName;
  claim("a purger that starts purges what has changed before", !before.some(isNew) && after.every(isNew), {
    measured: `without it ${before.join(", ")}; then ${after.join(", ")}`,
  });
}

/** @throws Error unless the write succeeds. */
async function write(client: HttpClient, request: HttpClientRequest): Promise<void> {
  const { status, text } = await client.send(request);
  if (status !== 200 || text.includes('"errors"')) throw new Error(`The write failed: ${status} ${text}`);
}

/** Reads until all responses are hits. */
async function fillCache(client: HttpClient): Promise<void> {
  const deadline = performance.now() + watchMs.untilNewMax;
  const isHit = async (path: string) => {
    const { headers } = await client.send({ method: "GET", path });
    return headers["x-cache"] === "hit";
  };
  for (const { path } of cachedReads) {
    while (!(await isHit(path))) {
      if (performance.now() > deadline) throw new Error(`Varnish does not store ${path}.`);
      await sleep(pollMs);
    }
  }
}

/** Reads after a write until the new value has been served for `afterNew`, or has not been served for `untilNewMax`. */
async function measureStaleness(
  client: HttpClient,
  { path, userNameOf }: CachedRead,
  newName: string,
): Promise<Staleness> {
  const startMs = performance.now();
  const staleness = { lastStaleMs: 0, reads: 0, hits: 0, stale: 0 };
  /** When the first read with the new value was sent; undefined again after a read with an older value. */
  let newSinceMs: number | undefined;
  const isOver = (nowMs: number) => {
    if (newSinceMs === undefined) return nowMs - startMs >= watchMs.untilNewMax;
    return nowMs - newSinceMs >= watchMs.afterNew;
  };
  while (!isOver(performance.now())) {
    const sentMs = performance.now();
    const { status, headers, text } = await client.send({ method: "GET", path });
    if (status !== 200) throw new Error(`${path}: ${status} ${text}`);
    staleness.reads++;
    if (headers["x-cache"] === "hit") staleness.hits++;
    const isNew = userNameOf(JSON.parse(text)) === newName;
    if (isNew) {
      newSinceMs ??= sentMs;
    } else {
      staleness.stale++;
      staleness.lastStaleMs = sentMs - startMs;
      newSinceMs = undefined;
    }
    await sleep(pollMs);
  }
  return staleness;
}
