import { execFileSync } from "node:child_process";
import { symlinkSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { generateRepository } from "../scripts/generate.ts";
import { generateResolverTypes } from "../scripts/generate/resolver-types.ts";
import type { Files } from "./supergraph/repository-fixture.ts";
import { sampleFiles, withChange, writeRepository } from "./supergraph/repository-fixture.ts";

const repository = fileURLToPath(new URL("..", import.meta.url));
const users = "services/users/schema.graphql";
const config = { mappers: { User: "../model.ts#User" }, contextType: "./context.ts#Context" };

test("one command generates the supergraph and every service's resolver types", async () => {
  const generation = await generateRepository(writeRepository(sampleFiles), { partial: false });
  expect(generation.ok && generation.files.map(({ path }) => path)).toEqual([
    "supergraph/supergraph.graphql",
    "supergraph/api.graphql",
    "supergraph/routes.json",
    "services/users/src/graphql/schema-types.ts",
    "services/posts/src/graphql/schema-types.ts",
    "services/comments/src/graphql/schema-types.ts",
    "services/orders/src/graphql/schema-types.ts",
  ]);
});

test("a composition error is reported, and no types are generated", async () => {
  const root = writeRepository(withChange(sampleFiles, users, "role: Role!", "role: Roll!"));
  expect(await generateRepository(root, { partial: false })).toMatchObject({
    ok: false,
    errors: [{ code: "INVALID_GRAPHQL" }],
  });
});

test("a codegen.json that maps an unknown type is reported with its file and owner", async () => {
  const root = writeRepository({
    ...sampleFiles,
    "services/users/codegen.json": '{ "mappers": { "Usr": "../model.ts#User" } }',
  });
  expect(await generateRepository(root, { partial: false })).toMatchObject({
    ok: false,
    errors: [
      {
        code: "CODEGEN_INVALID",
        message: "codegen.json maps Usr, but schema.graphql does not define this type.",
        file: "services/users/codegen.json",
        owner: "@tributary/users-team",
      },
    ],
  });
});

test("a custom scalar without a TypeScript type is rejected", async () => {
  await expect(generateResolverTypes("scalar Money\ntype Query { a: Money }", {})).rejects.toThrow("Money");
});

test("types that do not depend on the schema are imported from the kit", async () => {
  const types = await generateResolverTypes(sampleFiles[users] ?? "", config);
  expect(types).toContain("from '@tributary/kit/graphql/resolver-types'");
  expect(types).not.toMatch(/type (?:Maybe|Resolver|SubscriptionResolver)</);
});

test("a schema that needs a type that the kit does not export is rejected with the name of the type", async () => {
  const sdl = "type Query { first: Item }\nunion Item = A | B\ntype A { a: ID }\ntype B { b: ID }";
  await expect(generateResolverTypes(sdl, {})).rejects.toThrow(
    "kit/src/graphql/resolver-types.ts does not export TypeResolveFn yet.",
  );
});

test("the generated types compile with the repository's compiler options, the mapped model and the context", async () => {
  const types = await generateResolverTypes(sampleFiles[users] ?? "", config);
  expect(compile({ ...service, "src/graphql/schema-types.ts": types })).toBe("");
});

test("a resolver that returns another type than the schema declares does not compile", async () => {
  const types = await generateResolverTypes(sampleFiles[users] ?? "", config);
  const wrong = withChange(service, "src/graphql/resolvers.ts", "user.createdAt", "user.createdAt.getTime()");
  expect(compile({ ...wrong, "src/graphql/schema-types.ts": types })).toContain("resolvers.ts");
});

const service: Files = {
  "src/model.ts":
    'export interface User { readonly id: string; readonly name: string; readonly createdAt: Date; readonly role: "READER" | "AUTHOR" }\n',
  "src/graphql/context.ts":
    'import type { User } from "../model.ts";\nexport interface Context { load(id: string): Promise<User | undefined>; list(role: string | null | undefined): readonly User[] }\n',
  "src/graphql/resolvers.ts": `import type { Resolvers } from "./schema-types.ts";
export const resolvers: Resolvers = {
  Query: {
    user: (_, { id }, context) => context.load(id),
    users: (_, { first, role }, context) => (first > 1 ? context.list(role) : [null, undefined]),
  },
  User: {
    __resolveReference: ({ id }, context) => context.load(id),
    email: (user) => user.name,
    createdAt: (user) => user.createdAt,
  },
};
`,
};

/** The compiler's errors for files with the repository's options and packages; "" if there are none. */
function compile(files: Files): string {
  const tsconfig = {
    extends: join(repository, "tsconfig.json"),
    compilerOptions: { types: [] },
    include: ["src"],
    exclude: [],
  };
  const root = writeRepository({
    ...files,
    "tsconfig.json": JSON.stringify(tsconfig),
    "package.json": '{ "type": "module" }',
  });
  symlinkSync(join(repository, "node_modules"), join(root, "node_modules"));
  try {
    execFileSync(join(repository, "node_modules/.bin/tsc"), ["-p", root], { encoding: "utf8", stdio: "pipe" });
    return "";
  } catch (error) {
    return String((error as { readonly stdout?: unknown }).stdout);
  }
}
