import assert from "node:assert/strict";
import { onEveryScreen, requireAccessible } from "./accessibility.ts";
import type { Check } from "./check.ts";

export const frontPageChecks: readonly Check[] = [
  {
    name: "the front page of the gateway leads to GraphiQL, and that of the REST proxy to the reference",
    async run({ page, url, restUrl }) {
      await page.goto(url);
      await page.getByRole("link", { name: "GraphiQL" }).click();
      await page.locator(".graphiql-query-editor", { hasText: "query AcrossFourServices" }).waitFor();
      await page.goto(restUrl);
      await page.getByRole("link", { name: "Reference" }).click();
      await page.waitForURL(`${restUrl}/docs`);
    },
  },
  {
    name: "each link of the front pages opens a page without an error, and the browser applies their style",
    async run({ page, url, restUrl }) {
      for (const start of [url, restUrl]) {
        await page.goto(start);
        assert.equal(await page.evaluate("getComputedStyle(document.querySelector('ul')).listStyleType"), "none");
        const anchors = await page.locator("main a").all();
        const links = await Promise.all(anchors.map((anchor) => anchor.getAttribute("href")));
        assert.ok(links.length >= 3);
        for (const link of links) {
          const response = await page.request.get(new URL(link ?? "", start).href, {
            headers: { accept: "text/html, */*;q=0.5" },
          });
          assert.equal(response.status(), 200, link ?? "no href");
        }
      }
    },
  },
  {
    name: "the pages of both processes lead to one another: the owners, the changes, the reference and GraphiQL",
    async run({ page, url, restUrl }) {
      const follow = async (name: string, target: string) => {
        await page.getByRole("link", { name, exact: true }).first().click();
        await page.waitForURL(target);
      };
      await page.goto(url);
      await follow("REST API", `${restUrl}/`);
      await follow("Changes", `${restUrl}/docs/changes`);
      await page.getByRole("heading", { name: /^Changes since version \d/ }).waitFor();
      await follow("Who owns what", `${url}/owners`);
      await follow("GraphiQL", `${url}/graphiql`);
      await follow("REST", `${restUrl}/docs`);
      await follow("GraphiQL", `${url}/graphiql`);
      await follow("Owners", `${url}/owners`);
      await follow("All pages of the gateway", `${url}/`);
    },
  },
  {
    name: "the front pages and the page of owners have no axe violations and fit at 390, 768 and 1280 px",
    async run({ page, url, restUrl, capture }) {
      await onEveryScreen(page, async (screen) => {
        for (const [name, start] of [
          ["gateway", url],
          ["rest", restUrl],
          ["owners", `${url}/owners`],
        ] as const) {
          await page.goto(start);
          await requireAccessible(page, start);
          await capture(`front-page-${name}-${screen}`);
        }
      });
    },
  },
];
