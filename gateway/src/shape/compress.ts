// Stage 5 of 5: say it. Packs an answer when the client can unpack it and it pays.
import { brotliCompress, constants, gzip } from "node:zlib";
import { type ContentCoding, chooseContentCoding } from "@tributary/kit/http/accept";

/** Below this, packing costs more than it saves. */
const packedBytesMin = 1_024;

/** Undefined: as it is. */
export function preferPacking(bytes: Buffer, acceptEncoding: string | undefined): ContentCoding | undefined {
  if (acceptEncoding === undefined || bytes.length < packedBytesMin) return undefined;
  return chooseContentCoding(acceptEncoding);
}

/**
 * Off the event loop. Quality 4 of brotli is as fast as gzip and smaller.
 * @param done gets nothing when packing failed, for want of memory: the answer then goes as it is.
 */
export function compress(bytes: Buffer, encoding: ContentCoding, done: (packed: Buffer | undefined) => void): void {
  const finish = (error: Error | null, packed: Buffer) => done(error ? undefined : packed);
  if (encoding === "gzip") gzip(bytes, { level: 6 }, finish);
  else brotliCompress(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } }, finish);
}
