import { expect, test } from "vitest";
import { readOptions } from "../scripts/start/options.ts";
import { readArguments } from "../scripts/token.ts";
import { serviceNames } from "./services.ts";

// The command lines of `npm start` and `npm run token`: an invalid one is rejected with the usage before anything runs.

test.each([
  [["--scal", "2"], "'--scal'"],
  [["--scale", "0"], 'from 1 to 100, not "0"'],
  [["--scale", "1e2"], 'not "1e2"'],
  [["--only", "posts, nope"], 'does not know "nope"'],
  [["posts"], "'posts'"],
  [["--fresh", "posts,gateway"], '--fresh does not know "gateway". The services are users'],
  [["--fresh", "posts", "--only", "users"], "--fresh cannot seed posts"],
  [["--mock", "posts,gateway"], '--mock does not know "gateway". The services are users'],
  [["--only", "posts,orders", "--mock", "orders"], "--only starts orders, and --mock replaces it"],
  [["--against", "https://gateway.example"], "--against needs --only"],
  [["--only", "posts", "--against", "gateway.example"], 'not "gateway.example"'],
  [["--only", "posts", "--against", "https://ada:x@gateway.example"], "--against takes an http(s) URL"],
  [["--only", "posts,issuer", "--against", "https://gateway.example"], "remove issuer from --only"],
  [["--only", serviceNames.join(","), "--against", "https://gateway.example"], "has nothing to do"],
  [["--only", "posts", "--against-rest", "https://rest.example"], "--against-rest needs --against"],
  [
    ["--only", "posts", "--against", "https://gateway.example", "--against-rest", "https://rest.example/v2"],
    "takes scheme, host and port only: https://rest.example",
  ],
])("npm start -- %j is rejected", (args, message) => {
  expect(() => readOptions(args)).toThrow(message);
  expect(() => readOptions(args)).toThrow("Usage: npm start");
});

test("npm start --fresh, without --, is rejected: npm takes the option for itself", () => {
  for (const [name, value] of [
    ["npm_config_scale", "true"],
    ["npm_config_fresh", "true"],
    ["npm_config_against_rest", "https://rest.example"],
  ] as const)
    expect(() => readOptions([], { [name]: value })).toThrow("npm start -- --");
});

test("npm start starts the requested parts in the order of the parts list", () => {
  expect(readOptions(["--only", "gateway, posts", "--scale", "100"])).toMatchObject({
    only: ["posts", "gateway"],
    scale: 100,
    fresh: [],
  });
});

test("npm start -- --fresh deletes all databases, or only those of the services after it", () => {
  expect(readOptions(["--fresh"]).fresh).toBe("all");
  expect(readOptions(["--fresh", "posts"]).fresh).toEqual(["posts"]);
  expect(readOptions(["--fresh", "posts,users", "orders", "--scale", "2"])).toMatchObject({
    fresh: serviceNames.filter((name) => ["users", "posts", "orders"].includes(name)),
    scale: 2,
  });
});

test("npm start -- --against starts one service, gateway and REST proxy, and sends the rest to the remote", () => {
  const args = ["--only", "posts", "--mock", "orders", "--against", "https://gateway.example"];
  expect(readOptions(args)).toMatchObject({
    only: ["posts", "gateway", "rest-proxy"],
    substitutes: new Map(
      serviceNames.filter((name) => name !== "posts").map((name) => [name, name === "orders" ? "mock" : "remote"]),
    ),
    remote: { graphqlUrl: "https://gateway.example/graphql", restUrl: undefined },
  });
  const other = [
    "--only",
    "gateway",
    "--against",
    "http://localhost:7000/api/graphql",
    "--against-rest",
    "http://localhost:7010",
  ];
  expect(readOptions(other)).toMatchObject({
    only: ["gateway", "rest-proxy"],
    remote: { graphqlUrl: "http://localhost:7000/api/graphql", restUrl: "http://localhost:7010" },
  });
});

test("npm start -- --mock starts everything else", () => {
  expect(readOptions(["--mock", "orders, comments"])).toMatchObject({
    only: ["issuer", ...serviceNames.filter((name) => !["comments", "orders"].includes(name)), "gateway", "rest-proxy"],
    substitutes: new Map([
      ["comments", "mock"],
      ["orders", "mock"],
    ]),
    remote: undefined,
  });
  expect(readOptions(["--only", "posts"])).toMatchObject({ only: ["posts"], substitutes: new Map() });
});

test.each([
  [[], "Usage"],
  [["ada", "grace"], "Usage"],
  [["ada", "--ttl", "1m"], "--ttl must be a number of seconds"],
  [["ada", "--scopes", "x"], "'--scopes'"],
])("npm run token -- %j is rejected", (args, message) => {
  expect(() => readArguments(args)).toThrow(message);
  expect(() => readArguments(args)).toThrow("Usage: npm run -s token");
});

test("npm run token requests scopes and a lifetime", () => {
  expect(readArguments(["ada", "--scope", "a b", "--ttl", "60"])).toEqual({
    user: "ada",
    scope: "a b",
    ttlSeconds: 60,
  });
});
