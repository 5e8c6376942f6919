// `npm run test:browser`: the front pages, the REST reference, GraphiQL and examples/web in Chromium, with a platform of `npm start`. Without Chromium,
// which it tries to install, everything is skipped.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Browser, chromium, type Page } from "playwright-core";
import { afterAll, beforeAll, describe, test } from "vitest";
import { pickPorts, portVariables, type Started, startScript } from "../start/started.ts";
import type { Browsing, Check } from "./check.ts";
import { findOrInstallChromium } from "./chromium.ts";
import { frontPageChecks } from "./front-page.browser.ts";
import { graphiqlChecks } from "./graphiql.browser.ts";
import { referenceChecks } from "./reference.browser.ts";
import { webExampleChecks } from "./web-example.browser.ts";
import { serveWebExample, type WebExample } from "./web-example.ts";

const root = join(import.meta.dirname, "../..");
const checkTimeoutMs = 30_000;
// Chromium must not contact other hosts: only localhost resolves, and background networking is off.
const chromiumArguments = [
  "--headless",
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--no-proxy-server",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
  "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE localhost, EXCLUDE 127.0.0.1",
];

const lastCheck: Check = {
  name: "no request went to another host, and the browser reported no errors",
  async run({ outsideRequests, browserErrors }) {
    assert.deepEqual(outsideRequests, []);
    assert.deepEqual(browserErrors, []);
  },
};

const print = (line: string) => void process.stdout.write(`${line}\n`);
const found = findOrInstallChromium(process.env["CHROMIUM_PATH"], print);
const executablePath = "path" in found ? found.path : "";
if ("missing" in found) print(`SKIPPED: ${found.missing}.`);

describe.skipIf(executablePath === "")("in Chromium", () => {
  const dataDir = mkdtempSync(join(tmpdir(), "tributary-browser-"));
  let platform: Started;
  let browser: Browser;
  let example: WebExample | string;
  let browsing: Browsing;

  beforeAll(async () => {
    execFileSync(process.execPath, [join(root, "scripts/bundle-graphiql.mjs")], { stdio: "inherit" });
    chmodSync(dataDir, 0o755); // If this process is root, PostgreSQL runs as another user and needs access.
    const ports = await pickPorts();
    platform = startScript(join(root, "scripts/start.ts"), [], dataDir, portVariables(ports));
    await platform.ready();
    const [url, restUrl] = [`http://127.0.0.1:${ports.gateway}`, `http://127.0.0.1:${ports["rest-proxy"]}`];
    example = await serveWebExample({ url, restUrl });
    browser = await chromium.launch({ executablePath, args: chromiumArguments });
    const page = await browser.newPage({ viewport: { width: 1360, height: 820 } });
    page.setDefaultTimeout(checkTimeoutMs);
    const screenshotFolder = mkdtempSync(join(tmpdir(), "tributary-screenshots-"));
    print(`Screenshots: ${screenshotFolder}`);
    const capture = async (name: string) =>
      void (await page.screenshot({ path: join(screenshotFolder, `${name}.png`) }));
    const webUrl = typeof example === "string" ? "" : example.url;
    browsing = { page, url, restUrl, webUrl, capture, ...recordProblems(page) };
  });

  afterAll(async () => {
    await browser?.close();
    if (typeof example === "object") example.stop();
    platform?.child.kill("SIGTERM");
    await platform?.exited();
    rmSync(dataDir, { recursive: true });
  });

  const checks = [...frontPageChecks, ...referenceChecks, ...graphiqlChecks, ...webExampleChecks, lastCheck];
  for (const [index, check] of checks.entries()) {
    test(check.name, async ({ skip }) => {
      if (webExampleChecks.includes(check) && typeof example === "string") skip(example);
      try {
        await check.run(browsing);
      } finally {
        await browsing.capture(String(index + 1));
      }
    });
  }
});

/** The returned lists grow while the page is used. */
function recordProblems(page: Page): Pick<Browsing, "outsideRequests" | "browserErrors"> {
  const outsideRequests: string[] = [];
  const browserErrors: string[] = [];
  page.on("request", (request) => {
    const { protocol, hostname } = new URL(request.url());
    const isLocal = ["data:", "blob:"].includes(protocol) || ["127.0.0.1", "localhost"].includes(hostname);
    if (!isLocal) outsideRequests.push(request.url());
  });
  page.on("console", (message) => {
    if (message.type() === "error") browserErrors.push(message.text());
  });
  page.on("pageerror", (error) => browserErrors.push(String(error)));
  return { outsideRequests, browserErrors };
}
