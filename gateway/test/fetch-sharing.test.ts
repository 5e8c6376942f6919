import { once } from "node:events";
import { writeFileSync } from "node:fs";
import type { IncomingHttpHeaders, ServerResponse } from "node:http";
import { setTimeout as wait } from "node:timers/promises";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { isMirrored } from "./helpers/compare-paths.ts";
import { type GraphqlResponse, type RunningGateway, startGateway } from "./helpers/gateway.ts";
import { type Library, startLibrary } from "./helpers/library.ts";
import { type Fault, type RunningSubgraph, composeSupergraph, startSubgraph } from "./helpers/subgraphs.ts";

describe("equal reads at once", () => {
  /* Equal reads in flight are sent once, and values computed from their responses are computed once. No response may depend on it. */

  let library: Library;
  let gateway: RunningGateway;

  beforeAll(async () => {
    library = await startLibrary();
    gateway = await startGateway({ supergraphSdl: library.supergraphSdl });
  });
  afterEach(() => {
    for (const subgraph of library.all) subgraph.fault = undefined;
  });
  afterAll(async () => {
    await gateway.drain();
    await library.close();
  });

  const query = "{ books { title stars author { id name } } }";

  const right = {
    books: [
      { title: "Engines", stars: 1, author: { id: "1", name: "Ada" } },
      { title: "Compilers", stars: 2, author: { id: "2", name: "Grace" } },
      { title: "Anonymous", stars: 3, author: null },
      { title: "Engines II", stars: 4, author: { id: "1", name: "Ada" } },
    ],
  };

  test("equal requests at once get the same response with few fetches", async () => {
    for (const subgraph of library.all) subgraph.fault = slow;
    await gateway.send(query);
    for (const { requests } of library.all) requests.length = 0;
    const responses = await Promise.all(Array.from({ length: 50 }, () => gateway.send(query)));
    for (const { status, body } of responses) expect({ status, body }).toEqual({ status: 200, body: { data: right } });
    for (const { requests } of library.all) expect(requests.length).toBeLessThan(10);
  });

  test("callers with different tokens get different responses", async () => {
    library.people.fault = slow;
    const callers = Array.from({ length: 20 }, (_, i) => `Bearer ${i % 4}`);
    const responses = await Promise.all(
      callers.map((authorization) => gateway.send("{ whoAmI }", { headers: { authorization } })),
    );
    expect(responses.map(({ body }) => body.data.whoAmI)).toEqual(callers);
  });

  test("a shared fetch is written in the form of each operation", async () => {
    library.books.fault = slow;
    const requested = [
      "{ a: books { title } }",
      "{ b: books { title } }",
      "{ books { t: title } }",
      "{ books { title } }",
    ];
    for (const one of requested) await gateway.send(one);
    const responses = await Promise.all([...requested, ...requested].map((one) => gateway.send(one)));
    const titles = right.books.map(({ title }) => ({ title }));
    const renamed = titles.map(({ title }) => ({ t: title }));
    const expected = [{ a: titles }, { b: titles }, { books: renamed }, { books: titles }];
    expect(responses.map(({ body }) => body.data)).toEqual([...expected, ...expected]);
  });

  test("values computed from a response are not used after it", async () => {
    await gateway.send("{ people { name } }");
    let name = "Ada";
    library.people.fault = async (response) => {
      const now = name;
      await wait(40);
      response.end(JSON.stringify({ data: { people: [{ name: now }] } }));
    };
    const early = gateway.send("{ people { name } best: bestBook { stars } }");
    const same = gateway.send("{ people { name } best: bestBook { stars } }");
    await Promise.all([early, same]);
    name = "Augusta";
    const late = await gateway.send("{ people { name } best: bestBook { stars } }");
    expect((await early).body.data.people).toEqual([{ name: "Ada" }]);
    expect(late.body.data.people).toEqual([{ name: "Augusta" }]);
  });

  test("an error in a shared response is in every response, and is not cached", async () => {
    await gateway.send(query);
    library.ratings.fault = async (response, { variables }) => {
      await wait(20);
      const [, ...rest] = variables["representations"] as { isbn: string }[];
      const entities = rest.map(({ isbn }) => ({ isbn, stars: Number(isbn.slice(1)) }));
      const errors = [{ message: "no stars", path: ["_entities", 0, "stars"], extensions: { code: "NOT_FOUND" } }];
      response.end(JSON.stringify({ data: { _entities: [null, ...entities] }, errors }));
    };
    const responses = await Promise.all(Array.from({ length: 10 }, () => gateway.send(query)));
    for (const { body } of responses) {
      expect(body.data.books.map(({ stars }: { stars: number }) => stars)).toEqual([null, 2, 3, 4]);
      expect(body.errors).toHaveLength(1);
      expect(body.errors[0]).toMatchObject({ path: ["books", 0, "stars"], extensions: { service: "ratings" } });
    }
    library.ratings.fault = undefined;
    expect((await gateway.send(query)).body).toEqual({ data: right });
  });

  const slow: Fault = async (response, _, __, resolveCorrectly) => {
    const result = await resolveCorrectly();
    await wait(20);
    response.end(JSON.stringify(result));
  };
});

describe("reads after writes", () => {
  /* A client that has the response to its mutation reads what it wrote: its queries join no fetch that was sent earlier. */

  let notes: RunningSubgraph;
  let marks: RunningSubgraph;
  let supergraphSdl: string;
  let gateway: RunningGateway;
  /** What the subgraph `notes` has stored. */
  let text: string;
  /** Responses to queries that a subgraph has executed. The tests release them. */
  let held: (() => void)[];
  let sharedCount: number;
  const reads: Promise<GraphqlResponse>[] = [];

  const query = "{ note { text } }";
  const write = 'mutation { write(text: "new") { text } }';

  beforeAll(async () => {
    [notes, marks] = await Promise.all([startNotes(), startMarks()]);
    supergraphSdl = composeSupergraph([notes, marks]);
    gateway = await start();
  });
  beforeEach(() => void ([text, held, sharedCount] = ["old", [], 0]));
  afterEach(() => settleReads());
  afterAll(async () => {
    await gateway.drain();
    await Promise.all([notes.close(), marks.close()]);
  });

  test("a query sent after the response to a mutation shares no query sent before it", async () => {
    const before = await readHeld();
    await gateway.send(write);
    const after = await readHeld();
    expect([await before.text(), await after.text()]).toEqual(["old", "new"]);
  });

  test("queries sent after a mutation share one fetch while one sent before it is in flight", async () => {
    await readHeld();
    await gateway.send(write);
    const after = [await readHeld(), await readJoined()];
    expect(await Promise.all(after.map((read) => read.text()))).toEqual(["new", "new"]);
  });

  test("a query shares an equal one while a mutation is in flight", async () => {
    const mutation = await writeHeld();
    await readHeld();
    await readJoined();
    await mutation.commit();
    await readJoined();
    mutation.response.end('{"data":{"write":null}}');
    await mutation.result;
  });

  test("a query shares an equal one after a mutation of another subgraph", async () => {
    await readHeld();
    await gateway.send("mutation { mark }");
    await readJoined();
  });

  test.each([
    ["answered with an error", (response: ServerResponse) => response.end('{"errors":[{"message":"no"}]}')],
    ["answered with 503", (response: ServerResponse) => response.writeHead(503).end()],
    ["cut off", (response: ServerResponse) => response.destroy()],
  ])("a query shares none that was sent before a mutation that was committed and %s", async (_, fail) => {
    const mutation = await writeHeld();
    await readHeld();
    await mutation.commit();
    fail(mutation.response);
    expect((await mutation.result).body.errors).toHaveLength(1);
    expect(await (await readHeld()).text()).toBe("new");
  });

  test("a query shares none that was sent before a mutation that was committed and timed out", async () => {
    const patient = gateway;
    gateway = await start({ SUBGRAPH_TIMEOUT_MS: "600" });
    const mutation = await writeHeld();
    // So that the query does not time out with the mutation.
    await wait(300);
    await readHeld();
    await mutation.commit();
    expect((await mutation.result).body.errors[0].extensions.code).toBe("SUBGRAPH_TIMEOUT");
    expect(await (await readHeld()).text()).toBe("new");
    await settleReads();
    await gateway.drain();
    gateway = patient;
  });

  test("a query shares none that was sent before the response to a mutation whose client has disconnected", async () => {
    const client = new AbortController();
    const mutation = await writeHeld(client.signal);
    await readHeld();
    await mutation.commit();
    client.abort();
    await expect(mutation.result).rejects.toThrow("aborted");
    await gateway.seen("client-disconnected");
    mutation.response.end('{"data":{"write":{"text":"new"}}}');
    await once(mutation.response, "finish");
    // After it the gateway has received that response too.
    await gateway.send("{ __typename }");
    expect(await (await readHeld()).text()).toBe("new");
  });

  test("a query of the next supergraph shares none that was sent before the response to a mutation of the last one", async () => {
    const mutation = await writeHeld();
    writeFileSync(gateway.file, `${supergraphSdl}\n`);
    await gateway.seen("supergraph-loaded", 2);
    await readHeld();
    await mutation.commit();
    mutation.response.end('{"data":{"write":{"text":"new"}}}');
    expect((await mutation.result).body).toEqual({ data: { write: { text: "new" } } });
    expect(await (await readHeld()).text()).toBe("new");
  });

  test("a read within a mutation shares no fetch with another, and is sent each time", async () => {
    const readMark = () => gateway.send("{ note { mark } }");
    const query = await onceHeld(readMark);
    const mutation = await onceHeld(() => gateway.send(`mutation { a: ${writeMarked} b: ${writeMarked} }`));
    held.pop()?.();
    await expect.poll(() => held.length).toBe(2);
    const joined = readMark();
    reads.push(joined);
    await expect.poll(() => sharedCount).toBe(1);
    releaseAll();
    const marked = [query.result, joined].map(async (result) => (await result).body.data);
    expect(await Promise.all(marked)).toEqual([{ note: { mark: 1 } }, { note: { mark: 1 } }]);
    expect((await mutation.result).body.data).toEqual({ a: { mark: 2 }, b: { mark: 3 } });
  });

  const writeMarked = 'write(text: "new") { mark }';

  function start(environment: Record<string, string> = {}): Promise<RunningGateway> {
    const fetchObserver = { begin: () => ({ traced: undefined, end() {} }), share: () => void sharedCount++ };
    return startGateway({ supergraphSdl, environment, observers: { requestObserver: undefined, fetchObserver } });
  }

  interface Read {
    readonly result: Promise<GraphqlResponse>;
    /** Releases the held responses, and returns the text of the response. */
    text(): Promise<string>;
  }

  /** Sends a query and waits until the subgraph has executed it. */
  const readHeld = () => onceHeld(() => gateway.send(query));

  async function onceHeld(send: () => Promise<GraphqlResponse>): Promise<Read> {
    const count = held.length;
    const read = toRead(send());
    await expect.poll(() => held.length).toBe(count + 1);
    return read;
  }

  /** Sends a query and waits until it shares the fetch of another one. */
  async function readJoined(): Promise<Read> {
    const count = sharedCount;
    const read = toRead(gateway.send(query));
    await expect.poll(() => sharedCount).toBe(count + 1);
    return read;
  }

  function toRead(result: Promise<GraphqlResponse>): Read {
    reads.push(result);
    return {
      result,
      async text() {
        releaseAll();
        return (await result).body.data.note.text;
      },
    };
  }

  /** Resolves when all reads of the test have a response, also those that reach a subgraph only now. */
  async function settleReads(): Promise<void> {
    const releasing = setInterval(releaseAll, 5);
    await Promise.allSettled(reads.splice(0));
    clearInterval(releasing);
  }

  function releaseAll(): void {
    for (const release of held.splice(0)) release();
  }

  /** Sends a mutation, which the subgraph executes and responds to when the test releases it. */
  async function writeHeld(signal?: AbortSignal) {
    const { promise, resolve } = Promise.withResolvers<{ response: ServerResponse; commit: () => Promise<unknown> }>();
    notes.fault = (response, _body, _request, resolveCorrectly) => resolve({ response, commit: resolveCorrectly });
    const result = gateway.send(write, signal && { signal });
    result.catch(() => undefined);
    const mutation = await promise;
    notes.fault = undefined;
    return { result, ...mutation };
  }

  interface Context {
    readonly headers: IncomingHttpHeaders;
  }

  /** Executes at once, and responds when the test releases it. */
  function hold<Value>(value: Value, { headers }: Context): Value | Promise<Value> {
    if (isMirrored(headers)) return value;
    return new Promise((resolve) => held.push(() => resolve(value)));
  }

  function startNotes(): Promise<RunningSubgraph> {
    const write = (_: unknown, args: { text: string }) => ({ id: "1", text: (text = args.text) });
    return startSubgraph({
      name: "notes",
      typeDefs: `
      type Query { note: Note }
      type Mutation { write(text: String!): Note }
      type Note @key(fields: "id") { id: ID! text: String }
    `,
      resolvers: {
        Query: { note: () => ({ id: "1" }) },
        Mutation: { write },
        Note: { text: (note: { text?: string }, _: unknown, context: Context) => note.text ?? hold(text, context) },
      },
    });
  }

  function startMarks(): Promise<RunningSubgraph> {
    let count = 0;
    return startSubgraph({
      name: "marks",
      typeDefs: `
      type Query { marks: Int }
      type Mutation { mark: Int }
      type Note @key(fields: "id") { id: ID! mark: Int }
    `,
      resolvers: {
        Mutation: { mark: () => 1 },
        Note: {
          __resolveReference: ({ id }: { id: string }) => ({ id }),
          mark: (_: unknown, __: unknown, context: Context) =>
            isMirrored(context.headers) ? 0 : hold(++count, context),
        },
      },
    });
  }
});
