import { StringDecoder } from "node:string_decoder";
import type { Readable } from "node:stream";

/** A line longer than this is cut into several: a part that never ends its line must not fill our memory. */
export const lineCharsMax = 16_384;

/** Hands a stream's text over line by line, the last one even without its line break. */
export function readLines(stream: Readable, onLine: (line: string) => void): void {
  const decoder = new StringDecoder("utf8");
  let rest = "";
  const take = (text: string) => {
    const lines = (rest + text).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) onLine(line.replace(/\r$/, ""));
    for (; rest.length > lineCharsMax; rest = rest.slice(lineCharsMax)) onLine(rest.slice(0, lineCharsMax));
  };
  stream.on("data", (chunk: Buffer) => take(decoder.write(chunk)));
  stream.on("error", () => {}); // The end is told by the process's exit.
  stream.once("close", () => {
    if (rest !== "") onLine(rest);
  });
}
