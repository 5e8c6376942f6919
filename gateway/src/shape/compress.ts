// Stage 5 of 5: say it. Packs an answer when the client can unpack it and it pays.
import { promisify } from "node:util";
import { brotliCompress, constants, gzip } from "node:zlib";
import { type AnswerEncoding, preferEncoding } from "@tributary/kit/negotiation";

const brotliBytes = promisify(brotliCompress);
const gzipBytes = promisify(gzip);

const packers = {
  br: (bytes: Buffer) => brotliBytes(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } }),
  gzip: (bytes: Buffer) => gzipBytes(bytes, { level: 6 }),
} satisfies Record<AnswerEncoding, (bytes: Buffer) => Promise<Buffer>>;

/** Below this, packing costs more than it saves. */
const packedBytesMin = 1_024;

/** Off the event loop. Quality 4 of brotli is as fast as gzip and smaller. */
export async function compress(
  bytes: Buffer,
  acceptEncoding: string | undefined,
): Promise<{ readonly bytes: Buffer; readonly encoding: AnswerEncoding | undefined }> {
  const encoding = bytes.length < packedBytesMin ? undefined : preferEncoding(acceptEncoding);
  return encoding === undefined ? { bytes, encoding } : { bytes: await packers[encoding](bytes), encoding };
}
