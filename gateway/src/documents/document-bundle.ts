// The bundle: one file with the documents of all clients, which `npm run clients -- bundle` writes. One text instead of the folder clients/, so that a
// file, a URL and the copy of the last good one are read as a supergraph is.
import { z } from "zod";
import type { TrustedDocuments } from "../engine/parse/trusted-documents.ts";
import { createTrustedDocuments, RepeatedId, type RegisteredDocument } from "./registered-documents.ts";

const charactersMax = 20_000_000;
/** Registered documents are never evicted: each takes some 10 KB in every generation, and some 50 KB from its first request on. */
const documentsMax = 5_000;
const dayMs = 24 * 60 * 60_000;

const bundle = z.object({
  format: z.literal("tributary-documents", 'has to be "tributary-documents": write it by `npm run clients -- bundle`'),
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
});

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
  const { data, error } = bundle.safeParse(json);
  if (!data) {
    const [issue] = error.issues;
    throw new UnusableBundle(`the bundle is not valid: ${issue?.path.join(".")} ${issue?.message}`);
  }
  return data.documents.map(({ operations, until, id, ...document }) => ({
    ...document,
    id,
    operationNames: operations,
    untilMs: until === undefined ? Infinity : Date.parse(until) + dayMs,
  }));
}

function createDocuments(registered: readonly RegisteredDocument[]): TrustedDocuments {
  try {
    return createTrustedDocuments(registered);
  } catch (error) {
    throw error instanceof RepeatedId ? new UnusableBundle(error.message) : error;
  }
}
