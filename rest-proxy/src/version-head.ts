import { mediaTypeOf } from "./accept.ts";
import type { OwnHead } from "./own-head.ts";
import { type Retirements, successorLink } from "./retirement.ts";
import type { RouteTable } from "./route-table.ts";
import type { Found } from "./versions.ts";

/** Says which version an answer is, how it came to that, and that the version is going to go, if it is. */
export function tellVersion(found: Found, own: OwnHead, retirements: Retirements, table: RouteTable): void {
  const { version, media, path, isNegotiated } = found;
  own.lines.push("API-Version", String(version));
  // Under a path with a version all get the same, but for those who asked for the vendor type: nobody gets that from a cache who did not.
  if (isNegotiated || media === "vendor") own.vary.push("Accept");
  if (media === "vendor") own.mediaType = mediaTypeOf(version, media);
  const headers = retirements.headersOf(version);
  if (!headers) return;
  own.lines.push(...headers);
  const successor = table.versionsAt(path).find((one) => one > version);
  if (successor !== undefined) own.lines.push("Link", successorLink(`/v${successor}${path}`));
}

/** The name of what was negotiated (RFC 9110, 8.7). After a `POST` it would speak of something else: the list that took it. */
export function tellLocation({ isNegotiated }: Found, method: string, location: string, own: OwnHead): void {
  if (isNegotiated && (method === "GET" || method === "HEAD")) own.ofAnswer.push("Content-Location", location);
}
