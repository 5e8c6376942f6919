import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { chromium } from "playwright-core";
import { expect, onTestFinished, test } from "vitest";
import { findChromium } from "../../test/browser/chromium.ts";
import { startEchoPlatform } from "./helpers/echo-platform.ts";
import { respondJson } from "./helpers/subgraphs.ts";

// Pages of two origins on the host of the gateway: for cookies all three are one site, so nothing but CORS and CSRF prevention protects it.

const executablePath = findChromium();

test.skipIf(!executablePath)(
  "in Chromium a page of an allowed origin logs in by cookie, and a page of another origin reads nothing with that cookie",
  async () => {
    const [allowed, other] = await Promise.all([servePage(), servePage()]);
    const { gateway, first, sendRaw } = await startEchoPlatform(`
cors: { origins: [{ origin: "${allowed}", allow_credentials: true }] }
headers:
  all:
    request: [{ propagate: { cookie: session } }]
    response: [{ propagate: { named: set-cookie } }]
`);
    first.fault = (response, { query }, _request, resolve) =>
      void resolve().then((result) =>
        respondJson(
          response,
          200,
          JSON.stringify(result),
          query.startsWith("mutation") ? { "set-cookie": "session=s1; HttpOnly; Path=/" } : {},
        ),
      );
    const browser = await chromium.launch({
      executablePath: executablePath ?? "",
      args: ["--headless", "--no-sandbox"],
    });
    onTestFinished(() => browser.close());
    const context = await browser.newContext();
    const page = await context.newPage();
    /** Resolves with the text of the response, or the error that the page gets. */
    const sendFrom = async (origin: string, method: "GET" | "POST", query: string, mode = "cors") => {
      await page.goto(origin);
      return page.evaluate(
        async ([url, sentMethod, document, sentMode]) => {
          const post = {
            method: "POST",
            headers: { "content-type": "application/json" },
            body: JSON.stringify({ query: document }),
          };
          const target = sentMethod === "POST" ? url : `${url}?query=${encodeURIComponent(document)}`;
          const options = { credentials: "include", mode: sentMode as "cors" | "no-cors" } as const;
          try {
            return await (await fetch(target, { ...(sentMethod === "POST" ? post : {}), ...options })).text();
          } catch (error) {
            return String(error);
          }
        },
        [`${gateway.url}/graphql`, method, query, mode] as const,
      );
    };
    const read = '{ one(name: "cookie") }';
    const withCookie = '{"data":{"one":"session=s1"}}';
    await sendFrom(allowed, "POST", 'mutation { oneWrite(name: "x") }');
    expect(await sendFrom(allowed, "POST", read)).toBe(withCookie);
    expect(await sendFrom(allowed, "GET", read)).toBe(withCookie);
    const before = first.requests.length;
    expect(await sendFrom(other, "POST", read)).toContain("Failed to fetch");
    expect(await sendFrom(other, "GET", read)).toContain("Failed to fetch");
    // The browser sends these, with the cookie, and hides the response.
    expect(await sendFrom(other, "GET", read, "no-cors")).toBe("");
    expect(await sendFrom(other, "POST", 'mutation { oneWrite(name: "x") }', "no-cors")).toBe("");
    expect(first.requests).toHaveLength(before);
    // The control: with the cookie, and without a browser's headers for pages, the subgraph would have been asked.
    await sendRaw(read, [["cookie", "session=s1"]]);
    expect(first.requests).toHaveLength(before + 1);
  },
);

/** Resolves with the origin of an empty page. */
async function servePage(): Promise<string> {
  const server = createServer((_request, response) =>
    response.setHeader("content-type", "text/html").end("<p>page</p>"),
  );
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
