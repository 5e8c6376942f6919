// The section `documents` of gateway.yaml: the documents of known clients, and whether the gateway executes others.
import { z } from "zod";
import { sourceKeys } from "../supergraph/supergraph-schema.ts";

const modes = ["off", "log", "enforce"] as const;
export type DocumentsMode = (typeof modes)[number];

const { file, url, headers, last_good: lastGood } = sourceKeys;
const atStart = { restart: true };

export const documentsSection = z
  .strictObject({
    mode: z
      .enum(modes)
      .describe(
        "What happens to a document that no client has registered: off executes it, log executes and counts it, enforce rejects it. Default: off.",
      ),
    own_only: z
      .boolean()
      .describe(
        "Whether a document counts as registered, for a client whose name is proven (CLIENT_KEYS, CLIENT_CLAIM), only if this client has registered it. Default: false.",
      ),
    file: file.describe("The bundle of all registered documents, which is watched.").meta(atStart),
    url: url.describe("The bundle's URL, which is polled; or several, as for the supergraph.").meta(atStart),
    headers: headers.meta(atStart),
    last_good: lastGood
      .describe("The last accepted bundle is written to this file, and used at a start until the source has one.")
      .meta(atStart),
  })
  .partial()
  .refine((section) => section.file === undefined || section.url === undefined, "has either file or url");

export type DocumentsSection = z.infer<typeof documentsSection>;
