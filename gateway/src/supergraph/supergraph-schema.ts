// The section `supergraph` of gateway.yaml: where the supergraph comes from.
import { isHttpUrl } from "@tributary/kit/http/http-url";
import { z } from "zod";

const url = z.string().refine(isHttpUrl, "has to be an http(s) URL");
const path = z.string().min(1).max(4_096);
const headerName = z.string().regex(/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/, "has to be a header name");
/** RFC 9110, section 5.5: field-value. */
const headerText = z.string().regex(/^[\t\x20-\x7e\x80-\xff]*$/, "has to be a header value");

/** Of a text that the gateway reads from a file or a URL. */
export const sourceKeys = {
  file: path,
  url: z.union([url, z.array(url).min(1).max(8)]),
  headers: z
    .record(headerName, z.union([headerText, z.strictObject({ file: path })]))
    .describe("Request headers for the URL: a text, or the file that has it, which is read again for each request."),
  last_good: path,
};

export const supergraphSection = z
  .strictObject({
    file: sourceKeys.file.describe(
      "The supergraph's file, which is watched. SUPERGRAPH_FILE and SUPERGRAPH_URL replace it.",
    ),
    url: sourceKeys.url.describe(
      "The supergraph's URL, which is polled; or several: each is read only if those before it fail. SUPERGRAPH_URL and SUPERGRAPH_FILE replace it.",
    ),
    headers: sourceKeys.headers,
    last_good: sourceKeys.last_good.describe(
      "The last accepted supergraph is written to this file, and served at a start until the source has one that can be used.",
    ),
  })
  .partial()
  .refine(({ file, url: urls }) => file === undefined || urls === undefined, "has either file or url")
  .meta({ restart: true });

export type SupergraphSection = z.infer<typeof supergraphSection>;
export type SourceHeaders = NonNullable<SupergraphSection["headers"]>;
