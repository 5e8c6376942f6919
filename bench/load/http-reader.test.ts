import { expect, test } from "vitest";
import { createHttpReader } from "./http-reader.ts";

const counted = "HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhello";
const chunked =
  "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3;x=1\r\nhel\r\n2\r\nlo\r\n0\r\nTrailer: 1\r\n\r\n";
const empty = "HTTP/1.1 204 No Content\r\n\r\n";

test("a body has the length of its Content-Length", () => {
  expect(read([counted])).toEqual(["200 hello"]);
});

test("a chunked body is reassembled without its trailers", () => {
  expect(read([chunked])).toEqual(["200 hello"]);
});

test("several messages in one piece are separated", () => {
  expect(read([counted + chunked + empty + counted])).toEqual(["200 hello", "200 hello", "204 ", "200 hello"]);
});

test("messages are read in the same way wherever the bytes are split", () => {
  const bytes = counted + chunked + empty;
  for (let size = 1; size < bytes.length; size += 1) {
    const pieces = Array.from({ length: Math.ceil(bytes.length / size) }, (_, i) =>
      bytes.slice(i * size, (i + 1) * size),
    );
    expect(read(pieces)).toEqual(["200 hello", "200 hello", "204 "]);
  }
});

test("a 304 has no body, even with the Content-Length of the 200 response", () => {
  expect(read([`HTTP/1.1 304 Not Modified\r\nContent-Length: 5\r\n\r\n${counted}`])).toEqual(["304 ", "200 hello"]);
});

test("an incomplete message is not reported", () => {
  expect(read([counted.slice(0, -1)])).toEqual([]);
});

/** Returns each complete message as "status body". */
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
