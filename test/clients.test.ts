import { execFileSync } from "node:child_process";
import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { printBundle } from "../supergraph/clients/bundle.ts";
import { runBundle, runClients } from "../supergraph/clients/clients-command.ts";
import { readClients } from "../supergraph/clients/clients.ts";
import { commitRepository, git } from "./supergraph/committed-repository.ts";
import { type Files, sampleFiles, writeFiles, writeRepository } from "./supergraph/repository-fixture.ts";

const today = "2026-11-28";
const web = { "clients/web/client.json": JSON.stringify({ owner: "@acme/web-team", contact: "web@acme.example" }) };
const userPage = "query UserPage($id: ID!) { user(id: $id) { ...Name } } fragment Name on User { name }";
const apollo = JSON.stringify({
  format: "apollo-persisted-query-manifest",
  version: 1,
  operations: [{ id: "a1", body: userPage, name: "UserPage", type: "query", clientName: "web" }],
});

test("manifests of Apollo, Relay and GraphQL codegen and .graphql files are read", () => {
  const files = {
    ...web,
    "clients/web/3.json": apollo,
    "clients/web/persisted_queries.json": JSON.stringify({ "5d41": "query Feed {\n  users { name }\n}\n" }),
    "clients/web/persisted-documents.json": JSON.stringify({ c3: "mutation M { __typename }" }),
    "clients/web/src/orders.graphql":
      "query Orders { order(id: 1) { ...Total } }\n\nquery Me { user(id: 1) { ...Name } }",
    "clients/web/src/fragments.gql": "fragment Total on Order { id }\nfragment Name on User { id }",
    "clients/README.md": "# Clients",
    "clients/.DS_Store": "",
    "clients/web/.DS_Store": "",
  };
  const { clients, problems } = read(files);
  expect(problems).toEqual([]);
  const operations = clients.flatMap((client) => client.files).flatMap((file) => file.operations);
  const summary = operations.map(({ release, id, name, file, line }) => [release, id, name, `${file}:${line}`]);
  expect(summary).toEqual([
    ["web@3", "a1", "UserPage", "clients/web/3.json:1"],
    ["web@persisted-documents", "c3", "M", "clients/web/persisted-documents.json:1"],
    ["web@persisted_queries", "5d41", "Feed", "clients/web/persisted_queries.json:1"],
    ["web", undefined, "Orders", "clients/web/src/orders.graphql:1"],
    ["web", undefined, "Me", "clients/web/src/orders.graphql:3"],
  ]);
});

test("the bundle has each document, with its last day and the text that the client sends", () => {
  const own = "query Orders { user(id: 1) { id } }\n";
  const client = { owner: "@acme/web-team", contact: "web@acme.example" };
  const expires = { "3.json": "2027-01-31", "2.json": "2026-11-27" };
  const files = {
    "clients/web/client.json": JSON.stringify({ ...client, expires }),
    "clients/web/2.json": JSON.stringify({ a0: "query Old { __typename }" }),
    "clients/web/3.json": apollo,
    "clients/web/4.json": JSON.stringify({ b1: "query A { a: __typename } query B { __typename }" }),
    "clients/web/src/own.graphql": own,
    "clients/web/src/two.graphql": "query Me { user(id: 1) { ...Name } }",
    "clients/web/src/fragments.graphql": "fragment Name on User { id }",
  };
  const bundle = JSON.parse(printBundle(read(files).clients)) as object;
  const common = { client: "web", owner: "@acme/web-team" };
  const documents = [
    {
      id: "a0",
      text: "query Old { __typename }",
      operations: ["Old"],
      file: "clients/web/2.json",
      until: "2026-11-27",
    },
    { id: "a1", text: userPage, operations: ["UserPage"], file: "clients/web/3.json", until: "2027-01-31" },
    {
      id: "b1",
      text: "query A { a: __typename } query B { __typename }",
      operations: ["A", "B"],
      file: "clients/web/4.json",
    },
    { text: own, operations: ["Orders"], file: "clients/web/src/own.graphql" },
    {
      text: "query Orders {\n  user(id: 1) {\n    id\n  }\n}",
      operations: ["Orders"],
      file: "clients/web/src/own.graphql",
    },
    {
      text: "query Me {\n  user(id: 1) {\n    ...Name\n  }\n}\n\nfragment Name on User {\n  id\n}",
      operations: ["Me"],
      file: "clients/web/src/two.graphql",
    },
  ].map((document) => ({ ...common, ...document }));
  expect(bundle).toEqual({ format: "tributary-documents", version: 1, documents });
});

test("an operation that is in Apollo's manifest for two clients is one document of the bundle", () => {
  const operation = { id: "a1", body: userPage, name: "UserPage", type: "query" };
  const operations = [operation, { ...operation, clientName: "ios" }];
  const text = JSON.stringify({ format: "apollo-persisted-query-manifest", version: 1, operations });
  const { documents } = JSON.parse(printBundle(read({ ...web, [manifest]: text }).clients)) as { documents: unknown };
  expect(documents).toEqual([expect.objectContaining({ id: "a1", text: userPage, operations: ["UserPage"] })]);
});

test("a bundle of files with problems is not printed: the problems are not redirected into its file", () => {
  const root = writeRepository({ ...web, "clients/web/3.json": "{" });
  let [printed, reported] = ["", ""];
  const print = (text: string) => void (printed += text);
  const printError = (text: string) => void (reported += text);
  expect(runBundle({ root, print, printError })).toBe(1);
  expect(printed).toBe("");
  expect(reported).toContain("clients/web/3.json:1 (@acme/web-team) is not valid JSON");
});

const manifest = "clients/web/3.json";
test.each([
  ["{", /^clients\/web\/3\.json:1 \(@acme\/web-team\) is not valid JSON: /],
  ["[]", /has to be Apollo's manifest .* or a map from ids to documents/],
  ["{}", /has no operation$/],
  [`{"format":"apollo-persisted-query-manifest","version":1,"operations":[]}`, /has no operation$/],
  [`{"format":"other","version":1,"operations":[]}`, /format has to be "apollo-persisted-query-manifest"$/],
  [`{"format":"apollo-persisted-query-manifest","version":2,"operations":[]}`, /version has to be 1$/],
  [
    `{"format":"apollo-persisted-query-manifest","version":1,"operations":[{"id":"a"}]}`,
    /operations\.0\.body has to be a text$/,
  ],
  [`{"a": 1}`, /a has to be the text of a document$/],
  [`{\n"a": "{ me"}`, /3\.json:2 \(@acme\/web-team\) a: Syntax Error: /],
  [`{"query Q { a }": "q1"}`, /Syntax Error/],
  [`{"a": "fragment F on User { id }"}`, /a: the document has no operation$/],
  [`{"a": "{ a }",\n "a": "{ b }"}`, /3\.json:2 \(@acme\/web-team\) repeats the id "a"$/],
  [`{"a": "${"{a} ".repeat(10_000)}"}`, /a: Syntax Error: Document contains more that 20000 tokens/],
  [JSON.stringify(Object.fromEntries(Array.from({ length: 5_001 }, (_, i) => [`q${i}`, "{ a }"]))), /5001 operations/],
])("a malformed manifest is rejected with a clear error: %#", (text, problem) => {
  expect(read({ ...web, [manifest]: text }).problems).toEqual([expect.stringMatching(problem)]);
});

test.each<[Files, string]>([
  [
    { [manifest]: apollo },
    'clients/web/client.json:1 is missing: {"owner": "@acme/web-team", "contact": "web@acme.example"}',
  ],
  [descriptor("{"), "clients/web/client.json:1 is not valid JSON: "],
  [descriptor('{"contact":"x"}'), "clients/web/client.json:1 owner is required"],
  [descriptor('{"owner":"ada","contact":"x"}'), "owner has to be a team or a user on GitHub"],
  [descriptor('{"owner":"@a","contact":" "}'), "contact is empty"],
  [descriptor('{"owner":"@a","contact":"x","expire":{}}'), "Unrecognized key"],
  [descriptor('{"owner":"@a","contact":"x","expires":{"3.json":"soon"}}'), "expires.3.json has to be a date"],
  [
    descriptor('{"owner":"@a","contact":"x","expires":{"4.json":"2027-01-31"}}'),
    "expires names 4.json, which does not exist",
  ],
  [web, "clients/web/client.json:1 (@acme/web-team) the client has no file with operations"],
  [{ ...web, [manifest]: apollo, "clients/3.json": apollo }, "clients/3.json: move it into a folder"],
  [
    Object.fromEntries(Array.from({ length: 201 }, (_, i) => [`clients/c${i}/1.json`, apollo])),
    "clients/ has 201 clients, 200 at most.",
  ],
  [{ ...web, "clients/web/queries.js": "" }, "is no manifest (.json) and no .graphql file"],
  [
    { ...web, "clients/web/a.graphql": "query A { a }\n{ b }" },
    "clients/web/a.graphql:2 (@acme/web-team) an operation needs a name",
  ],
  [
    { ...web, [manifest]: apollo, "clients/web/4.json": '{\n"a1": "{ a }"}' },
    "clients/web/4.json:2 (@acme/web-team) the id a1 is that of another document in clients/web/3.json:1",
  ],
])("a folder with a fault is rejected, with file and owner: %#", (files, problem) => {
  expect(read(files).problems).toEqual([expect.stringContaining(problem)]);
});

test("two releases may have the same document with the same id", () => {
  expect(read({ ...web, [manifest]: apollo, "clients/web/4.json": apollo }).problems).toEqual([]);
});

test("npm run clients lists clients, and names each invalid operation with file, line and owner", async () => {
  const root = await commitRepository(sampleFiles);
  writeFiles(root, {
    ...web,
    [manifest]: `{\n"a1": ${JSON.stringify(userPage)},\n"a2": "query Old($n: Int) {\\n users(first: $n) { nam } }"\n}`,
    "clients/web/orders.graphql": "query Orders {\n  order(id: 1) { ...Total }\n}",
    "clients/web/total.graphql": "fragment Total on Order {\n  amount\n}",
    "clients/old/client.json": `{"owner":"@acme/old","contact":"x","expires":{"1.json":"2026-11-27","2.json":"2026-11-28"}}`,
    "clients/old/1.json": '{"z1": "{ removed }"}',
    "clients/old/2.json": '{"z2": "query Last { user(id: 1) { id } }"}',
  });
  expect(list(root)).toEqual({
    code: 1,
    lines: [
      "old (@acme/old, x)",
      "  old@1: 1 operation in clients/old/1.json, expired on 2026-11-27: remove the file",
      "  old@2: 1 operation in clients/old/2.json, until 2026-11-28",
      "web (@acme/web-team, web@acme.example)",
      "  web@3: 2 operations in clients/web/3.json",
      "  web: 1 operation in clients/web/orders.graphql",
      "  web: 0 operations in clients/web/total.graphql",
      'clients/web/3.json:3 (@acme/web-team) Old: Cannot query field "nam" on type "User". Did you mean "name"? (line 2 of the document)',
      'clients/web/total.graphql:2 (@acme/web-team) Orders: Cannot query field "amount" on type "Order".',
      "2 clients, 4 operations: 2 problems.",
    ],
  });
});

test.each([
  ["subscription S { a }", "S: The gateway has no subscriptions."],
  ["mutation M { unknown }", "M: The gateway has no mutations."],
  ["query A { a } fragment F on Query { a }", 'A: Fragment "F" is never used.'],
  ["query A { a } { b: a }", "a1: This anonymous operation must be the only defined operation."],
  ["query A { a } query A { b: a }", 'A: There can be only one operation named "A".'],
])("npm run clients reports what the gateway would refuse: %s", (document, problem) => {
  const root = writeRepository({
    ...web,
    "supergraph/api.graphql": "type Query { a: Int } type Subscription { a: Int }",
    [manifest]: JSON.stringify({ a1: document }),
  });
  const { code, lines } = list(root);
  expect(code).toBe(1);
  expect(lines).toContainEqual(expect.stringContaining(problem));
  expect(new Set(lines).size).toBe(lines.length);
});

test("an operation that leaves a manifest at once is reported with the expiry to add, which repairs it", async () => {
  const root = await commitRepository(sampleFiles);
  const manifests = {
    ...web,
    "clients/web/3.json": apollo,
    "clients/web/me.graphql": "query Me { user(id: 1) { id } }",
  };
  writeFiles(root, manifests);
  git(root, "add", "clients");
  git(root, "commit", "-q", "-m", "Register the web client");
  writeFiles(root, { "clients/web/3.json": '{"b2": "query Feed { users { id } }"}' });
  rmSync(join(root, "clients/web/me.graphql"));
  const { code, lines } = list(root);
  expect(code).toBe(1);
  expect(lines).toContain(
    "clients/web/3.json (@acme/web-team) lost UserPage, compared with HEAD. Restore the file beside the new one, and let it expire:",
  );
  expect(lines).toContain('  in clients/web/client.json: "expires": { "3-until-2027-02-26.json": "2027-02-26" }');
  writeFiles(root, {
    "clients/web/client.json": `{"owner":"@acme/web-team","contact":"x","expires":{"3-until-2027-02-26.json":"2027-02-26","me.graphql":"2026-11-27"}}`,
    "clients/web/3-until-2027-02-26.json": apollo,
    "clients/web/me.graphql": manifests["clients/web/me.graphql"],
  });
  expect(list(root)).toEqual({ code: 0, lines: expect.arrayContaining(["1 client, 2 operations: all valid."]) });
});

test("the printed command restores a file whose name has a space and an apostrophe", async () => {
  const root = await commitRepository(sampleFiles);
  writeFiles(root, {
    ...web,
    "clients/web/it's mine.json": apollo,
    "clients/web/4.json": '{"b2": "{ users { id } }"}',
  });
  git(root, "add", "clients");
  git(root, "commit", "-q", "-m", "Register the web client");
  rmSync(join(root, "clients/web/it's mine.json"));
  const { lines } = list(root);
  const command = lines.find((line) => line.startsWith("  git show ")) ?? "";
  execFileSync("sh", ["-c", command], { cwd: root });
  expect(readFileSync(join(root, "clients/web/it's mine-until-2027-02-26.json"), "utf8")).toBe(apollo);
});

function read(files: Files) {
  return readClients({
    list: (folder) => Object.keys(files).filter((path) => path.startsWith(`${folder}/`)),
    read: (path) => files[path],
  });
}

function descriptor(text: string): Files {
  return { [manifest]: apollo, "clients/web/client.json": text };
}

function list(root: string) {
  let text = "";
  const code = runClients({ root, today, print: (more) => void (text += more) });
  return { code, lines: text.split("\n").slice(0, -1) };
}
