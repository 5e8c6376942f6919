import { availableParallelism } from "node:os";
import { promisify } from "node:util";
import { brotliCompress, constants, gzip, zstdCompress } from "node:zlib";
import { createBoundedMap } from "../collections/bounded-map.ts";
import { chooseContentCoding, type ContentCoding, contentCodings } from "./accept.ts";

/** Compressing a shorter body saves no packet. */
export const compressedBytesMin = 1_024;

/**
 * @example
 * const coding = body.length < compressedBytesMin ? undefined : compression.chooseCoding(request.headers["accept-encoding"]);
 * if (coding === undefined || compression.isFull()) send(body);
 * else send(await compression.compress(body, coding), coding);
 */
export interface Compression {
  /** Memoized by the value of `Accept-Encoding`. Undefined: the response is not compressed. */
  chooseCoding(acceptEncoding: string | undefined): ContentCoding | undefined;
  /** Whether `bodiesMax` bodies are in memory: send further ones uncompressed. */
  isFull(): boolean;
  /**
   * @param body may be a promise, so that a body that is being received counts for `isFull`.
   * @param isWanted called when a thread is free. @throws Error if it returns false.
   */
  compress(body: Buffer | Promise<Buffer>, coding: ContentCoding, isWanted?: () => boolean): Promise<Buffer>;
  /** Of the body that waits longest for a thread; 0 if none waits. */
  queueDelayMs(): number;
}

export interface CompressionOptions {
  readonly bodiesMax?: number;
  /** One more than cores, so that a thread has the next body at once; at most three of the pool's four threads, since DNS lookups need one. */
  readonly threadsMax?: number;
}

/** A shorter body takes a thread for less than a millisecond, and to wait for it would cost the main thread 40 µs. */
const queuedBytesMin = 32_768;
const memoMax = 1_000;
/** Characters of a memoized value. A longer value is parsed for each request. */
const memoLengthMax = 256;

export function createCompression({
  bodiesMax = 32,
  threadsMax = Math.min(availableParallelism() + 1, 3),
}: CompressionOptions = {}): Compression {
  const codings = createBoundedMap<{ readonly coding: ContentCoding | undefined }>({ entriesMax: memoMax });
  const threads = createThreadQueue(threadsMax);
  let bodies = 0;

  return {
    chooseCoding(acceptEncoding) {
      if (acceptEncoding === undefined || acceptEncoding === "") return undefined;
      if (acceptEncoding.length > memoLengthMax) return chooseContentCoding(acceptEncoding, contentCodings);
      const memoized = codings.get(acceptEncoding);
      if (memoized) return memoized.coding;
      const coding = chooseContentCoding(acceptEncoding, contentCodings);
      codings.set(acceptEncoding, { coding });
      return coding;
    },
    isFull: () => bodies >= bodiesMax,
    async compress(body, coding, isWanted = () => true) {
      bodies++;
      try {
        const bytes = await body;
        const compressBytes = () => {
          if (!isWanted()) throw new Error("No client waits for the body.");
          return compressors[coding](bytes);
        };
        return await (bytes.length < queuedBytesMin ? compressBytes() : threads.run(compressBytes));
      } finally {
        bodies--;
      }
    },
    queueDelayMs: threads.queueDelayMs,
  };
}

/** Further tasks wait in the order of their arrival. */
function createThreadQueue(threadsMax: number) {
  let running = 0;
  const waiting: { readonly start: () => void; readonly enteredMs: number }[] = [];
  return {
    async run<T>(task: () => Promise<T>): Promise<T> {
      if (running < threadsMax) running++;
      else await new Promise<void>((start) => waiting.push({ start, enteredMs: performance.now() }));
      try {
        return await task();
      } finally {
        const next = waiting.shift();
        if (next) next.start();
        else running--;
      }
    },
    queueDelayMs(): number {
      const oldest = waiting[0];
      return oldest ? performance.now() - oldest.enteredMs : 0;
    },
  };
}

const compressBrotli = promisify(brotliCompress);
const compressGzip = promisify(gzip);
const compressZstd = promisify(zstdCompress);

/** Lower than 9, since a client waits. */
const gzipLevel = 6;

/** 6 takes three times the CPU time for 16 KB and more, for 2 to 7 % fewer bytes. */
const zstdLevel = 3;

/** Lower than 11, since a client waits; lower for a longer body, whose compression takes milliseconds of a core. */
function chooseQuality(bodyBytes: number): number {
  if (bodyBytes <= 16_384) return 5;
  return bodyBytes <= 524_288 ? 4 : 3;
}

const compressors: Readonly<Record<ContentCoding, (bytes: Buffer) => Promise<Buffer>>> = {
  zstd: (bytes) =>
    compressZstd(bytes, {
      params: { [constants.ZSTD_c_compressionLevel]: zstdLevel },
      // Without it, the encoder allocates its tables for the largest window of the level, 2 MB.
      pledgedSrcSize: bytes.length,
    }),
  br: (bytes) =>
    compressBrotli(bytes, {
      params: {
        [constants.BROTLI_PARAM_QUALITY]: chooseQuality(bytes.length),
        [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length,
        [constants.BROTLI_PARAM_LGWIN]: chooseWindowBits(bytes.length),
      },
    }),
  gzip: (bytes) => compressGzip(bytes, { level: gzipLevel }),
};

/**
 * The smallest window that contains the body. The encoder allocates twice the window, by default 8 MB for each body over 64 KB: V8 counts this
 * memory, and would collect garbage several times per second.
 */
function chooseWindowBits(bodyBytes: number): number {
  const bits = Math.ceil(Math.log2(bodyBytes));
  return Math.min(Math.max(bits, constants.BROTLI_MIN_WINDOW_BITS), constants.BROTLI_DEFAULT_WINDOW);
}
