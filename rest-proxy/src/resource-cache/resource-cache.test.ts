import { expect, test } from "vitest";
import { createRouteTable } from "../route/route-table.ts";
import { createKeysOf, createLookup } from "./resource-cache.ts";

test("Accept selects no variant, Accept-Encoding selects by the chosen coding, and other fields by their normal form", () => {
  const headers = {
    ...{ accept: "text/x", "accept-encoding": "br;q=0.1", "accept-language": "de-AT , en" },
    ...{ authorization: "Bearer a", "x-many": ["1", "2"] },
  };
  const { key, varyValueOf } = createLookup({ headers }, { service: "things" }, "/v1/a", "br");
  expect(key).toBe("/v1/a");
  expect(
    ["accept", "accept-encoding", "accept-language", "authorization", "x-many", "x-none"].map(varyValueOf),
  ).toEqual([undefined, "br", "de-at,en", "Bearer a", "1,2", undefined]);
});

test.each([
  ["/v2/things/7", "/v1/things", ["/v1/things/7", "/v2/things/7"]],
  ["/things/7", "/v1/things", ["/v1/things/7", "/v2/things/7"]],
  ["7?a=1#b", "/v1/things/", ["/v1/things/7", "/v2/things/7"]],
  ["/v1/things/caf%c3%a9", "/v1/things", ["/v1/things/caf%C3%A9", "/v2/things/caf%C3%A9"]],
  ["/v1/things/7", "/v1/things/7?a=1", ["/v1/things/7", "/v2/things/7"]],
  ["//evil.example/v1/things/7", "/v1/things", []],
  ["https://evil.example/v1/things/7", "/v1/things", []],
  ["http://[", "/v1/things", []],
  ["/v1/nothing", "/v1/things", []],
])("the reference %s in a response of %s has the keys %j", (reference, key, expected) => {
  const declared = { query: [], cache: "none", service: "things", summary: "", versions: [1, 2] } as const;
  const table = createRouteTable([{ ...declared, id: "getThing", method: "GET", path: "/things/:id" }]);
  expect(createKeysOf(table)(reference, key)).toEqual(expected);
});
