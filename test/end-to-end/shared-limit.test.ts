// The gateway and the REST proxy share the rate limit of a caller through a real server of Valkey or Redis.
import { afterAll, beforeAll, describe, expect, inject, test } from "vitest";
import { findStoreProgram, startStoreServer, type StoreServer } from "../../kit/src/testing/store-server.ts";
import { type Platform, startPlatform } from "./platform.ts";

const program = findStoreProgram();
const limitPerMinute = 300;

test.runIf(program === undefined)("skipped: install Debian's redis-server or valkey-server to run this test", () => {});

describe.skipIf(program === undefined)("with a store", () => {
  let store: StoreServer;
  let platform: Platform;
  beforeAll(async () => {
    store = await startStoreServer(program ?? "");
    platform = await startPlatform(
      inject("postgresUrl"),
      undefined,
      {},
      {
        RATE_LIMIT_STORE_URL: store.url,
        RATE_LIMIT_READS_PER_MINUTE: String(limitPerMinute),
        RATE_LIMIT_PROCESSES_MIN: "2",
        RATE_LIMIT_EXEMPT: "none",
      },
    );
  });
  afterAll(async () => {
    await platform.stop();
    await store.kill();
  });

  test("a caller who has used up the limit at the REST proxy is rejected by the gateway", async () => {
    let userId = 1;
    // Another caller for each try, since the two need a while to connect to the store.
    const useUp = async () => {
      const token = await platform.tokenOf(String(userId++));
      const atProxy = await countServed(async () => (await platform.rest("GET", "/v2/products", { token })).status);
      const headers = { accept: "application/graphql-response+json" };
      const atGateway = await countServed(
        async () => (await platform.graphql("{ __typename }", { token, headers })).status,
      );
      return { isLimitServed: atProxy >= limitPerMinute * 0.9, isMoreServed: atGateway > limitPerMinute * 0.2 };
    };
    await expect.poll(useUp).toEqual({ isLimitServed: true, isMoreServed: false });
  });
});

async function countServed(send: () => Promise<number>): Promise<number> {
  for (let served = 0; ; served++) if ((await send()) === 429) return served;
}
