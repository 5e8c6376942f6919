import { setTimeout as wait } from "node:timers/promises";
import { afterEach, beforeEach, expect, test } from "vitest";
import { type RunningGateway, startGateway } from "./helpers/gateway.ts";
import { type Library, startLibrary } from "./helpers/library.ts";
import type { Fault } from "./helpers/subgraphs.ts";

/* Equal reads in flight are sent once, and values computed from their responses are computed once. No response may depend on it. */

let library: Library;
let gateway: RunningGateway;

beforeEach(async () => {
  library = await startLibrary();
  gateway = await startGateway({ supergraphSdl: library.supergraphSdl });
});
afterEach(async () => {
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
  const answers = await Promise.all(Array.from({ length: 50 }, () => gateway.send(query)));
  for (const { status, body } of answers) expect({ status, body }).toEqual({ status: 200, body: { data: right } });
  for (const { requests } of library.all) expect(requests.length).toBeLessThan(10);
});

test("callers with different tokens get different responses", async () => {
  library.people.fault = slow;
  const callers = Array.from({ length: 20 }, (_, i) => `Bearer ${i % 4}`);
  const answers = await Promise.all(
    callers.map((authorization) => gateway.send("{ whoAmI }", { headers: { authorization } })),
  );
  expect(answers.map(({ body }) => body.data.whoAmI)).toEqual(callers);
});

test("a shared fetch is written in the form of each operation", async () => {
  library.books.fault = slow;
  const asked = ["{ a: books { title } }", "{ b: books { title } }", "{ books { t: title } }", "{ books { title } }"];
  for (const one of asked) await gateway.send(one);
  const answers = await Promise.all([...asked, ...asked].map((one) => gateway.send(one)));
  const titles = right.books.map(({ title }) => ({ title }));
  const renamed = titles.map(({ title }) => ({ t: title }));
  const expected = [{ a: titles }, { b: titles }, { books: renamed }, { books: titles }];
  expect(answers.map(({ body }) => body.data)).toEqual([...expected, ...expected]);
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
  const answers = await Promise.all(Array.from({ length: 10 }, () => gateway.send(query)));
  for (const { body } of answers) {
    expect(body.data.books.map(({ stars }: { stars: number }) => stars)).toEqual([null, 2, 3, 4]);
    expect(body.errors).toHaveLength(1);
    expect(body.errors[0]).toMatchObject({ path: ["books", 0, "stars"], extensions: { service: "ratings" } });
  }
  library.ratings.fault = undefined;
  expect((await gateway.send(query)).body).toEqual({ data: right });
});

const slow: Fault = async (response, _, __, answerTruly) => {
  const answer = await answerTruly();
  await wait(20);
  response.end(JSON.stringify(answer));
};
