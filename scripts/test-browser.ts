// npm run test:browser: starts the platform and tests the front pages, the REST reference, GraphiQL and examples/web in Chromium. Without Chromium
// it tries to install Debian's; if that is not possible, it prints SKIPPED with the reason.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type Browser, chromium, type Page } from "playwright-core";
import type { Browsing, Check } from "../test/browser/check.ts";
import { findOrInstallChromium } from "../test/browser/chromium.ts";
import { frontPageChecks } from "../test/browser/front-page.browser.ts";
import { graphiqlChecks } from "../test/browser/graphiql.browser.ts";
import { type Platform, startPlatform } from "../test/browser/platform.ts";
import { referenceChecks } from "../test/browser/reference.browser.ts";
import { createWebExampleChecks } from "../test/browser/web-example.browser.ts";
import { serveWebExample, type WebExample } from "../test/browser/web-example.ts";

const checkTimeoutMs = 30_000;
const trailingSlash = /\/$/;
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

const chromiumResult = findOrInstallChromium(process.env["CHROMIUM_PATH"], console.log);
if ("missing" in chromiumResult) console.log(`SKIPPED: ${chromiumResult.missing}.`);
else process.exitCode = await testIn(chromiumResult.path);

async function testIn(executablePath: string): Promise<number> {
  spawnSync(process.execPath, [fileURLToPath(new URL("bundle-graphiql.mjs", import.meta.url))], { stdio: "inherit" });
  const platform = readRunningPlatform(process.env) ?? (await startPlatform(process.env));
  let example: WebExample | undefined;
  try {
    const served = await serveWebExample(platform);
    if (typeof served === "string") console.log(`SKIPPED: the tests of examples/web, since ${served}.`);
    else example = served;
    const exampleChecks = example === undefined ? [] : createWebExampleChecks(example.url);
    const browser = await chromium.launch({ executablePath, args: chromiumArguments });
    try {
      const checks = [...frontPageChecks, ...referenceChecks, ...graphiqlChecks, ...exampleChecks, lastCheck];
      return await runAll(checks, browser, platform);
    } finally {
      await browser.close();
    }
  } finally {
    example?.stop();
    await platform.stop();
  }
}

/** The platform that GATEWAY_URL=http://127.0.0.1:4000 and REST_URL=http://127.0.0.1:4010 name; undefined unless both are set. */
function readRunningPlatform({ GATEWAY_URL, REST_URL }: NodeJS.ProcessEnv): Platform | undefined {
  if (GATEWAY_URL === undefined || REST_URL === undefined) return undefined;
  const url = GATEWAY_URL.replace(trailingSlash, "");
  const restUrl = REST_URL.replace(trailingSlash, "");
  return { url, restUrl, stop: async () => {} };
}

async function runAll(checks: readonly Check[], browser: Browser, { url, restUrl }: Platform): Promise<number> {
  const page = await browser.newPage({ viewport: { width: 1360, height: 820 } });
  page.setDefaultTimeout(checkTimeoutMs);
  const screenshotFolder = mkdtempSync(join(tmpdir(), "tributary-screenshots-"));
  const capture = async (name: string) => {
    await page.screenshot({ path: join(screenshotFolder, `${name}.png`) });
  };
  const { outsideRequests, browserErrors } = recordProblems(page);
  const browsing = { page, url, restUrl, capture, outsideRequests, browserErrors };
  let failedCount = 0;
  for (const [index, check] of checks.entries()) {
    const passed = await runCheck(check, browsing);
    if (!passed) failedCount++;
    await capture(String(index + 1));
  }
  console.log(`\nScreenshots: ${screenshotFolder}`);
  console.log(`${checks.length - failedCount} passed, ${failedCount} failed`);
  return failedCount === 0 ? 0 : 1;
}

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

async function runCheck(check: Check, browsing: Browsing): Promise<boolean> {
  try {
    await check.run(browsing);
    console.log(`✓ ${check.name}`);
    return true;
  } catch (error) {
    console.log(`✗ ${check.name}\n${error instanceof Error ? error.stack : String(error)}`);
    return false;
  }
}
