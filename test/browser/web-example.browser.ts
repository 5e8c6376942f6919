// examples/web, the page of a client team. Responses that the platform sends only in trouble are replaced in the browser.
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import type { Locator, Page, Request } from "playwright-core";
import { onEveryScreen, requireAccessible } from "./accessibility.ts";
import { type Browsing, type Check, openIsolatedPage } from "./check.ts";
import { fetchToken } from "./graphiql.browser.ts";

export const webExampleChecks: readonly Check[] = [
  {
    name: "the web example shows posts of two pages and comments to everyone, and nothing that needs a user",
    async run({ page, webUrl }) {
      const posts = await openPosts(page, webUrl);
      await posts.getByRole("button", { name: "More" }).click();
      await posts.getByRole("heading", { level: 3 }).nth(9).waitFor();
      await posts
        .getByRole("button", { name: /^[1-9]\d* comment/ })
        .first()
        .click();
      await posts.getByText("Sign in to comment.").waitFor();
      assert.equal(await page.getByRole("region", { name: "Your orders" }).count(), 0);
      assert.equal(await page.getByRole("button", { name: "Order" }).count(), 0);
    },
  },
  {
    name: "public queries are sent without a token, by GET, as their registered ids",
    async run({ page, webUrl }) {
      await openPosts(page, webUrl);
      const isFeed = (sent: Request) => sent.method() === "GET" && sent.url().includes("operationName=Feed");
      const sent = page.waitForRequest(isFeed);
      await page.getByLabel("Signed in as").selectOption("ada");
      const request = await sent;
      assert.equal((await request.allHeaders())["authorization"], undefined);
      const parameters = new URL(request.url()).searchParams;
      assert.match(parameters.get("extensions") ?? "", /"sha256Hash":"sha256:[0-9a-f]{64}"/);
      assert.equal(parameters.get("query"), null);
    },
  },
  {
    name: "Ada's comment is in the list and in the number of comments at once",
    async run({ page, webUrl }) {
      await signIn(page, webUrl, "ada");
      const post = page.getByRole("region", { name: "Posts" }).getByRole("listitem").first();
      const count = async () => Number.parseInt(await post.getByRole("button", { name: /\d comment/ }).innerText(), 10);
      const before = await count();
      await post.getByRole("button", { name: /\d comment/ }).click();
      for (const [index, text] of [`First ${randomUUID()}`, `Second ${randomUUID()}`].entries()) {
        await post.getByRole("textbox").fill(text);
        const read = page.waitForRequest(hasReceipt("/graphql?"));
        await post.getByRole("button", { name: "Comment", exact: true }).click();
        await read;
        await post.getByText(text).waitFor();
        await post.getByRole("button", { name: `${before + index + 1} comment` }).waitFor();
      }
    },
  },
  {
    name: "an order by REST is in the list by GraphQL and out of the stock at once, and an unchanged one is a 304",
    async run({ page, webUrl }) {
      await signIn(page, webUrl, "ada");
      const before = await readStock(firstProduct(page));
      const reads = ["/graphql?", "/v2/products?"].map((part) => page.waitForRequest(hasReceipt(part)));
      const order = await openOrder(page, await placeOrder(page, 2));
      await Promise.all(reads);
      await firstProduct(page)
        .getByText(`${before - 2} in stock`)
        .waitFor();
      await order.getByText("2 × PRINT-").waitFor();
      const notModified = page.waitForResponse((response) => response.status() === 304);
      await order.getByRole("button", { name: "Refresh" }).click();
      await notModified;
      await order.getByText("Nothing has changed.").waitFor();
    },
  },
  {
    name: "an order that changed meanwhile is shown before it is cancelled, and an invalid order says what is wrong",
    async run({ page, url, webUrl }) {
      const tab = await openIsolatedPage(page);
      await signIn(tab, webUrl, "ada");
      await submitOrder(tab, 0);
      const alert = firstProduct(tab).getByRole("alert");
      await alert.getByText("A quantity is a whole number from 1 to 99.").waitFor();
      const id = await placeOrder(tab, 1);
      await alert.waitFor({ state: "detached" });
      const order = await openOrder(tab, id);
      await order.getByRole("button", { name: "Cancel order" }).waitFor();
      await advance(url, id);
      await order.getByRole("button", { name: "Cancel order" }).click();
      await order.getByText(/The order has changed/).waitFor();
      await order.getByText("PAID", { exact: true }).first().waitFor();
      await order.getByRole("button", { name: "Cancel order" }).click();
      await order.getByText("CANCELLED", { exact: true }).first().waitFor();
      await tab.close();
    },
  },
  {
    name: "an order whose response was lost is placed once",
    async run({ page, webUrl }) {
      const tab = await openIsolatedPage(page);
      await signIn(tab, webUrl, "grace");
      const ids: string[] = [];
      await tab.route("**/v2/orders", async (route) => {
        if (route.request().method() !== "POST") return route.fallback();
        const response = await route.fetch();
        ids.push(((await response.json()) as { readonly id: string }).id);
        return ids.length === 1 ? route.abort("connectionreset") : route.fulfill({ response });
      });
      const before = await readStock(firstProduct(tab));
      await submitOrder(tab, 3);
      await firstProduct(tab)
        .getByText(`${before - 3} in stock`)
        .waitFor();
      assert.equal(ids.length, 2);
      assert.equal(ids[0], ids[1]);
      await tab.close();
    },
  },
  {
    name: "each user has their own orders, and nothing of Ada is on the page of a user after her",
    async run({ page, webUrl }) {
      await signIn(page, webUrl, "ada");
      const orders = page.getByRole("region", { name: "Your orders" });
      await orders.getByRole("listitem").first().waitFor();
      const ada = await page.locator("main").innerText();
      const mail = /\S+@\S+/.exec(ada)?.[0] ?? "";
      assert.notEqual(mail, "");
      await page.getByLabel("Signed in as").selectOption("linus");
      await page
        .locator("main")
        .getByText(/^Linus/)
        .first()
        .waitFor();
      assert.ok(!(await page.locator("main").innerText()).includes(mail));
      await page.getByLabel("Signed in as").selectOption("guest");
      await orders.waitFor({ state: "detached" });
      assert.doesNotMatch(await page.locator("main").innerText(), /\S+@\S+/);
    },
  },
  {
    name: "partial data is shown with what is missing, a rate limit with the time to wait, and no network as such",
    run: (browsing) => requireErrorsShown(browsing),
  },
  {
    name: "the web example has no axe violations and fits at 390, 768 and 1280 px",
    async run({ page, capture, webUrl }) {
      await onEveryScreen(page, async (screen) => {
        await signIn(page, webUrl, "ada");
        await page
          .getByRole("button", { name: /^[1-9]\d* comment/ })
          .first()
          .click();
        await openOrder(page, await placeOrder(page, 1));
        await page.getByRole("button", { name: "Cancel order" }).waitFor();
        await requireAccessible(page, "the web example");
        await capture(`web-example-${screen}`);
      });
    },
  },
];

async function requireErrorsShown({ page, webUrl }: Browsing): Promise<void> {
  const tab = await openIsolatedPage(page);
  await tab.route("**/graphql?**", async (route) => {
    const response = await route.fetch();
    const result = (await response.json()) as {
      readonly data?: { readonly posts?: { readonly nodes: { author: unknown }[] } };
    };
    for (const node of result.data?.posts?.nodes ?? []) node.author = null;
    const errors = [
      { message: "x", path: ["posts", "nodes", 0, "author"], extensions: { code: "SUBGRAPH_UNAVAILABLE" } },
    ];
    await route.fulfill({ response, json: result.data ? { ...result, errors } : result });
  });
  await tab.goto(webUrl);
  const posts = tab.getByRole("region", { name: "Posts" });
  await posts.getByText("Some of it could not be loaded: author.").waitFor();
  await posts
    .getByText(/^unknown author/)
    .first()
    .waitFor();
  await tab.unroute("**/graphql?**");
  await posts.getByRole("button", { name: "Load again" }).click();
  await posts.getByRole("alert").waitFor({ state: "detached" });
  const headers = {
    "retry-after": "42",
    "access-control-allow-origin": "*",
    "access-control-expose-headers": "retry-after",
  };
  const limited = { errors: [{ message: "x", extensions: { code: "RATE_LIMITED" } }] };
  await tab.route("**/graphql?**", (route) => route.fulfill({ status: 429, headers, json: limited }));
  await tab.reload();
  await posts.getByText("Too many requests. Try again in 42 s.").waitFor();
  await tab.route("**/graphql?**", (route) => route.abort());
  await tab.reload();
  await posts.getByText(/^No connection/).waitFor();
  await tab.close();
}

async function openPosts(page: Page, webUrl: string): Promise<Locator> {
  await page.goto(webUrl);
  const posts = page.getByRole("region", { name: "Posts" });
  await posts.getByRole("heading", { level: 3 }).nth(4).waitFor();
  return posts;
}

async function signIn(page: Page, webUrl: string, user: string): Promise<void> {
  await page.goto(webUrl);
  await page.getByLabel("Signed in as").selectOption(user);
  await page.getByRole("region", { name: "Your orders" }).waitFor();
  await page.getByText(/@/).first().waitFor();
  await page.getByRole("region", { name: "Posts" }).getByRole("heading", { level: 3 }).nth(4).waitFor();
  await page.getByRole("region", { name: "Print editions" }).getByRole("spinbutton").first().waitFor();
}

/** Without its receipt, a read is only most often as new as the write. */
function hasReceipt(part: string): (request: Request) => boolean {
  return (request) => request.url().includes(part) && request.headers()["consistency-token"] !== undefined;
}

async function readStock(product: Locator): Promise<number> {
  return Number(/(\d+) in stock/.exec(await product.innerText())?.[1]);
}

function firstProduct(page: Page): Locator {
  return page.getByRole("region", { name: "Print editions" }).getByRole("listitem").first();
}

async function submitOrder(page: Page, quantity: number): Promise<void> {
  await firstProduct(page).getByRole("spinbutton").fill(String(quantity));
  await firstProduct(page)
    .getByRole("button", { name: /^Order/ })
    .click();
}

/** Returns the id. */
async function placeOrder(page: Page, quantity: number): Promise<string> {
  const placed = page.waitForResponse((response) => response.status() === 201);
  await submitOrder(page, quantity);
  const { id } = (await (await placed).json()) as { readonly id: string };
  return id;
}

/** Waits until the list has it. */
async function openOrder(page: Page, id: string): Promise<Locator> {
  const details = page.getByRole("button", { name: `Details of order ${id}` });
  await details.click();
  return page.getByRole("listitem").filter({ has: details });
}

/** The order is paid, which no customer can do. @param url the gateway's address */
async function advance(url: string, id: string): Promise<void> {
  const response = await fetch(`${url}/graphql`, {
    method: "POST",
    headers: { authorization: `Bearer ${await fetchToken(url, "ops")}`, "content-type": "application/json" },
    body: JSON.stringify({
      query: "mutation ($id: ID!) { advanceOrder(input: { id: $id, to: PAID }) { order { status } } }",
      variables: { id },
    }),
  });
  assert.match(await response.text(), /"PAID"/);
}
