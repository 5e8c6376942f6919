// The files in which a client's build writes its operations: Apollo's manifest, and the map from ids to documents of Relay and GraphQL codegen.
import { z } from "zod";

interface ManifestDocument {
  readonly id: string;
  readonly text: string;
  /** Of the id. */
  readonly line: number;
}

interface ManifestProblem {
  readonly line: number;
  readonly message: string;
}

export interface ParsedManifest {
  readonly documents: readonly ManifestDocument[];
  /** All of them. A manifest with problems has no documents. */
  readonly problems: readonly ManifestProblem[];
}

const documentsMax = 5_000;
const problemsMax = 20;
const forms =
  'has to be Apollo\'s manifest ("format", "version", "operations"), or a map from ids to documents as Relay and GraphQL codegen write it';

/** `@apollo/generate-persisted-query-manifest`; Apollo iOS and Kotlin write the same. */
const apolloManifest = z
  .object({
    format: z.literal("apollo-persisted-query-manifest", 'has to be "apollo-persisted-query-manifest"'),
    version: z.literal(1, "has to be 1"),
    operations: z.array(
      z.object({ id: z.string("has to be a text").min(1, "is empty"), body: z.string("has to be a text") }),
      "has to be a list",
    ),
  })
  .transform(({ operations }) => operations.map(({ id, body }) => [id, body] as const));
const idMap = z
  .record(z.string(), z.string("has to be the text of a document"), forms)
  .transform((map) => Object.entries(map));

export function parseManifest(text: string): ParsedManifest {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch (error) {
    return reject([
      { line: 1, message: `is not valid JSON: ${error instanceof Error ? error.message : String(error)}` },
    ]);
  }
  const isApollo = typeof json === "object" && json !== null && "format" in json;
  const result = (isApollo ? apolloManifest : idMap).safeParse(json);
  if (!result.success) {
    const { issues } = result.error;
    return reject(issues.map(({ path, message }) => ({ line: 1, message: `${path.join(".")} ${message}`.trim() })));
  }
  const entries = result.data;
  if (entries.length === 0) return reject([{ line: 1, message: "has no operation" }]);
  if (entries.length > documentsMax)
    return reject([{ line: 1, message: `has ${entries.length} operations, ${documentsMax} at most` }]);
  const { lines, repeatedKeys } = findStrings(text);
  // JSON.parse takes the last of two equal keys: the other document would be lost.
  if (!isApollo && repeatedKeys.length > 0) return reject(repeatedKeys);
  const lineOf = (id: string) => lines.get(JSON.stringify(id)) ?? 1;
  return { documents: entries.map(([id, body]) => ({ id, text: body, line: lineOf(id) })), problems: [] };
}

function reject(problems: readonly ManifestProblem[]): ParsedManifest {
  return { documents: [], problems: problems.slice(0, problemsMax) };
}

/** The first line of each string of a JSON text, as it is written there. */
function findStrings(text: string) {
  const lines = new Map<string, number>();
  const keys = new Set<string>();
  const repeatedKeys: ManifestProblem[] = [];
  let line = 1;
  for (const [token, string, colon] of text.matchAll(/\n|("(?:[^"\\]|\\.)*")(\s*:)?/g)) {
    if (string !== undefined) {
      if (!lines.has(string)) lines.set(string, line);
      if (colon !== undefined && keys.has(string)) repeatedKeys.push({ line, message: `repeats the id ${string}` });
      if (colon !== undefined) keys.add(string);
    }
    line += token.split("\n").length - 1;
  }
  return { lines, repeatedKeys };
}
