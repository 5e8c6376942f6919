import { execFileSync, spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { afterAll, beforeAll, expect, inject, test } from "vitest";
import type { ServiceApp, ServiceParts } from "../kit/src/service/service.ts";
import { startTestService, type TestService } from "../kit/src/testing/service.ts";
import { type FieldCase, fieldCases } from "./one-field/field-cases.ts";
import { cloneRepository, removeClone } from "./start/clone.ts";

const repository = fileURLToPath(new URL("..", import.meta.url));
let clone: string;
let diffs: Readonly<Record<string, string>>;

beforeAll(() => {
  clone = cloneRepository();
  for (const { edits } of fieldCases) edits.forEach(apply);
  diffs = Object.fromEntries(fieldCases.map(({ service }) => [service, diffOf(`services/${service}`)]));
  execFileSync(process.execPath, [join(clone, "scripts/generate.ts")], { stdio: "pipe" });
});
afterAll(() => removeClone(clone));

// An edit is a hunk of `git diff -U0`: contiguous lines in one file. `npm run generate` writes the other files.
test.each(fieldCases)("a new field of $service takes at most five edits", ({ service }) => {
  const hunks = (diffs[service] ?? "").match(/^@@ /gm) ?? [];
  expect(hunks.length, diffs[service]).toBeLessThanOrEqual(5);
  expect(hunks.length).toBeGreaterThan(3);
});

test("the services compile with their new fields", () => {
  expect(findTypeErrors()).toEqual([]);
});

test.each(fieldCases)("$service reads and writes $field through both endpoints and both REST versions", async (of) => {
  const service = await start(of.service);
  try {
    await expectReadAndWritten(service, of);
  } finally {
    await service.stop();
  }
});

test.each(fieldCases)("the OpenAPI documents and the graph have $field of $service", (of) => {
  const limits = { type: "string", maxLength: 40, description: of.description };
  for (const version of [1, 2]) {
    const { schemas } = (readJson(`supergraph/openapi/v${version}.json`) as OpenApi).components;
    for (const name of of.schemas) {
      expect(schemas[name]?.properties[of.field], `${name} v${version}`).toMatchObject({
        anyOf: [limits, { type: "null" }],
      });
    }
  }
  const api = readFileSync(join(clone, "supergraph/api.graphql"), "utf8");
  expect(api.match(new RegExp(`^ +${of.field}: String$`, "gm"))).toHaveLength(3);
});

test("a field without column, a response member and a request member that OpenAPI lacks do not compile", () => {
  const edits = [
    ["src/model.ts", /^export interface BriefPost .*\n/m, "  readonly mood: string;\n"],
    ["src/rest/v1.ts", /^ {2}id: post\.id,\n/m, '  tone: "calm",\n'],
    ["src/rest/read.ts", /^const newPostV2 = z\n +\.strictObject\(\{/m, " tone: content.nullish(),"],
  ] as const;
  for (const [file, after, text] of edits) apply({ file: `services/posts/${file}`, after, text });
  const errors = findTypeErrors().join("\n");
  expect(errors).toMatch(/posts\/src\/store\.ts[^]*'mood' is missing/);
  expect(errors).toMatch(/posts\/src\/rest\/v1\.ts[^]*undocumentedMembers: "tone"/);
  expect(errors).toMatch(/posts\/src\/rest\/schemas\.ts[^]*undocumentedMembers: "tone"/);
});

test("npm run generate names all missing code at once, and writes what has no errors", () => {
  const edits = [
    ["schema.graphql", /^type Mutation \{\n/m, "  hidePost(input: PublishPostInput!): PublishPostPayload\n"],
    ["schema.graphql", /^type Post @key.*\n/m, "  wordCount: Int\n"],
    ["src/model.ts", /^export interface BriefPost .*\n/m, "  readonly pinnedAt: Date | null;\n"],
    ["src/rest/routes.ts", /^export const routes = \[\n/m, `{ ...hidePost, path: "/posts/:id/hiding" },\n`],
    [
      "src/rest/routes.ts",
      /^\} as const;\n/m,
      'const hidePost = { id: "hidePost", method: "POST", versions: [2], cache: "none", summary: "Hide it" } as const;\n',
    ],
  ] as const;
  for (const [file, after, text] of edits) apply({ file: `services/posts/${file}`, after, text });
  const { status, stdout } = spawnSync(process.execPath, [join(clone, "scripts/generate.ts")], { encoding: "utf8" });
  expect(status).toBe(1);
  expect(stdout).toContain("wrote supergraph/api.graphql\n");
  expect(stdout).toContain("wrote services/posts/src/graphql/schema-types.ts\n");
  expect(stdout).toMatch(
    /^services\/posts\/src\/store\.ts.* TS2322\n(?: {2,}Type.*\n)+ {2}To fix: restore the instant, .*: `pinnedAt: stored/m,
  );
  const toWrite = [...stdout.matchAll(/^services\/posts\/(\S+?)(?::\d+:\d+)? .*\n {2}(.*)\n {2}To fix: (.*)$/gm)];
  expect(toWrite.map(([, ...parts]) => parts)).toEqual(
    expect.arrayContaining([
      [
        "src/graphql/resolvers.ts",
        "Post lacks wordCount.",
        "add `wordCount: (parent, args, context) => …`, or to the type of Post in the model `wordCount`",
      ],
      ["src/graphql/resolvers.ts", "Mutation lacks hidePost.", "add `hidePost: (parent, args, context) => …`"],
      ["src/rest/rest.ts", "This object lacks hidePost.", "add `async hidePost(request) { … }`"],
      ["src/rest/openapi.ts", "Route hidePost: it has no document (v2).", "add `hidePost: { 2: … }` to operations."],
    ]),
  );
});

interface OpenApi {
  readonly components: {
    readonly schemas: Readonly<Record<string, { readonly properties: Readonly<Record<string, unknown>> }>>;
  };
}

/** Creates entities with the field, and changes, clears and reads it, by each endpoint in turn. */
async function expectReadAndWritten(service: TestService, of: FieldCase): Promise<void> {
  const { field, path, mutations, inputs } = of;
  const token = await service.issuer.token("1", of.scopes);
  const mutate = async (mutation: string, input: object) => {
    const type = `${mutation[0]?.toUpperCase()}${mutation.slice(1)}Input`;
    const document = `mutation ($input: ${type}!) { it: ${mutation}(input: $input) { it: ${of.entity} { id ${field} } } }`;
    const { data, errors } = await service.graphql(document, { input }, token);
    expect(errors).toBeUndefined();
    return data.it.it;
  };
  const patch = (version: 1 | 2, id: string, value: unknown) =>
    service.rest("PATCH", `/v${version}${path}/${id}`, {
      token,
      body: { ...inputs[version].changed, [field]: value },
      headers: { "if-match": "*" },
    });
  const expectEverywhere = async (id: string, value: string | null) => {
    const query = `query ($all: [_Any!]!) { _entities(representations: $all) { ... on ${of.type} { ${field} } } }`;
    const { data } = await service.graphql(query, { all: [{ __typename: of.type, id }] }, token);
    expect(data._entities).toEqual([{ [field]: value }]);
    for (const version of [1, 2]) {
      expect((await service.rest("GET", `/v${version}${path}/${id}`, { token })).body).toMatchObject({
        [field]: value,
      });
    }
    const text = `select ${field} as value from ${path.slice(1)} where id = $1`;
    expect(await service.database.database.rows("read-field", text, [id])).toEqual([{ value }]);
  };

  const created = await mutate(mutations.create, { ...inputs.graphql.created, [field]: "By GraphQL" });
  expect(created[field]).toBe("By GraphQL");
  await expectEverywhere(created.id, "By GraphQL");
  await mutate(mutations.change, { id: created.id, ...inputs.graphql.changed, [field]: "Changed" });
  await expectEverywhere(created.id, "Changed");
  for (const version of [1, 2] as const) {
    const post = (body: object) => service.rest("POST", `/v${version}${path}`, { token, body });
    const { status, body } = await post({ ...inputs[version].created, [field]: "By REST" });
    expect([status, body[field]]).toEqual([201, "By REST"]);
    await expectEverywhere(body.id, "By REST");
    expect((await patch(version, body.id, "Changed")).body[field]).toBe("Changed");
    expect((await patch(version, body.id, null)).body[field]).toBeNull();
    await expectEverywhere(body.id, null);
    expect((await patch(version, body.id, "x".repeat(41))).body.errors).toMatchObject([{ pointer: `#/${field}` }]);
    expect((await post(inputs[version].created)).body[field]).toBeNull();
  }
  await expectReplayOfPreviousRelease(service, of, token);
}

/** The previous release stored a response without the field, and this release repeats it. */
async function expectReplayOfPreviousRelease(service: TestService, of: FieldCase, token: string): Promise<void> {
  const headers = { "idempotency-key": "before" };
  const post = () => service.rest("POST", `/v2${of.path}`, { token, body: of.inputs[2].created, headers });
  const { body } = await post();
  const strip = `update idempotency_keys set snapshot = snapshot - '${of.field}' returning snapshot`;
  await service.database.database.rows("strip", strip);
  const replay = await post();
  expect([replay.headers.get("idempotency-replayed"), replay.body]).toEqual(["true", body]);
}

async function start(service: string): Promise<TestService> {
  const folder = pathToFileURL(join(clone, "services", service, "/"));
  const { createApp } = (await import(new URL("src/app.ts", folder).href)) as {
    readonly createApp: (parts: ServiceParts) => Promise<ServiceApp>;
  };
  return startTestService(inject("postgresUrl"), new URL("migrations", folder), createApp);
}

/** Inserts a text after the first match, or creates a file. */
function apply({ file, after, text }: FieldCase["edits"][number]): void {
  const path = join(clone, file);
  if (after === undefined) return writeFileSync(path, text, { flag: "wx" });
  const content = readFileSync(path, "utf8");
  const found = after.exec(content);
  if (found === null) throw new Error(`${file} has no ${after}.`);
  const end = found.index + found[0].length;
  writeFileSync(path, content.slice(0, end) + text + content.slice(end));
}

/** The changes of a folder, without context lines. */
function diffOf(folder: string): string {
  const args = ["diff", "--no-index", "-U0", join(repository, folder), join(clone, folder)];
  return spawnSync("git", args, { encoding: "utf8" }).stdout;
}

function findTypeErrors(): readonly string[] {
  const tsc = join(repository, "node_modules/.bin/tsc");
  const { stdout } = spawnSync(tsc, ["-p", clone, "--pretty", "false"], { encoding: "utf8" });
  return stdout.split("\n").filter((line) => line !== "");
}

function readJson(file: string): unknown {
  return JSON.parse(readFileSync(join(clone, file), "utf8"));
}
