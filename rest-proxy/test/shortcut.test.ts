import { expect, test } from "vitest";
import { clock, converse, converseWell, head, start } from "./conversation.ts";
import { noAdmissionLimits } from "./testing.ts";

/** An answer's lines, sorted: the order of fields with different names says nothing (RFC 9110, 5.3). */
function linesOf(answer: string): readonly string[] {
  const [head = "", body = ""] = answer.split("\r\n\r\n");
  const [status = "", ...fields] = head.split("\r\n");
  return [status, ...fields.sort(), body];
}

const plain = "GET /v1/things/1 HTTP/1.1\r\nHost: a\r\nX-Request-Id: r-1\r\n";

const unchanged: ReadonlySet<string> = new Set(["a tag that it has", "a date since when nothing changed"]);

const equal: Readonly<Record<string, string>> = {
  "the shortest": "GET /v1/things/1 HTTP/1.1\r\nHost: a\r\nx-request-id: r-1\r\n",
  "names in capitals": "GET /v1/things/1 HTTP/1.1\r\nHOST: a\r\nX-REQUEST-ID: r-1\r\n",
  "spaces and tabs around a value": "GET /v1/things/1 HTTP/1.1\r\nHost: \t a\t\r\nX-Request-Id:r-1  \r\nAccept:  \r\n",
  "a browser's fields": `${plain}Accept: */*\r\nAccept-Language: en\r\nCookie: a=b; c=d\r\nUser-Agent: M (X; Y)\r\nConnection: Keep-Alive\r\n`,
  "bytes beyond ASCII": `${plain}X-Name: \xe9\x80\xff\r\n`,
  "a type that selects the version":
    "GET /things/1 HTTP/1.1\r\nHost: a\r\nX-Request-Id: r-1\r\nAccept: application/json;version=2\r\n",
  "the vendor's type":
    "GET /things/1 HTTP/1.1\r\nHost: a\r\nX-Request-Id: r-1\r\nAccept: application/vnd.tributary.v2+json\r\n",
  "parameters in another order": "GET /v1/things?search=a%20b&limit=2 HTTP/1.1\r\nHost: a\r\nX-Request-Id: r-1\r\n",
  "a packing": `${plain}Accept-Encoding: gzip\r\n`,
  "the better of two packings": `${plain}Accept-Encoding: gzip, br\r\n`,
  "a tag that it has": `${plain}If-None-Match: "17"\r\n`,
  "a tag that it has not": `${plain}If-None-Match: "1"\r\n`,
  "a date since when nothing changed": `${plain}If-Modified-Since: Mon, 12 Jan 1970 13:45:40 GMT\r\n`,
  "a date before": `${plain}If-Modified-Since: Thu, 01 Jan 1970 00:00:00 GMT\r\n`,
  "an origin that may read": `${plain}Origin: http://localhost:3000\r\n`,
  "an origin that may not": `${plain}Origin: https://elsewhere.example\r\n`,
  "a token": `${plain}Authorization: Bearer x\r\n`,
  "a forwarded address": `${plain}X-Forwarded-For: 192.0.2.1\r\n`,
  "what caches are asked for": `${plain}Cache-Control: no-cache\r\nPragma: no-cache\r\n`,
  "a request's own trace": `${plain}traceparent: 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01\r\n`,
};

test.each(Object.entries(equal))("%s: answered before Node as by Node", async (name, head) => {
  const { port, byNode, asked } = await start();
  const line = await converse(port);
  const bytes = `${head}\r\n`;
  // Fills the copy; asks with the copy there, on a connection whose first two requests are Node's; and once more.
  await line.ask(bytes);
  const other = await converse(port);
  const slow = await other.ask(bytes);
  expect(linesOf(await other.ask(bytes))).toEqual(linesOf(slow));
  expect(byNode()).toBe(3);
  const fast = await other.ask(bytes);
  expect(linesOf(fast)).toEqual(linesOf(slow));
  expect(fast.slice(9, 12)).toBe(unchanged.has(name) ? "304" : "200");
  expect(fast).toContain("\r\nCache-Status: tributary; hit; ttl=100\r\n");
  expect(byNode()).toBe(3);
  expect(asked()).toBe(1);
  expect([line.rest(), other.rest()]).toEqual(["", ""]);
});

test("which copy it is, what it is and how old, is found anew each time", async () => {
  const { port, byNode } = await start();
  const line = await converseWell(port);
  await line.ask("GET /v1/things/22 HTTP/1.1\r\nHost: a\r\n\r\n");
  expect(byNode()).toBe(4);
  clock.atMs += 7_000;
  const answer = await line.ask("GET /v1/things/1 HTTP/1.1\r\nHost: a\r\n\r\n");
  expect(answer).toContain('{"url":"/rest/v1/things/1"');
  expect(answer).toContain("\r\nAge: 7\r\nCache-Status: tributary; hit; ttl=93\r\n");
  expect(await line.ask("GET /v1/things/22 HTTP/1.1\r\nHost: a\r\n\r\n")).toContain('"/rest/v1/things/22"');
  const ids = [await line.ask(`${head}\r\n`), await line.ask(`${head}\r\n`)].map(
    (one) => /x-request-id: (\S+)/i.exec(one)?.[1],
  );
  expect(new Set(ids).size).toBe(2);
  expect(byNode()).toBe(4);
});

test("of one copy each gets the form that was asked for", async () => {
  const { port, byNode, asked } = await start();
  const named = "Host: a\r\nX-Request-Id: r-1\r\n";
  const forms = [
    `GET /v2/things/1 HTTP/1.1\r\n${named}\r\n`,
    `GET /things/1 HTTP/1.1\r\n${named}Accept: application/json;version=2\r\n\r\n`,
    `GET /things/1 HTTP/1.1\r\n${named}Accept: application/vnd.tributary.v2+json\r\n\r\n`,
    `GET /v2/things/1 HTTP/1.1\r\n${named}If-None-Match: "17"\r\n\r\n`,
  ];
  await (await converse(port)).ask(forms[0] ?? "");
  const line = await converse(port);
  const slow = [];
  for (const form of forms) slow.push(linesOf(await line.ask(form)));
  const before = byNode();
  const fast = [];
  for (const form of [...forms, ...forms]) fast.push(linesOf(await line.ask(form)));
  expect(fast).toEqual([...slow, ...slow]);
  expect(new Set(slow.map((lines) => lines.join("\n"))).size).toBe(4);
  expect([byNode(), asked()]).toEqual([before, 1]);
});

const left: Readonly<Record<string, string>> = {
  HEAD: "HEAD /v1/things/1 HTTP/1.1\r\nHost: a\r\n",
  "another path": "GET /v1/things/2 HTTP/1.1\r\nHost: a\r\n",
  "a path that is not kept": "GET /v1/things/1/own HTTP/1.1\r\nHost: a\r\n",
  "an absolute target": "GET http://b/v1/things/1 HTTP/1.1\r\nHost: a\r\n",
  "HTTP/1.0": "GET /v1/things/1 HTTP/1.0\r\nHost: a\r\n",
  "a body of no bytes": `${head}Content-Length: 0\r\n`,
  "a body": `${head}Content-Length: 2\r\n\r\n{}`,
  "a body in chunks": `${head}Transfer-Encoding: chunked\r\n\r\n0\r\n`,
  "the end of its connection": `${head}Connection: close\r\n`,
  "names in Connection": `${head}Connection: keep-alive, x-name\r\n`,
  "an expectation": `${head}Expect: 100-continue\r\n`,
  "an upgrade": `${head}Connection: upgrade\r\nUpgrade: h2c\r\n`,
  "a field twice": `${head}Accept: application/json\r\nAccept: text/html\r\n`,
  "no host": "GET /v1/things/1 HTTP/1.1\r\nX-A: 1\r\n",
  "two hosts": `${head}Host: b\r\n`,
  "a host that is none": "GET /v1/things/1 HTTP/1.1\r\nHost: a b\r\n",
  "a folded field": `${head}X-A: 1\r\n 2\r\n`,
  "a name with a space": `${head}X A: 1\r\n`,
  "a control character": `${head}X-A: \x01\r\n`,
  "a line that ends early": "GET /v1/things/1 HTTP/1.1\r\nHost: a\nX-A: 1\r\n",
  "two spaces": "GET  /v1/things/1 HTTP/1.1\r\nHost: a\r\n",
  "a type that there is not": `${head}Accept: text/html\r\n`,
};

test.each(Object.entries(left))(
  "%s is left to Node, and answered as if nothing stood before it",
  async (name, bytes) => {
    const { port, byNode } = await start();
    const [with1, without] = [await converseWell(port), await converse(port)];
    const before = byNode();
    const isHead = name === "HEAD";
    const answer = await with1.ask(`${bytes}\r\n`, !isHead);
    const first = await without.ask(`${bytes}\r\n`, !isHead);
    // What is no request to Node is not handed on; the first of the two may have been asked for, and the second be its copy.
    expect([before, before + 2]).toContain(byNode());
    expect(linesOf(masked(answer))).toEqual(linesOf(masked(first)));
  },
);

/** Without what no two answers have in common. */
function masked(answer: string): string {
  return answer.replaceAll(/^(x-request-id|date|cache-status|age): .*\r\n/gim, "").replace(/"requestId":"[^"]*"/, "");
}

test("who may not ask any more is refused by Node, and each answer is counted once", async () => {
  const { port, byNode, settled } = await start({ admissionLimits: { ...noAdmissionLimits, readsPerMinute: 5 } });
  const line = await converse(port);
  const answers: string[] = [];
  for (let at = 0; at < 7; at++) answers.push(await line.ask(`${head}\r\n`));
  expect(answers.map((one) => [one.slice(9, 12), /RateLimit: "reads";r=(\d)/.exec(one)?.[1]])).toEqual([
    ["200", "4"],
    ["200", "3"],
    ["200", "2"],
    ["200", "1"],
    ["200", "0"],
    ["429", "0"],
    ["429", "0"],
  ]);
  expect(byNode()).toBe(5);
  await expect.poll(() => settled.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200, 429, 429]);
});

test("what is answered before Node is counted like the rest: by route, by version, and who still calls it", async () => {
  const { port, settled, usage, byNode } = await start({ knownClients: ["shop"] });
  const line = await converse(port);
  for (let at = 0; at < 5; at++) await line.ask(`${head}X-Client-Name: shop\r\n\r\n`);
  expect(byNode()).toBe(3);
  expect(usage()).toEqual([{ version: 1, route: "getThing", client: "shop", requests: 5 }]);
  await expect.poll(() => settled.length).toBe(5);
  for (const one of settled) {
    expect(one).toMatchObject({ status: 200, record: { version: 1, route: { id: "getThing" } } });
    expect(one.milliseconds).toBeGreaterThan(0);
  }
});

test("a version that is gone is gone, whatever is stored", async () => {
  const sunsetAtMs = clock.atMs + 50_000;
  const { port } = await start({ retirements: [{ version: 1, deprecatedAtMs: 1_000, sunsetAtMs }] });
  const line = await converseWell(port);
  expect(await line.ask(`${head}\r\n`)).toContain("200 OK");
  clock.atMs = sunsetAtMs;
  expect(await line.ask(`${head}\r\n`)).toContain("410 Gone");
});

test("a copy that is too old is asked for again, and one that was taken back too", async () => {
  const { port, asked } = await start();
  const line = await converse(port);
  for (let at = 0; at < 5; at++) await line.ask("GET /v1/things HTTP/1.1\r\nHost: a\r\n\r\n");
  expect(asked()).toBe(1);
  expect(await line.ask("POST /v1/things HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\n{}")).toContain("200 OK");
  await line.ask("GET /v1/things HTTP/1.1\r\nHost: a\r\n\r\n");
  expect(asked()).toBe(3);
  clock.atMs += 200_000;
  await line.ask("GET /v1/things HTTP/1.1\r\nHost: a\r\n\r\n");
  expect(asked()).toBe(4);
});

test("a long answer goes by Node", async () => {
  const { port, byNode } = await start({}, "y".repeat(20_000));
  const line = await converse(port);
  for (let at = 0; at < 5; at++) expect(await line.ask(`${head}\r\n`)).toContain("200 OK");
  expect(byNode()).toBe(5);
});
