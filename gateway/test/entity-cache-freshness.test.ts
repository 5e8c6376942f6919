import { setTimeout as wait } from "node:timers/promises";
import { createReceipts } from "@tributary/kit/consistency/receipts";
import { writePositionHeader } from "@tributary/kit/consistency/write-position-header";
import { type WritePosition, writeWritePosition } from "@tributary/kit/feed/position";
import { describe, expect, onTestFinished, test } from "vitest";
import { type Fault, respondJson } from "./helpers/subgraphs.ts";
import { rated, setUpEntityCache, starsOfAll } from "./helpers/entity-caching.ts";

// When results of the entity cache may still be used: after changes of the feed, with receipts, and after mutations of the same gateway.

const platform = setUpEntityCache();
const { books, read } = platform;

describe("freshness", () => {
  test("a change of a group invalidates the entities in it, and no others", async () => {
    await fill();
    books.ratings["b2"] = 5;
    await change("stars:b2", "stars:b9");
    expect(await read(starsOfAll)).toEqual(rated(1, 5, 3));
    expect(books.sent()[1]).toEqual(["b2", "anonymous"]);
  });

  test("a reset of the feed invalidates everything of the service", async () => {
    await fill();
    books.ratings = { b1: 4, b2: 4, b3: 4 };
    platform.feed.reset();
    await expect.poll(() => platform.gateway.cacheSizes().entities.entries).toBe(0);
    expect(await read(starsOfAll)).toEqual(rated(4, 4, 4));
  });

  test.each([
    ["a change of its group", () => change("stars:b2"), 2],
    ["a reset", () => change("reset"), 0],
  ])(
    "a result whose request was sent before %s is not stored, and later requests do not wait for it",
    async (_, invalidate, stored) => {
      const release = books.hold();
      const early = read(starsOfAll);
      await expect.poll(() => books.stars.requests.length).toBe(1);
      await invalidate();
      books.ratings["b2"] = 5;
      books.released = Promise.resolve();
      expect(await read("{ best { isbn stars } }")).toEqual({ data: { best: { isbn: "b2", stars: 5 } } });
      await change("stars:b2");
      release();
      expect((await early).data.books).toHaveLength(3);
      expect(platform.gateway.cacheSizes().entities.entries).toBe(stored);
      expect(await read(starsOfAll)).toEqual(rated(1, 5, 3));
    },
  );

  test("a read shares no equal read that was sent before a change", async () => {
    const release = books.hold();
    const early = read(starsOfAll);
    await expect.poll(() => books.stars.requests.length).toBe(1);
    books.ratings["b2"] = 5;
    await change("stars:b9");
    const late = read(starsOfAll);
    await expect.poll(() => books.stars.requests.length).toBe(2);
    release();
    expect([(await early).data, (await late).data]).toEqual([rated(1, 2, 3).data, rated(1, 5, 3).data]);
  });

  test("while the feed is down, results are used for two seconds", async () => {
    platform.feed.goDown();
    await platform.gateway.seen("feed-state", 2);
    await fill();
    expect(books.stars.requests).toHaveLength(1);
    await wait(2_050);
    await read(starsOfAll);
    expect(books.stars.requests).toHaveLength(2);
    platform.feed.goUp();
    await platform.gateway.seen("feed-state", 3);
    await read(starsOfAll);
    expect(books.stars.requests).toHaveLength(2);
  });

  describe("while the service fails, its stored results are used,", () => {
    const failed = (code: string) => ({ errors: [{ message: "down", extensions: { code } }], data: null });
    const failures: readonly (readonly [string, Fault])[] = [
      ["does not respond", (response) => void response.destroy()],
      ["sends an HTML page", (response) => void response.writeHead(502).end("<h1>nginx</h1>")],
      [
        "has lost its database",
        (response) => respondJson(response, 200, JSON.stringify(failed("SERVICE_UNAVAILABLE"))),
      ],
    ];

    async function goDown(fault: Fault): Promise<void> {
      await fill();
      platform.feed.goDown();
      await platform.gateway.seen("feed-state", 2);
      onTestFinished(() => platform.feed.goUp());
      await wait(2_050);
      books.stars.fault = fault;
    }

    test.each(failures)("if it %s, for every caller", async (_, fault) => {
      await goDown(fault);
      for (const token of [undefined, await platform.tokenOf("ada")])
        expect(await read(starsOfAll, token)).toEqual(rated(1, 2, 3));
      expect(await read("{ best { isbn stars } books { isbn stars } }")).toMatchObject({
        data: { best: { stars: 2 }, books: rated(1, 2, 3).data.books },
      });
    });

    test("but not for a read with a receipt, and only if all that it needs is stored", async () => {
      await goDown((response) => void response.destroy());
      const write = platform.feed.write();
      const receipt = createReceipts(["for-development-only"]).write([], [{ service: "stars", ...write }]);
      const body = await read(starsOfAll, undefined, {}, { "consistency-token": receipt });
      expect(body).toMatchObject({ errors: [{ extensions: { code: "SUBGRAPH_UNAVAILABLE" } }, {}, {}] });
      expect(await read("{ books { isbn stars secret } }")).toMatchObject({
        data: { books: [1, 2, 3].map(() => ({ stars: null, secret: null })) },
      });
    });

    test("but none that a change has invalidated", async () => {
      await fill();
      await change("stars:b2");
      books.stars.fault = (response) => void response.destroy();
      expect(await read(starsOfAll)).toMatchObject({ errors: [{}, {}, {}] });
      expect(await read("{ books { isbn } }")).toMatchObject({ data: { books: [{}, {}, {}] } });
    });
  });

  test("reads within a mutation are sent, and are not stored", async () => {
    await read(starsOfAll);
    expect(await read("mutation { stock { isbn stars } }")).toEqual({ data: { stock: { isbn: "b1", stars: 1 } } });
    expect(books.sent().at(-1)).toEqual(["b1", "anonymous"]);
    expect(books.stars.requests.at(-1)?.body).not.toHaveProperty("extensions");
  });

  test("a read with a receipt uses no result from before its write", async () => {
    await fill();
    const write = platform.feed.write();
    const receipt = createReceipts(["for-development-only"]).write([], [{ service: "stars", ...write }]);
    books.ratings["b1"] = 5;
    expect(await read(starsOfAll, undefined, {}, { "consistency-token": receipt })).toEqual(rated(5, 2, 3));
    // It was stored, without an invalidation.
    expect(await read(starsOfAll)).toEqual(rated(5, 2, 3));
    expect(books.stars.requests).toHaveLength(2);
    platform.feed.change();
    expect(await read(starsOfAll, undefined, {}, { "consistency-token": receipt })).toEqual(rated(5, 2, 3));
    expect(books.stars.requests).toHaveLength(2);
  });

  test("a read uses no result from before a mutation of this process, without a receipt", async () => {
    await fill();
    await rate("b1", platform.feed.write());
    expect(await read(starsOfAll)).toEqual(rated(5, 2, 3));
    platform.feed.change("stars:b1");
    expect(await read(starsOfAll)).toEqual(rated(5, 2, 3));
    const count = books.stars.requests.length;
    expect(await read(starsOfAll)).toEqual(rated(5, 2, 3));
    expect(books.stars.requests).toHaveLength(count);
  });

  test("a mutation of this process without an epoch invalidates everything of the service", async () => {
    await fill();
    await rate("b1", { ...platform.feed.write(), epoch: undefined });
    expect(platform.gateway.cacheSizes().entities.entries).toBe(0);
    expect(await read(starsOfAll)).toEqual(rated(5, 2, 3));
    expect(await read(starsOfAll)).toEqual(rated(5, 2, 3));
    expect(books.sent().slice(2)).toEqual([["b1 b2 b3", "anonymous"]]);
  });

  test("nor does one of another epoch, which the feed never delivers, turn the cache off", async () => {
    await fill();
    await rate("b1", { ...platform.feed.write(), epoch: "11111111-1111-4111-8111-111111111111" });
    for (let i = 0; i < 3; i++) expect(await read(starsOfAll)).toEqual(rated(5, 2, 3));
    expect(books.sent().slice(2)).toEqual([["b1 b2 b3", "anonymous"]]);
  });

  test("a read uses no result from before a mutation whose response cannot be decoded", async () => {
    await fill();
    const position = writeWritePosition(platform.feed.write());
    books.stars.fault = (response) => {
      books.ratings["b1"] = 5;
      respondJson(response, 200, "x", { "content-encoding": "snappy", [writePositionHeader]: position });
    };
    await read('mutation { rate(isbn: "b1", stars: 5) { isbn } }');
    books.stars.fault = books.respondWithMetadata;
    expect(await read(starsOfAll)).toEqual(rated(5, 2, 3));
  });

  test("while the feed is down, a mutation excludes only the results from before it", async () => {
    platform.feed.goDown();
    onTestFinished(() => platform.feed.goUp());
    await platform.gateway.seen("feed-state", 2);
    await fill();
    await rate("b1", platform.feed.write());
    const count = books.stars.requests.length;
    for (let i = 0; i < 3; i++) expect(await read(starsOfAll)).toEqual(rated(5, 2, 3));
    expect(books.stars.requests).toHaveLength(count + 1);
    books.stars.fault = (response) => void response.destroy();
    expect(await read(starsOfAll)).toEqual(rated(5, 2, 3));
  });

  test("a read with a receipt of another service uses the cache", async () => {
    await read(starsOfAll);
    const write = { service: "shelf", ...platform.feed.write() };
    const receipt = createReceipts(["for-development-only"]).write([], [write]);
    await read(starsOfAll, undefined, {}, { "consistency-token": receipt });
    expect(books.stars.requests).toHaveLength(1);
  });
});

/** The entities are stored by the first read, and composed to a whole result by the second one, which the third one gets. */
async function fill(): Promise<void> {
  for (let i = 0; i < 3; i++) expect(await read(starsOfAll)).toEqual(rated(1, 2, 3));
  expect(books.stars.requests).toHaveLength(1);
}

/** Gives a book five stars, by a mutation whose response has this position. */
async function rate(isbn: string, position: WritePosition): Promise<void> {
  books.stars.fault = (response, ...rest) => {
    response.setHeader(writePositionHeader, writeWritePosition(position));
    return books.respondWithMetadata(response, ...rest);
  };
  await read(`mutation { rate(isbn: "${isbn}", stars: 5) { isbn } }`);
  books.stars.fault = books.respondWithMetadata;
}

/** Sends changes, and waits until the gateway knows them. */
async function change(...groups: readonly string[]): Promise<void> {
  if (groups[0] === "reset") platform.feed.reset();
  else platform.feed.change(...groups);
  await wait(30);
}
