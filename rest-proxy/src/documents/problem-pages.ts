import { AppError, type ErrorCode, statusOf } from "@tributary/kit/errors/app-error";
import { problemExplanations } from "@tributary/kit/openapi/problems";
import { problemTypeOf, toProblemDocument } from "@tributary/kit/http/problem";
import { html, layout, markdown } from "./html.ts";
import type { PageSource } from "./pages.ts";

const codes = Object.keys(statusOf) as readonly ErrorCode[];

/** The page `/problems`, and for each error code the page that a problem's `type` refers to (RFC 9457, 3.1.1), as HTML and as JSON. */
export function createProblemPages(): readonly PageSource[] {
  return [createListPage(), ...codes.map(createCodePage)];
}

function createListPage(): PageSource {
  const rows = codes.map(
    (code) =>
      html`<tr>
        <td>${statusOf[code]}</td>
        <td><a href="${problemTypeOf(code)}">${titleOf(code)}</a></td>
        <td>${markdown(problemExplanations[code].means)}</td>
      </tr>`,
  );
  const content = html`<h1>Problems</h1>
    <p>
      Errors are <code>application/problem+json</code> documents (RFC 9457). Their <code>type</code> is one of these.
    </p>
    <table>
      ${rows}
    </table>`;
  return {
    path: "/problems",
    variants: [
      { type: "text/html", text: layout({ title: "Problems", navigation, content }).html },
      { type: "application/json", text: JSON.stringify({ problems: codes.map(toJson) }) },
    ],
  };
}

function createCodePage(code: ErrorCode): PageSource {
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
      { type: "text/html", text: layout({ title: titleOf(code), navigation, content }).html },
      { type: "application/json", text: JSON.stringify(toJson(code)) },
    ],
  };
}

const navigation = html`<ul>
  <li><a href="/docs">Overview</a></li>
  <li><a href="/problems">Problems</a></li>
</ul>`;

function toJson(code: ErrorCode): object {
  return { type: problemTypeOf(code), title: titleOf(code), status: statusOf[code], ...problemExplanations[code] };
}

function titleOf(code: ErrorCode): string {
  return toProblemDocument(new AppError(code, ""), {}).title;
}
