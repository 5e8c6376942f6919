import fc from "fast-check";
import { expect, test } from "vitest";
import { isSku } from "../../services/orders/src/model.ts";
import * as comments from "../../services/comments/src/rest/read.ts";
import * as orders from "../../services/orders/src/rest/read.ts";
import * as posts from "../../services/posts/src/rest/read.ts";
import * as users from "../../services/users/src/rest/read.ts";
import { arbitraryOf, changedOf } from "./arbitrary.ts";
import { operationsOf, readOpenApi } from "./documents.ts";
import { findMisfits, type Schema } from "./json-schema.ts";

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

/** What is in words beside a schema: which time zones there are. */
const words = { timeZone: ["Europe/London", "Asia/Tokyo", null] };

test.each(readers)("%s in v%d takes every body that fits its schema", async (operation, version, read) => {
  const { schema, schemas } = await schemaOf(operation, version);
  fc.assert(
    fc.property(arbitraryOf(schema, schemas, words), (body) => {
      fc.pre(!isInWords(body));
      expect(findMisfits(body, schema, schemas)).toEqual([]);
      read(body);
    }),
  );
});

test.each(readers)(
  "%s in v%d refuses and takes what its schema does, when one thing is odd",
  async (operation, version, read) => {
    const { schema, schemas } = await schemaOf(operation, version);
    fc.assert(
      fc.property(changedOf(arbitraryOf(schema, schemas, words)), (body) => {
        fc.pre(!isInWords(body));
        expect(isTaken(read, body)).toBe(findMisfits(body, schema, schemas).length === 0);
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

function isTaken(read: Read, body: unknown): boolean {
  try {
    // Longer bodies do not come so far.
    if (Buffer.byteLength(JSON.stringify(body)) > 65_536) return false;
    read(body);
    return true;
  } catch {
    return false;
  }
}

/** Products are looked up in the catalogue, and what can be in none is refused there. */
function requireSkus({ lines }: { readonly lines: readonly { readonly sku: string }[] }): void {
  if (!lines.every(({ sku }) => isSku(sku))) throw new Error("There is no such product.");
}

/** Two lines for one product, and time zones that nobody has: descriptions refuse them, and schemas do not. */
function isInWords(body: unknown): boolean {
  const { lines, prefs, private: hidden } = { ...(body as Schema) };
  const { timeZone } = { ...((prefs ?? { ...(hidden as Schema) }["prefs"]) as Schema) };
  const isUnknownZone = typeof timeZone === "string" && !words.timeZone.includes(timeZone);
  if (!Array.isArray(lines)) return isUnknownZone;
  const skus = lines.map((line: unknown) => ({ ...(line as Schema) })["sku"]);
  return new Set(skus).size < skus.length;
}
