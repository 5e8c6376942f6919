export const purgeForms = ["varnish", "fastly", "cloudflare"] as const;
export type PurgeForm = (typeof purgeForms)[number];

export interface PurgeTarget {
  readonly form: PurgeForm;
  readonly url: string;
  /** Undefined only for Varnish: then its access list alone decides who may purge. */
  readonly token: string | undefined;
}

export interface PurgeRequest {
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** Fastly accepts 256, Cloudflare 100. For Varnish, 100 tags are at most half of its limit for a header (http_req_hdr_len). */
export const tagsMaxOf: Readonly<Record<PurgeForm, number>> = { varnish: 100, fastly: 256, cloudflare: 100 };

export function toPurgeRequest({ form, token }: PurgeTarget, tags: readonly string[]): PurgeRequest {
  switch (form) {
    case "varnish":
      return { method: "PURGE", headers: { "xkey-purge": tags.join(" "), ...authorizationHeader(token) } };
    // https://www.fastly.com/documentation/reference/api/purging/#bulk-purge-tag
    case "fastly":
      return { method: "POST", headers: { "surrogate-key": tags.join(" "), "fastly-key": token ?? "" } };
    // https://developers.cloudflare.com/cache/how-to/purge-cache/purge-by-tags/
    case "cloudflare":
      return {
        method: "POST",
        headers: { "content-type": "application/json", ...authorizationHeader(token) },
        body: JSON.stringify({ tags }),
      };
  }
}

function authorizationHeader(token: string | undefined): Readonly<Record<string, string>> {
  return token === undefined ? {} : { authorization: `Bearer ${token}` };
}
