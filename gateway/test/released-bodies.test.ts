import { isDeepStrictEqual } from "node:util";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { createDice } from "./differential/dice.ts";
import { type RunningGateway, startGateway } from "./helpers/gateway.ts";
import { composeSupergraph, respondJson, type RunningSubgraph, startSubgraph } from "./helpers/subgraphs.ts";

// Long bodies are released as soon as nothing needs them (src/release-bytes.ts). No response may miss what was released.

/** Long enough that each body is released, and that it arrives in several chunks. */
const textOf = (id: string) => `${id} "é" `.repeat(3_000);
/** Without an escape, so that the gateway copies its bytes from the body of the subgraph. */
const noteOf = (id: string) => `note é ${id} `.repeat(4_000);
const idsOf = (seed: number) => Array.from({ length: 1 + (seed % 4) }, (_, i) => `i${seed}-${i}`);

let catalog: RunningSubgraph;
let notes: RunningSubgraph;
let gateway: RunningGateway;

beforeAll(async () => {
  [catalog, notes] = await Promise.all([
    startSubgraph({
      name: "catalog",
      typeDefs: `type Query { items(seed: Int!): [Item!]! } type Mutation { touch(seed: Int!): [Item!]! }
        type Item @key(fields: "id") { id: ID! text: String! }`,
      resolvers: {
        Query: { items: (_: unknown, { seed }: { seed: number }) => idsOf(seed).map((id) => ({ id })) },
        Mutation: { touch: (_: unknown, { seed }: { seed: number }) => idsOf(seed).map((id) => ({ id })) },
        Item: { text: ({ id }: { id: string }) => textOf(id) },
      },
    }),
    startSubgraph({
      name: "notes",
      typeDefs: `type Item @key(fields: "id") { id: ID! note: String! mine: String }`,
      resolvers: {
        Item: {
          note: ({ id }: { id: string }) => noteOf(id),
          mine: ({ id }: { id: string }, _: unknown, { headers }: { headers: { authorization?: string } }) =>
            headers.authorization && noteOf(id + headers.authorization),
        },
      },
    }),
  ]);
  gateway = await startGateway({ supergraphSdl: composeSupergraph([catalog, notes]), environment: {} });
});
afterAll(async () => {
  vi.restoreAllMocks();
  await gateway.drain();
  await Promise.all([catalog.close(), notes.close()]);
});

interface Kind {
  readonly query: (seed: number) => string;
  readonly expected: (seed: number) => object;
  readonly token?: string;
  readonly coding?: string;
}

const items = (seed: number, toItem: (id: string) => object) => ({ data: { items: idsOf(seed).map(toItem) } });
const kinds: readonly Kind[] = [
  {
    query: (seed) => `{ items(seed: ${seed}) { text } }`,
    expected: (seed) => items(seed, (id) => ({ text: textOf(id) })),
  },
  {
    query: (seed) => `{ items(seed: ${seed}) { note id } }`,
    expected: (seed) => items(seed, (id) => ({ note: noteOf(id), id })),
    coding: "gzip",
  },
  {
    query: (seed) =>
      `{ items(seed: ${seed}) { a: text b: text note } same: items(seed: ${seed}) { a: text b: text note } }`,
    expected(seed) {
      const list = idsOf(seed).map((id) => ({ a: textOf(id), b: textOf(id), note: noteOf(id) }));
      return { data: { items: list, same: list } };
    },
  },
  {
    query: (seed) => `{ items(seed: ${seed}) { text mine } }`,
    expected: (seed) => items(seed, (id) => ({ text: textOf(id), mine: noteOf(`${id}Bearer ada`) })),
    token: "ada",
    coding: "br",
  },
  {
    query: (seed) => `mutation { touch(seed: ${seed}) { text note } }`,
    expected: (seed) => ({ data: { touch: idsOf(seed).map((id) => ({ text: textOf(id), note: noteOf(id) })) } }),
  },
];

async function sendKind({ query, expected, token, coding }: Kind, seed: number): Promise<void> {
  const { body } = await gateway.send(query(seed), {
    headers: {
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
      "accept-encoding": coding ?? "identity",
    },
  });
  expect(body.errors).toBe(undefined);
  // Printed, a difference would have megabytes.
  expect(isDeepStrictEqual(body, expected(seed))).toBe(true);
}

test("generated requests that share, join and repeat fetches of long bodies get whole responses", async () => {
  const dice = createDice(Array.from({ length: 997 }, (_, i) => (i * 7_919) % 10_007));
  for (let round = 0; round < 12; round++) {
    const requests = Array.from({ length: 30 }, () => {
      const kind = kinds[dice.roll(kinds.length)] as Kind;
      // Few seeds: equal requests, and different ones that need the same entities.
      return sendKind(kind, dice.roll(4));
    });
    await Promise.all(requests);
  }
});

test("the body of a joined request is not released, since several requests have a part of it", async () => {
  let held: (() => void)[] = [];
  catalog.fault = async (response, _body, _request, resolveCorrectly) => {
    const text = JSON.stringify(await resolveCorrectly());
    held.push(() => respondJson(response, 200, text));
    if (held.length === 2) for (const respond of held) respond();
  };
  const [, kind] = kinds as readonly [Kind, Kind];
  // On a busy machine the gateway may read the two responses in different iterations, and then joins nothing.
  do {
    held = [];
    notes.requests.length = 0;
    await Promise.all([sendKind(kind, 2), sendKind(kind, 3)]);
  } while (notes.requests.length > 1);
  catalog.fault = undefined;
});

test("the body of a subgraph and that of the client are released, unless other requests have them", async () => {
  const { transfer } = ArrayBuffer.prototype;
  let releasedBytes = 0;
  vi.spyOn(ArrayBuffer.prototype, "transfer").mockImplementation(function (this: ArrayBuffer, length) {
    releasedBytes += this.byteLength;
    return transfer.call(this, length);
  });
  const [kind] = kinds as readonly [Kind];
  const bodyBytes = Buffer.byteLength(JSON.stringify(kind.expected(3)));
  await sendKind(kind, 3);
  // Both have about this length.
  await expect.poll(() => releasedBytes).toBeGreaterThan(1.9 * bodyBytes);
  releasedBytes = 0;
  await Promise.all([sendKind(kind, 3), sendKind(kind, 3)]);
  expect(releasedBytes).toBeLessThan(bodyBytes);
});
