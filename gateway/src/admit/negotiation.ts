// Stage 1 of 5: may you come in? In which form the client wants its answer.
import { chooseMediaType } from "@tributary/kit/http/accept";

/** The media types of an answer: the first is what `any` and a missing header mean (GraphQL over HTTP, "Accept"). */
const answerTypes = ["application/json", "application/graphql-response+json"] as const;
export type AnswerType = (typeof answerTypes)[number];

/** The type that the client likes best of those we have; undefined when it takes none of them. */
export function preferAnswerType(accept: string | undefined): AnswerType | undefined {
  return chooseMediaType(accept, answerTypes);
}

/** True when a page is wanted rather than JSON: what a browser's address bar sends. */
export function prefersPage(accept: string | undefined): boolean {
  return accept !== undefined && chooseMediaType(accept, [...answerTypes, "text/html"]) === "text/html";
}
