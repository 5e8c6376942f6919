import { expect, test } from "vitest";
import { createHttpReader } from "./http-reader.ts";

const counted = "HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhello";
const chunked =
  "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3;x=1\r\nhel\r\n2\r\nlo\r\n0\r\nTrailer: 1\r\n\r\n";
const empty = "HTTP/1.1 204 No Content\r\n\r\n";

test("a body is as long as its Content-Length says", () => {
  expect(read([counted])).toEqual(["200 hello"]);
});

test("a body in chunks is put together, trailers left out", () => {
  expect(read([chunked])).toEqual(["200 hello"]);
});

test("messages that arrive in one piece are told apart", () => {
  expect(read([counted + chunked + empty + counted])).toEqual(["200 hello", "200 hello", "204 ", "200 hello"]);
});

test("it does not matter where the bytes are cut", () => {
  const bytes = counted + chunked + empty;
  for (let size = 1; size < bytes.length; size += 1) {
    const pieces = Array.from({ length: Math.ceil(bytes.length / size) }, (_, i) =>
      bytes.slice(i * size, (i + 1) * size),
    );
    expect(read(pieces)).toEqual(["200 hello", "200 hello", "204 "]);
  }
});

test("a message without its end is not told", () => {
  expect(read([counted.slice(0, -1)])).toEqual([]);
});

/** Each whole message as its status and body. */
function read(pieces: readonly string[]): readonly string[] {
  const messages: string[] = [];
  let message = "";
  const feed = createHttpReader({
    onHead: (head) => (message = `${head.slice(9, 12)} `),
    onBody: (bytes) => (message += bytes.toString()),
    onEnd: () => messages.push(message),
  });
  for (const piece of pieces) feed(Buffer.from(piece));
  return messages;
}
