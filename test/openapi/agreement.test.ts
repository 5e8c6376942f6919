import fc from "fast-check";
import { expect, test } from "vitest";
import { isSku } from "../../services/orders/src/model.ts";
import * as comments from "../../services/comments/src/rest/read.ts";
import * as orders from "../../services/orders/src/rest/read.ts";
import * as posts from "../../services/posts/src/rest/read.ts";
import * as users from "../../services/users/src/rest/read.ts";
import { arbitraryOf, mutate } from "./arbitrary.ts";
import { operationsOf, readOpenApi } from "./documents.ts";
import { findSchemaViolations, type Schema } from "./json-schema.ts";

type Read = (body: unknown) => unknown;

const readers: readonly (readonly [operation: string, version: number, read: Read])[] = [
  ["createUser", 1, users.readNewUserV1],
  ["createUser", 2, users.readNewUserV2],
  ["updateUser", 1, users.readUserChangesV1],
  ["updateUser", 2, users.readUserChangesV2],
  ["createPost", 1, posts.readNewPostV1],
  ["createPost", 2, posts.readNewPostV2],
  ["updatePost", 1, posts.readPostChangesV1],
  ["updatePost", 2, posts.readPostChangesV2],
  ["addComment", 1, comments.readNewCommentV1],
  ["addComment", 2, comments.readNewCommentV2],
  ["editComment", 1, comments.readCommentChangeV1],
  ["editComment", 2, comments.readCommentChangeV2],
  ["placeOrder", 1, (body) => requireSkus(orders.readNewOrderV1(body, "key"))],
  ["placeOrder", 2, (body) => requireSkus(orders.readNewOrderV2(body, "key"))],
];

/** Valid values of a property whose schema accepts any string: JSON Schema cannot list the time zones. */
const validValues = { timeZone: ["Europe/London", "Asia/Tokyo", null] };

test.each(readers)("%s in v%d accepts every body that conforms to its schema", async (operation, version, read) => {
  const { schema, schemas } = await schemaOf(operation, version);
  fc.assert(
    fc.property(arbitraryOf(schema, schemas, validValues), (body) => {
      fc.pre(!breaksUndocumentableRule(body));
      expect(findSchemaViolations(body, schema, schemas)).toEqual([]);
      read(body);
    }),
  );
});

test.each(readers)(
  "%s in v%d accepts a mutated body if and only if the body conforms to the schema",
  async (operation, version, read) => {
    const { schema, schemas } = await schemaOf(operation, version);
    fc.assert(
      fc.property(mutate(arbitraryOf(schema, schemas, validValues)), (body) => {
        fc.pre(!breaksUndocumentableRule(body));
        expect(isAccepted(read, body)).toBe(findSchemaViolations(body, schema, schemas).length === 0);
      }),
      { numRuns: 500 },
    );
  },
);

async function schemaOf(operation: string, version: number): Promise<{ schema: Schema; schemas: Schema }> {
  const document = await readOpenApi(version);
  const media = Object.values(operationsOf(document).get(operation)?.requestBody?.content ?? {});
  expect(media).toHaveLength(1);
  return { schema: media[0]!.schema, schemas: document.components.schemas };
}

function isAccepted(read: Read, body: unknown): boolean {
  try {
    // The REST endpoint rejects longer bodies before it parses them.
    if (Buffer.byteLength(JSON.stringify(body)) > 65_536) return false;
    read(body);
    return true;
  } catch {
    return false;
  }
}

/** The service rejects a malformed SKU when it looks up the product, after it has parsed the body. */
function requireSkus({ lines }: { readonly lines: readonly { readonly sku: string }[] }): void {
  if (!lines.every(({ sku }) => isSku(sku))) throw new Error("Unknown product.");
}

/** True for two lines with the same product and for unknown time zones: the service rejects both, the schema does not. */
function breaksUndocumentableRule(body: unknown): boolean {
  const { lines, prefs, private: hidden } = { ...(body as Schema) };
  const { timeZone } = { ...((prefs ?? { ...(hidden as Schema) }["prefs"]) as Schema) };
  const isUnknownZone = typeof timeZone === "string" && !validValues.timeZone.includes(timeZone);
  if (!Array.isArray(lines)) return isUnknownZone;
  const skus = lines.map((line: unknown) => ({ ...(line as Schema) })["sku"]);
  return new Set(skus).size < skus.length;
}
