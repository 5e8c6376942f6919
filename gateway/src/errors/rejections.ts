// Rejections of whole requests, at any stage. paths/rejected-response.ts has the responses.
import { type ClientCode, codes } from "./codes.ts";

export interface RejectionDetails {
  /** Besides the code. */
  readonly extensions?: Readonly<Record<string, string | number>>;
  /** The status is then the same for every media type. Codes of stage 1 imply it. */
  readonly isBodyUnused?: boolean;
}

/** Thrown, or returned in place of a result. `message`, `headers` and `extensions` are for the client. */
export class Rejection extends Error {
  readonly code: ClientCode;
  readonly headers: Readonly<Record<string, string>>;
  readonly extensions: RejectionDetails["extensions"];
  /** The status is 200 for clients that accept only `application/json` (GraphQL over HTTP). */
  readonly dependsOnMediaType: boolean;

  constructor(
    code: ClientCode,
    message?: string,
    headers: Readonly<Record<string, string>> = {},
    { extensions, isBodyUnused = false }: RejectionDetails = {},
  ) {
    super(message ?? codes[code].message);
    this.name = "Rejection";
    this.code = code;
    this.headers = headers;
    this.extensions = extensions;
    this.dependsOnMediaType = codes[code].stage !== "admit" && !isBodyUnused;
  }

  get status(): number {
    return codes[this.code].status;
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
