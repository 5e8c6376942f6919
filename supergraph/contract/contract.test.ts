import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { composeDocuments } from "../documents/compose-documents.ts";
import { readRoutes } from "../routes/route-sources.ts";
import { mergeRoutes } from "../routes/routes.ts";
import { type Service, toService } from "../services.ts";

const reviews = toService({
  name: "reviews",
  description: "Owns reviews.",
  team: "@tributary/reviews-team",
  port: 4005,
  scopes: { "reviews:write": "Write reviews." },
  codes: [],
  seed: false,
  external: {
    url: "http://reviews:4005",
    graphqlPath: "/graphql",
    healthPath: "/health",
    rest: { prefix: "/rest/v{version}", versions: undefined },
    feedUrl: undefined,
    image: undefined,
    command: undefined,
    metricsPort: undefined,
  },
});
const info = "info: { title: reviews, version: 0.1.0 }";
const overlayHead = "overlay: 1.0.0\ninfo: { title: a, version: '1' }\nactions:\n";
/** As FastAPI writes it: an operationId for each version, nullable members by anyOf, and its own responses for 422. */
const generated = `openapi: 3.1.0
info: { title: reviews, version: 0.1.0 }
paths:
  /health: { get: { operationId: health, responses: { "200": { description: Alive. } } } }
  /rest/v1/reviews/{id}:
    parameters: [{ name: id, in: path, required: true, schema: { type: string, examples: ["1"] } }]
    get:
      operationId: getReviewV1
      summary: One review
      responses: { "200": { description: The review., content: { application/json: { schema: { $ref: "#/components/schemas/ReviewV1" } } } } }
  /rest/v2/reviews/{reviewId}:
    parameters: [{ name: reviewId, in: path, required: true, schema: { type: string } }]
    get:
      operationId: getReviewV2
      summary: A review
      parameters: [{ name: fields, in: query, schema: { type: string } }]
      responses: { "200": { description: The review., content: { application/json: { schema: { $ref: "#/components/schemas/Problem" } } } } }
  /rest/v2/reviews:
    post:
      operationId: create_review_v2
      summary: Write a review
      security: [{ HTTPBearer: [] }]
      requestBody: { content: { application/json: { schema: { $ref: "#/components/schemas/ReviewV1" } } } }
      responses: { "201": { description: Created. }, "422": { description: Invalid. } }
components:
  schemas:
    Problem: { type: object, properties: { inner: { $ref: "#/components/schemas/Problem" } } }
    ReviewV1: { type: object, properties: { title: { anyOf: [{ type: string, examples: [Good] }, { type: "null" }] }, of: { $ref: "#/components/schemas/ReviewV1" } } }
`;
const overlay = `${overlayHead}
  - target: $.paths[*].get
    update: { x-tributary: { cache: public } }
  - target: $.paths['/rest/v2/reviews'].post
    update: { x-tributary: { idempotencyKey: required, priority: normal }, x-scopes: [reviews:write] }
`;
function withResponse(status: string, reference: string): string {
  return `openapi: 3.1.0\n${info}\npaths: { /rest/v1/reviews: { get: { operationId: listReviews, responses: { "${status}": { $ref: "${reference}" } } } } }\n`;
}
/** Each list has nine times the list before it. */
const aliasBomb = [
  "openapi: 3.1.0",
  "paths: {}",
  "a: &a [x]",
  ...Array.from("bcdefghij", (name, index) => `${name}: &${name} [${`*${"abcdefghi"[index]},`.repeat(9)}]`),
].join("\n");
let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "contract-"));
  mkdirSync(join(root, "services/reviews"), { recursive: true });
});
afterEach(() => rmSync(root, { recursive: true }));

test("the operations below /rest/vN are the routes, one for all its versions, with the settings of the overlay", async () => {
  write("openapi.yaml", generated);
  write("openapi.overlay.yaml", overlay);
  expect(await merge()).toEqual({
    ok: true,
    routes: [
      {
        id: "create_review",
        method: "POST",
        path: "/reviews",
        versions: [2],
        query: [],
        cache: "none",
        idempotencyKey: { optional: [], required: [2] },
        priority: "normal",
        service: "reviews",
        summary: "Write a review",
      },
      {
        id: "getReview",
        method: "GET",
        path: "/reviews/:reviewId",
        versions: [1, 2],
        query: ["fields"],
        cache: "public",
        service: "reviews",
        summary: "A review",
      },
    ],
  });
});

test("the routes may have another prefix than /rest/vN, which the table has for the REST proxy", async () => {
  write("openapi.yaml", generated.replaceAll("/rest/v", "/v").replaceAll(/(\/v\d)/g, "$1/api"));
  const merged = await merge([withRest("/v{version}/api")]);
  expect(merged.ok ? merged.routes : merged.errors).toMatchObject([
    { id: "create_review", path: "/reviews", versions: [2], prefix: "/v{version}/api" },
    { id: "getReview", path: "/reviews/:reviewId", versions: [1, 2], prefix: "/v{version}/api" },
  ]);
});

test("routes without a version in their paths have the versions of service.json", async () => {
  write(
    "openapi.overlay.yaml",
    `${overlayHead}  - target: $\n    update: { components: { responses: { All: { description: All. } } } }\n`,
  );
  write(
    "openapi.yaml",
    withResponse("200", "#/components/responses/All")
      .replace("/rest/v1/", "/")
      .replace("operationId", "summary: All, operationId"),
  );
  const service = withRest("", [2, 3]);
  const merged = await merge([service]);
  expect(merged.ok ? merged.routes : merged.errors).toMatchObject([
    { id: "listReviews", path: "/reviews", versions: [2, 3], prefix: "" },
  ]);
  const composed = await composeDocuments(root, [service]);
  const documents = (composed.files ?? []).map(({ content = "" }) => JSON.parse(content) as Document);
  expect(documents.map(({ paths }) => Object.keys(paths))).toEqual([["/reviews"], ["/reviews"]]);
});

test("the platform's documents have the operations, with what the proxy adds; a schema whose name is taken gets another name", async () => {
  write("openapi.yaml", generated);
  write("openapi.overlay.yaml", overlay);
  const composed = await composeDocuments(root, [reviews]);
  expect(composed.ok).toBe(true);
  const [v1, v2] = (composed.files ?? []).map(({ content = "" }) => JSON.parse(content) as Document);
  expect(Object.keys(v1?.paths ?? {})).toEqual(["/reviews/{id}"]);
  expect(v1?.tags).toEqual([{ name: "Reviews", description: "Owns reviews." }]);
  expect(v1?.components.schemas).toHaveProperty("ReviewV1");
  const read = v2?.paths["/reviews/{reviewId}"]?.["get"];
  expect(read).toMatchObject({ operationId: "getReview", description: "A review.", tags: ["Reviews"] });
  expect(read?.security).toEqual([{}, { bearer: [] }]);
  expect(Object.keys(read?.responses ?? {})).toEqual(expect.arrayContaining(["200", "304", "400", "401", "503"]));
  expect(JSON.stringify(read?.responses["200"])).toContain("#/components/schemas/ReviewsProblem");
  expect(v1?.paths["/reviews/{id}"]?.["get"]?.responses["200"]).toMatchObject({
    content: { "application/json": { examples: { made: { value: { title: "Good" } } } } },
  });
  expect(JSON.stringify(v2?.components.schemas["ReviewsProblem"])).toContain("#/components/schemas/ReviewsProblem");
  const write2 = v2?.paths["/reviews"]?.["post"];
  expect(write2).toMatchObject({ security: [{ bearer: [] }], "x-scopes": ["reviews:write"] });
  // Its own; and an example for the form of the reference.
  expect(write2?.responses["422"]).toMatchObject({ description: "Invalid." });
  expect(write2?.requestBody).toMatchObject({
    content: { "application/json": { examples: { made: { value: { title: "Good" } } } } },
  });
});

test("an operation requires the scopes of its security, if it has no x-scopes", async () => {
  write("openapi.yaml", generated.replace("HTTPBearer: []", "HTTPBearer: ['reviews:write']"));
  const composed = await composeDocuments(root, [reviews]);
  const [, v2] = (composed.files ?? []).map(({ content = "" }) => JSON.parse(content) as Document);
  const operation = v2?.paths["/reviews"]?.["post"];
  expect(operation).toMatchObject({ security: [{ bearer: [] }], "x-scopes": ["reviews:write"] });
  expect(v2?.paths["/reviews/{reviewId}"]?.["get"]).not.toHaveProperty("x-scopes");
});

test("schemas that refer to each other do so also if a name is taken", async () => {
  const withCycle = `openapi: 3.1.0
${info}
paths:
  /rest/v2/reviews: { get: { operationId: listReviews, responses: { "200": { description: All., content: { application/json: { schema: { $ref: "#/components/schemas/Problem" } } } } } } }
components:
  schemas:
    Problem: { type: object, properties: { text: { $ref: "#/components/schemas/ReviewsProblem" }, cause: { $ref: "#/components/schemas/Cause" } } }
    Cause: { type: object, properties: { problem: { $ref: "#/components/schemas/Problem" } } }
    ReviewsProblem: { type: string }
`;
  write("openapi.yaml", withCycle);
  const composed = await composeDocuments(root, [reviews]);
  const { components, paths } = JSON.parse(composed.files?.[0]?.content ?? "") as Document;
  expect(JSON.stringify(components.schemas["Cause"])).toContain('"#/components/schemas/ReviewsProblem"');
  expect(JSON.stringify(components.schemas["ReviewsProblem"])).toContain(
    '"#/components/schemas/ReviewsReviewsProblem"',
  );
  expect(components.schemas["ReviewsReviewsProblem"]).toEqual({ type: "string" });
  // Without a summary.
  expect(paths["/reviews"]?.["get"]).toMatchObject({ summary: "listReviews", description: "listReviews." });
});

test("an example may have a reference and servers, as it is data; a discriminator refers to schemas", async () => {
  const example = { $ref: "https://elsewhere.example", servers: [] };
  const mapping = { one: "#/components/schemas/Problem" };
  const schema = { type: "object", discriminator: { propertyName: "kind", mapping } };
  const responses = { "200": { description: "All.", content: { "application/json": { schema, example } } } };
  const paths = { "/rest/v2/reviews": { get: { operationId: "listReviews", responses } } };
  const components = { schemas: { Problem: { type: "object" } } };
  write("openapi.json", JSON.stringify({ openapi: "3.1.0", info: { title: "a", version: "1" }, paths, components }));
  const composed = await composeDocuments(root, [reviews]);
  expect(composed.files?.[0]?.content).toContain("https://elsewhere.example");
  expect(composed.files?.[0]?.content).toContain('"one": "#/components/schemas/ReviewsProblem"');
});

test("an action of the overlay changes nothing but what its own target selects", async () => {
  write("openapi.yaml", generated);
  write(
    "openapi.overlay.yaml",
    `${overlayHead}
  - target: $.paths[*]['get','post']
    update: { x-tributary: { cache: private } }
  - target: $.paths['/rest/v2/reviews'].post
    update: { x-tributary: { cache: public } }
`,
  );
  const merged = await merge();
  expect(merged.ok ? merged.routes.map(({ id, cache }) => [id, cache]) : []).toEqual([
    ["create_review", "public"],
    ["getReview", "private"],
  ]);
});

test("a document of OpenAPI 3.0 is converted, and JSON is read too", async () => {
  const document = generated
    .replace("3.1.0", "3.0.3")
    .replace('{ type: string, examples: ["1"] }', "{ type: string, nullable: true }");
  write("openapi.yaml", document);
  const composed = await composeDocuments(root, [reviews]);
  expect(composed.files?.[0]?.content).toContain('"null"');
  rmSync(join(root, "services/reviews/openapi.yaml"));
  write("openapi.json", JSON.stringify({ openapi: "3.1.0", info: { title: "a", version: "1" }, paths: {} }));
  expect(await merge()).toEqual({ ok: true, routes: [] });
});

describe("all problems of a contract are reported at once, with file and line", () => {
  test("of the document and the overlay", async () => {
    const bad = generated
      .replace("paths:\n", "servers: [{ url: https://elsewhere.example }]\npaths:\n")
      .replace('$ref: "#/components/schemas/Problem"', '$ref: "https://elsewhere.example/a.yaml"')
      .replace("operationId: getReviewV2", "operationId: readReview\n      x-tributary: { cache: public }")
      .replace("    post:\n", "    put: { operationId: put, responses: { default: { description: d } } }\n    post:\n");
    write("openapi.yaml", bad);
    write(
      "openapi.overlay.yaml",
      `${overlayHead}  - target: $.paths['/rest/v2/reviewz'].get\n    update: {}\n  - target: $.paths['/rest/v2/reviews'].post\n    update: { x-tributary: { cache: publik } }\n  - target: $.[\n    remove: true\n`,
    );
    const merged = await merge();
    expect(merged.ok ? [] : merged.errors.map(({ file, line, message }) => `${file}:${line} ${message}`)).toEqual([
      expect.stringMatching(/openapi\.yaml:16 x-tributary belongs in openapi\.overlay\.yaml/),
      expect.stringMatching(/overlay\.yaml:4 \$\.paths\['\/rest\/v2\/reviewz'\]\.get selects nothing/),
      expect.stringMatching(/overlay\.yaml:8 \$\.\[ is not a valid JSONPath/),
      expect.stringMatching(/openapi\.yaml:3 servers is refused/),
      expect.stringMatching(/openapi\.yaml:19 \$ref "https:\/\/elsewhere\.example\/a\.yaml" leaves the document/),
      expect.stringMatching(/openapi\.yaml:21 PUT \/rest\/v2\/reviews is not supported/),
      expect.stringMatching(/openapi\.yaml:22 x-tributary of POST \/rest\/v2\/reviews: cache /),
      expect.stringMatching(/openapi\.yaml:\d+ GET \/reviews\/\{reviewId\}: its versions need one id/),
    ]);
  });

  test.each([
    ["openapi: 3.1.0\npaths: {\n", /openapi\.yaml:\d+ /],
    ["openapi: 3.1.0\npaths: {}\npaths: {}\n", /Map keys must be unique/],
    ["- a list\n", /has to be an OpenAPI document/],
    ["swagger: '2.0'\npaths: {}\n", /openapi has to be 3.0 or 3.1/],
    ["openapi: 3.1.0\npaths: []\n", /paths has to be an object/],
    [
      withResponse("default", "https://elsewhere.example/a.yaml"),
      /openapi\.yaml:3 \$ref "https:.* leaves the document/,
    ],
    [withResponse("404", "#/components/responses/Missing"), /openapi\.yaml:3 \$ref ".*\/Missing" .* nothing/],
    [withResponse("404", "#/components/responses/100%"), /openapi\.yaml:3 \$ref ".*100%" .* nothing/],
    [generated.replace("description: Alive.", "description: 200"), /openapi\.yaml:4 description has to be a text/],
    [generated.replace("summary: A review", "summary:"), /openapi\.yaml:15 summary has to be a text/],
    [
      generated.replace(
        'inner: { $ref: "#/components/schemas/Problem"',
        'inner: { $ref: "#/components/schemas/Problem/properties/inner"',
      ),
      /openapi\.yaml:27 \$ref "#\/components\/schemas\/Problem\/properties\/inner" names no component/,
    ],
    [aliasBomb, /Its aliases cannot be resolved: Excessive alias count/],
    ["openapi: 3.1.0\npaths: &a { b: *a }\n", /Its aliases cannot be resolved/],
  ])("of %j", async (text, problem) => {
    write("openapi.yaml", text);
    const merged = await merge();
    expect(
      merged.ok ? "" : merged.errors.map(({ file, line, message }) => `${file}:${line} ${message}`).join("\n"),
    ).toMatch(problem);
  });

  const wrongTypes: readonly (readonly [string, string, string])[] = [
    ["parameters: [{ name: fields", "parameters: [{ name: 5", "16 name has to be a text: write it in quotes."],
    ["in: query", "in: querry", "16 in has to be one of query, header, path, cookie."],
    ["summary: A review", "summry: A review", "15 summry is unknown in get."],
    ["operationId: getReviewV2", "operationId: [a]", "14 operationId has to be a text."],
    [
      'responses: { "200": { description: The review., content: { application/json: { schema: { $ref: "#/components/schemas/Problem" } } } } }',
      "responses: []",
      "17 responses has to be an object.",
    ],
    ['"201": { description: Created. }', '"201": {}', "24 201 lacks description."],
    ["security: [{ HTTPBearer: [] }]", "security: bearer", "22 security has to be a list."],
    [
      "Problem: { type: object",
      "Problem: { type: objekt",
      "27 type has to be one of array, boolean, integer, null, number, object, string.",
    ],
    ["title: { anyOf", "title: { maxLength: '5', anyOf", "28 maxLength has to be a whole number."],
  ];

  test.each(wrongTypes)("a wrong type: %s as %s", async (right, wrong, problem) => {
    for (const version of ["3.1.0", "3.0.3"]) {
      write("openapi.yaml", generated.replace("3.1.0", version).replace(right, wrong));
      const merged = await merge();
      const problems = merged.ok ? [] : merged.errors.filter(({ code }) => code === "CONTRACT_INVALID");
      expect(problems.map(({ line, message }) => `${line} ${message}`)[0]).toBe(problem);
      expect(problems[0]).toMatchObject({ file: "services/reviews/openapi.yaml", owner: "@tributary/reviews-team" });
    }
  });

  test("a scope that service.json does not have", async () => {
    write("openapi.yaml", generated);
    write("openapi.overlay.yaml", overlay.replace("reviews:write", "review:write"));
    const merged = await merge();
    expect(merged.ok ? [] : merged.errors.map(({ message }) => message)).toEqual([
      "POST /rest/v2/reviews requires the scope review:write, which scopes of service.json does not have.",
    ]);
  });

  test("a missing document", async () => {
    const merged = await merge();
    expect(merged.ok ? [] : merged.errors).toMatchObject([
      { file: "services/reviews/openapi.yaml", message: expect.stringContaining("is missing") },
    ]);
  });
});

interface DocumentedOperation {
  readonly security: unknown;
  readonly responses: Readonly<Record<string, unknown>>;
  readonly requestBody?: unknown;
}

interface Document {
  readonly tags: unknown;
  readonly paths: Readonly<Record<string, Readonly<Record<string, DocumentedOperation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, unknown>> };
}

async function merge(services = [reviews]) {
  return mergeRoutes(await readRoutes(root, services));
}

function withRest(prefix: string, versions?: readonly number[]): Service {
  const { external } = reviews;
  return { ...reviews, external: external && { ...external, rest: { prefix, versions } } };
}

function write(name: string, text: string): void {
  writeFileSync(join(root, "services/reviews", name), text);
}
