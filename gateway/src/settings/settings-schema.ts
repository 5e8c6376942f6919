// The schema of gateway.yaml: the settings that are not environment variables. parse-settings.ts reads the file; `npm run generate` writes the JSON
// Schema for editors. A key with `meta({ restart: true })` takes effect at the next start only.
import { corsOriginPattern, corsOriginRule } from "@tributary/kit/http/cors";
import { z } from "zod";
import { documentsSection } from "../documents/documents-schema.ts";
import { supergraphSection } from "../supergraph/supergraph-schema.ts";
import { subgraphSections } from "../subgraph-settings/subgraph-schema.ts";

const headerName = z.string().regex(/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/, "has to be a header name");
const originPattern = z.string().regex(corsOriginPattern, corsOriginRule);

const cors = z
  .strictObject({
    origins: z
      .array(
        z.union([
          originPattern,
          z.strictObject({
            origin: originPattern,
            allow_credentials: z.boolean().optional().describe("Whether pages may send cookies. Default: false."),
          }),
        ]),
      )
      .max(100)
      .describe(
        "Origins whose pages may read responses: exact, with *. for one host label, with :* for any port, or * for all. CORS_ORIGINS replaces them.",
      ),
    allow_headers: z
      .array(headerName)
      .max(100)
      .describe("Request headers that pages may send, besides the default ones and those that header rules propagate."),
    expose_headers: z
      .array(headerName)
      .max(100)
      .describe(
        "Response headers that pages may read, besides the default ones and those that header rules propagate.",
      ),
    max_age_seconds: z
      .int()
      .min(0)
      .max(86_400)
      .describe("How long a browser keeps the result of a preflight, and so the old CORS settings. Default: 7200."),
  })
  .partial();

/** Browsers send these without a preflight (Fetch Standard, "CORS-safelisted request-header"), or set them themselves. */
const unprovingHeader =
  /^(?:accept|accept-.*|content-.*|range|cookie|host|origin|referer|user-agent|connection|cache-control|pragma|priority|sec-.*|dnt|upgrade-insecure-requests)$/i;

const csrf = z
  .strictObject({
    required_headers: z
      .array(
        headerName.refine(
          (name) => !unprovingHeader.test(name),
          "is sent without a preflight, so it would permit any page",
        ),
      )
      .min(1)
      .max(20)
      .describe("One of them permits a GET. Default: apollo-require-preflight, x-apollo-operation-name."),
  })
  .partial();

const blocked = z
  .strictObject({
    operation: z
      .string()
      .regex(
        /^(?:[_A-Za-z]\w{0,199}|[0-9A-Fa-f]{64})$/,
        "has to be the name of an operation, or the SHA-256 of a document",
      )
      .optional()
      .describe("Name of an operation, or the SHA-256 of a document."),
    client: z.string().min(1).max(200).optional().describe("Name of a client program, verified or claimed."),
    until: z.iso
      .datetime({ offset: true, error: "has to be a time such as 2026-12-01T12:00:00Z" })
      .optional()
      .describe("Then the entry has no effect. Default: never."),
    reason: z.string().min(1).max(500).describe("Clients get it in the message."),
  })
  .refine(
    ({ operation, client }) => operation !== undefined || client !== undefined,
    "needs operation, client, or both",
  );

export const settingsSchema = z
  .strictObject({
    supergraph: supergraphSection.describe("Where the supergraph comes from. Takes effect at the next start."),
    documents: documentsSection.describe("Documents of known clients."),
    ...subgraphSections,
    cors,
    csrf,
    http: z
      .strictObject({
        draft: z
          .literal("2026-08", "has to be 2026-08")
          .describe(
            "The draft of GraphQL over HTTP whose statuses clients get that accept application/graphql-response+json: 294 for data with errors, 422 for a request that cannot be executed. Default: 200 and 400.",
          ),
      })
      .partial()
      .describe("What a response says by HTTP."),
    blocked: z.array(blocked).max(1_000).describe("Operations and clients that are rejected."),
    log: z
      .strictObject({ level: z.enum(["debug", "info", "warn", "error"]) })
      .partial()
      .describe("LOG_LEVEL is the level without it."),
  })
  .partial();

export type SettingsFile = z.infer<typeof settingsSchema>;

/** For editors: JSON Schema 2020-12. */
export function toJsonSchema(): object {
  return z.toJSONSchema(settingsSchema, { io: "input" });
}
