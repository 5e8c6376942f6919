import { type Html, html, markdown } from "@tributary/kit/pages/html";
import { layout, type Site } from "./layout.ts";
import type { ReleaseChange, ReleaseChanges } from "./load.ts";

const levelTitles = {
  breaking: "Breaking: requests that worked fail",
  dangerous: "Requests work, but their results can differ",
  safe: "Compatible",
} as const;

/** The page `/docs/changes`. */
export function renderChangesPage(site: Site, { since, graphql, rest }: ReleaseChanges): Html {
  const title = `Changes since version ${since}`;
  const content = html`<h1>${title}</h1>
    <p>
      What the next release changes in both APIs, by a comparison of the GraphQL schema, the routes and the OpenAPI
      documents with those of version ${since}. New texts of descriptions are left out.
    </p>
    <h2>GraphQL</h2>
    ${viewChanges(graphql)}
    <h2>REST</h2>
    ${viewChanges(rest)}`;
  return layout(site, { title, path: "/docs/changes", content });
}

function viewChanges(changes: readonly ReleaseChange[]): Html {
  if (changes.length === 0) return html`<p>No change.</p>`;
  const byLevel = Map.groupBy(changes, ({ level }) => level);
  const lists = [...byLevel].map(
    ([level, ones]) =>
      html`<h3>${levelTitles[level]}</h3>
        <ul>
          ${ones.map(({ message }) => html`<li>${markdown(message)}</li>`)}
        </ul>`,
  );
  return html`${lists}`;
}
