// The part `cdn` of freshness: Varnish in front of the gateway and the REST proxy, and the purger (infra/purger), which purges what has changed.
import { createHash } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { pickFreePort } from "@tributary/kit/process/free-port";
import { endpointKeys, type PartProcess, startProcess } from "../../platform/part-process.ts";
import { toVariablePrefix } from "../../../../supergraph/services.ts";
import { type Platform, startPlatform } from "../../platform/platform.ts";
import { createHttpClient, type HttpClient, type HttpClientRequest } from "../../traffic/http-client.ts";
import { writerId } from "../../traffic/seeded.ts";
import type { FreshnessPart, PartRun } from "./part.ts";
import { startVarnishOf } from "./varnish.ts";

const services = ["users", "posts"] as const;
const purgeToken = "token-for-verifications";
/** A read that is sent later than this after the response to a write must get the new value. */
const staleMsMax = 2_000;
/** How long reads get the older value at most: longer than the 10 s for which Varnish may use a response. */
const untilNewMsMax = 15_000;
/** How long reads continue after the first one with the new value, to find an older value after it. */
const afterNewMs = 1_500;
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
    const url = await startVarnishOf(platform, purgeToken, run);
    const purger = run.isControl ? undefined : await startPurger(platform, url, run);
    const client = createHttpClient(url);
    run.onCleanup(() => client.close());
    // Makes the document known to the gateway (automatic persisted query).
    const body = JSON.stringify({ query, variables: { id: writerId }, extensions });
    const headers = { "content-type": "application/json" };
    await sendOrThrow(client, { method: "POST", path: "/graphql", headers, body });
    await claimHits(client, run);
    await claimPurgeAccess(client, run);
    await claimFreshness(client, platform, run);
    if (purger) await claimRestart(client, purger, platform, run);
  },
};

async function startPurger({ replicas }: Platform, varnishUrl: string, { onCleanup }: PartRun): Promise<PartProcess> {
  const port = await pickFreePort();
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
const hashParameters = new URLSearchParams({
  extensions: JSON.stringify(extensions),
  variables: JSON.stringify({ id: writerId }),
});

interface CachedRead {
  readonly name: string;
  readonly path: string;
  readonly userNameOf: (body: unknown) => unknown;
}

/** The reads add no request headers, like the reads of most clients. */
const cachedReads: readonly CachedRead[] = [
  {
    name: "GET /graphql by hash",
    path: `/graphql?${hashParameters.toString()}`,
    userNameOf: (body) => (body as { data: { user: { name: string } } }).data.user.name,
  },
  { name: "GET /v2/users/1", path: `/v2/users/${writerId}`, userNameOf: (body) => (body as { name: string }).name },
];

const writesByApi = {
  REST: (name: string): HttpClientRequest => ({
    method: "PATCH",
    path: `/v2/users/${writerId}`,
    headers: { "content-type": "application/merge-patch+json", "if-match": "*" },
    body: JSON.stringify({ name }),
  }),
  GraphQL: (name: string): HttpClientRequest => ({
    method: "POST",
    path: "/graphql",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({
      query: "mutation ($input: UpdateUserInput!) { updateUser(input: $input) { user { name } } }",
      variables: { input: { id: writerId, name } },
    }),
  }),
};

async function claimHits(client: HttpClient, { claim }: PartRun): Promise<void> {
  for (const { name, path } of cachedReads) {
    const responses = [await client.send({ method: "GET", path }), await client.send({ method: "GET", path })];
    const outcomes = responses.map(({ status, headers }) => `${status} ${String(headers["x-cache"])}`).join(", ");
    const isSame = responses[0]?.text === responses[1]?.text;
    claim(`the second ${name} is a hit in Varnish`, outcomes === "200 miss, 200 hit" && isSame, {
      measured: outcomes,
      control: "holds",
    });
  }
}

async function claimPurgeAccess(client: HttpClient, { claim }: PartRun): Promise<void> {
  const headers = { "xkey-purge": "service:users", authorization: "Bearer another" };
  const { status } = await client.send({ method: "PURGE", path: "/", headers });
  claim("Varnish rejects a purge without the token", status === 401, { measured: String(status), control: "holds" });
}

async function claimFreshness(client: HttpClient, { token }: Platform, run: PartRun): Promise<void> {
  // Without a purger, the new value appears only after the 10 s for which Varnish may use a response.
  const writes = run.isControl ? 1 : run.options.writes;
  for (const [api, createWrite] of Object.entries(writesByApi)) {
    const lastStaleMs = new Map<CachedRead, number>(cachedReads.map((read) => [read, 0]));
    for (let writeNumber = 0; writeNumber < writes; writeNumber++) {
      await fillCache(client);
      const name = `Ada ${api} ${writeNumber}`;
      await write(client, createWrite(name), token);
      await Promise.all(
        cachedReads.map(async (read) => {
          const staleMs = await measureStaleMs(client, read, name);
          lastStaleMs.set(read, Math.max(staleMs, lastStaleMs.get(read) ?? 0));
        }),
      );
    }
    for (const [{ name }, staleMs] of lastStaleMs) {
      run.claim(
        `${name} has the new value within ${staleMsMax / 1_000} s after a write by ${api}`,
        staleMs <= staleMsMax,
        {
          measured: `the last older value after ${staleMs.toFixed(0)} ms, of ${writes} writes`,
          control: "fails",
        },
      );
    }
  }
}

/** A restarted purger does not know what changed while it was down: it purges everything of the service before it is ready. */
async function claimRestart(
  client: HttpClient,
  purger: PartProcess,
  { token }: Platform,
  { claim }: PartRun,
): Promise<void> {
  await purger.end("SIGKILL");
  await fillCache(client);
  const newName = "Ada without purger";
  await write(client, writesByApi.REST(newName), token);
  const readNames = () => Promise.all(cachedReads.map((read) => readName(client, read)));
  const before = await readNames();
  await purger.start();
  const after = await readNames();
  const isNew = (name: unknown) => name === newName;
  claim("a purger that starts purges what has changed before", !before.some(isNew) && after.every(isNew), {
    measured: `without it ${before.join(", ")}; then ${after.join(", ")}`,
  });
}

async function sendOrThrow(client: HttpClient, request: HttpClientRequest): Promise<string> {
  const { status, text } = await client.send(request);
  if (status !== 200 || text.includes('"errors"'))
    throw new Error(`${request.method} ${request.path}: ${status} ${text}`);
  return text;
}

async function write(client: HttpClient, request: HttpClientRequest, token: string): Promise<void> {
  await sendOrThrow(client, { ...request, headers: { ...request.headers, authorization: `Bearer ${token}` } });
}

async function readName(client: HttpClient, { path, userNameOf }: CachedRead): Promise<unknown> {
  return userNameOf(JSON.parse(await sendOrThrow(client, { method: "GET", path })));
}

/** Reads until all responses are hits. */
async function fillCache(client: HttpClient): Promise<void> {
  const deadline = performance.now() + untilNewMsMax;
  for (const { path } of cachedReads) {
    while ((await client.send({ method: "GET", path })).headers["x-cache"] !== "hit") {
      if (performance.now() > deadline) throw new Error(`Varnish does not store ${path}.`);
      await sleep(pollMs);
    }
  }
}

/** Reads after a write. @returns when the last read that got an older value was sent, in milliseconds after the call; 0 for none. */
async function measureStaleMs(client: HttpClient, read: CachedRead, newName: string): Promise<number> {
  const startMs = performance.now();
  let lastStaleMs = 0;
  let newSinceMs = 0;
  for (;;) {
    const sentMs = performance.now() - startMs;
    if ((await readName(client, read)) === newName) newSinceMs ||= sentMs;
    else {
      lastStaleMs = sentMs;
      newSinceMs = 0;
    }
    const isOver = newSinceMs === 0 ? sentMs >= untilNewMsMax : sentMs - newSinceMs >= afterNewMs;
    if (isOver) return lastStaleMs;
    await sleep(pollMs);
  }
}
