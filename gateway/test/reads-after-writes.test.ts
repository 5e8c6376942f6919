import { writeFileSync } from "node:fs";
import type { IncomingHttpHeaders, ServerResponse } from "node:http";
import { setTimeout as wait } from "node:timers/promises";
import { afterEach, beforeEach, expect, test } from "vitest";
import { type GraphqlResponse, type RunningGateway, startGateway } from "./helpers/gateway.ts";
import { isMirrored } from "./helpers/compare-paths.ts";
import { composeSupergraph, type RunningSubgraph, startSubgraph } from "./helpers/subgraphs.ts";

/* A client that has the response to its mutation reads what it wrote: its queries join no fetch that was sent earlier. */

let notes: RunningSubgraph;
let marks: RunningSubgraph;
let supergraphSdl: string;
let gateway: RunningGateway;
/** What the subgraph `notes` has stored. */
let text: string;
/** Responses to queries that a subgraph has executed. The tests release them. */
let held: (() => void)[];
let joinedCount: number;

const query = "{ note { text } }";
const write = 'mutation { write(text: "new") { text } }';

beforeEach(async () => {
  [text, held, joinedCount] = ["old", [], 0];
  [notes, marks] = await Promise.all([startNotes(), startMarks()]);
  supergraphSdl = composeSupergraph([notes, marks]);
  gateway = await start();
});
afterEach(async () => {
  releaseAll();
  await gateway.drain();
  await Promise.all([notes.close(), marks.close()]);
});

test("a query sent after the response to a mutation joins no query sent before it", async () => {
  const before = await readHeld();
  await gateway.send(write);
  const after = await readHeld();
  expect([await before.text(), await after.text()]).toEqual(["old", "new"]);
});

test("queries sent after a mutation join each other while one sent before it is in flight", async () => {
  await readHeld();
  await gateway.send(write);
  const after = [await readHeld(), await readJoined()];
  expect(await Promise.all(after.map((read) => read.text()))).toEqual(["new", "new"]);
});

test("a query joins an equal one while a mutation is in flight", async () => {
  const mutation = await writeHeld();
  await readHeld();
  await readJoined();
  await mutation.commit();
  await readJoined();
  mutation.response.end('{"data":{"write":null}}');
  await mutation.answer;
});

test("a query joins an equal one after a mutation of another subgraph", async () => {
  await readHeld();
  await gateway.send("mutation { mark }");
  await readJoined();
});

test.each([
  ["answered with an error", (response: ServerResponse) => response.end('{"errors":[{"message":"no"}]}')],
  ["answered with 503", (response: ServerResponse) => response.writeHead(503).end()],
  ["cut off", (response: ServerResponse) => response.destroy()],
])("a query joins none that was sent before a mutation that was committed and %s", async (_, fail) => {
  const mutation = await writeHeld();
  await readHeld();
  await mutation.commit();
  fail(mutation.response);
  expect((await mutation.answer).body.errors).toHaveLength(1);
  expect(await (await readHeld()).text()).toBe("new");
});

test("a query joins none that was sent before a mutation that was committed and timed out", async () => {
  await gateway.drain();
  gateway = await start({ SUBGRAPH_TIMEOUT_MS: "1000" });
  const mutation = await writeHeld();
  // So that the query does not time out with the mutation.
  await wait(500);
  await readHeld();
  await mutation.commit();
  expect((await mutation.answer).body.errors[0].extensions.code).toBe("SUBGRAPH_TIMEOUT");
  expect(await (await readHeld()).text()).toBe("new");
});

test("a query joins none that was sent before the client of a committed mutation disconnected", async () => {
  const client = new AbortController();
  const mutation = await writeHeld(client.signal);
  await readHeld();
  await mutation.commit();
  client.abort();
  await expect(mutation.answer).rejects.toThrow("aborted");
  await gateway.seen("client-disconnected");
  expect(await (await readHeld()).text()).toBe("new");
});

test("a query of the next supergraph joins none that was sent before the response to a mutation of the last one", async () => {
  const mutation = await writeHeld();
  writeFileSync(gateway.file, `${supergraphSdl}\n`);
  await gateway.seen("supergraph-loaded", 2);
  await readHeld();
  await mutation.commit();
  mutation.response.end('{"data":{"write":{"text":"new"}}}');
  expect((await mutation.answer).body).toEqual({ data: { write: { text: "new" } } });
  expect(await (await readHeld()).text()).toBe("new");
});

test("a read within a mutation joins no fetch, is joined by none, and is sent each time", async () => {
  const readMark = () => gateway.send("{ note { mark } }");
  const query = await onceHeld(readMark);
  const mutation = await onceHeld(() => gateway.send(`mutation { a: ${writeMarked} b: ${writeMarked} }`));
  held.pop()?.();
  await expect.poll(() => held.length).toBe(2);
  const joined = readMark();
  await expect.poll(() => joinedCount).toBe(1);
  releaseAll();
  const marked = [query.answer, joined].map(async (answer) => (await answer).body.data);
  expect(await Promise.all(marked)).toEqual([{ note: { mark: 1 } }, { note: { mark: 1 } }]);
  expect((await mutation.answer).body.data).toEqual({ a: { mark: 2 }, b: { mark: 3 } });
});

const writeMarked = 'write(text: "new") { mark }';

function start(environment: Record<string, string> = {}): Promise<RunningGateway> {
  const fetchObserver = { begin: () => ({ traced: undefined, end() {} }), join: () => void joinedCount++ };
  return startGateway({ supergraphSdl, environment, observers: { requestObserver: undefined, fetchObserver } });
}

interface Read {
  readonly answer: Promise<GraphqlResponse>;
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

/** Sends a query and waits until it has joined another one. */
async function readJoined(): Promise<Read> {
  const count = joinedCount;
  const read = toRead(gateway.send(query));
  await expect.poll(() => joinedCount).toBe(count + 1);
  return read;
}

function toRead(answer: Promise<GraphqlResponse>): Read {
  return {
    answer,
    async text() {
      releaseAll();
      return (await answer).body.data.note.text;
    },
  };
}

function releaseAll(): void {
  for (const release of held.splice(0)) release();
}

/** Sends a mutation, which the subgraph executes and responds to when the test releases it. */
async function writeHeld(signal?: AbortSignal) {
  const { promise, resolve } = Promise.withResolvers<{ response: ServerResponse; commit: () => Promise<unknown> }>();
  notes.fault = (response, _body, _request, answerTruly) => resolve({ response, commit: answerTruly });
  const answer = gateway.send(write, signal && { signal });
  answer.catch(() => undefined);
  const mutation = await promise;
  notes.fault = undefined;
  return { answer, ...mutation };
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
        mark: (_: unknown, __: unknown, context: Context) => (isMirrored(context.headers) ? 0 : hold(++count, context)),
      },
    },
  });
}
