import { isDeepStrictEqual } from "node:util";
import { sampleSize } from "@tributary/kit/testing/sample-size";
import fc from "fast-check";
import { buildASTSchema, parse } from "graphql";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createDice, type Dice } from "./differential/dice.ts";
import { generateOperations } from "./differential/generate-operations.ts";
import type { Operation } from "./differential/operation.ts";
import { type RunningGateway, startGateway } from "./helpers/gateway.ts";
import { composeSupergraph, respondJson, type RunningSubgraph, startSubgraph } from "./helpers/subgraphs.ts";

/*
 * Responses that have the form that their request lets expect are read in another way than all others, such as those that begin with white space
 * (engine/run/fetch/read-by-form.ts). The subgraphs send the same JSON in both ways, and the client's responses are compared.
 */

const thingsDefs = /* GraphQL */ `
  scalar Instant
  scalar JSON
  enum Size {
    SMALL
    LARGE
  }
  type Query {
    things: [Thing]
    nodes: [Node]
    any: [Any!]
    grid: [[Thing]]
    owner: Owner!
  }
  interface Node {
    id: ID!
    label: String
  }
  type Thing implements Node @key(fields: "id") @key(fields: "code") {
    id: ID!
    label: String
    code: String!
    name: String!
    at: Instant
    blob: JSON
    size: Size
    tags: [String!]
    matrix: [[String]]
    count: Int
    price: Float
    isNew: Boolean
    owner: Owner
    detail: Detail @shareable
    note: String @external
    digest: String @requires(fields: "note")
  }
  type Owner implements Node @key(fields: "email") {
    id: ID!
    label: String
    email: String!
    constructor: String
  }
  union Any = Thing | Owner
  type Detail @shareable {
    first: String
    nested: Detail
  }
`;
const notesDefs = /* GraphQL */ `
  scalar Instant
  type Thing @key(fields: "code") {
    code: String!
    name: String! @external
    at: Instant @external
    summary: String @requires(fields: "name at")
    note: String
    related: [Thing]
    detail: Detail @shareable
  }
  type Owner @key(fields: "email") {
    email: String!
    note: String
  }
  type Detail @shareable {
    second: String
    nested: Detail
  }
`;
/** The schema of clients. */
const schema = buildASTSchema(
  parse(
    thingsDefs
      .replaceAll(/@\w+(\(.*?\))?/g, "")
      .replace("detail: Detail", "detail: Detail summary: String related: [Thing]")
      .replace("constructor:", "note: String constructor:")
      .replace("first:", "second: String first:"),
  ),
);

const texts = [
  "plain",
  "",
  "é → 😀",
  'q"uo\\te',
  "a\n\tb",
  "\u2028",
  "\ud800",
  "twelve chars",
  "13 characters",
  "Ã©",
  "</script>",
  "long ".repeat(30),
];
const oddValues = ["x", 7, 1.5, -0, true, null, [], {}, [["y"]], { id: "1", first: "z" }];
const oddNumbers = ["12345678901234567890", "-9007199254740993", "1e400", "0.1e-7", "100000000000000000000.5"];

let subgraphs: readonly RunningSubgraph[];
let gateway: RunningGateway;
/** By the body of the request, for the second time. */
const sentTexts = new Map<string, string>();
/** The bodies of the requests of the first time and of the second. */
const received: [string[], string[]] = [[], []];
let dice: (body: object) => Dice;
let isSecondTime = false;

beforeAll(async () => {
  const owner = { __typename: "Owner", id: "o1", label: texts[2], email: "a@x", constructor: "c", note: "n" };
  const detail = { first: texts[3], second: "two", nested: { first: "1", second: texts[4] } };
  const toThing = (n: number): Record<string, unknown> => ({
    __typename: "Thing",
    id: `t${n}`,
    label: texts[n % texts.length],
    code: texts[(n + 6) % texts.length],
    name: texts[(n * 5) % texts.length],
    at: "2026-11-29T10:00:00Z",
    blob: n % 3 === 0 ? { a: ["x"] } : texts[n % texts.length],
    size: n % 2 === 0 ? "SMALL" : "LARGE",
    tags: texts.slice(0, n % 4),
    matrix: [[texts[n % texts.length], null], null, []],
    count: n,
    price: n / 4,
    isNew: n % 2 === 0,
    owner,
    detail,
  });
  const things = Array.from({ length: texts.length }, (_, n) => toThing(n));
  const resolveThing = ({ code, name, at }: Record<string, unknown>) => ({
    code,
    summary: JSON.stringify([name, at]),
    note: code,
    related: [{ code: texts[0] }],
    detail,
  });
  subgraphs = await Promise.all([
    startSubgraph({
      name: "things",
      typeDefs: thingsDefs,
      resolvers: {
        Thing: {
          __resolveReference: ({ code, id, note }: Record<string, unknown>) => {
            const thing = things.find((one) => one["code"] === code || one["id"] === id);
            return { ...thing, digest: JSON.stringify([note]) };
          },
        },
        Query: {
          things: () => things,
          nodes: () => [things[0], owner, null],
          any: () => [owner, things[1], things[2]],
          grid: () => [things.slice(3, 6), null, [null]],
          owner: () => owner,
        },
      },
    }),
    startSubgraph({
      name: "notes",
      typeDefs: notesDefs,
      resolvers: { Thing: { __resolveReference: resolveThing }, Owner: { __resolveReference: () => owner } },
    }),
  ]);
  for (const subgraph of subgraphs) {
    subgraph.fault = async (response, body, _request, resolveCorrectly) => {
      const key = subgraph.name + JSON.stringify(body);
      received[isSecondTime ? 1 : 0].push(key);
      const text = sentTexts.get(key) ?? writeOddly(await resolveCorrectly(), dice(body));
      sentTexts.set(key, text);
      respondJson(response, 200, isSecondTime ? ` ${text}` : text);
    };
  }
  gateway = await startGateway({ supergraphSdl: composeSupergraph(subgraphs) });
});
afterAll(async () => {
  await gateway.drain();
  await Promise.all(subgraphs.map((subgraph) => subgraph.close()));
});

test.each(["plain", "colliding"] as const)(
  "a response is the same however the responses of subgraphs are read, with %s aliases",
  async (aliases) => {
    const operations = generateOperations(schema, { aliases, argumentValues: {}, mayBranch: true });
    const numbers = fc.array(fc.nat({ max: 9_999 }), { maxLength: 100, size: "max" });
    let count = 0;
    const sendTwice = async ({ query, ...more }: Operation, choices: readonly number[]) => {
      sentTexts.clear();
      for (const bodies of received) bodies.length = 0;
      // Equal texts have equal choices, in whatever order they arrive.
      dice = (body) => createDice(rotate(choices, JSON.stringify(body).length));
      // Each form is tried again only after some responses of another form: this makes another operation.
      const unique = query.replace("{", `{ unique${aliases}${count++}: __typename`);
      isSecondTime = false;
      const { text: first } = await gateway.send(unique, more);
      isSecondTime = true;
      const { text: second } = await gateway.send(unique, more);
      const [before, after] = received.map((bodies) => bodies.toSorted());
      return { first, second, hasEqualRequests: isDeepStrictEqual(before, after) };
    };
    const property = fc.asyncProperty(operations, numbers, async (operation, choices) => {
      let responses = await sendTwice(operation, choices);
      // A first response without an added key pauses the addition (compile/key-checks.ts), so the second request does not select it.
      if (!responses.hasEqualRequests) responses = await sendTwice(operation, choices);
      expect(responses.second).toBe(responses.first);
      expect(responses.hasEqualRequests).toBe(true);
    });
    await fc.assert(property, { numRuns: sampleSize(150, 5_000), seed: 48 });
  },
);

function rotate<T>(list: readonly T[], count: number): readonly T[] {
  const at = list.length === 0 ? 0 : count % list.length;
  return [...list.slice(at), ...list.slice(0, at)];
}

/** Mostly as JSON.stringify; now and then with another value, another order, repeated or missing keys, other escapes, or white space. */
function writeOddly(value: unknown, dice: Dice): string {
  if (dice.chance(1)) return JSON.stringify(dice.pick(oddValues));
  if (dice.chance(1)) return dice.pick(oddNumbers);
  if (typeof value === "string") return dice.chance(5) ? escapeAll(value) : JSON.stringify(value);
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const space = dice.chance(1) ? " " : "";
  if (Array.isArray(value)) return `[${value.map((entry) => space + writeOddly(entry, dice)).join()}]`;
  const members = Object.entries(value)
    .filter(() => !dice.chance(1))
    .map(([key, member]) => `${JSON.stringify(key)}:${space}${writeOddly(member, dice)}`);
  if (dice.chance(3)) members.reverse();
  const [first] = members;
  if (dice.chance(1) && first !== undefined) members.push(first.replace(/:.*/s, ":null"));
  return `{${members.join()}}`;
}

function escapeAll(text: string): string {
  const units = text.replaceAll(/[^]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);
  return `"${units}"`;
}
