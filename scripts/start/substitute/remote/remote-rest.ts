// The REST half of a remote substitute: forwards a request to the remote's REST proxy.
import { AppError } from "@tributary/kit/errors/app-error";
import { splitLinks } from "@tributary/kit/http/raw-headers";
import type { RestForwarder } from "../server.ts";

/** Of one connection (RFC 9110, section 7.6.1), or written by `fetch`, which also decompresses the body. */
const transportHeaders = [
  "accept-encoding",
  "connection",
  "content-encoding",
  "content-length",
  "expect",
  "host",
  "keep-alive",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
];
/**
 * Written by the remote's REST proxy; the local REST proxy adds its own. Headers such as the remote's `Consistency-Token` are not listed,
 * because the local REST proxy never forwards them.
 */
const proxyHeaders = ["ratelimit", "ratelimit-policy", "deprecation", "sunset", "cache-status", "date"];
/** The only link that a REST proxy writes. The services write the others, those to the pages of a list. */
const successorLink = /;\s*rel="?successor-version\b/;

/** @param origin of the remote's REST proxy. */
export function createRestForwarder(origin: string): RestForwarder {
  return async (request, response, { path, body, signal }) => {
    const { method = "GET" } = request;
    const headers = new Headers();
    for (const [name, values = []] of Object.entries(request.headersDistinct))
      if (!transportHeaders.includes(name)) for (const value of values) headers.append(name, value);
    const sentBody = body.length > 0 ? new Uint8Array(body) : null;
    const proxied = await fetch(`${origin}${path}`, {
      method,
      headers,
      body: sentBody,
      redirect: "manual",
      signal,
    }).catch((cause: unknown) => {
      throw new AppError("SERVICE_UNAVAILABLE", "The REST proxy of the remote does not respond.", { cause });
    });
    response.statusCode = proxied.status;
    response.setHeaders(toServiceHeaders(proxied.headers));
    response.end(Buffer.from(await proxied.arrayBuffer()));
  };
}

/** The headers that the service itself sent, from those of the remote's REST proxy. */
function toServiceHeaders(proxied: Headers): Headers {
  const headers = new Headers(proxied);
  for (const name of [...transportHeaders, ...proxyHeaders, "link"]) headers.delete(name);
  const links = splitLinks(proxied.get("link") ?? "").filter((link) => link !== "" && !successorLink.test(link));
  if (links.length > 0) headers.set("link", links.join(", "));
  return headers;
}
