import { afterEach, beforeEach, expect, test } from "vitest";
import { type GraphqlResponse, type RunningGateway, startGateway } from "./helpers/gateway.ts";
import { type Library, startLibrary, startRatings } from "./helpers/library.ts";
import { respondJson, type Fault, type RunningSubgraph } from "./helpers/subgraphs.ts";

let library: Library;
let second: RunningSubgraph;
let gateway: RunningGateway;

beforeEach(async () => {
  library = await startLibrary();
  second = await startRatings();
  gateway = await startGateway({
    supergraphSdl: library.supergraphSdl,
    // Shared fetches would be fewer than requests.
    environment: { FETCH_SHARING: "false", SUBGRAPH_URL_RATINGS: `${library.ratings.url}, ${second.url}` },
  });
});
afterEach(async () => {
  await gateway.drain();
  await Promise.all([library.close(), second.close()]);
});

test("fetches are distributed over the replicas of a subgraph", async () => {
  await ask(100);
  const [some, others] = [library.ratings.requests.length, second.requests.length];
  expect(some + others).toBe(100);
  expect(Math.min(some, others)).toBeGreaterThan(25);
});

test("no query fails when one of two replicas is killed under load", async () => {
  await ask(50);
  const [answers] = await Promise.all([ask(300), second.close()]);
  expect(answers.filter(({ body }) => body.errors)).toEqual([]);
  expect(gateway.observations).toContainEqual({
    kind: "replica-ejected",
    service: "ratings",
    replica: second.url,
    pauseMs: 1_000,
    cause: expect.any(Error),
  });
});

test("a query is retried when its connection breaks, and a mutation is sent once", async () => {
  library.books.fault = reset;
  const query = await gateway.send("{ books { title } }");
  expect(query.body.errors[0].extensions.code).toBe("SUBGRAPH_UNAVAILABLE");
  expect(library.books.requests).toHaveLength(3);
  const mutation = await gateway.send('mutation { addBook(title: "T") { title } }');
  expect(mutation.body.errors[0].extensions.code).toBe("SUBGRAPH_UNAVAILABLE");
  expect(library.books.requests).toHaveLength(4);
});

test("an entity fetch of a mutation is a query, and is retried", async () => {
  library.ratings.fault = reset;
  second.fault = reset;
  const { body } = await gateway.send('mutation { addBook(title: "T") { title stars } }');
  expect(body.data).toEqual({ addBook: { title: "T", stars: null } });
  expect(library.books.requests).toHaveLength(1);
  expect(library.ratings.requests.length + second.requests.length).toBe(3);
});

test("a query whose replica responds 503 is retried on another one, and the last response is used if both do", async () => {
  const unavailable: Fault = async (response, _, __, answerTruly) =>
    respondJson(response, 503, JSON.stringify(await answerTruly()));
  library.ratings.fault = unavailable;
  const answers = await ask(20);
  second.fault = unavailable;
  answers.push(...(await ask(20)));
  for (const { body } of answers) expect(body).toEqual({ data: { bestBook: { isbn: "b1", stars: 1 } } });
  expect(gateway.observations).toContainEqual(
    expect.objectContaining({ kind: "retried", reason: "status", status: 503 }),
  );
});

const reset: Fault = (response) => void response.socket?.resetAndDestroy();

async function ask(count: number): Promise<GraphqlResponse[]> {
  const answers: GraphqlResponse[] = [];
  const run = async () => {
    while (count-- > 0) answers.push(await gateway.send("{ bestBook { isbn stars } }"));
  };
  await Promise.all(Array.from({ length: 10 }, run));
  return answers;
}
