// Reads the supergraph from a URL (SUPERGRAPH_URL). server.ts creates the source; supergraph-watcher.ts reads it.
import { collectBody } from "@tributary/kit/http/receive-body";
import { request } from "undici";
import type { SupergraphSource } from "./supergraph-source.ts";

export interface UrlSourceOptions {
  readonly url: string;
  readonly timeoutMs?: number;
  readonly bodyBytesMax?: number;
}

/** Follows no redirects. Sends `If-None-Match` (RFC 9110, section 13.1.2), so that an unchanged supergraph is not sent again. */
export function createUrlSource({
  url,
  timeoutMs = 10_000,
  bodyBytesMax = 50_000_000,
}: UrlSourceOptions): SupergraphSource {
  let etag: string | undefined;
  const { origin, pathname } = new URL(url);
  return {
    name: origin + pathname,
    async read(signal) {
      const requestHeaders: Record<string, string> = { accept: "text/plain, */*" };
      if (etag !== undefined) requestHeaders["if-none-match"] = etag;
      const { statusCode, headers, body } = await request(url, {
        headers: requestHeaders,
        signal: AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]),
      });
      if (statusCode !== 200) {
        await body.dump();
        if (statusCode === 304) return undefined;
        throw new Error(`${origin}${pathname} responded with ${statusCode}`);
      }
      const tooLarge = () => new Error(`The supergraph has more than ${bodyBytesMax} bytes`);
      const text = (await collectBody(body, bodyBytesMax, tooLarge)).toString("utf8");
      if (text.trim() === "") throw new Error(`${origin}${pathname} is empty`);
      etag = typeof headers.etag === "string" ? headers.etag : undefined;
      return text;
    },
  };
}
