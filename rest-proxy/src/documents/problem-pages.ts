import { AppError, type ErrorCode, statusOf } from "@tributary/kit/errors/app-error";
import { problemExplanations } from "@tributary/kit/openapi/problems";
import { problemTypeOf, toProblemDocument } from "@tributary/kit/http/problem";
import type { VersionDocument } from "./deprecation.ts";
import { type Html, html, markdown } from "./html.ts";
import { layout, viewNavigation } from "./layout.ts";
import type { PageSource } from "./pages.ts";

const codes = Object.keys(statusOf) as readonly ErrorCode[];

/** The page `/problems`, and for each error code the page that a problem's `type` refers to (RFC 9457, 3.1.1), as HTML and as JSON. */
export function createProblemPages(versions: readonly VersionDocument[]): readonly PageSource[] {
  const view = (title: string, content: Html) =>
    layout({ title, version: versions.at(-1)?.version, navigation: viewNavigation(versions, "/problems"), content });
  return [createListPage(view), ...codes.map((code) => createCodePage(code, view))];
}

type ViewPage = (title: string, content: Html) => Html;

function createListPage(view: ViewPage): PageSource {
  const rows = codes.map(
    (code) =>
      html`<li>
        <p><code class="name">${statusOf[code]}</code> <a href="${problemTypeOf(code)}">${titleOf(code)}</a></p>
        ${markdown(problemExplanations[code].means)}
      </li>`,
  );
  const content = html`<h1>Problems</h1>
    <p>
      Errors are <code>application/problem+json</code> documents (RFC 9457). Their <code>type</code> is one of these.
    </p>
    <ul class="fields">
      ${rows}
    </ul>`;
  return {
    path: "/problems",
    variants: [
      { type: "text/html", text: view("Problems", content).html },
      { type: "application/json", text: JSON.stringify({ problems: codes.map(toJson) }) },
    ],
  };
}

function createCodePage(code: ErrorCode, view: ViewPage): PageSource {
  const { means, remedy } = problemExplanations[code];
  const content = html`<h1>${titleOf(code)}</h1>
    <p>Status ${statusOf[code]}, <code>${problemTypeOf(code)}</code></p>
    ${markdown(means)}
    <h2>What to do</h2>
    ${markdown(remedy)}`;
  return {
    // The `type` of a problem is a relative reference: the path of its page.
    path: problemTypeOf(code),
    variants: [
      { type: "text/html", text: view(titleOf(code), content).html },
      { type: "application/json", text: JSON.stringify(toJson(code)) },
    ],
  };
}

function toJson(code: ErrorCode): object {
  return { type: problemTypeOf(code), title: titleOf(code), status: statusOf[code], ...problemExplanations[code] };
}

function titleOf(code: ErrorCode): string {
  return toProblemDocument(new AppError(code, ""), {}).title;
}
