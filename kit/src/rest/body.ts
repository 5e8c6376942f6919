import type { Request } from "express";
import { AppError, invalidInput } from "../errors/app-error.ts";
import { decodeJson, isJsonType, JsonError, parseUniqueJson } from "../http/json-body.ts";
import { collectBody } from "../http/receive-body.ts";
import type { Method } from "./routes.ts";

export const mediaTypes: Readonly<Record<Method, readonly string[]>> = {
  GET: [],
  POST: ["application/json"],
  PATCH: ["application/merge-patch+json"],
  DELETE: ["application/json"],
};

/** @returns undefined if the body is missing or empty. @throws AppError PAYLOAD_TOO_LARGE, UNSUPPORTED_MEDIA_TYPE, MALFORMED_REQUEST. */
export async function readBody(request: Request, method: Method, bytesMax: number): Promise<unknown> {
  const tooLarge = () =>
    new AppError("PAYLOAD_TOO_LARGE", `A body has at most ${bytesMax.toLocaleString("en")} bytes.`);
  const bytes = await collectBody(request, bytesMax, tooLarge);
  if (bytes.length === 0) return undefined;
  requireSupportedType(request, mediaTypes[method]);
  try {
    return parseUniqueJson(decodeJson(bytes));
  } catch (error) {
    throw error instanceof JsonError ? new AppError("MALFORMED_REQUEST", `The body ${error.message}.`) : error;
  }
}

/** @throws AppError BAD_USER_INPUT if there is no body. */
export function requireBody(body: unknown): unknown {
  if (body !== undefined) return body;
  throw invalidInput([{ pointer: "#", code: "required", detail: "This request requires a body." }]);
}

function requireSupportedType(request: Request, allowed: readonly string[]): void {
  if (!isJsonType(request.get("content-type"), allowed)) {
    throw new AppError("UNSUPPORTED_MEDIA_TYPE", `Send the body as ${allowed.join(" or ")}, in UTF-8.`);
  }
  if (request.get("content-encoding") !== undefined) {
    throw new AppError("UNSUPPORTED_MEDIA_TYPE", "Send the body without a content encoding.");
  }
}
