import { expect, test } from "vitest";
import { z } from "zod";
import { documentsRequestBody, respondsWith } from "./documented-bodies.ts";

const postBody = z.strictObject({
  id: z.string(),
  author: z.strictObject({ id: z.string() }).nullable(),
  lines: z.array(z.strictObject({ sku: z.string() })),
  hidden: z.strictObject({ email: z.string() }).optional(),
});
type PostBody = z.output<typeof postBody>;

const surplus = { name: "Ada" };

test("a conversion into the documented body is returned unchanged", () => {
  const toBody = (id: string, isHidden: boolean) => ({
    id,
    author: isHidden ? null : { id },
    lines: [id].map((sku) => ({ sku })),
    ...(isHidden ? {} : { hidden: { email: id } }),
  });
  expect(respondsWith<PostBody>()(toBody)).toBe(toBody);
});

test("a response member that is not documented, or is missing, does not compile", () => {
  const body: PostBody = { id: "1", author: null, lines: [] };
  const responds = respondsWith<PostBody>();
  // @ts-expect-error -- `name` is not documented.
  responds(() => ({ ...body, name: "Ada" }));
  // @ts-expect-error -- nor in a spread value.
  responds(() => ({ ...body, ...surplus }));
  // @ts-expect-error -- nor in an object that may be null.
  responds((id: string) => ({ ...body, author: id === "" ? null : { id, ...surplus } }));
  // @ts-expect-error -- nor in the items of an array.
  responds(() => ({ ...body, lines: [{ sku: "A", ...surplus }] }));
  // @ts-expect-error -- nor in an object that may be absent.
  responds(() => ({ ...body, hidden: { email: "a", ...surplus } }));
  // @ts-expect-error -- `author` is missing.
  responds(() => ({ id: "1", lines: [] }));
  // @ts-expect-error -- `id` is a text.
  responds(() => ({ ...body, id: 1 }));
});

test("a request schema that documents other members than are read does not compile", () => {
  const read = z.strictObject({ title: z.string().transform((text) => text.length), note: z.string().nullish() });
  const describesRead = documentsRequestBody<z.input<typeof read>>();
  const schema = z.strictObject({ title: z.string().max(200), note: z.string().nullish() });
  expect(describesRead(schema)).toBe(schema);
  // @ts-expect-error -- `note` is not documented.
  describesRead(schema.omit({ note: true }));
  // @ts-expect-error -- `name` is not read.
  describesRead(schema.extend({ name: z.string().optional() }));
  // @ts-expect-error -- `title` is a text.
  describesRead(schema.extend({ title: z.number() }));
  // @ts-expect-error -- `note` can be null.
  describesRead(schema.extend({ note: z.string().optional() }));
  // @ts-expect-error -- `title` is required.
  describesRead(schema.extend({ title: z.string().optional() }));
});
