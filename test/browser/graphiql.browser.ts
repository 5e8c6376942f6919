import assert from "node:assert/strict";
import type { Page, Response } from "playwright-core";
import { onEveryScreen, requireAccessible } from "./accessibility.ts";
import { type Check, openIsolatedPage } from "./check.ts";

interface Result {
  readonly data: { readonly user: User };
  readonly errors?: readonly {
    readonly path: readonly (string | number)[];
    readonly extensions: { readonly code: string };
  }[];
}

interface User {
  readonly name: string;
  readonly email: string | null;
  readonly posts: readonly { readonly title: string; readonly comments: readonly Comment[] }[];
  readonly orders: readonly Order[] | null;
}

interface Comment {
  readonly body: string;
  readonly author: { readonly name: string };
}

interface Order {
  readonly total: { readonly display: string };
  readonly lines: readonly {
    readonly product: { readonly title: string; readonly post: { readonly title: string } | null };
  }[];
}

export const graphiqlChecks: readonly Check[] = [
  {
    name: "GraphiQL opens at /graphql with a query in its first tab and user 1 as the caller",
    async run({ page, url }) {
      await page.goto(`${url}/graphql`);
      await page.locator(".graphiql-query-editor", { hasText: "query AcrossFourServices" }).waitFor();
      assert.equal(await page.title(), "Tributary GraphiQL");
      assert.match((await page.getByLabel("Caller").locator("option:checked").textContent()) ?? "", /user 1/);
    },
  },
  {
    name: "the play button displays data from all four services",
    async run({ page }) {
      const { data, errors } = await play(page);
      assert.deepEqual(describeErrors(errors), []);
      assert.match(data.user.email ?? "", /@/);
      assert.ok(data.user.posts.some(({ comments }) => comments.some(({ body, author }) => body && author.name)));
      const lines = (data.user.orders ?? []).flatMap((order) => order.lines);
      assert.ok(lines.some(({ product }) => product.title && product.post?.title));
      assert.match(data.user.orders?.[0]?.total.display ?? "", /\d/);
      await waitForResult(page, data.user.name);
    },
  },
  {
    name: "below the result, the plan has each fetch with its outcome, and the ids are those of the response",
    async run({ page }) {
      const plan = page.getByRole("region", { name: "Query plan" });
      const fetches = await plan.locator("tbody tr", { has: page.getByRole("button") }).allInnerTexts();
      assert.match(await plan.locator("summary").first().innerText(), /^\d+ fetches from 4 services, [\d.]+ ms$/);
      for (const fetch of fetches) assert.match(fetch, /\b(?:sent|cached|shared)\b/);
      assert.match(await plan.locator(".plan-ids").innerText(), /^Request [\w-]{36}\s+Trace [0-9a-f]{32}$/);
      await plan.getByRole("button").first().click();
      await plan.locator("tbody pre", { hasText: 'user(id: "…")' }).waitFor();
      assert.doesNotMatch(await page.locator(".graphiql-response .view-lines").innerText(), /queryPlan/);
    },
  },
  {
    name: "the plan says what came before the first fetch, why there was a second attempt and what a fetch waited for",
    async run({ page, url }) {
      const newPage = await openIsolatedPage(page);
      await newPage.route("**/graphql", (route) =>
        route.request().postData()?.includes("AcrossFourServices")
          ? route.fulfill({ json: { data: {}, extensions: { queryPlan: examplePlan } } })
          : route.continue(),
      );
      await newPage.goto(`${url}/graphql`);
      await newPage.locator(".graphiql-query-editor", { hasText: "query AcrossFourServices" }).waitFor();
      await newPage.getByRole("button", { name: /Execute query/ }).click();
      const rows = newPage.getByRole("region", { name: "Query plan" }).locator("tbody > tr");
      await rows.first().waitFor();
      assert.match(await rows.first().innerText(), /^before the first fetch: .*\s9\.0 ms/);
      await rows.getByText("Failed attempt: http://users-1/graphql: no response in time").waitFor();
      for (const button of await rows.getByRole("button").all()) await button.click();
      await rows.getByText("From http://users-2/graphql, 2 attempts. The request was sent again").waitFor();
      await rows.getByText("From http://orders/graphql, 2 attempts. The entity cache sent one request").waitFor();
      await rows.getByText("It also waited for users user.").waitFor();
      for (const button of await rows.getByRole("button").all()) await button.click();
      for (const width of [1280, 390]) {
        await newPage.setViewportSize({ width, height: 844 });
        await newPage.locator(".plan > details").evaluate((details) => details.setAttribute("open", ""));
        const path = rows.getByTitle(longPath, { exact: true });
        const [visible, whole] = [await path.boundingBox(), await path.locator("bdi").boundingBox()];
        assert.ok(visible && whole && visible.width > 50, "There is no room for the path.");
        assert.ok(whole.x < visible.x, "The path is not cut.");
        assert.ok(whole.x + whole.width <= visible.x + visible.width + 1, "The path is cut at its end.");
      }
      await newPage.close();
    },
  },
  {
    name: "the anonymous caller gets null for email and orders, with the reason in errors, and the same data otherwise",
    async run({ page }) {
      await page.getByLabel("Caller").selectOption("anonymous");
      const { data, errors } = await play(page);
      assert.equal(data.user.email, null);
      assert.equal(data.user.orders, null);
      assert.ok(data.user.posts.length > 0);
      assert.deepEqual(describeErrors(errors), ["user.email UNAUTHENTICATED", "user.orders UNAUTHENTICATED"]);
      await waitForResult(page, '"errors"');
    },
  },
  {
    name: "the chosen caller is kept after a reload",
    async run({ page }) {
      await page.reload();
      await page.locator(".graphiql-query-editor", { hasText: "query AcrossFourServices" }).waitFor();
      assert.equal(await page.getByLabel("Caller").inputValue(), "anonymous");
    },
  },
  {
    name: "a token in the header editor overrides the chosen caller",
    async run({ page, url }) {
      await page.getByRole("button", { name: "Headers" }).click();
      await page.locator(".graphiql-editor-tool .monaco-editor:visible").click();
      await page.keyboard.insertText(JSON.stringify({ Authorization: `Bearer ${await fetchToken(url, "ada")}` }));
      const { data, errors } = await play(page);
      assert.deepEqual(describeErrors(errors), []);
      assert.match(data.user.email ?? "", /@/);
    },
  },
  {
    name: "the documentation begins with what the graph is about, and a type and a field have their owners and deprecations",
    async run({ page }) {
      await page.getByRole("button", { name: "Show Documentation Explorer" }).click();
      const explorer = page.locator(".graphiql-doc-explorer");
      await explorer.getByText("Users, their posts and comments, and a product catalogue with orders.").waitFor();
      await explorer.getByRole("link", { name: "User", exact: true }).click();
      await explorer
        .getByText(/^Owners: .*@tributary\/users-team \(users\)/)
        .first()
        .waitFor();
      await explorer.getByRole("link", { name: "email", exact: true }).click();
      await explorer.getByText("Owner: @tributary/users-team (users)").waitFor();
      await explorer.getByRole("link", { name: "Go back to User" }).click();
      await explorer.getByRole("link", { name: "Post", exact: true }).first().click();
      await explorer.getByRole("button", { name: "Show Deprecated Fields" }).click();
      await explorer.getByText(/^Use content \{ text \}/).waitFor();
    },
  },
  {
    name: "in the editor a field has its owner when the pointer is on it, and a deprecated one is marked with its reason",
    async run({ page, url }) {
      const newPage = await openIsolatedPage(page);
      await openFirstTabWith(newPage, "{ post(id: 1) { body } }");
      await newPage.goto(`${url}/graphql`);
      const editor = newPage.locator(".graphiql-query-editor");
      await editor.locator(".squiggly-warning").waitFor();
      await editor.getByText("body", { exact: true }).hover();
      const hover = newPage.locator(".monaco-hover:visible");
      await hover.getByText("Owner: @tributary/posts-team (posts)").waitFor();
      await hover
        .getByText(/Use `?content/)
        .first()
        .waitFor();
      await newPage.close();
    },
  },
  {
    name: "a new tab is empty, and prettify formats its query",
    async run({ page }) {
      await page.getByRole("button", { name: "New tab" }).click();
      const editor = page.locator(".graphiql-query-editor");
      await editor.locator(".view-line", { hasText: "AcrossFourServices" }).waitFor({ state: "detached" });
      await editor.locator(".monaco-editor").click();
      await page.keyboard.insertText("query   Typed{user(id:1){name}}");
      await page.getByRole("button", { name: /Prettify query/ }).click();
      await editor.locator(".view-line", { hasText: /^\s+user\(id:\s1\)\s\{$/ }).waitFor();
    },
  },
  {
    name: "a request after a mutation sends its receipt, and is repeated without it if the gateway cannot read it",
    async run({ page, url }) {
      const newPage = await openIsolatedPage(page);
      await openFirstTabWith(
        newPage,
        'mutation Comment { addComment(input: { postId: 1, body: "Well said." }) { comment { id } } }',
      );
      await newPage.goto(`${url}/graphql`);
      await newPage.getByLabel("Caller").selectOption("ada");
      await newPage.locator(".graphiql-query-editor", { hasText: "mutation Comment" }).waitFor();
      const first = await playComment(newPage);
      assert.match(first.receipt ?? `none: ${first.text}`, /^"[\w-]+"$/);
      await newPage.route("**/graphql", async (route) => {
        const response = await route.fetch();
        await route.fulfill({ response, headers: { ...response.headers(), "consistency-token": '"replaced"' } });
      });
      assert.equal((await playComment(newPage)).sent, first.receipt);
      await newPage.unroute("**/graphql");
      const rejected = await playComment(newPage);
      assert.deepEqual([rejected.status, rejected.sent], [400, '"replaced"']);
      await newPage.locator(".graphiql-response .view-lines", { hasText: '"id"' }).waitFor();
      assert.match((await playComment(newPage)).sent ?? "", /^"[\w-]{20,}"$/);
      await newPage.close();
    },
  },
  {
    name: "GraphiQL, its panels and its result have no axe violations and fit at 390, 768 and 1280 px",
    async run({ page, url, capture }) {
      await onEveryScreen(page, async (screen) => {
        // GraphiQL stores its tabs some time after a change: that must not happen after the clearing.
        await page.evaluate("localStorage.clear(); Storage.prototype.setItem = () => {}");
        await page.goto(`${url}/graphql`);
        await page.locator(".graphiql-query-editor", { hasText: "query AcrossFourServices" }).waitFor();
        await play(page);
        await page.locator(".graphiql-response .view-lines", { hasText: '"data"' }).waitFor();
        await requireAccessible(page, "the result");
        await capture(`graphiql-${screen}`);
        const closedPlan = page.locator(".plan > details:not([open]) > summary");
        if ((await closedPlan.count()) > 0) await closedPlan.click();
        await requireAccessible(page, "the plan");
        assert.ok(await page.evaluate("document.documentElement.scrollHeight <= innerHeight"), "the page scrolls");
        await capture(`graphiql-plan-${screen}`);
        for (const panel of ["Documentation Explorer", "History"]) {
          await page.getByRole("button", { name: `Show ${panel}` }).click();
          await requireAccessible(page, panel);
          await capture(`graphiql-${panel}-${screen}`);
          await page.getByRole("button", { name: `Hide ${panel}` }).click();
        }
      });
    },
  },
  {
    name: "at 390 px the result is below the editor, as wide as it, and the caller can be chosen",
    async run({ page }) {
      await page.setViewportSize({ width: 390, height: 844 });
      await page.getByLabel("Caller").selectOption("ada");
      const editor = await page.locator(".graphiql-query-editor").boundingBox();
      const result = await page.locator(".graphiql-response").boundingBox();
      assert.ok(editor && result);
      assert.ok(result.y > editor.y + editor.height && result.height > 200, "The result is not below the editor.");
      assert.ok(editor.width > 340 && result.width > 340, "The editor or the result is narrow.");
    },
  },
  {
    name: "at 390 px the parts are below one another in the order of the focus",
    async run({ page }) {
      const tops = await Promise.all(
        [".graphiql-sidebar", ".graphiql-tabs", ".graphiql-logo", ".graphiql-query-editor", ".graphiql-response"].map(
          async (part) => (await page.locator(part).boundingBox())?.y,
        ),
      );
      assert.deepEqual(
        tops,
        tops.toSorted((a = 0, b = 0) => a - b),
      );
      assert.equal(await page.locator("#graphiql-session").getAttribute("role"), "region");
    },
  },
];

const longPath = "user.orders.lines.product.post.comments.author.posts";
const examplePlan = [
  {
    ...{ subgraph: "users", outcome: "retried", fetches: [0], after: [], paths: ["user"], operation: "{ user }" },
    ...{ replica: "http://users-2/graphql", attempts: 2, bytes: 90, startMilliseconds: 9, milliseconds: 20 },
    failedAttempts: ["http://users-1/graphql attempt-timeout"],
  },
  {
    ...{
      subgraph: "orders",
      outcome: "sent",
      fetches: [1],
      after: [],
      paths: ["", "user.orders"],
      operation: "{ me }",
    },
    ...{ replica: "http://orders/graphql", attempts: 2, bytes: 90, startMilliseconds: 9, milliseconds: 30 },
  },
  {
    ...{ subgraph: "comments", outcome: "sent", fetches: [2], after: [0, 1], paths: [longPath], operation: "{ a }" },
    ...{ replica: "http://comments/graphql", attempts: 1, bytes: 90, startMilliseconds: 40, milliseconds: 20 },
  },
];

/** Stores `query` as GraphiQL's only tab: text typed into a new tab can reach the tab before it. */
async function openFirstTabWith(page: Page, query: string): Promise<void> {
  const tab = { id: "1", title: "Stored", query, variables: null, headers: null, operationName: null, response: null };
  const state = JSON.stringify({ activeTabIndex: 0, tabs: [tab] });
  await page.addInitScript((value) => localStorage.setItem("graphiql:tabState", value), state);
}

/** Runs the mutation in the editor. `sent` has the receipts of the request, `receipt` that of the response. */
async function playComment(page: Page) {
  const isMutation = (response: Response) => response.request().postData()?.includes("mutation Comment") ?? false;
  const pendingResponse = page.waitForResponse(isMutation);
  await page.getByRole("button", { name: /Execute query/ }).click();
  const response = await pendingResponse;
  const headerOf = (headers: Readonly<Record<string, string>>) => headers["consistency-token"];
  return {
    status: response.status(),
    text: await response.text(),
    sent: headerOf(await response.request().allHeaders()),
    receipt: headerOf(await response.allHeaders()),
  };
}

async function play(page: Page): Promise<Result> {
  const pendingResponse = page.waitForResponse((response) => isFirstTab(response));
  await page.getByRole("button", { name: /Execute query/ }).click();
  const response = await pendingResponse;
  assert.equal(response.status(), 200);
  return (await response.json()) as Result;
}

function describeErrors(errors: Result["errors"] = []): readonly string[] {
  return errors.map(({ path, extensions }) => `${path.join(".")} ${extensions.code}`).toSorted();
}

function isFirstTab(response: Response): boolean {
  return response.request().postData()?.includes('"operationName":"AcrossFourServices"') ?? false;
}

/** A token of a demo user. @param url the gateway's address */
export async function fetchToken(url: string, user: string): Promise<string> {
  const config = (await (await fetch(`${url}/graphiql/config.json`)).json()) as { readonly issuer: string };
  const response = await fetch(`${config.issuer}/token`, { method: "POST", body: new URLSearchParams({ user }) });
  const { access_token: token } = (await response.json()) as { readonly access_token: string };
  return token;
}

async function waitForResult(page: Page, text: string): Promise<void> {
  await page.locator(".graphiql-response .view-lines", { hasText: text }).waitFor();
}
