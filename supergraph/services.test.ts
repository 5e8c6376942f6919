import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { DescriptorError, readDescriptors, readServices } from "./services.ts";

const reviews = { name: "reviews", description: "Owns reviews.", team: "@tributary/reviews-team", port: 4005 };
let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "services-"));
});
afterEach(() => rmSync(root, { recursive: true }));

test("a descriptor needs a name, a description, a team and a port, and the rest follows", () => {
  write("line-items", { ...reviews, name: "line-items", port: 4006 });
  write("reviews", reviews);
  mkdirSync(join(root, "services/not-a-service"));
  expect(readServices(root)).toEqual([
    {
      name: "reviews",
      description: "Owns reviews.",
      owner: "@tributary/reviews-team",
      port: 4005,
      feedPort: 4105,
      folder: "services/reviews",
      url: "http://127.0.0.1:4005/graphql",
      variablePrefix: "REVIEWS",
      scopes: {},
      codes: [],
      seed: false,
      external: undefined,
    },
    expect.objectContaining({ name: "line-items", variablePrefix: "LINE_ITEMS" }),
  ]);
});

test.each([
  [{ name: "review" }, 'name is "review", but the folder is services/reviews. Give both the same name.'],
  [{ name: "Reviews" }, "name has to be lower-case words and digits joined by hyphens, such as two-words"],
  [{ name: "a".repeat(31) }, "name has to have at most 30 characters"],
  [{ team: undefined }, "team is required: the team on GitHub, such as @tributary/platform-team"],
  [{ team: "reviews" }, "team has to be a team or a user on GitHub"],
  [{ description: "reviews" }, "description has to be one sentence"],
  [{ port: "4005" }, "port is required: a port that no other service has"],
  [{ port: 80 }, "port has to be from 1,024 to 65,435"],
  [{ port: 65_500 }, "port has to be from 1,024 to 65,435: the change feed listens on this port plus 100"],
  [{ port: 4_020 }, "port 4020: 4020 is the port of the issuer. Choose another port."],
  [{ port: 3_910 }, "port 3910: 4010 is the port of the REST proxy. Choose another port."],
  [
    { scopes: { "users:write": "Change users." } },
    'scopes: "users:write" has to begin with the service\'s name, such as',
  ],
  [{ scopes: { "reviews:a:b:c": "Change." } }, 'scopes: "reviews:a:b:c" has to begin with'],
  [{ scopes: { "reviews:write": "" } }, "scopes.reviews:write has to say what the scope allows"],
  [{ codes: "OUT_OF_STOCK" }, "codes has to be a list of error codes"],
  [{ codes: ["CONFLICT", "sold-out"] }, "codes.1 has to be in capitals, such as OUT_OF_STOCK"],
  [{ seed: "yes" }, "seed has to be true or false"],
  [{ ports: 1 }, "ports is unknown. The fields are name, description, team, port, scopes, codes, seed, external."],
  [{ external: {} }, "external.url has to be an origin, such as http://host:8080"],
  [{ external: { url: "http://a:1/graphql" } }, "external.url has to be an origin without credentials and path"],
  [{ external: { url: "http://u:p@a:1" } }, "external.url has to be an origin without credentials and path"],
  [{ external: { url: "http://${X}" } }, "external.url has to be an origin without credentials and path"],
  [{ external: { url: "http://a,b" } }, "external.url has to be an origin without credentials and path"],
  [{ external: { url: "http://a:1", feed: `http://a'b` } }, "external.feed has to be an origin without credentials"],
  [{ external: { url: "http://a:1", image: "reviews" } }, "external.image has to be an image with a tag or a digest"],
  [
    { external: { url: "http://a:1", image: "r:1" } },
    "external.url has to be http://reviews:4005, since external.image",
  ],
  [{ external: { url: "http://a:1", rest: "/api/" } }, "external.rest has to be like /api/v{version}"],
  [{ external: { url: "http://a:1", rest: "/api" } }, "external.versions has to list the versions of the routes"],
  [{ external: { url: "http://a:1", versions: [1] } }, "external.versions has to list the versions of the routes"],
  [
    { external: { url: "http://a:1", rets: "" } },
    "external.rets is unknown. The fields are url, graphql, health, rest",
  ],
  [{ external: { url: "http://a:1", command: "run" } }, "external.command has to be a list of a program and its"],
  [{ seed: true, external: { url: "http://a:1" } }, "seed is for a service whose code is in this repository"],
])("%j is rejected with the file, the field and what to do", (change, message) => {
  write("reviews", { ...reviews, ...change });
  expect(problems()[0]).toContain(`services/reviews/service.json: ${message}`);
});

test.each(["gateway", "migrate-users", "kustomization"])("the name %s is reserved", (name) => {
  write(name, { ...reviews, name });
  expect(problems()[0]).toContain(`services/${name}/service.json: name "${name}" is reserved`);
});

test("a descriptor that is not a JSON object is rejected", () => {
  write("reviews", []);
  expect(problems()).toEqual(["services/reviews/service.json: has to be a JSON object"]);
  writeFileSync(join(root, "services/reviews/service.json"), "{");
  expect(problems()[0]).toContain("services/reviews/service.json: is not valid JSON: ");
});

test("every problem of all descriptors is reported at once, and a port collision names both services", () => {
  write("reviews", reviews);
  write("line-items", { ...reviews, name: "line-items" });
  write("ratings", { ...reviews, name: "ratings", port: 4105, team: "" });
  write("votes", { ...reviews, name: "votes", port: 4105 });
  const [first, ...others] = problems();
  expect(first).toContain("services/ratings/service.json: team has to be");
  expect(others).toEqual([
    "services/reviews/service.json: line-items (services/line-items/service.json) and reviews (services/reviews/service.json) have the same port 4005. Change the port of one of them.",
    expect.stringContaining("and votes (services/votes/service.json) have the same port 4105."),
  ]);
});

test("a problem has the line of its member and the owner", () => {
  mkdirSync(join(root, "services/reviews"), { recursive: true });
  const lines = [
    "{",
    '  "name": "reviews",',
    '  "team": "@tributary/reviews-team",',
    '  "external": { "url": "x" }',
    "}",
  ];
  writeFileSync(join(root, "services/reviews/service.json"), lines.join("\n"));
  expect(readDescriptors(root).problems).toContainEqual({
    message: expect.stringMatching(/^external.url has to be an origin/),
    code: "CONTRACT_INVALID",
    subgraph: "reviews",
    owner: "@tributary/reviews-team",
    file: "services/reviews/service.json",
    line: 4,
    column: 17,
  });
  expect(() => readServices(root)).toThrow(DescriptorError);
});

function write(name: string, descriptor: object): void {
  mkdirSync(join(root, "services", name), { recursive: true });
  writeFileSync(join(root, "services", name, "service.json"), JSON.stringify(descriptor));
}

function problems(): readonly string[] {
  return readDescriptors(root).problems.map(({ file, message }) => `${file}: ${message}`);
}
