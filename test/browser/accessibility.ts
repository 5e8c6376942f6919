import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { sampleSize } from "@tributary/kit/testing/sample-size";
import type { AxeResults } from "axe-core";
import type { Page } from "playwright-core";

const axeSource = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
/** WCAG 2.1, levels A and AA. Contrast is part of it: 4.5:1 for normal text. */
const ruleTags = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa"];
const [phone, tablet, desktop] = [
  { width: 390, height: 844 },
  { width: 768, height: 1024 },
  { width: 1280, height: 820 },
];
/** The last three have each size once. The last one is the screen of the other checks. */
const screens = [
  { size: phone, colorScheme: "light" },
  { size: tablet, colorScheme: "light" },
  { size: desktop, colorScheme: "dark" },
  { size: phone, colorScheme: "dark" },
  { size: tablet, colorScheme: "dark" },
  { size: desktop, colorScheme: "light" },
] as const;
const nodesMax = 5;

/** Runs `check` at 390, 768 and 1280 px, every night both in the light and in the dark scheme; then the page is light and 1280 px wide. */
export async function onEveryScreen(page: Page, check: (screen: string) => Promise<void>): Promise<void> {
  for (const { size, colorScheme } of screens.slice(-sampleSize(3, screens.length))) {
    await page.setViewportSize(size);
    await page.emulateMedia({ colorScheme });
    await check(`${size.width}-${colorScheme}`);
  }
}

/** @throws AssertionError if axe finds a violation, or if the page is wider than the screen. @param part names the state of the page in messages */
export async function requireAccessible(page: Page, part: string): Promise<void> {
  await page.evaluate(axeSource);
  const tags = JSON.stringify({ runOnly: ruleTags });
  const { violations, passes } = await page.evaluate<AxeResults>(`axe.run(document, ${tags})`);
  const problems = violations.flatMap(({ id, nodes }) =>
    nodes.slice(0, nodesMax).map(({ target, failureSummary }) => `${id}: ${target.join(" ")} ${failureSummary}`),
  );
  assert.deepEqual(problems, [], `axe violations in ${part}, ${JSON.stringify(page.viewportSize())}`);
  assert.ok(
    passes.some(({ id }) => id === "color-contrast"),
    `axe measured no contrast in ${part}`,
  );
  const overflow = await page.evaluate<number>("document.documentElement.scrollWidth - window.innerWidth");
  assert.ok(overflow <= 0, `${part} is ${overflow} px wider than the screen`);
}
