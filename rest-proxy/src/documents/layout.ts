import { type Html, html } from "@tributary/kit/pages/html";
import { groupPath, guidePath, versionPath } from "./addresses.ts";
import type { VersionDocument } from "./deprecation.ts";
import type { ReleaseChanges } from "./load.ts";
import { groupsOf, type OperationGroup, sectionsOf } from "./open-api/open-api.ts";

/** What all pages have in common. */
export interface Site {
  /** In ascending order. */
  readonly versions: readonly VersionDocument[];
  /** The local token issuer, with which readers choose a user as the caller; undefined in production. */
  readonly issuerUrl: string | undefined;
  /** Undefined in production. */
  readonly development?: DevelopmentPages | undefined;
}

export interface DevelopmentPages {
  /** Of the GraphQL gateway. */
  readonly gatewayUrl: string | undefined;
  /** Undefined if composition generated none. */
  readonly changes: ReleaseChanges | undefined;
}

export interface Layout {
  readonly title: string;
  /** The path of the page. */
  readonly path: string;
  /** The version that the navigation lists and the search finds. Default: the newest one. */
  readonly reference?: VersionDocument;
  readonly content: Html;
}

/** A whole page: header with menu, search and caller, navigation, content. The scripts add search and caller; without them both are hidden. */
export function layout({ versions, issuerUrl, development }: Site, { title, path, content, ...options }: Layout): Html {
  const { reference = versions.at(-1) } = options;
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
          ${reference === undefined ? undefined : searchForm(reference.version)}
          ${issuerUrl === undefined ? undefined : viewCallerSwitch(issuerUrl)}
        </header>
        <nav id="navigation" aria-label="Reference" popover>
          ${viewNavigation({ versions, development, path, reference })}
        </nav>
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

/** callers.js adds the issuer's users before these two, and shows the switch. */
function viewCallerSwitch(issuerUrl: string): Html {
  return html`<label id="caller" data-issuer="${issuerUrl}" hidden>
    <span>Caller</span>
    <select>
      <option value="none">no token</option>
      <option value="own">your own token</option>
    </select>
  </label>`;
}

type PageLink = readonly [url: string, text: Html | string];

interface Navigation extends Pick<Site, "versions" | "development"> {
  readonly path: string;
  readonly reference: VersionDocument | undefined;
}

/** The link to the page at `path` is marked. */
function viewNavigation({ versions, development, path, reference }: Navigation): Html {
  const versionLinks = versions
    .toReversed()
    .map((version): PageLink => [versionPath(version), `Version ${version.version}`]);
  const { gatewayUrl, changes } = development ?? {};
  const changesLinks: readonly PageLink[] = changes === undefined ? [] : [["/docs/changes", "Changes"]];
  const graphqlLinks: readonly PageLink[] = [
    [`${gatewayUrl}/graphiql`, "GraphiQL"],
    [`${gatewayUrl}/owners`, "Who owns what"],
  ];
  return html`${viewLinks([["/docs", "Overview"], ...versionLinks, ...changesLinks], path)}
    ${reference === undefined ? undefined : groupsOf(reference.document).map((group) => viewGroup(reference, group, path))}
    <h2>Guides</h2>
    ${viewLinks([...listGuides(reference), ["/docs/tokens", "Tokens"], ["/problems", "All problems"]], path)}
    ${
      gatewayUrl === undefined
        ? undefined
        : html`<h2>GraphQL</h2>
            ${viewLinks(graphqlLinks, path)}`
    }
    <label id="shortcut" hidden><input type="checkbox" checked /> <kbd>/</kbd> focuses the search</label>`;
}

function listGuides(reference: VersionDocument | undefined): readonly PageLink[] {
  if (reference === undefined) return [];
  return sectionsOf(reference.document).sections.map((section) => [guidePath(reference, section), section.title]);
}

function viewLinks(links: readonly PageLink[], path: string): Html {
  return html`<ul>
    ${links.map(
      ([url, text]) =>
        html`<li><a href="${url}" ${url === path ? html` aria-current="page"` : undefined}>${text}</a></li>`,
    )}
  </ul>`;
}

/** On the group's own page, a link to an operation is only a fragment. */
function viewGroup(reference: VersionDocument, { name, operations }: OperationGroup, path: string): Html {
  const page = groupPath(reference, name);
  const base = page === path ? "" : page;
  const links = operations.map(({ method, operation: { operationId, summary } }): PageLink => [
    `${base}#${operationId}`,
    html`${viewMethod(method)} <span>${summary}</span>`,
  ]);
  return html`<h2><a href="${page}" ${base === "" ? html` aria-current="page"` : undefined}>${name}</a></h2>
    ${viewLinks(links, path)}`;
}

export function viewMethod(method: string): Html {
  return html`<span class="method ${method}">${method.toUpperCase()}</span>`;
}
