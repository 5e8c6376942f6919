// `npm run bench:compression`: for each content coding and size, the CPU time of one compression and the bytes of its result. Qualities of
// kit/src/http/compression.ts can be chosen by this table.
import {
  brotliCompressSync,
  brotliDecompressSync,
  constants,
  gunzipSync,
  gzipSync,
  zstdCompressSync,
  zstdDecompressSync,
} from "node:zlib";

interface Coding {
  readonly name: string;
  compress(body: Buffer): Buffer;
  decompress(body: Buffer): Buffer;
}

const brotli = (quality: number): Coding => ({
  name: `br ${quality}`,
  compress: (body) => brotliCompressSync(body, { params: { [constants.BROTLI_PARAM_QUALITY]: quality } }),
  decompress: (body) => brotliDecompressSync(body),
});
const zstd = (level: number): Coding => ({
  name: `zstd ${level}`,
  compress: (body) => zstdCompressSync(body, { params: { [constants.ZSTD_c_compressionLevel]: level } }),
  decompress: (body) => zstdDecompressSync(body),
});
const gzip: Coding = { name: "gzip 6", compress: (body) => gzipSync(body), decompress: (body) => gunzipSync(body) };
const codings = [gzip, brotli(1), brotli(3), brotli(4), brotli(5), zstd(1), zstd(3), zstd(6)];
const bodySizes = [1_024, 4_096, 16_384, 87_000, 500_000];
const roundMs = 200;

/** A list of posts, whose words repeat as those of a text do. */
function createBody(size: number): Buffer {
  const words = "letters from an island about cheese lamps trains and the weather of a school cellar".split(" ");
  let seed = 1;
  const next = (max: number) => (seed = (seed * 48_271) % 2_147_483_647) % max;
  const post = () => ({
    id: String(next(1_000_000)),
    title: Array.from({ length: 6 }, () => words[next(words.length)]).join(" "),
    author: { id: String(next(10_000)), name: `User ${next(10_000)}`, avatar: null },
    createdAt: new Date(1.7e12 + next(1e9)).toISOString(),
  });
  let text = "";
  while (text.length < size) text += `${JSON.stringify(post())},`;
  return Buffer.from(`{"data":{"posts":[${text}`.slice(0, size));
}

/** Of the process, in microseconds. The fastest of three rounds: others can only be slowed down. */
function measure(run: () => unknown): number {
  const rounds = Array.from({ length: 3 }, () => {
    const start = process.cpuUsage();
    const endMs = performance.now() + roundMs;
    let count = 0;
    for (; performance.now() < endMs; count++) run();
    const { user, system } = process.cpuUsage(start);
    return (user + system) / count;
  });
  return Math.round(Math.min(...rounds));
}

for (const size of bodySizes) {
  const body = createBody(size);
  const rows = codings.map(({ name, compress, decompress }) => {
    const compressed = compress(body);
    const times = {
      "CPU µs": measure(() => compress(body)),
      "CPU µs to decompress": measure(() => decompress(compressed)),
    };
    return [name, { bytes: compressed.length, ...times }] as const;
  });
  process.stdout.write(`\n${size} bytes\n`);
  console.table(Object.fromEntries(rows));
}
