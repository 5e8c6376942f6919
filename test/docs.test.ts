import { existsSync, globSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const root = fileURLToPath(new URL("..", import.meta.url));
const pages = [
  ...globSync("docs/**/*.md", { cwd: root }),
  "README.md",
  "ARCHITECTURE.md",
  "CONTRIBUTING.md",
].toSorted();

test("every link of the documentation leads to an existing file and heading", () => {
  expect(pages.length).toBeGreaterThan(30);
  expect(pages.flatMap(brokenLinks)).toEqual([]);
});

function brokenLinks(page: string): readonly string[] {
  const links = [...readFileSync(join(root, page), "utf8").matchAll(/\]\(([^)\s]+)\)/g)].map(([, link = ""]) => link);
  return links.filter((link) => !/^https?:/.test(link) && !isValid(page, link)).map((link) => `${page}: ${link}`);
}

function isValid(page: string, link: string): boolean {
  const [path = "", heading] = link.split("#");
  const file = path === "" ? join(root, page) : join(root, dirname(page), path);
  if (!existsSync(file)) return false;
  return heading === undefined || headingsOf(readFileSync(file, "utf8")).includes(heading);
}

/** The anchors of a page's headings, as GitHub generates them: lower case, hyphens for spaces, no punctuation. */
function headingsOf(text: string): readonly string[] {
  return [...text.matchAll(/^#+ (.+)$/gm)].map(([, heading = ""]) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}_\- ]/gu, "")
      .replaceAll(" ", "-"),
  );
}
