import { type Html, html } from "@tributary/kit/pages/html";
import { operationsOf, type PathOperation } from "./open-api.ts";
import type { VersionDocument } from "./deprecation.ts";

export interface Layout {
  readonly title: string;
  readonly navigation: Html;
  /** The version whose operations the search finds; undefined without OpenAPI documents. */
  readonly version: number | undefined;
  readonly content: Html;
}

/** A whole page: header with menu and search, navigation, content. The scripts add the search; without them it is hidden. */
export function layout({ title, navigation, version, content }: Layout): Html {
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <title>${title}</title>
        <link rel="icon" href="data:," />
        <link rel="stylesheet" href="/docs/docs.css" />
        <script type="module" src="/docs/docs.js"></script>
      </head>
      <body>
        <a class="skip" href="#content">Skip to the content</a>
        <header>
          <button type="button" id="menu" popovertarget="navigation">Menu</button>
          <a class="brand" href="/docs">REST API</a>
          ${version === undefined ? undefined : searchForm(version)}
        </header>
        <nav id="navigation" aria-label="Reference" popover>${navigation}</nav>
        <main id="content" tabindex="-1">${content}</main>
      </body>
    </html> `;
}

function searchForm(version: number): Html {
  return html`<form id="search" role="search" data-version="${version}" hidden>
    <label for="query">Search</label>
    <input
      id="query"
      type="search"
      autocomplete="off"
      spellcheck="false"
      placeholder="Search"
      aria-describedby="search-status"
    />
    <div id="search-panel" tabindex="-1">
      <p id="search-status" role="status"></p>
      <ul id="search-results"></ul>
    </div>
  </form>`;
}

type PageLink = readonly [path: string, text: string];

/** The link to the page at `path` is marked. With `contents`, also the links to that version's operations and schemas. */
export function viewNavigation(versions: readonly VersionDocument[], path: string, contents?: VersionDocument): Html {
  const newestFirst = versions.toReversed();
  const versionPages = newestFirst.map(({ version }): PageLink => [`/docs/v${version}`, `Version ${version}`]);
  const pages: readonly PageLink[] = [
    ["/docs", "Overview"],
    ["/docs/tokens", "Tokens"],
    ["/problems", "Problems"],
    ...versionPages,
  ];
  const links = pages.map(
    ([target, text]) =>
      html`<li><a href="${target}" ${target === path ? html` aria-current="page"` : undefined}>${text}</a></li>`,
  );
  return html`<ul>
      ${links}
    </ul>
    ${contents === undefined ? undefined : viewContents(contents, path)}
    <label id="shortcut" hidden><input type="checkbox" checked /> <kbd>/</kbd> focuses the search</label>`;
}

function viewContents({ version, document }: VersionDocument, path: string): Html {
  const versionPage = `/docs/v${version}`;
  // A link within the page that contains this navigation is only a fragment.
  const base = versionPage === path ? "" : versionPage;
  const operations = operationsOf(document);
  const chapters = document.tags.map(
    ({ name }) =>
      html`<h2>${name}</h2>
        <ul>
          ${viewEntries(operations, name, base)}
        </ul>`,
  );
  return html`${chapters}
    <h2><a href="${base}#schemas">Schemas</a></h2>`;
}

/** The links to the operations with this tag. */
function viewEntries(operations: readonly PathOperation[], tag: string, base: string): readonly Html[] {
  const tagged = operations.filter(({ operation }) => operation.tags.includes(tag));
  return tagged.map((entry) => viewEntry(entry, base));
}

function viewEntry({ method, operation }: PathOperation, base: string): Html {
  const { operationId, summary } = operation;
  return html`<li>
    <a href="${base}#${operationId}">${viewMethod(method)} <span>${summary}</span></a>
  </li>`;
}

export function viewMethod(method: string): Html {
  return html`<span class="method ${method}">${method.toUpperCase()}</span>`;
}
