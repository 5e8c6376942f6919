import { expect, test } from "vitest";
import { createVersionChooser, mediaTypeOf } from "./accept-version.ts";
import { readDate, readRetirements } from "./retirement.ts";
import { createRouteTable } from "./route-table.ts";
import type { Route } from "./routes.ts";
import { createUsage } from "./usage.ts";
import { createVersionResolver, splitVersion } from "./version.ts";

test("a path names a version or none", () => {
  expect(splitVersion("/v1/things")).toEqual({ version: 1, path: "/things" });
  expect(splitVersion("/v12/things/7")).toEqual({ version: 12, path: "/things/7" });
  expect(splitVersion("/v1/v2/things")).toEqual({ version: 1, path: "/v2/things" });
  for (const path of ["/things", "/v0/a", "/v01/a", "/V1/a", "/v1", "/v1000/a", "/v1.0/a", "/v%31/a", "/v-1/a"])
    expect(splitVersion(path)).toEqual({ version: undefined, path });
});

const v2 = "application/vnd.tributary.v2+json";
const any = undefined;

/** `/things` exists in 1 and 2, `/olds` in 1, `/news` in 2; the default is 1. */
test.each([
  // Method, path, Accept, result.
  ["GET", "/things", any, "v1 json negotiated"],
  ["GET", "/things", v2, "v2 vendor negotiated"],
  ["GET", "/things", "application/json;version=2", "v2 json negotiated"],
  ["GET", "/things", "application/json;version=3", "NOT_ACCEPTABLE"],
  ["GET", "/things", "text/html", "NOT_ACCEPTABLE"],
  ["GET", "/v1/things", any, "v1 json"],
  ["GET", "/v1/things", v2, "NOT_ACCEPTABLE"],
  ["GET", "/v1/things", "text/html", "NOT_ACCEPTABLE"],
  ["GET", "/v2/things", "application/json", "v2 json"],
  ["GET", "/v2/things", v2, "v2 vendor"],
  ["GET", "/v3/things", any, "NOT_FOUND"],
  ["GET", "/v3/things", "application/json;version=3", "NOT_FOUND"],
  ["GET", "/v3/things", "text/html", "NOT_FOUND"],
  ["GET", "/olds", any, "v1 json negotiated"],
  ["GET", "/olds", v2, "NOT_ACCEPTABLE"],
  ["GET", "/news", any, "NOT_FOUND"],
  ["GET", "/news", "application/json;q=0.5", "NOT_FOUND"],
  ["GET", "/news", v2, "v2 vendor negotiated"],
  ["GET", "/nothing", any, "NOT_FOUND"],
  ["GET", "/nothing", v2, "NOT_FOUND"],
  ["GET", "/nothing", "text/html", "NOT_FOUND"],
  ["OPTIONS", "/things", "text/html", "v1 json negotiated"],
  ["OPTIONS", "/news", any, "v2 json negotiated"],
  ["OPTIONS", "/v2/news", "text/html", "v2 json"],
  ["OPTIONS", "/nothing", any, "NOT_FOUND"],
])("%s %s with %s is %s", (method, path, accept, expected) => {
  const route = (name: string, versions: readonly number[]): Route => ({
    id: name,
    method: "GET",
    path: `/${name}`,
    versions,
    query: [],
    cache: "none",
    priority: "normal",
    service: "things",
    summary: name,
  });
  const table = createRouteTable([route("things", [1, 2]), route("olds", [1]), route("news", [2])]);
  const find = createVersionResolver({ table, defaultVersion: 1 });
  const describe = () => {
    const { version, media, isNegotiated } = find({ method, path, accept });
    return `v${version} ${media}${isNegotiated ? " negotiated" : ""}`;
  };
  if (expected.startsWith("v")) expect(describe()).toBe(expected);
  else expect(describe).toThrow(expect.objectContaining({ code: expected }));
});

const vendor = (version: number) => mediaTypeOf(version, "vendor");

/** The choice, such as `v2 vendor`. Versions 1 and 2 are offered, and 1 is the default. */
function choose(accept: string | undefined, offered = [1, 2], defaultVersion = 1): string {
  const chosen = createVersionChooser()(accept, offered, defaultVersion);
  return chosen.kind === "chosen" ? `v${chosen.version} ${chosen.media}` : chosen.kind;
}

test.each([
  undefined,
  "",
  " ",
  ",",
  "*/*",
  "application/json",
  "application/*",
  "Application/JSON",
  "application/json;charset=utf-8",
  "text/html, application/xhtml+xml, */*;q=0.8",
  "text/html, image/gif, *; q=.2, */*; q=.2",
  "application/json;q=1.000",
  "application/json;q=nonsense",
  `application/json;profile="a,b;c\\"d"`,
])("%s means the default version", (accept) => {
  expect(choose(accept)).toBe("v1 json");
  expect(choose(accept, [1, 2], 2)).toBe("v2 json");
});

test.each([
  [vendor(2), "v2 vendor"],
  ["APPLICATION/VND.TRIBUTARY.V2+JSON", "v2 vendor"],
  [`${vendor(2)};charset=utf-8`, "v2 vendor"],
  [`${vendor(2)};version=2`, "v2 vendor"],
  ["application/json;version=2", "v2 json"],
  ['application/json; version="2"', "v2 json"],
  ['application/json; Version="\\2"', "v2 json"],
  ["application/json;charset=utf-8;version=2;q=0.1", "v2 json"],
  ["application/json;q=0.1;version=2", "v2 json"],
  ["*/*;version=2", "v2 json"],
  ["application/*;version=2", "v2 json"],
  [`${vendor(1)};q=0.5, ${vendor(2)};q=0.6`, "v2 vendor"],
  [`${vendor(1)}, ${vendor(2)}`, "v1 vendor"],
  [`${vendor(2)}, ${vendor(1)}`, "v2 vendor"],
  [`application/json, ${vendor(2)}`, "v2 vendor"],
  [`application/json, ${vendor(2)};q=0.9`, "v1 json"],
  [`${vendor(9)}, */*;q=0.1`, "v1 json"],
  ["application/json;version=9, application/json;q=0.1", "v1 json"],
  ["application/json;q=0, */*", "v1 vendor"],
  [`${vendor(1)};q=0, application/json;q=0, ${vendor(2)};q=0.001`, "v2 vendor"],
])("%s is %s", (accept, expected) => {
  expect(choose(accept)).toBe(expected);
});

test.each([
  "text/html",
  "json",
  "*",
  "application/xml;q=1",
  "application/json;q=0",
  "*/*;q=0",
  "*/*, application/*;q=0",
  "application/json;version=3",
  "application/json;version=02",
  "application/json;version=",
  "application/json;version=2.0",
  `${vendor(2)};version=1`,
  "application/vnd.tributary.v0+json",
  "application/vnd.tributary.v2",
  "application/vnd.tributary+json",
  '"application/json"',
])("%s matches no media type of the API", (accept) => {
  expect(choose(accept)).toBe("not-acceptable");
});

test("in a path with a version, ranges that name another version do not match", () => {
  expect(choose("application/json", [2], 2)).toBe("v2 json");
  expect(choose(vendor(2), [2], 2)).toBe("v2 vendor");
  expect(choose(vendor(1), [2], 2)).toBe("not-acceptable");
  expect(choose("application/json;version=1", [2], 2)).toBe("not-acceptable");
  expect(choose("application/json;version=1, */*;q=0.1", [2], 2)).toBe("v2 json");
});

test("the default version is unknown where it is not offered, even if another version is", () => {
  expect(choose("*/*", [2], 1)).toBe("unknown");
  expect(choose("application/json;q=0.5", [2], 1)).toBe("unknown");
  expect(choose(`${vendor(2)};q=0.5, */*`, [2], 1)).toBe("v2 vendor");
  expect(choose(vendor(1), [2], 1)).toBe("not-acceptable");
});

test("choices depend on the offered versions, and many headers evict old ones", () => {
  const chooser = createVersionChooser();
  const first = chooser(vendor(2), [1, 2], 1);
  expect(chooser(vendor(2), [1, 2], 1)).toBe(first);
  expect(chooser(vendor(2), [2], 2)).not.toBe(first);
  for (let i = 0; i < 2_000; i++) chooser(`application/json;a=${i}`, [1, 2], 1);
  expect(chooser(vendor(2), [1, 2], 1)).not.toBe(first);
  expect(chooser(vendor(2), [1, 2], 1)).toEqual(first);
  const long = `${vendor(2)};a=${"x".repeat(300)}`;
  expect(chooser(long, [1, 2], 1)).toEqual(first);
  expect(chooser(long, [1, 2], 1)).not.toBe(chooser(long, [1, 2], 1));
});

const today = Date.UTC(2030, 0, 1, 12);

test.each([
  ["2030-01-31", Date.UTC(2030, 0, 31)],
  ["2030-01-31T23:59:59Z", Date.UTC(2030, 0, 31, 23, 59, 59)],
  ["-1d", Date.UTC(2029, 11, 31, 12)],
  ["+31d", Date.UTC(2030, 1, 1, 12)],
  ["+0d", today],
])("%s is a date", (text, expected) => {
  expect(readDate(text, today + 999)).toBe(expected);
});

test.each(["", "tomorrow", "1d", "+1", "+1.5d", "2030-13-01", "2030-02-30", "2030-1-1", "2030-01-01T00:00:00"])(
  "%j is no date",
  (text) => {
    expect(readDate(text, today)).toBeUndefined();
  },
);

test("lists of deprecation and sunset dates are joined by version", () => {
  const problems: string[] = [];
  const read = (deprecated: readonly string[], sunset: readonly string[]) =>
    readRetirements({ deprecated, sunset }, today, (problem) => problems.push(problem));
  expect(read(["1=-1d", "2=2031-01-01"], ["1=2030-06-01"])).toEqual([
    { version: 1, deprecatedAtMs: today - 86_400_000, sunsetAtMs: Date.UTC(2030, 5, 1) },
    { version: 2, deprecatedAtMs: Date.UTC(2031, 0, 1), sunsetAtMs: undefined },
  ]);
  expect(problems).toEqual([]);
  read(["1", "0=+1d", "v1=+1d", "1=soon", "3=+2d"], ["3=+1d"]);
  expect(problems).toHaveLength(5);
  expect(problems.at(-1)).toBe("the sunset of version 3 is before its deprecation");
});

test("requests for versions older than the newest are counted by client and route", () => {
  const usage = createUsage({ knownClients: ["shop", "app"], newestVersion: 2 });
  usage.count(1, "getThing", "shop");
  usage.count(1, "getThing", "shop");
  usage.count(1, "getThing", "app");
  usage.count(1, "listThings", "unknown");
  usage.count(1, "listThings", undefined);
  usage.count(2, "getThing", "shop");
  expect(usage.read()).toEqual([
    { version: 1, route: "getThing", client: "shop", requests: 2 },
    { version: 1, route: "getThing", client: "app", requests: 1 },
    { version: 1, route: "listThings", client: "other", requests: 1 },
    { version: 1, route: "listThings", client: "unnamed", requests: 1 },
  ]);
});

test("unknown names are counted together, however many there are", () => {
  const usage = createUsage({ knownClients: ["shop"], newestVersion: 2 });
  for (let i = 0; i < 1_000; i++) usage.count(1, "getThing", `shop${i}`);
  usage.count(1, "getThing", "__proto__");
  expect(usage.read()).toEqual([{ version: 1, route: "getThing", client: "other", requests: 1_001 }]);
});
