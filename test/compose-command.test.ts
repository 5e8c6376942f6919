import { execFile } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { startGateway } from "../gateway/test/helpers/gateway.ts";
import { respondJson, type RunningSubgraph, startSubgraph } from "../gateway/test/helpers/subgraphs.ts";
import { findPackageImports } from "../infra/images/imports.ts";
import { runCompose } from "../supergraph/compose-command/compose-command.ts";
import { readSchemas } from "../supergraph/compose-command/read-schemas.ts";

// `npm run gateway -- compose`, and docs/compose-a-supergraph.md.

const repository = fileURLToPath(new URL("..", import.meta.url));
const page = readFileSync(join(repository, "docs/compose-a-supergraph.md"), "utf8");

const link = (imported: string) =>
  `extend schema @link(url: "https://specs.apollo.dev/federation/v2.7", import: [${imported}])\n`;
const books = `${link('"@key"')}
type Query { book(isbn: ID!): Book }
type Book @key(fields: "isbn") { isbn: ID! title: String }
`;
const reviewed = 'type Book @key(fields: "isbn") { isbn: ID! stars: Int }';

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "compose-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
});

async function compose(args: readonly string[], environment: Record<string, string> = {}) {
  let printed = "";
  const reports: string[] = [];
  const code = await runCompose({
    args,
    folder,
    environment,
    print: (text) => void (printed += text),
    report: (line) => void reports.push(line),
  });
  return { code, printed, reports, report: reports.join("\n") };
}

/** @returns its URL. */
async function serve(listener: RequestListener): Promise<string> {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/graphql`;
}

function write(name: string, text: string): string {
  writeFileSync(join(folder, name), text);
  return name;
}

async function startBooks(): Promise<RunningSubgraph> {
  const resolvers = {
    Query: { book: (_: unknown, { isbn }: { isbn: string }) => ({ isbn, title: `Title of ${isbn}` }) },
  };
  return started(await startSubgraph({ name: "books", header: "", typeDefs: books, resolvers }));
}

async function startReviews(): Promise<RunningSubgraph> {
  const resolvers = { Book: { __resolveReference: ({ isbn }: { isbn: string }) => ({ isbn, stars: 5 }) } };
  return started(await startSubgraph({ name: "reviews", typeDefs: reviewed, resolvers }));
}

function started(subgraph: RunningSubgraph): RunningSubgraph {
  onTestFinished(() => subgraph.close());
  return subgraph;
}

async function query(supergraphSdl: string) {
  const gateway = await startGateway({ supergraphSdl });
  onTestFinished(() => gateway.drain());
  return (await gateway.send('{ book(isbn: "b1") { title stars } }')).body;
}

const found = { data: { book: { title: "Title of b1", stars: 5 } } };

test("the page's command composes a file and a running subgraph, and the gateway serves the result", async () => {
  const [first, second] = [await startBooks(), await startReviews()];
  write("books.graphql", books);
  const [, command = ""] = /^npm run -s gateway -- compose (.*)$/m.exec(page) ?? [];
  const args = command
    .replace("http://127.0.0.1:4101/graphql", first.url)
    .replace("http://127.0.0.1:4102/graphql", second.url);
  expect(await compose(args.split(" "))).toEqual({ code: 0, printed: "", reports: [], report: "" });
  expect(readdirSync(folder).toSorted()).toEqual(["books.graphql", "supergraph.graphql"]);
  expect(await query(readFileSync(join(folder, "supergraph.graphql"), "utf8"))).toEqual(found);
});

test("the page's supergraph.yaml composes, with headers from variables and its own routing URLs", async () => {
  const [first, second] = [await startBooks(), await startReviews()];
  const [, yaml = ""] = /```yaml\n(.*?)```/s.exec(page) ?? [];
  const configured = yaml
    .replace("http://127.0.0.1:4102/graphql", second.url)
    .replace("http://books:4101/graphql", first.url)
    .replace("http://reviews:4102/graphql", second.url);
  write("books.graphql", books);
  write("supergraph.yaml", configured);
  const { code, printed } = await compose(["--config", "supergraph.yaml"], { REVIEWS_TOKEN: "s3cret" });
  expect(code).toBe(0);
  expect(second.requests.map(({ headers }) => headers.authorization)).toEqual(["Bearer s3cret"]);
  expect(printed).not.toContain("s3cret");
  expect(await query(printed)).toEqual(found);
});

test("a supergraph.yaml may have aliases, as for Rover; one without its anchor is a problem of the file", async () => {
  write(
    "books.graphql",
    `${link('"@key", "@shareable"')} type Query { books: [Book] @shareable } type Book @key(fields: "id") { id: ID! @shareable }`,
  );
  const yaml =
    "subgraphs:\n  a: &books\n    routing_url: http://books\n    schema: { file: ./books.graphql }\n  b: *books\n";
  write("supergraph.yaml", yaml);
  expect(await compose(["--config", "supergraph.yaml"])).toMatchObject({ code: 0, report: "" });
  write("supergraph.yaml", yaml.replace("*books", "*others"));
  const { code, report } = await compose(["--config", "supergraph.yaml"]);
  expect({ code, report }).toMatchObject({ code: 1, report: expect.stringMatching(/supergraph\.yaml: .*others/) });
});

test("three texts compose to the same bytes in any order", async () => {
  write("books.graphql", books);
  write("reviews.graphql", link('"@key"') + reviewed);
  // A federation 1 schema, and a directive with the name of one of this platform's.
  write(
    "sales.graphql",
    'directive @priority(level: Int) on FIELD_DEFINITION\nextend type Book @key(fields: "isbn") { isbn: ID! @external sold: Int @priority(level: 1) }',
  );
  const named = ["books", "reviews", "sales"].map((name) => `${name}=${name}.graphql`);
  const first = await compose(named);
  expect([first.code, first.report]).toEqual([
    0,
    expect.stringContaining("without a routing URL: books, reviews, sales"),
  ]);
  expect((await compose(named.toReversed())).printed).toBe(first.printed);
  expect(first.printed).toMatch(/^# Made by `compose`\. Do not edit\.\n\nschema/);
});

test("all errors of composition are reported with subgraph, file and place, and the file stays as it is", async () => {
  write("books.graphql", books.replace("title: String }", "title: String pages: Int year: Int }"));
  write("reviews.graphql", `${link('"@key"')}type Book @key(fields: "isbn") { isbn: ID! pages: String\n year: Float }`);
  write("supergraph.graphql", "# before");
  const { code, printed, report } = await compose([
    "books=books.graphql",
    "reviews=reviews.graphql",
    "--output",
    "supergraph.graphql",
  ]);
  expect([code, printed]).toEqual([1, ""]);
  expect(report).toMatch(/^books\.graphql:4:\d+ \(books\) \w+\n {2}.*Book\.pages/m);
  expect(report).toMatch(/Book\.year.*\n(?:.*\n)*? {2}see also reviews\.graphql:3:2/);
  expect(readFileSync(join(folder, "supergraph.graphql"), "utf8")).toBe("# before");
  expect(readdirSync(folder).toSorted()).toEqual(["books.graphql", "reviews.graphql", "supergraph.graphql"]);
});

test("a syntax error has its place, and a hint is a note", async () => {
  write("books.graphql", "type Query {\n  book(: Int\n}");
  expect((await compose(["books=books.graphql"])).report).toMatch(/^books\.graphql:2:8 \(books\) SYNTAX_ERROR$/m);
  write("books.graphql", `${books}\n"One."\ninterface I { id: ID }`);
  write("reviews.graphql", `${link('"@key"')}${reviewed}\n"Two."\ninterface I { id: ID }`);
  const { code, report } = await compose(["books=books.graphql", "reviews=reviews.graphql"]);
  expect([code, report]).toEqual([0, expect.stringMatching(/^note: INCONSISTENT_DESCRIPTION: /m)]);
});

describe("a subgraph whose schema cannot be read", () => {
  const respond = (status: number, text: string, headers = {}) =>
    serve((_, response) => respondJson(response, status, text, headers));
  const cases: readonly (readonly [string, () => Promise<string>, RegExp])[] = [
    ["no file", () => Promise.resolve("none.graphql"), /none\.graphql/],
    ["a closed port", () => Promise.resolve("http://127.0.0.1:9/graphql"), /cannot be reached/],
    [
      "a page",
      () => respond(200, "<h1>It works!</h1>"),
      /responds with 200 and without a schema: is it the GraphQL endpoint of a subgraph\?/,
    ],
    ["no body", () => respond(401, ""), /responds with 401 and without a schema/],
    [
      "no federation",
      () => respond(400, '{"errors":[{"message":"Cannot query field \\"_service\\""}]}'),
      /responds with 400: Cannot query field "_service"/,
    ],
    ["an empty schema", () => respond(200, '{"data":{"_service":{"sdl":""}}}'), /without a schema/],
    ["null", () => respond(200, "null"), /without a schema/],
    ["errors that are no list", () => respond(200, '{"errors":{"a":1}}'), /without a schema/],
    [
      "a redirect",
      () => respond(302, "", { location: "http://other/" }),
      /redirects to http:\/\/other\/: give that URL/,
    ],
    ["a closed connection", () => serve((request) => request.socket.destroy()), /cannot be reached/],
  ];

  test.each(cases)("%s", async (_, start, message) => {
    const source = await start();
    const { code, printed, report } = await compose([`first=${source}`, "second=missing.graphql"]);
    expect([code, printed]).toEqual([1, ""]);
    expect(report).toMatch(message);
    expect(report).toMatch(/ {2}- second: .*missing\.graphql/);
  });

  test("because it is too slow or too long", async () => {
    const slow = await serve(() => {});
    const stalled = await serve((_, response) => response.writeHead(200).write("{"));
    const long = await respond(200, JSON.stringify({ data: { _service: { sdl: "#".repeat(1_000) } } }));
    const inputs = [slow, stalled, long].map((url) => ({
      name: url,
      schema: { kind: "url", url, headers: {} } as const,
      routingUrl: undefined,
    }));
    const limits = { timeoutMs: 50, bodyBytesMax: 500 };
    await expect(readSchemas(inputs.slice(0, 2), folder, limits)).rejects.toThrow(
      /did not respond within 50 ms(.|\n)*did not respond within 50 ms/,
    );
    await expect(readSchemas(inputs.slice(2), folder, { ...limits, timeoutMs: 5_000 })).rejects.toThrow(
      /more than 500 bytes/,
    );
  });
});

test.each([[[]], [["--config", "a.yaml", "a=b"]], [["--config", "a.yaml", "--url", "a=http://x"]], [["--unknown"]]])(
  "the command line %j is wrong usage",
  async (args) => {
    expect(await compose(args)).toMatchObject({ code: 2, printed: "", report: expect.stringMatching(/^Usage: /) });
  },
);

test("every problem of the inputs is reported at once", async () => {
  const named = await compose(["books", "a=x.graphql", "a=y.graphql", "--url", "b=http://x", "--url", "a=ftp://x"]);
  expect(named.code).toBe(1);
  for (const text of [
    "books: write NAME=FILE",
    "a=y.graphql: a is given twice",
    "no subgraph b",
    "write an http(s) URL",
  ])
    expect(named.report).toContain(text);
  write(
    "supergraph.yaml",
    "subgraphs:\n  a: { routing_url: ftp://x, schema: { file: a, sdl: b } }\n  b: { schema: { graphref: x@y } }\n  c: { schema: { subgraph_url: 'http://${env.NONE}' } }\n",
  );
  const configured = await compose(["--config", "supergraph.yaml"]);
  expect(configured.code).toBe(1);
  for (const text of [
    "a.routing_url: has to be an http(s) URL",
    "a.schema: has to have one of",
    '"graphref"',
    "NONE is not set",
  ])
    expect(configured.report).toContain(text);
});

test("a secret is in no message", async () => {
  const url = "http://ada:s3cret@localhost/graphql";
  const yaml = `subgraphs:
  a: { schema: { subgraph_url: "${url}" } }
  b: { routing_url: "${url}", schema: { sdl: "" } }
  c: { schema: { subgraph_url: "http://localhost/", introspection_headers: { x: "\${env.TOKEN}" } } }
`;
  write("supergraph.yaml", yaml);
  for (const args of [["--config", "supergraph.yaml"], [`a=${url}`], ["a=a.graphql", "--url", `a=${url}`]]) {
    const { code, printed, report } = await compose(args, { TOKEN: "s3cret\nx" });
    expect([code, printed]).toEqual([1, ""]);
    expect(report).toMatch(/has to have no credentials/);
    expect(report).not.toContain("s3cret");
  }
  expect((await compose(["--config", "supergraph.yaml"], { TOKEN: "s3cret\nx" })).report).toContain(
    "x: has to be a header value",
  );
});

test.each(["subgraphs: {}", "subgraphs: [", "{}", "", "- a"])("the file %j is a problem", async (yaml) => {
  write("supergraph.yaml", yaml);
  expect(await compose(["--config", "supergraph.yaml"])).toMatchObject({ code: 1, printed: "" });
});

test("npm's script runs it: the supergraph on standard output, the rest on standard error", async () => {
  const path = join(folder, write("books.graphql", books));
  const run = (args: readonly string[]) =>
    new Promise<{ readonly code: unknown; readonly stdout: string; readonly stderr: string }>((resolve) => {
      execFile("node", [join(repository, "scripts/gateway.ts"), "compose", ...args], (error, stdout, stderr) =>
        resolve({ code: error?.code ?? 0, stdout, stderr }),
      );
    });
  const ok = await run([`books=${path}`]);
  expect(ok).toEqual({
    code: 0,
    stdout: expect.stringContaining("join__Graph"),
    stderr: expect.stringMatching(/^note: /),
  });
  expect(await run(["books=none"])).toMatchObject({ code: 1, stdout: "" });
});

test("the process that serves does not import composition", () => {
  const imports = findPackageImports(repository, "gateway/src/main.ts");
  expect(imports.has("@apollo/query-planner")).toBe(true);
  expect(imports.has("@apollo/composition")).toBe(false);
});

test("a default value of a custom scalar may be an object or a list", async () => {
  write("events.graphql", `${link("")} scalar JSON type Query { events(where: JSON! = { a: [1] }): String }`);
  const url = "events=http://127.0.0.1:4101/graphql";
  const { code, report } = await compose(["events=events.graphql", "--url", url, "--output", "supergraph.graphql"]);
  expect([code, report]).toEqual([0, ""]);
  expect(readFileSync(join(folder, "supergraph.graphql"), "utf8")).toContain("where: JSON! = {a: [1]}");
});
