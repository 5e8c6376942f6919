// The bundle: one file with the documents of all clients, which `npm run clients -- bundle` writes. One text instead of the folder clients/, so that a
// file, a URL and the copy of the last good one are read as a supergraph is. A gateway with the graph of others has no such folder, but the manifest
// that the build of a client writes.
import { z } from "zod";
import type { TrustedDocuments } from "../engine/parse/trusted-documents.ts";
import { createTrustedDocuments, RepeatedId, type RegisteredDocument } from "./registered-documents.ts";

const charactersMax = 20_000_000;
/** Registered documents are never evicted: each takes some 10 KB in every generation, and some 50 KB from its first request on. */
const documentsMax = 5_000;
const dayMs = 24 * 60 * 60_000;

const bundle = z
  .object({
    format: z.literal(
      "tributary-documents",
      'has to be "tributary-documents", as `npm run clients -- bundle` writes it, or "apollo-persisted-query-manifest"',
    ),
    version: z.literal(1, "has to be 1"),
    documents: z.array(
      z.object({
        id: z.string().min(1).optional(),
        text: z.string().min(1),
        operations: z.array(z.string().min(1)),
        client: z.string().min(1),
        owner: z.string(),
        file: z.string(),
        /** The last day, in UTC. */
        until: z.iso.date().optional(),
      }),
    ),
  })
  .transform(({ documents }) =>
    documents.map(({ operations, until, id, ...document }): RegisteredDocument => ({
      ...document,
      id,
      operationNames: operations,
      untilMs: until === undefined ? Infinity : Date.parse(until) + dayMs,
    })),
  );

/** `@apollo/generate-persisted-query-manifest`; Apollo iOS and Kotlin write the same. */
const apolloManifest = z
  .object({
    format: z.literal("apollo-persisted-query-manifest"),
    version: z.literal(1, "has to be 1"),
    operations: z.array(z.object({ id: z.string().min(1), body: z.string().min(1) })),
  })
  .transform(({ operations }) => operations.map(({ id, body }) => fromManifest(id, body)));

/** From ids to documents: Relay, and the client preset of GraphQL codegen. */
const idMap = z
  .record(
    z.string().min(1),
    z.string("has to be a document: a bundle, Apollo's manifest or a map from ids to documents is needed").min(1),
  )
  // Relay's compiler needs `{}` as the first file: with it, `enforce` would reject every document.
  .refine((map) => Object.keys(map).length > 0, "has no document")
  .transform((map) => Object.entries(map).map(([id, text]) => fromManifest(id, text)));

/** At the beginning of a definition. */
const operationName = /(?:^|\})\s*(?:query|mutation|subscription)\s+([_A-Za-z]\w*)/;

/** A manifest does not say whose it is, nor until when. */
function fromManifest(id: string, text: string): RegisteredDocument {
  const [, name] = operationName.exec(text) ?? [];
  const about = { client: "manifest", owner: "unknown", file: "manifest" };
  return { id, text, operationNames: name === undefined ? [] : [name], untilMs: Infinity, ...about };
}

export class UnusableBundle extends Error {}

/** @throws UnusableBundle */
export function readBundle(text: string): TrustedDocuments {
  if (text.length > charactersMax) throw new UnusableBundle(`the bundle has more than ${charactersMax} characters`);
  const documents = createDocuments(parse(text));
  const { length } = documents.list();
  if (length > documentsMax)
    throw new UnusableBundle(`the bundle has ${length} different documents, ${documentsMax} at most`);
  return documents;
}

function parse(text: string): readonly RegisteredDocument[] {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch (error) {
    throw new UnusableBundle(`the bundle is not valid JSON: ${error instanceof Error ? error.message : String(error)}`);
  }
  const { data, error } = schemaOf(json).safeParse(json);
  if (data) return data;
  const [issue] = error.issues;
  throw new UnusableBundle(`the bundle is not valid: ${issue?.path.join(".")} ${issue?.message}`);
}

function schemaOf(json: unknown): z.ZodType<readonly RegisteredDocument[]> {
  if (typeof json !== "object" || json === null || !("format" in json)) return idMap;
  return json.format === "apollo-persisted-query-manifest" ? apolloManifest : bundle;
}

function createDocuments(registered: readonly RegisteredDocument[]): TrustedDocuments {
  try {
    return createTrustedDocuments(registered);
  } catch (error) {
    throw error instanceof RepeatedId ? new UnusableBundle(error.message) : error;
  }
}
