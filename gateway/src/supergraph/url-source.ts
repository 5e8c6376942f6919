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
      const text = await readText(body, bodyBytesMax);
      if (text.trim() === "") throw new Error(`${origin}${pathname} is empty`);
      etag = typeof headers.etag === "string" ? headers.etag : undefined;
      return text;
    },
  };
}

async function readText(body: AsyncIterable<Buffer>, bytesMax: number): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of body) {
    bytes += chunk.length;
    if (bytes > bytesMax) throw new Error(`The supergraph has more than ${bytesMax} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks, bytes).toString("utf8");
}
