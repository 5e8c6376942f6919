// OpenAPI Overlay 1.0: a second file that changes a document which a tool has generated.
import { isJsonObject, type Json } from "@tributary/kit/json/json";
import { jsonpath } from "json-p3";
import { z } from "zod";

const overlaySchema = z.object({
  overlay: z.string().regex(/^1\./, "has to be 1.0.0"),
  info: z.object({ title: z.string(), version: z.string() }),
  actions: z.array(
    z.strictObject({
      target: z.string("has to be a JSONPath (RFC 9535)"),
      description: z.string().optional(),
      update: z.unknown().optional(),
      remove: z.boolean().optional(),
    }),
    "has to be a list",
  ),
});

export interface OverlayProblem {
  readonly message: string;
  /** In the overlay, for its line. */
  readonly path: readonly (string | number)[];
}

/**
 * Changes the document in place.
 *
 * @returns all problems. A target that selects nothing is one, unlike in the specification: after the team renames an operation, its settings
 *   would silently be lost.
 */
export function applyOverlay(document: Json, overlay: unknown): readonly OverlayProblem[] {
  const parsed = overlaySchema.safeParse(overlay);
  if (!parsed.success)
    return parsed.error.issues.map(({ path, message }) => ({
      message: `${path.join(".")} ${message}`.trim(),
      path: path.map((key) => (typeof key === "symbol" ? String(key) : key)),
    }));
  return parsed.data.actions.flatMap(({ target, update, remove = false }, index) => {
    const problem = (message: string) => [{ message, path: ["actions", index, "target"] }];
    let nodes;
    try {
      nodes = jsonpath.query(target, document as Parameters<typeof jsonpath.query>[1]).nodes;
    } catch (error) {
      return problem(`${target} is not a valid JSONPath: ${error instanceof Error ? error.message : String(error)}`);
    }
    if (nodes.length === 0) return problem(`${target} selects nothing. Correct the target, or remove the action.`);
    // From the last one, so that the indexes of the others remain.
    for (const { location, value } of nodes.toReversed()) {
      // A copy for each node: a later action that changes one of them must not change the others.
      const added = structuredClone(update);
      if (remove) removeAt(document, location);
      else if (Array.isArray(value)) value.push(added as never);
      else if (isJsonObject(value) && isJsonObject(added)) merge(value, added);
      else return problem(`${target} selects ${JSON.stringify(value)}, but update works on objects and lists.`);
    }
    return [];
  });
}

function removeAt(document: Json, location: readonly (string | number)[]): void {
  let parent: unknown = document;
  for (const key of location.slice(0, -1)) parent = (parent as Json)[key];
  const last = location.at(-1);
  if (Array.isArray(parent)) parent.splice(Number(last), 1);
  else if (last !== undefined && isJsonObject(parent)) Reflect.deleteProperty(parent, last);
}

/** Overlay 1.0, 4.4.3.1: objects are merged, lists are concatenated, other values replaced. */
function merge(target: Json, update: Json): void {
  for (const [key, value] of Object.entries(update)) {
    const current = Object.hasOwn(target, key) ? target[key] : undefined;
    if (isJsonObject(current) && isJsonObject(value)) merge(current, value);
    else if (Array.isArray(current) && Array.isArray(value)) current.push(...(value as unknown[]));
    else Object.defineProperty(target, key, { value, writable: true, enumerable: true, configurable: true });
  }
}
