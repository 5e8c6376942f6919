import { type Server, createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { type AbortSignalLike, AbortSource } from "@tributary/kit/http/abort-source";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { SubgraphRequest } from "./subgraph-request.ts";
import { withSharing } from "./fetch-sharing.ts";
import { toSubgraph } from "./testing/subgraphs.ts";
import { toRead, toResult } from "./testing/reads.ts";
import { type SubgraphClient, createSubgraphClient } from "./subgraph-client.ts";
import type { FetchResult } from "./subgraph-response.ts";

describe("shared fetches", () => {
  test("equal reads in flight are sent once", async () => {
    const { share, reads } = setUp();
    const [one, other] = [share("a"), share("a")];
    expect(reads).toHaveLength(1);
    reads[0]!.end();
    expect(await one).toBe(await other);
  });

  test.each([
    ["subgraph", { subgraph: toSubgraph({ name: "orders" }) }],
    ["settings of the subgraph", { subgraph: toSubgraph() }],
    ["forwarded header", { forwarded: { list: ["x-tenant", "b"], varying: "x-tenant:b\n" } }],
    ["forwarded header, which is empty in one", { forwarded: { list: ["x-tenant", ""], varying: "x-tenant:\n" } }],
    ["body", { body: "b" }],
    ["token", { authorization: "Bearer b" }],
    ["token, since one has none", { authorization: undefined }],
    ["count of settled writes", { settledWrites: 1 }],
    ["count of changes of the feed", { feedChanges: 1 }],
    ["receipts", { receipts: '"r"' }],
  ])("reads that differ in their %s are sent separately", (_, other) => {
    const { fetch, reads } = setUp();
    const read = { ...toRead("a"), authorization: "Bearer a", forwarded: { list: [], varying: "" } };
    const { signal } = new AbortController();
    void fetch(read, signal);
    void fetch({ ...read, ...other }, signal);
    expect(reads).toHaveLength(2);
    void fetch(read, signal);
    expect(reads).toHaveLength(2);
  });

  test("a result is shared if two requests waited for it to the end", async () => {
    const { share, reads } = setUp();
    const controller = new AbortController();
    const alone = share("a");
    void share("a", controller.signal);
    controller.abort("disconnected");
    const both = [share("b"), share("b")];
    for (const read of reads) read.end();
    expect((await alone).isShared).toBeUndefined();
    expect((await both[0]!).isShared).toBe(true);
  });

  test("a request that is not shareable neither shares a read nor is shared", () => {
    const { fetch, share, reads, shared } = setUp();
    const { signal } = new AbortController();
    void share("a");
    void fetch({ ...toRead("a"), isShareable: false }, signal);
    void fetch({ ...toRead("b"), isShareable: false }, signal);
    void share("b");
    expect(reads).toHaveLength(4);
    expect(shared).toEqual([]);
    void share("a");
    expect(shared).toEqual(["notes"]);
  });

  test("a read that has ended is sent again", async () => {
    const { share, reads } = setUp();
    const first = share("a");
    reads[0]!.end();
    await first;
    void share("a");
    expect(reads).toHaveLength(2);
  });

  test("an aborted request gets a failure at once, and the others keep waiting", async () => {
    const { share, reads } = setUp();
    const controller = new AbortController();
    const [aborted, waiting] = [share("a", controller.signal), share("a")];
    controller.abort("disconnected");
    expect(await aborted).toMatchObject({ kind: "abandoned" });
    expect(reads[0]!.signal.aborted).toBe(false);
    reads[0]!.end();
    expect(await waiting).toMatchObject({ kind: "graphql" });
  });

  test("if the read was not sent, such as for another caller's share, each waiting request sends its own", async () => {
    const { share, reads } = setUp();
    const controller = new AbortController();
    const [first, second, left] = [share("a"), share("a"), share("a", controller.signal)];
    controller.abort("timeout");
    const unsent = { kind: "failed", code: "SUBGRAPH_UNAVAILABLE", cause: undefined, replica: undefined } as const;
    reads[0]!.end(unsent);
    expect(await first).toBe(unsent);
    expect(await left).toMatchObject({ code: "SUBGRAPH_TIMEOUT" });
    expect(reads).toHaveLength(2);
    reads[1]!.end();
    expect(await second).toMatchObject({ kind: "graphql" });
  });

  test("the read is aborted with the last request that waits for it, for the same reason", () => {
    const { share, reads } = setUp();
    const controllers = [new AbortController(), new AbortController()];
    for (const { signal } of controllers) void share("a", signal);
    controllers[0]!.abort("disconnected");
    expect(reads[0]!.signal.aborted).toBe(false);
    controllers[1]!.abort("timeout");
    expect(reads[0]!.signal.reason).toBe("timeout");
  });

  test("an aborted read is not shared", async () => {
    const { share, reads } = setUp();
    const controller = new AbortController();
    void share("a", controller.signal);
    controller.abort("disconnected");
    const next = share("a");
    expect(reads).toHaveLength(2);
    // The end of the aborted read does not remove the second one.
    reads[0]!.end();
    await Promise.resolve();
    const shared = share("a");
    expect(reads).toHaveLength(2);
    reads[1]!.end();
    expect(await shared).toBe(await next);
  });

  test("an abort after the result does not abort a later equal read", async () => {
    const { share, reads } = setUp();
    const controller = new AbortController();
    const first = share("a", controller.signal);
    reads[0]!.end();
    await first;
    void share("a");
    controller.abort("disconnected");
    expect(reads.map(({ signal }) => signal.aborted)).toEqual([false, false]);
  });

  test("reads beyond the bound are not shared", () => {
    const { share, reads } = setUp();
    for (let i = 0; i < 1_024; i++) void share(`key ${i}`);
    void share("further");
    void share("further");
    expect(reads).toHaveLength(1_026);
    void share("key 0");
    expect(reads).toHaveLength(1_026);
  });

  interface Read {
    readonly signal: AbortSignalLike;
    end(result?: FetchResult): void;
  }

  function setUp() {
    const reads: Read[] = [];
    const shared: unknown[] = [];
    const send = (_: SubgraphRequest, signal: AbortSignalLike) =>
      new Promise<FetchResult>((resolve) => {
        reads.push({ signal, end: (result = toResult({})) => resolve(result) });
      });
    const fetch = withSharing(send, { share: (service) => void shared.push(service) });
    const share = (body: string, signal = new AbortController().signal) => fetch(toRead(body), signal);
    return { reads, shared, fetch, share };
  }
});

describe("settled writes", () => {
  let subgraph: Server;
  let client: SubgraphClient;
  const end = new AbortSource();

  beforeEach(async () => {
    // Only mutations get a response.
    subgraph = createServer(
      (request, response) => request.url === "/graphql" && request.headers["x-write"] && response.end(),
    );
    await new Promise<void>((resolve) => subgraph.listen(0, "127.0.0.1", resolve));
    const url = `http://127.0.0.1:${(subgraph.address() as AddressInfo).port}/graphql`;
    const limits = { timeoutMs: 60_000, attemptsMax: 3, requestsMax: 1_024, bodyBytesMax: 1_000 };
    client = createSubgraphClient(
      { service: "notes", urls: [url], followsRedirects: false, tls: undefined, ...limits },
      { writes: { settled: 0 }, observe: () => {} },
    );
  });
  afterEach(async () => {
    end.abort("gone");
    await client.close();
    subgraph.close();
  });

  const write = () =>
    client.post("{}", {
      headers: ["x-write", "1"],
      isIdempotent: false,
      signal: end,
      caller: undefined,
      traced: undefined,
    });
  const read = () =>
    client.post("{}", { headers: [], isIdempotent: true, signal: end, caller: undefined, traced: undefined });

  test("a mutation counts as a settled write, unless too many fetches are in flight for it to be sent", async () => {
    await write();
    expect(client.writes.settled).toBe(1);
    for (let i = 0; i < 1_024; i++) void read();
    expect(await write()).toMatchObject({ code: "SUBGRAPH_UNAVAILABLE" });
    expect(client.writes.settled).toBe(1);
  });
});
