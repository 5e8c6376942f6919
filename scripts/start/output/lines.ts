import { StringDecoder } from "node:string_decoder";
import type { Readable } from "node:stream";

/** Longer lines are split, so that a part that never writes a line break cannot fill the supervisor's memory. */
export const lineCharsMax = 16_384;

/** Calls `onLine` for every line of a stream, also for a last line without a line break. */
export function readLines(stream: Readable, onLine: (line: string) => void): void {
  const decoder = new StringDecoder("utf8");
  let rest = "";
  const onText = (text: string) => {
    const lines = (rest + text).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) onLine(line.replace(/\r$/, ""));
    for (; rest.length > lineCharsMax; rest = rest.slice(lineCharsMax)) onLine(rest.slice(0, lineCharsMax));
  };
  stream.on("data", (chunk: Buffer) => onText(decoder.write(chunk)));
  stream.on("error", () => {}); // The process's exit reports the end.
  stream.once("close", () => {
    if (rest !== "") onLine(rest);
  });
}
