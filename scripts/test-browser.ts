// npm run test:browser: the platform, started for this, in a real browser. Installs Debian's Chromium when it can, and says clearly when it cannot.
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
// Names of other machines do not resolve, and Chromium does nothing by itself.
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

const found = findOrInstallChromium(process.env["CHROMIUM_PATH"], console.log);
if ("missing" in found) console.log(`SKIPPED: ${found.missing}.`);
else process.exitCode = await testIn(found.path);

async function testIn(executablePath: string): Promise<number> {
  spawnSync(process.execPath, [fileURLToPath(new URL("bundle-graphiql.mjs", import.meta.url))], { stdio: "inherit" });
  const running = process.env["GATEWAY_URL"];
  const platform = running === undefined ? await startPlatform(process.env) : alreadyRunning(running);
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

/** GATEWAY_URL=http://127.0.0.1:4000 tests a platform that runs already. */
function alreadyRunning(url: string): Platform {
  return { url: url.replace(/\/$/, ""), stop: async () => {} };
}

async function runAll(browser: Browser, { url }: Platform): Promise<number> {
  const page = await browser.newPage({ viewport: { width: 1360, height: 820 } });
  page.setDefaultTimeout(checkTimeoutMs);
  const browsing = { page, url, ...listen(page) };
  const pictures = mkdtempSync(join(tmpdir(), "tributary-pictures-"));
  let failed = 0;
  for (const [index, check] of checks.entries()) {
    if (!(await passes(check, browsing))) failed += 1;
    await page.screenshot({ path: join(pictures, `${index + 1}.png`) });
  }
  console.log(`\nScreenshots: ${pictures}`);
  console.log(`${checks.length - failed} passed, ${failed} failed`);
  return failed === 0 ? 0 : 1;
}

function listen(page: Page): Pick<Browsing, "outsideRequests" | "complaints"> {
  const outsideRequests: string[] = [];
  const complaints: string[] = [];
  page.on("request", (request) => {
    const { protocol, hostname } = new URL(request.url());
    const isHere = ["data:", "blob:"].includes(protocol) || ["127.0.0.1", "localhost"].includes(hostname);
    if (!isHere) outsideRequests.push(request.url());
  });
  page.on("console", (message) => {
    if (message.type() === "error") complaints.push(message.text());
  });
  page.on("pageerror", (error) => complaints.push(String(error)));
  return { outsideRequests, complaints };
}

async function passes(check: Check, browsing: Browsing): Promise<boolean> {
  try {
    await check.run(browsing);
    console.log(`✓ ${check.name}`);
    return true;
  } catch (error) {
    console.log(`✗ ${check.name}\n${error instanceof Error ? error.stack : String(error)}`);
    return false;
  }
}
