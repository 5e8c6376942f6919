import { createHash } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";
import { matchesIfNoneMatch } from "@tributary/kit/http/etag";
import { chooseContentCoding, chooseMediaType } from "@tributary/kit/http/accept";

export interface PageSource {
  readonly path: string;
  /** The first is for whoever does not say what they can read. */
  readonly variants: readonly { readonly type: string; readonly text: string }[];
  /** Names and values in turn, besides the usual ones. */
  readonly headers?: readonly string[];
}

interface PageAnswer {
  readonly status: number;
  readonly headers: readonly string[];
  readonly bytes: Buffer;
}

export interface Page {
  readonly path: string;
  answer(headers: Asked, isHead: boolean): PageAnswer;
}

type Asked = Pick<IncomingHttpHeaders, "accept" | "accept-encoding" | "if-none-match">;
type Encoding = "identity" | "gzip" | "br";
type Encoded = Readonly<
  Record<Encoding, { readonly head: readonly string[]; readonly etag: string; readonly bytes: Buffer }>
>;

const nothing = Buffer.alloc(0);

/** Pages that are ready to be sent: compressed, with their ETags, once. Half a megabyte for a platform of our size. */
export function createPages(sources: readonly PageSource[]): readonly Page[] {
  return sources.map(({ path, variants, headers = [] }) => {
    const types = variants.map(({ type }) => type);
    const encoded = new Map(variants.map(({ type, text }) => [type, encode(type, text)]));
    const vary = types.length > 1 ? "Accept, Accept-Encoding" : "Accept-Encoding";
    return {
      path,
      answer(asked, isHead) {
        const type = chooseMediaType(asked.accept, types) ?? types[0] ?? "";
        const { head, etag, bytes } = choose(encoded.get(type), asked["accept-encoding"]);
        const usual = ["ETag", etag, "Vary", vary, "Cache-Control", cacheControl, ...policyOf(type), ...headers];
        const condition = asked["if-none-match"];
        if (condition !== undefined && matchesIfNoneMatch(condition, etag)) {
          return { status: 304, headers: usual, bytes: nothing };
        }
        return { status: 200, headers: [...usual, ...head], bytes: isHead ? nothing : bytes };
      },
    };
  });
}

/** A deployment changes them; nobody has to wait for it longer than a minute. */
const cacheControl = "public, max-age=60";

/** Nothing inline, nothing from elsewhere, nothing that talks to anybody. */
const policy =
  "default-src 'none'; style-src 'self'; script-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

function policyOf(type: string): readonly string[] {
  return type === "text/html" ? ["Content-Security-Policy", policy, "Referrer-Policy", "no-referrer"] : [];
}

function choose(encoded: Encoded | undefined, acceptEncoding: string | undefined) {
  if (encoded === undefined) throw new Error("A page has a variant of each of its types.");
  return encoded[chooseContentCoding(acceptEncoding) ?? "identity"];
}

/** 11, the default, would cost a process a second when it starts, for a few per cent. */
const brotli = { params: { [constants.BROTLI_PARAM_QUALITY]: 5 } };

function encode(type: string, text: string): Encoded {
  const bytes = Buffer.from(text);
  const name = createHash("sha256").update(bytes).digest("base64url").slice(0, 16);
  const charset = type.startsWith("text/") ? `${type}; charset=utf-8` : type;
  const variant = (encoding: Encoding, bytes: Buffer) => ({
    etag: encoding === "identity" ? `"${name}"` : `"${name}-${encoding}"`,
    head: [
      ...["Content-Type", charset, "Content-Length", String(bytes.length)],
      ...(encoding === "identity" ? [] : ["Content-Encoding", encoding]),
    ],
    bytes,
  });
  return {
    identity: variant("identity", bytes),
    gzip: variant("gzip", gzipSync(bytes)),
    br: variant("br", brotliCompressSync(bytes, brotli)),
  };
}
