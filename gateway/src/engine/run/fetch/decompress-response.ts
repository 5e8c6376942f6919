// Stage 4 of 5: run. Subgraphs, or proxies in front of them, may compress their responses, also if the gateway does not ask for it (RFC 9110, 12.5.3).
import { promisify } from "node:util";
import { brotliDecompress, constants, gunzip, inflate, inflateRaw, zstdDecompress } from "node:zlib";

/** For settings that ask for compressed responses. */
export const acceptedCodings = "zstd, br, gzip";

/** As the default of `body_bytes_max`: JSON of equal objects reaches any ratio. A longer result has at most `ratioMax` times the received bytes. */
const uncheckedBytesMax = 10_000_000;
const ratioMax = 250;

/** 8 MB, the most that HTTP permits (RFC 9659). A frame of a few bytes can ask for a window of 128 MB. */
const zstdWindowBitsMax = 23;

type DecompressionCode = "SUBGRAPH_INVALID_RESPONSE" | "SUBGRAPH_RESPONSE_TOO_LARGE";

export class UndecodableBody extends Error {
  readonly code: DecompressionCode;

  constructor(code: DecompressionCode, message: string) {
    super(message);
    this.code = code;
  }
}

/** In a thread of Node's pool: 10 MB would occupy the main thread for 40 ms. Never rejects. @param encoding the `Content-Encoding`. */
export async function decompressResponse(
  body: Buffer,
  encoding: string,
  bodyBytesMax: number,
): Promise<Buffer | UndecodableBody> {
  const coding = encoding.trim().toLowerCase();
  if (coding === "identity" || coding === "" || body.length === 0) return body;
  const decompress = findDecompressor(coding, body);
  if (!decompress) return new UndecodableBody("SUBGRAPH_INVALID_RESPONSE", describeUnknown(coding));
  const bytesMax = Math.min(bodyBytesMax, Math.max(uncheckedBytesMax, ratioMax * body.length));
  try {
    return await decompress(body, { maxOutputLength: bytesMax });
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === "ERR_BUFFER_TOO_LARGE") {
      const reason = `The response has ${body.length} bytes, and more than ${bytesMax} when it is decompressed`;
      return new UndecodableBody("SUBGRAPH_RESPONSE_TOO_LARGE", reason);
    }
    return new UndecodableBody(
      "SUBGRAPH_INVALID_RESPONSE",
      `The response cannot be decompressed (${coding}): ${message}`,
    );
  }
}

type Decompress = (body: Buffer, options: { readonly maxOutputLength: number }) => Promise<Buffer>;

const decompressGzip: Decompress = promisify(gunzip);
const decompressZlib: Decompress = promisify(inflate);
const decompressRaw: Decompress = promisify(inflateRaw);
const decompressBrotli: Decompress = promisify(brotliDecompress);
const decompressZstd: Decompress = (body, options) =>
  promisify(zstdDecompress)(body, { ...options, params: { [constants.ZSTD_d_windowLogMax]: zstdWindowBitsMax } });

function findDecompressor(coding: string, body: Buffer): Decompress | undefined {
  switch (coding) {
    case "gzip":
    case "x-gzip":
      return decompressGzip;
    case "br":
      return decompressBrotli;
    case "zstd":
      return decompressZstd;
    case "deflate":
      // Some servers leave out the zlib header (RFC 9110, 8.4.1.2).
      return ((body[0] ?? 0) & 0x0f) === 8 ? decompressZlib : decompressRaw;
    default:
      return undefined;
  }
}

/** The subgraph's text may contain anything. */
function describeUnknown(coding: string): string {
  const known = "supported are gzip, br, zstd and deflate, one of them";
  return `The response has the Content-Encoding ${JSON.stringify(coding.slice(0, 50))}; ${known}`;
}
