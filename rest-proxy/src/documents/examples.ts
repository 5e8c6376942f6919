/** The example values of an operation's request, for the code samples and the try-it form. */
import type { Operation, Parameter } from "./open-api/open-api.ts";

/**
 * The value of a required parameter. Without an example: the name of a path parameter, `*` for `If-Match`, "" for any other. Undefined for
 * an idempotency key: each request needs a new one.
 */
export function exampleOf({ name, in: place, schema }: Parameter): string | undefined {
  if (name === "Idempotency-Key") return undefined;
  const [example] = schema.examples ?? [];
  if (typeof example === "string" || typeof example === "number") return String(example);
  if (place === "path") return name;
  return name === "If-Match" ? "*" : "";
}

interface ExampleBody {
  /** The media type. */
  readonly type: string;
  /** Undefined without an example. */
  readonly value: unknown;
}

/** The first example of the first media type; undefined for a request without a body. */
export function exampleBodyOf({ requestBody }: Operation): ExampleBody | undefined {
  const [firstContent] = Object.entries(requestBody?.content ?? {});
  if (firstContent === undefined) return undefined;
  const [type, { examples = {} }] = firstContent;
  const [firstExample] = Object.values(examples);
  return { type, value: firstExample?.value };
}
