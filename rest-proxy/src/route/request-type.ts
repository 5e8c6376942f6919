import type { IncomingMessage } from "node:http";
import { AppError } from "@tributary/kit/errors/app-error";
import { mediaTypeOf, vendorPattern } from "./accept-version.ts";

/**
 * The `Content-Type` for the service: JSON for the vendor type of the version, else the client's. A `PATCH` keeps its type: that type says how the
 * body changes the resource (RFC 5789, 2), which a version does not.
 * @throws AppError UNSUPPORTED_MEDIA_TYPE for a body of another version than the request.
 */
export function toServiceType({ method, headers }: IncomingMessage, version: number): string | undefined {
  const contentType = headers["content-type"];
  const [type = "", ...parameters] = contentType?.split(";") ?? [];
  const [, vendorDigits] = vendorPattern.exec(type.trim().toLowerCase()) ?? [];
  if (vendorDigits === undefined || method === "PATCH") return contentType;
  if (Number(vendorDigits) === version) return [mediaTypeOf(version, "json"), ...parameters].join(";");
  const types = [mediaTypeOf(version, "json"), mediaTypeOf(version, "vendor")].join(" or ");
  throw new AppError("UNSUPPORTED_MEDIA_TYPE", `This request is for version ${version}. Send the body as ${types}.`);
}
