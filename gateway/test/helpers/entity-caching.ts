import { startTestIssuer, type TestIssuer } from "@tributary/kit/testing/issuer";
import { startStubFeed, type StubFeed } from "@tributary/kit/testing/stub-feed";
import { afterAll, afterEach, beforeAll, beforeEach, expect } from "vitest";
import { type RunningGateway, startGateway } from "./gateway.ts";
import { createRatedBooks, userIds } from "./rated-books.ts";
import { composeSupergraph } from "./subgraphs.ts";

/**
 * Registers hooks that start the subgraphs and the feed of `stars` once, and a gateway for each test. The gateway caches `stars` and follows its feed.
 * It does not cache `shelf`.
 */
export function setUpEntityCache() {
  const books = createRatedBooks();
  let feed: StubFeed;
  let issuer: TestIssuer;
  let gateway: RunningGateway;

  beforeAll(async () => {
    [feed, issuer] = await Promise.all([startStubFeed(), startTestIssuer(), books.start()]);
  });
  afterAll(() => Promise.all([books.close(), feed.close(), issuer.stop()]));
  beforeEach(async () => {
    books.reset();
    gateway = await start();
  });
  afterEach(async () => {
    await gateway.drain();
    expect(books.stars.invalidDocuments).toEqual([]);
  });

  async function start(environment: Record<string, string> = {}): Promise<RunningGateway> {
    books.stars.requests.length = books.shelf.requests.length = 0;
    const identity = { ISSUER: issuer.issuer, AUDIENCE: issuer.audience, JWKS_URL: issuer.jwksUrl };
    const cache = { ENTITY_CACHE_STARS: "on", SUBGRAPH_FEED_URL_STARS: feed.url };
    const started = await startGateway({
      supergraphSdl: composeSupergraph([books.shelf, books.stars]),
      environment: { ...identity, ...cache, ...environment },
    });
    const { ENTITY_CACHE_STARS, SUBGRAPH_FEED_URL_STARS } = { ...cache, ...environment };
    if (ENTITY_CACHE_STARS === "on" && SUBGRAPH_FEED_URL_STARS !== "none") await started.seen("feed-state");
    return started;
  }

  return {
    books,
    get feed() {
      return feed;
    },
    get gateway() {
      return gateway;
    },
    /** Replaces the gateway by one with other variables. */
    async restart(environment: Record<string, string>): Promise<void> {
      await gateway.drain();
      gateway = await start(environment);
    },
    /** @returns the body of the response. */
    async read(query: string, token?: string, variables: object = {}, headers: Record<string, string> = {}) {
      const authorization = token === undefined ? {} : { authorization: `Bearer ${token}` };
      const { body } = await gateway.send(query, { variables, headers: { ...headers, ...authorization } });
      return body;
    },
    tokenOf: (name: string) => issuer.token(userIds[name] ?? ""),
  };
}

/** The books of `shelf` with their stars. */
export const starsOfAll = "{ books { isbn stars } }";

/** The response to `starsOfAll` for the stars of the three books. */
export function rated(...values: readonly (number | null)[]) {
  return { data: { books: values.map((value, i) => ({ isbn: `b${i + 1}`, stars: value })) } };
}
