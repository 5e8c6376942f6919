// npm run test:browser: starts the platform and tests GraphiQL in Chromium. It installs Debian's Chromium if possible; otherwise it prints
// SKIPPED with the reason.
import { spawnSync } from "node:child_process";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type Browser, chromium, type Page } from "playwright-core";
import type { Browsing, Check } from "../test/browser/check.ts";
import { findOrInstallChromium } from "../test/browser/chromium.ts";
import { checks } from "../test/browser/graphiql.browser.ts";
import { type Platform, startPlatform } from "../test/browser/platform.ts";

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

const chromiumResult = findOrInstallChromium(process.env["CHROMIUM_PATH"], console.log);
if ("missing" in chromiumResult) console.log(`SKIPPED: ${chromiumResult.missing}.`);
else process.exitCode = await testIn(chromiumResult.path);

async function testIn(executablePath: string): Promise<number> {
  spawnSync(process.execPath, [fileURLToPath(new URL("bundle-graphiql.mjs", import.meta.url))], { stdio: "inherit" });
  const running = process.env["GATEWAY_URL"];
  const platform = running === undefined ? await startPlatform(process.env) : runningPlatform(running);
  try {
    const browser = await chromium.launch({ executablePath, args: chromiumArguments });
    try {
      return await runAll(browser, platform);
    } finally {
      await browser.close();
    }
  } finally {
    await platform.stop();
  }
}

/** With GATEWAY_URL=http://127.0.0.1:4000 a platform that already runs is tested. */
function runningPlatform(url: string): Platform {
  return { url: url.replace(/\/$/, ""), stop: async () => {} };
}

async function runAll(browser: Browser, { url }: Platform): Promise<number> {
  const page = await browser.newPage({ viewport: { width: 1360, height: 820 } });
  page.setDefaultTimeout(checkTimeoutMs);
  const browsing = { page, url, ...listen(page) };
  const screenshots = mkdtempSync(join(tmpdir(), "tributary-screenshots-"));
  let failed = 0;
  for (const [index, check] of checks.entries()) {
    if (!(await runCheck(check, browsing))) failed += 1;
    await page.screenshot({ path: join(screenshots, `${index + 1}.png`) });
  }
  console.log(`\nScreenshots: ${screenshots}`);
  console.log(`${checks.length - failed} passed, ${failed} failed`);
  return failed === 0 ? 0 : 1;
}

function listen(page: Page): Pick<Browsing, "outsideRequests" | "browserErrors"> {
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
