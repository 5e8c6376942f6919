import { expect, test } from "vitest";
import { createUsage } from "./usage.ts";

test("requests for versions older than the newest are counted by client and route", () => {
  const usage = createUsage({ knownClients: ["shop", "app"], newestVersion: 2 });
  const shop = { "x-client-name": "shop" };
  usage.count(1, "getThing", shop);
  usage.count(1, "getThing", shop);
  usage.count(1, "getThing", { "apollographql-client-name": "app", ...shop });
  usage.count(1, "listThings", { "x-client-name": "stranger" });
  usage.count(1, "listThings", {});
  usage.count(2, "getThing", shop);
  expect(usage.read()).toEqual([
    { version: 1, route: "getThing", client: "shop", requests: 2 },
    { version: 1, route: "getThing", client: "app", requests: 1 },
    { version: 1, route: "listThings", client: "other", requests: 1 },
    { version: 1, route: "listThings", client: "unnamed", requests: 1 },
  ]);
});

test("unknown names are counted together, however many there are", () => {
  const usage = createUsage({ knownClients: ["shop"], newestVersion: 2 });
  for (let i = 0; i < 1_000; i++) usage.count(1, "getThing", { "x-client-name": `shop${i}` });
  usage.count(1, "getThing", { "x-client-name": "__proto__" });
  expect(usage.read()).toEqual([{ version: 1, route: "getThing", client: "other", requests: 1_001 }]);
});
