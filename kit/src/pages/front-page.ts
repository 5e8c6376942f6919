import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import type { StatusLine } from "../process/status-summary.ts";
import { type Html, html, markdown } from "./html.ts";

export interface FrontPageLink {
  readonly key: string;
  readonly path: string;
  readonly title: string;
  /** In Markdown. */
  readonly text: string;
  /** Of an endpoint that browsers cannot open: its path is not a hyperlink. */
  readonly method?: "POST";
}

export interface FrontPageContent {
  readonly name: string;
  readonly description: string;
  readonly version: string;
  readonly links: readonly FrontPageLink[];
  /** Only on the HTML page, in development: programs read `/health/status`. */
  readonly state?: readonly StatusLine[] | undefined;
}

export interface HtmlPage {
  readonly html: string;
  /** `Content-Security-Policy`: no scripts, nothing from any server, and only its own style element. */
  readonly policy: string;
}

export interface FrontPage extends HtmlPage {
  readonly json: string;
}

/** In production only probes use this path, and it is not public. */
export const healthLink: FrontPageLink = {
  key: "health",
  path: "/health/ready",
  title: "Health",
  text: "Whether this process is ready to serve requests.",
};

/** In development only. */
export const statusLink: FrontPageLink = {
  key: "status",
  path: "/health/status",
  title: "State",
  text: "Replicas, feeds, caches and limits of this process, as JSON. `npm run status` prints it for all processes.",
};

/** Reads its style sheet, so in production it is called once, at the start of the process. */
export function createFrontPage(content: FrontPageContent): FrontPage {
  const json = `${JSON.stringify(toJson(content), undefined, 2)}\n`;
  return { json, ...createHtmlPage(content.name, renderContent(content)) };
}

/** In the style of the front pages. */
export function createHtmlPage(title: string, content: Html): HtmlPage {
  const style = readFileSync(new URL("front-page.css", import.meta.url), "utf8");
  return { html: renderPage(title, content, style).html, policy: createPolicy(style) };
}

function toJson({ name, description, version, links }: FrontPageContent): object {
  return { name, description, version, links: Object.fromEntries(links.map(({ key, path }) => [key, path])) };
}

/** A style element is permitted by the hash of its text (CSP Level 3, 2.3.1). */
function createPolicy(style: string): string {
  const hash = createHash("sha256").update(style).digest("base64");
  const directives = [
    "default-src 'none'",
    `style-src 'sha256-${hash}'`,
    "img-src data:",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ];
  return directives.join("; ");
}

function renderPage(title: string, content: Html, style: string): Html {
  const styleElement = { html: `<style>${style}</style>` };
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <title>${title}</title>
        <link rel="icon" href="data:," />
        ${styleElement}
      </head>
      <body>
        <main>${content}</main>
      </body>
    </html> `;
}

function renderContent({ name, description, version, links, state }: FrontPageContent): Html {
  return html`<h1>${name}</h1>
    <p>${description}</p>
    <ul>
      ${links.map(renderLink)}
    </ul>
    <p class="muted">Version ${version}. Programs get this list as JSON.</p>
    ${state && renderState(state)}`;
}

function renderLink({ path, title, text, method }: FrontPageLink): Html {
  const isPage = method === undefined;
  const heading = isPage ? html`<a href="${path}">${title}</a>` : html`<span>${title}</span>`;
  const methodAndPath = isPage ? path : `${method} ${path}`;
  return html`<li>
    <h2>${heading} <code>${methodAndPath}</code></h2>
    <div class="muted">${markdown(text)}</div>
  </li>`;
}

/** As it was when the page was requested. */
function renderState(lines: readonly StatusLine[]): Html {
  const rows = lines.map(
    ({ label, text, isDown }) =>
      html`<dt>${label}</dt>
        <dd>${isDown ? html`<strong>Attention:</strong> ` : undefined}${text}</dd>`,
  );
  return html`<section>
    <h2>State</h2>
    <dl>${rows}</dl>
  </section>`;
}
