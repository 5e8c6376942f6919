import assert from "node:assert/strict";
import type { Locator, Page } from "playwright-core";
import { onEveryScreen, requireAccessible } from "./accessibility.ts";
import type { Check } from "./check.ts";
import { fetchToken } from "./graphiql.browser.ts";

export const referenceChecks: readonly Check[] = [
  {
    name: "a slash focuses the search, and the words place order find POST /orders first",
    async run({ page, restUrl }) {
      await page.goto(`${restUrl}/docs`);
      await search(page, "place order");
      const first = page.locator("#search-results a").first();
      assert.match(await first.innerText(), /Place an order\s+POST \/v2\/orders/);
      await page.keyboard.press("ArrowDown");
      await page.keyboard.press("Enter");
      await page.waitForURL(`${restUrl}/docs/v2#placeOrder`);
      await page.getByRole("heading", { name: "Place an order" }).waitFor();
    },
  },
  {
    name: "field names are found, and words that do not all match find nothing",
    async run({ page }) {
      await search(page, "idempotency sku");
      assert.match(await page.locator("#search-results").innerText(), /Place an order/);
      await search(page, "place zebra");
      assert.equal(await page.locator("#search-status").innerText(), "0 results");
      await page.keyboard.press("Escape");
    },
  },
  {
    name: "try-it sends a read without a token and shows status, headers and body",
    async run({ page, restUrl }) {
      const form = await openTryIt(page, restUrl, "getProduct");
      await form.getByRole("button", { name: "Send the request" }).click();
      await form.locator(".status", { hasText: "200 OK" }).waitFor();
      await form.getByText("Response headers").click();
      assert.match(await form.locator(".result").innerText(), /GET \/v2\/products\/[^]*etag: [^]*"sku": /);
    },
  },
  {
    name: "try-it sends a write with a token, which is in no URL and in this tab's storage only",
    async run({ page, url, restUrl }) {
      const requestUrls: string[] = [];
      page.on("request", (request) => requestUrls.push(request.url()));
      const token = await fetchToken(url, "ada");
      const form = await openTryIt(page, restUrl, "placeOrder");
      await form.getByLabel("Bearer token").fill(token);
      await form.getByRole("button", { name: "Send the request" }).click();
      await form.locator(".status", { hasText: "201 Created" }).waitFor();
      assert.match(await form.locator(".result").innerText(), /"status": "PLACED"/);
      assert.deepEqual(
        requestUrls.filter((one) => one.includes(token)),
        [],
      );
      assert.equal(await page.evaluate("JSON.stringify(localStorage).includes('eyJ')"), false);
      assert.equal(await page.evaluate("sessionStorage.getItem('tributary:token')"), token);
      await form.getByLabel("Bearer token").fill("");
      assert.equal(await page.evaluate("sessionStorage.length"), 0);
    },
  },
  {
    name: "the chosen language applies to all samples and is kept after a reload",
    async run({ page }) {
      await page.locator("#placeOrder").getByText("Python", { exact: true }).click();
      await page.reload();
      const sample = page.locator("#getUser .code:visible");
      assert.match(await sample.innerText(), new RegExp(`urllib.request[^]*${new URL(page.url()).origin}/v2/users/1`));
    },
  },
  {
    name: "an operation of a deprecated version has a banner that links to its successor",
    async run({ page, restUrl }) {
      await page.goto(`${restUrl}/docs/v1#placeOrder`);
      const banner = page.locator("#placeOrder .banner");
      assert.match(await banner.innerText(), /Deprecated as of \d{4}-\d\d-\d\d\. From \d{4}-\d\d-\d\d .* 410 Gone/);
      await banner.getByRole("link", { name: "POST /v2/orders" }).click();
      await page.waitForURL(`${restUrl}/docs/v2#placeOrder`);
    },
  },
  {
    name: "at 390 px the navigation is a menu, which closes when a link is followed",
    async run({ page, restUrl }) {
      await page.setViewportSize({ width: 390, height: 844 });
      await page.goto(`${restUrl}/docs/v2`);
      const link = page.getByRole("navigation").getByRole("link", { name: "Cancel an order" });
      assert.equal(await link.isVisible(), false);
      await page.getByRole("button", { name: "Menu" }).click();
      await requireAccessible(page, "the menu");
      await link.click();
      await page.waitForURL(`${restUrl}/docs/v2#cancelOrder`);
      assert.equal(await link.isVisible(), false);
    },
  },
  {
    name: "the pages have no axe violations and fit at 390 and 1280 px, light and dark",
    async run({ page, restUrl, capture }) {
      await onEveryScreen(page, async (screen) => {
        for (const path of ["/docs", "/docs/tokens", "/docs/v1", "/problems", "/problems/not-found"]) {
          await page.goto(restUrl + path);
          await requireAccessible(page, path);
          await capture(`reference${path.replaceAll("/", "-")}-${screen}`);
        }
        await search(page, "order");
        await requireAccessible(page, "the search results");
        await capture(`reference-search-${screen}`);
        const form = await openTryIt(page, restUrl, "getUser");
        await form.getByRole("button", { name: "Send the request" }).click();
        await form.locator(".status").waitFor();
        await form.locator(".status").scrollIntoViewIfNeeded();
        await requireAccessible(page, "a try-it result");
        await capture(`reference-try-it-${screen}`);
      });
    },
  },
];

async function search(page: Page, query: string): Promise<void> {
  await page.keyboard.press("/");
  const panel = page.locator("#search-panel");
  await page.locator("#query:focus").fill("");
  await panel.waitFor({ state: "hidden" });
  await page.locator("#query:focus").fill(query);
  await panel.waitFor();
}

async function openTryIt(page: Page, restUrl: string, operationId: string): Promise<Locator> {
  await page.goto(`${restUrl}/docs/v2#${operationId}`);
  const form = page.locator(`#${operationId} .try-it`);
  await form.locator("> summary").click();
  return form;
}
