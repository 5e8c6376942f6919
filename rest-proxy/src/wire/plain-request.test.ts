import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { expect, test } from "vitest";
import { createPlainReader } from "./plain-request.ts";

const get = "GET /v1/things/1?a=b HTTP/1.1\r\nHost: a\r\n";

const read = (text: string) => createPlainReader()(Buffer.from(text, "latin1"));

test("a plain request is read whole: its method, its target, its fields by name, and where it ends", () => {
  const text = `${get}X-Name:\t a b \r\nEMPTY:\r\n`;
  expect(read(`${text}\r\n`)).toEqual({
    method: "GET",
    url: "/v1/things/1?a=b",
    headers: { host: "a", "x-name": "a b", empty: "" },
    bytes: text.length + 2,
  });
});

test("what else counts as space somewhere belongs to the value", () => {
  expect(read(`${get}X-Name: \xa0a\xa0\r\n\r\n`)?.headers["x-name"]).toBe("\xa0a\xa0");
});

test("a body that is announced counts, also where it is not there yet, and what comes after it does not", () => {
  const head = "POST /v1/things HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\n";
  for (const body of ["", "12", "12345", "12345GET /"]) expect(read(head + body)?.bytes).toBe(head.length + 5);
  expect(read(`${get}\r\n${get}\r\n`)?.bytes).toBe(get.length + 2);
});

const notPlain: Readonly<Record<string, string>> = {
  nothing: "",
  "a head that is not all there": get,
  "a head that lacks its last byte": `${get}\r`,
  "no field at all": "GET / HTTP/1.1\r\n\r\n",
  "no host": get.replace("Host", "Guest"),
  "an empty line before it": `\r\n${get}\r\n`,
  "another method": get.replace("GET", "TRACE"),
  "a method in small letters": get.replace("GET", "get"),
  CONNECT: get.replace("GET /v1/things/1?a=b", "CONNECT a:1"),
  "HTTP/1.0": get.replace("1.1", "1.0"),
  "an absolute target": get.replace("/v1", "http://a/v1"),
  "an asterisk": get.replace("/v1/things/1?a=b", "*"),
  "a space in the target": get.replace("?", " "),
  "a byte beyond ASCII in the target": get.replace("?", "\xe9"),
  "two spaces before the version": get.replace(" HTTP", "  HTTP"),
  "a tab before the version": get.replace(" HTTP", "\tHTTP"),
  "a line feed alone": get.replace("\r\n", "\n"),
  "a carriage return alone": `${get}X: a\rb\r\n`,
  "a folded line": `${get}X: a\r\n b\r\n`,
  "a space before the colon": `${get}X : a\r\n`,
  "a space before the name": `${get} X: a\r\n`,
  "no colon": `${get}X\r\n`,
  "no name": `${get}: a\r\n`,
  NUL: `${get}X: a\0\r\n`,
  DEL: `${get}X: a\x7f\r\n`,
  "a field twice": `${get}x-name: a\r\nX-Name: b\r\n`,
  "the host twice": `${get}HOST: b\r\n`,
  "a field of every object": `${get}__proto__: a\r\n`,
  "a length with a sign": `${get}Content-Length: +1\r\n`,
  "a list of lengths": `${get}Content-Length: 1, 1\r\n`,
  "a length of letters": `${get}Content-Length: 0x1\r\n`,
  "an empty length": `${get}Content-Length:\r\n`,
  "a length beyond all reason": `${get}Content-Length: 1234567890\r\n`,
  chunks: `${get}Transfer-Encoding: chunked\r\n`,
  "an upgrade": `${get}Connection: upgrade\r\nUpgrade: h2c\r\n`,
  "an upgrade without a connection": `${get}Upgrade: h2c\r\n`,
  "the end of the connection": `${get}Connection: close\r\n`,
  "names in Connection": `${get}Connection: keep-alive, x-name\r\n`,
  "an expectation": `${get}Expect: 100-continue\r\n`,
  "a cookie to be set": `${get}Set-Cookie: a=b\r\n`,
  "more than a hundred fields": get + Array.from({ length: 100 }, (_, at) => `X${at}:\r\n`).join(""),
  "more than 8 KiB": `${get}X: ${"a".repeat(8_192)}\r\n`,
};

test.each(Object.entries(notPlain))("%s is not plain", (_name, text) => {
  const isCut = text === "" || text === get || text === `${get}\r`;
  expect(read(isCut ? text : `${text}\r\n`)).toBeUndefined();
});

test("a name is remembered in so many spellings, and read right in any further one", () => {
  for (let at = 0; at < 2_000; at++) {
    expect(read(`${get}X-Name-${at}: ${at}\r\n\r\n`)?.headers[`x-name-${at}`]).toBe(String(at));
  }
});

test("a head that was read before is found again, and no other in its place", () => {
  const reader = createPlainReader();
  const ask = (text: string) => reader(Buffer.from(text, "latin1"));
  const first = ask(`${get}\r\n`);
  expect(ask(`${get}\r\n`)).toBe(first);
  expect(ask(`${get}X: \xe9\r\n\r\n`)?.headers).toEqual({ host: "a", x: "\xe9" });
  // Further requests or a body behind it are not part of it.
  expect(ask(`${get}\r\n${get}\r\n`)).toEqual(first);
  const post = "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\n\r\n";
  for (const body of ["a", "b"]) expect(ask(post + body)).toMatchObject({ method: "POST", bytes: post.length + 1 });
  for (const own of [post + "a", `${get}Authorization: Bearer a\r\n\r\n`, `${get}Cookie: a=b\r\n\r\n`])
    expect(ask(own)).not.toBe(ask(own));
  for (let at = 0; at < 2_000; at++) expect(ask(`${get}X: ${at}\r\n\r\n`)?.headers["x"]).toBe(String(at));
  expect(ask(`${get}\r\n`)).toEqual(first);
  expect(ask(`${get}\r\n`)).not.toBe(first);
});

test("a value that somebody keeps does not keep the head that it came in", () => {
  const reader = createPlainReader();
  const ballast = "y".repeat(7_000);
  const ask = (at: number) => {
    const address = `203.0.113.${String(at).padStart(12, "0")}`;
    const chunk = Buffer.from(
      `${get}X-Forwarded-For: ${address}\r\nX-Long-Name-Of-Ours-${at}: a\r\nAuthorization: Bearer ${ballast}\r\n\r\n`,
    );
    return reader(chunk)?.headers["x-forwarded-for"];
  };
  ask(0);
  const before = heapBytes();
  const kept = Array.from({ length: 5_000 }, (_, at) => ask(at));
  // 35 MB of heads were read; what is kept of them is less than a tenth.
  expect(heapBytes() - before).toBeLessThan(3_500_000);
  expect(new Set(kept).size).toBe(5_000);
});

function heapBytes(): number {
  setFlagsFromString("--expose-gc");
  (runInNewContext("gc") as () => void)();
  return process.memoryUsage().heapUsed;
}
