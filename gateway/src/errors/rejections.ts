// Rejections of whole requests, at any stage. paths/rejected-response.ts has the responses.
import { type ClientCode, codes } from "./codes.ts";
import type { Statuses } from "./statuses.ts";

export interface RejectionDetails {
  /** Besides the code. */
  readonly extensions?: Readonly<Record<string, string | number>>;
  /** By default those of the code. */
  readonly statuses?: Statuses;
}

/** Thrown, or returned in place of a result. `message`, `headers` and `extensions` are for the client. */
export class Rejection extends Error {
  readonly code: ClientCode;
  readonly headers: Readonly<Record<string, string>>;
  readonly extensions: RejectionDetails["extensions"];
  readonly statuses: Statuses;

  constructor(
    code: ClientCode,
    message?: string,
    headers: Readonly<Record<string, string>> = {},
    { extensions, statuses = codes[code].statuses }: RejectionDetails = {},
  ) {
    super(message ?? codes[code].message);
    this.name = "Rejection";
    this.code = code;
    this.headers = headers;
    this.extensions = extensions;
    this.statuses = statuses;
  }
}

/** As a GraphQL response, so that every GraphQL client can read it. */
export function rejectionBody(
  code: ClientCode,
  message: string,
  extensions: RejectionDetails["extensions"] = {},
): string {
  return JSON.stringify({ errors: [{ message, extensions: { code, ...extensions } }] });
}
