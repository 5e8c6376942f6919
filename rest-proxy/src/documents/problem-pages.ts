import { AppError, type ErrorCode, statusOf } from "@tributary/kit/errors/app-error";
import { problemExplanations } from "@tributary/kit/openapi/problems";
import { toProblemDocument } from "@tributary/kit/http/problem";
import { type Html, html, markdown } from "@tributary/kit/pages/html";
import { layout, type Site } from "./layout.ts";
import { type PageSource, revalidated } from "./pages.ts";

export interface ExplainedProblem {
  /** A relative reference: the path of the problem's page. */
  readonly type: string;
  readonly title: string;
  readonly status: number;
  /** In Markdown, like `remedy`. */
  readonly means: string;
  readonly remedy: string;
}

const errorCodes = Object.keys(statusOf) as readonly ErrorCode[];

/** All problems; the JSON variants of the pages contain them in this form. */
export const explainedProblems: readonly ExplainedProblem[] = errorCodes.map((code) => {
  const { type, title, status } = toProblemDocument(new AppError(code, ""), {});
  const { means, remedy } = problemExplanations[code];
  return { type, title, status, means, remedy };
});

interface ProblemPage {
  readonly path: string;
  readonly title: string;
  readonly content: Html;
  readonly json: unknown;
}

/** Wraps the content in the layout and the navigation. */
type ViewPage = (page: ProblemPage) => PageSource;

/** The page `/problems`, and for each error code the page that a problem's `type` refers to (RFC 9457, 3.1.1), as HTML and as JSON. */
export function createProblemPages(site: Site): readonly PageSource[] {
  const view: ViewPage = ({ path, title, content, json }) => {
    const page = layout(site, { title, path, content });
    const variants = [
      { type: "text/html", text: page.html },
      { type: "application/json", text: JSON.stringify(json) },
    ];
    return { path, cacheControl: revalidated, variants };
  };
  return [createListPage(view), ...explainedProblems.map((problem) => createProblemPage(problem, view))];
}

function createListPage(view: ViewPage): PageSource {
  const rows = explainedProblems.map(
    ({ type, title, status, means }) =>
      html`<li>
        <p><code class="name">${status}</code> <a href="${type}">${title}</a></p>
        ${markdown(means)}
      </li>`,
  );
  const content = html`<h1>Problems</h1>
    <p>
      Errors are <code>application/problem+json</code> documents (RFC 9457). Their <code>type</code> is one of these.
    </p>
    <ul class="fields">
      ${rows}
    </ul>`;
  return view({ path: "/problems", title: "Problems", content, json: { problems: explainedProblems } });
}

function createProblemPage(problem: ExplainedProblem, view: ViewPage): PageSource {
  const { type, title, status, means, remedy } = problem;
  const content = html`<h1>${title}</h1>
    <p>Status ${status}, <code>${type}</code></p>
    ${markdown(means)}
    <h2>What to do</h2>
    ${markdown(remedy)}`;
  return view({ path: type, title, content, json: problem });
}
