import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { sampleSize } from "@tributary/kit/testing/sample-size";
import type { Locator, Page, Response } from "playwright-core";
import { onEveryScreen, requireAccessible } from "./accessibility.ts";
import { type Check, openIsolatedPage } from "./check.ts";
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
      await page.waitForURL(`${restUrl}/docs/v2/orders#placeOrder`);
      await page.getByRole("heading", { name: "Place an order" }).waitFor();
    },
  },
  {
    name: "paths, URLs, statuses, headers and subjects of the guides find their operations, problems and guides",
    async run({ page }) {
      const expected = [
        ["POST /v2/orders", /^Place an order/],
        ["/v2/users/1", /^One user/],
        ["http://localhost:4010/v2/products/PRINT-0001?x=1", /^One product/],
        ["429", /Problem 429/],
        ["pagination", /^Lists\s+Guide/],
        ["caching", /^Reading\s+Guide/],
        ["RateLimit", /[A-Z]+ \/v2\//],
        ["jwt", /^Tokens\s+Page/],
      ] as const;
      for (const [query, first] of expected) {
        await search(page, query);
        assert.match(await page.locator("#search-results a").first().innerText(), first, query);
      }
    },
  },
  {
    name: "Escape closes the results, and the arrow key, Enter and the focus open them again; they close when the focus leaves",
    async run({ page }) {
      const results = page.locator("#search-results");
      const close = async () => {
        await page.keyboard.press("Escape");
        await results.waitFor({ state: "hidden" });
      };
      const url = page.url();
      await search(page, "order");
      for (const key of ["ArrowDown", "Enter"]) {
        await close();
        assert.equal(await page.locator("#query").inputValue(), "order");
        await page.keyboard.press(key);
        await results.waitFor();
      }
      assert.equal(page.url(), url);
      await page.locator("#search-results a").last().focus();
      await page.keyboard.press("Tab");
      await results.waitFor({ state: "hidden" });
      await page.locator("#query").focus();
      await results.waitFor();
      await page.mouse.click(1300, 780);
      await results.waitFor({ state: "hidden" });
    },
  },
  {
    name: "a search that cannot load its index reports why, and a later one succeeds",
    async run({ page, restUrl }) {
      const blank = await openIsolatedPage(page);
      await blank.route("**/docs/search.json", (route) => route.fulfill({ status: 429 }));
      await blank.goto(`${restUrl}/docs`);
      await search(blank, "order");
      assert.match(await blank.locator("#search-status").innerText(), /The search failed \(status 429\)/);
      await blank.unroute("**/docs/search.json");
      await search(blank, "place order");
      assert.match(await blank.locator("#search-results").innerText(), /Place an order/);
      await blank.close();
    },
  },
  {
    name: "the pages work when the browser blocks storage",
    async run({ page, restUrl }) {
      const blocked = await openIsolatedPage(page);
      await blocked.addInitScript(`for (const area of ["localStorage", "sessionStorage"])
        Object.defineProperty(window, area, { get() { throw new DOMException("blocked", "SecurityError"); } });`);
      const form = await openTryIt(blocked, restUrl, "getProduct");
      await form.getByRole("button", { name: "Send the request" }).click();
      await form.locator(".status", { hasText: "200 OK" }).waitFor();
      await search(blocked, "place order");
      await blocked.close();
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
    name: "in development an order is placed as Ada, whom the reader chooses as the caller, and no token is needed",
    async run({ page, restUrl }) {
      const form = await openTryIt(page, restUrl, "placeOrder");
      await callerSwitch(page).selectOption("ada");
      assert.equal(await form.getByLabel("Bearer token").isVisible(), false);
      await form.getByRole("button", { name: "Send the request" }).click();
      await form.locator(".status", { hasText: "201 Created" }).waitFor();
      assert.match(await form.locator(".result").innerText(), /"customerId": "1"/);
    },
  },
  {
    name: "the chosen caller is that of all pages, and another one has other rights",
    async run({ page, restUrl }) {
      await callerSwitch(page).selectOption("linus");
      const form = await openTryIt(page, restUrl, "listOrders");
      await callerSwitch(page).waitFor();
      assert.equal(await callerSwitch(page).inputValue(), "linus");
      assert.doesNotMatch(await (await sendAndWait(form)).text(), /"customerId":"1"/);
    },
  },
  {
    name: "try-it sends a read without a token and shows status, headers and body",
    async run({ page, restUrl }) {
      const form = await openTryIt(page, restUrl, "getProduct");
      await callerSwitch(page).selectOption("no token");
      const { authorization } = await (await sendAndWait(form)).request().allHeaders();
      assert.equal(authorization, undefined);
      await form.locator(".status", { hasText: "200 OK" }).waitFor();
      assert.match(await form.getByRole("status").innerText(), /^200 OK in \d+ ms$/);
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
      await callerSwitch(page).selectOption("your own token");
      await form.getByLabel("Bearer token", { exact: true }).fill(token);
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
      assert.equal(await page.evaluate("sessionStorage.getItem('tributary:token')"), null);
    },
  },
  {
    name: "try-it sends the receipt of a write with later requests, also after a reload, and past the browser's cache",
    async run({ page, restUrl }) {
      const newPage = await openIsolatedPage(page);
      const write = await openTryIt(newPage, restUrl, "placeOrder");
      const written = await (await sendAndWait(write)).allHeaders();
      await newPage.reload();
      const read = await openTryIt(newPage, restUrl, "getProduct");
      const sent = await (await sendAndWait(read)).request().allHeaders();
      assert.match(written["consistency-token"] ?? "", /^"[\w-]+"$/);
      assert.equal(sent["consistency-token"], written["consistency-token"]);
      assert.equal(sent["cache-control"], "max-age=0");
      await newPage.close();
    },
  },
  {
    name: "try-it forgets receipts that the server cannot read, and sends the request once more without them",
    async run({ page, restUrl }) {
      const newPage = await openIsolatedPage(page);
      const form = await openTryIt(newPage, restUrl, "getProduct");
      await newPage.evaluate("sessionStorage.setItem('tributary:receipts', '\"replaced\"')");
      const sent: (string | undefined)[] = [];
      newPage.on("request", (request) => {
        if (request.url().startsWith(restUrl)) sent.push(request.headers()["consistency-token"]);
      });
      await form.getByRole("button", { name: "Send the request" }).click();
      await form.locator(".status", { hasText: "200 OK" }).waitFor();
      assert.deepEqual(sent, ['"replaced"', undefined]);
      assert.equal(await newPage.evaluate("sessionStorage.length"), 0);
      await newPage.close();
    },
  },
  {
    name: "a receipt that the reader enters replaces the stored ones, and its rejection is shown",
    async run({ page, restUrl }) {
      const newPage = await openIsolatedPage(page);
      const form = await openTryIt(newPage, restUrl, "getProduct");
      await newPage.evaluate("sessionStorage.setItem('tributary:receipts', '\"stored\"')");
      await form.getByText(/^Optional parameters/).click();
      await form.locator("[name=Consistency-Token]").fill('"entered"');
      await form.getByRole("button", { name: "Send the request" }).click();
      await form.locator(".status", { hasText: "400" }).waitFor();
      assert.equal(await newPage.evaluate("sessionStorage.getItem('tributary:receipts')"), '"stored"');
      await newPage.close();
    },
  },
  {
    name: "a token that changes in one form changes in all, and one that no header can have is reported",
    async run({ page, restUrl }) {
      const first = await openTryIt(page, restUrl, "listProducts");
      const second = page.locator("#listOrders .try-it");
      await second.locator("> summary").click();
      await second.locator("[name=token]").fill("an abbreviated…token");
      assert.equal(await first.locator("[name=token]").inputValue(), "an abbreviated…token");
      await first.getByRole("button", { name: "Send the request" }).click();
      await first.locator(".status", { hasText: "Not sent: The token contains a character" }).waitFor();
      await second.locator("[name=token]").fill("");
      await first.getByRole("button", { name: "Send the request" }).click();
      await first.locator(".status", { hasText: "200 OK" }).waitFor();
    },
  },
  {
    name: "the copy button reports success and failure",
    async run({ page, restUrl }) {
      await page.goto(`${restUrl}/docs/v2/users`);
      const sample = page.locator("#getUser .samples");
      await page.evaluate("navigator.clipboard.writeText = async () => {}");
      await sample.getByRole("button", { name: "Copy" }).click();
      await page
        .getByRole("status")
        .filter({ hasText: /^Copied$/ })
        .waitFor({ state: "attached" });
      await sample.getByRole("button", { name: "Copy", exact: true }).waitFor();
      await page.evaluate("navigator.clipboard.writeText = async () => { throw new Error(); }");
      await sample.getByRole("button", { name: "Copy" }).click();
      await page
        .getByRole("status")
        .filter({ hasText: /^Copying failed$/ })
        .waitFor({ state: "attached" });
    },
  },
  {
    name: "the navigation marks the operation that the reader sees",
    async run({ page }) {
      await page.evaluate("document.querySelector('#updateUser').scrollIntoView()");
      await page.locator('#navigation a[href="#updateUser"][aria-current="location"]').waitFor();
    },
  },
  {
    name: "the chosen language applies to all samples and is kept on other pages",
    async run({ page, restUrl }) {
      await page.goto(`${restUrl}/docs/v2/orders`);
      await page.locator("#placeOrder").getByText("Python", { exact: true }).click();
      await page.goto(`${restUrl}/docs/v2/users`);
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
      await page.waitForURL(`${restUrl}/docs/v2/orders#placeOrder`);
    },
  },
  {
    name: "the examples of the guides get the statuses that they name",
    async run({ page, url, restUrl }) {
      const env = { ...process.env, TOKEN: await fetchToken(url, "ada") };
      await page.goto(`${restUrl}/docs/v2`);
      const guides = await page.locator('main a[href*="/guides/"]').evaluateAll((links) => links.map(String));
      const statuses: string[] = [];
      for (const guide of guides) {
        await page.goto(guide);
        for (const example of await page.locator("main > pre").allInnerTexts()) {
          const [, status = ""] = /# (\d{3})$/.exec(example) ?? [];
          assert.match(
            execFileSync("sh", ["-c", example], { env, encoding: "utf8", stdio: "pipe" }),
            new RegExp(`^HTTP/1.1 ${status} `),
          );
          statuses.push(status);
        }
      }
      assert.deepEqual(new Set(statuses), new Set(["200", "304", "400"]));
    },
  },
  {
    name: "no page is longer than 8,000 px at a width of 1280 px",
    async run({ page, restUrl }) {
      await page.setViewportSize({ width: 1280, height: 820 });
      const sampleEvery = sampleSize(3, 1);
      for (const [index, path] of (await listPages(restUrl)).entries()) {
        if (index % sampleEvery !== 0) continue;
        await page.goto(restUrl + path);
        const height = await page.evaluate<number>("document.documentElement.scrollHeight");
        assert.ok(height <= 8_000, `${path} is ${height} px long`);
      }
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
      await page.waitForURL(`${restUrl}/docs/v2/orders#cancelOrder`);
      assert.equal(await link.isVisible(), false);
    },
  },
  {
    name: "the pages have no axe violations and fit at 390, 768 and 1280 px",
    async run({ page, restUrl, capture }) {
      await onEveryScreen(page, async (screen) => {
        for (const path of screenPaths) {
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

/** By its id, since "Caller" is a word of other labels. */
function callerSwitch(page: Page): Locator {
  return page.locator("#caller select");
}

/** One page of each kind. */
const screenPaths = [
  "/docs",
  "/docs/tokens",
  "/docs/changes",
  "/docs/v1/users",
  "/docs/v2/guides/lists",
  "/docs/v2/schemas/Order",
  "/problems",
  "/problems/not-found",
];

/** The pages that the search of the reference finds. */
async function listPages(restUrl: string): Promise<readonly string[]> {
  const { entries } = (await (await fetch(`${restUrl}/docs/search.json`)).json()) as {
    readonly entries: readonly { readonly url: string }[];
  };
  return [...new Set(entries.map(({ url }) => url.replace(/#.*/, "")))];
}

async function search(page: Page, query: string): Promise<void> {
  await page.keyboard.press("/");
  const panel = page.locator("#search-panel");
  await page.locator("#query:focus").fill("");
  await panel.waitFor({ state: "hidden" });
  await page.locator("#query:focus").fill(query);
  await panel.waitFor();
}

/** By the URL that an operation had when a version was one page. */
async function openTryIt(page: Page, restUrl: string, operationId: string): Promise<Locator> {
  await page.goto(`${restUrl}/docs/v2#${operationId}`);
  const form = page.locator(`#${operationId} .try-it`);
  await form.locator("> summary").click();
  return form;
}

/** Sends the form's request. */
async function sendAndWait(form: Locator): Promise<Response> {
  const isRequest = (response: Response) => new URL(response.url()).pathname.startsWith("/v2/");
  const pendingResponse = form.page().waitForResponse(isRequest);
  await form.getByRole("button", { name: "Send the request" }).click();
  return pendingResponse;
}
