import { isDeepStrictEqual } from "node:util";
import { memberOf } from "../../../supergraph/contract/json-members.ts";
import {
  createExample,
  describeOperation,
  findReadable,
  findReadables,
  firstUser,
  hasParameter,
  itemsOf,
  listCreations,
  operationsOf,
  type Readable,
  sendExample,
  toPath,
  toServicePath,
} from "../examples.ts";
import type { Exchange } from "../exchange.ts";
import { declareRules, type RuleReport } from "../rule.ts";
import type { RequestOptions, RestOperation, Subject } from "../subject.ts";

const unknownId = "conform-unknown";
const firstPageItems = 6;
const pageItems = 2;
const itemsMin = 3;

export const readRules = declareRules("REST", {
  "rest-read": {
    text: "Each list of the contract responds with JSON.",
    async check(subject, { expect, skip }) {
      await findReadables(subject, skip);
      for (const operation of operationsOf(subject, "GET").filter(({ template }) => !template.includes("{"))) {
        const { exchange } = (await findReadable(subject, operation)) ?? {};
        const response = exchange ?? (await subject.send("GET", toPath(operation)));
        const isList = response.status === 200 && response.json !== undefined;
        expect(response, isList || [401, 403].includes(response.status), "200 with JSON");
      }
    },
  },
  "rest-not-found": {
    text: "A read of a resource that does not exist is 404, whatever the id is.",
    async check(subject, { expectStatus, skip }) {
      const responses = await readUnknown(subject);
      if (responses.length === 0) skip("the contract has no route for one resource");
      for (const response of responses) expectStatus(response, 404);
    },
  },
  "rest-head": {
    text: "HEAD has the status and the ETag of GET, without a body.",
    check: (subject, { expect, skip }) =>
      forEachRead(subject, skip, async (send, { exchange }) => {
        const response = await send({}, "HEAD");
        const isSame = response.status === 200 && response.headers["etag"] === exchange.headers["etag"];
        expect(response, isSame && response.text === "", "200 with the ETag of GET");
      }),
  },
  "rest-etag": {
    text: "If-None-Match with the ETag of the response is 304 without a body, with the same ETag; with another one 200.",
    without: "a response whose freshness has ended is sent as a whole, and If-Match cannot protect changes",
    check: (subject, { expect, expectStatus, skip, absent }) =>
      forEachRead(subject, skip, async (send) => {
        const { etag } = (await send()).headers;
        if (etag === undefined) return absent();
        const response = await send({ headers: { "if-none-match": etag } });
        const isSame = response.text === "" && response.headers["etag"] === etag;
        expect(response, response.status === 304 && isSame, `304 with the ETag ${etag}`);
        expectStatus(await send({ headers: { "if-none-match": '"conform-other"' } }), 200);
      }),
  },
  "rest-query": {
    text: "An unknown query parameter is ignored, or gets 400.",
    check: (subject, { expectStatus, skip }) =>
      forEachRead(subject, skip, async (_, { path, as }) =>
        expectStatus(await subject.send("GET", `${path}?conformUnknown=1`, { as }), 200, 400),
      ),
  },
  "rest-limit": {
    text: "A limit that is not a number from 1 to 100, and a cursor that the service has not issued, get 400.",
    async check(subject, { expectStatus, skip }) {
      for (const { path, as } of await findLists(subject, skip))
        for (const query of ["limit=0", "limit=101", "limit=-1", "limit=x", "cursor=conform-unknown"])
          expectStatus(await subject.send("GET", `${path}?${query}`, { as }), 400);
    },
  },
  "rest-pages": {
    text: "Over the pages of a list each item is there exactly once, in the order of one large page.",
    async check(subject, { expectThat, skip }) {
      for (const operation of listCreations(subject))
        if (await createExample(subject, operation))
          for (let count = 1; count < itemsMin; count++) await sendExample(subject, operation);
      for (const list of await findLists(subject, skip)) {
        const { path, as, operation } = list;
        const whole = itemsOf(await subject.send("GET", `${path}?limit=${firstPageItems}`, { as }));
        if (whole.length < itemsMin) skip(`${describeOperation(operation)} has fewer than ${itemsMin} items`);
        else {
          const { items, links } = await walk(subject, list);
          const how = links.map((link) => `curl '${subject.url}${link}'`).join("; ");
          const [expected, got] = [whole, items].map((all) => JSON.stringify(all.map(idOf)));
          expectThat(isDeepStrictEqual(items, whole), { how, expected: expected ?? "", got: got ?? "" });
        }
      }
    },
  },
  "cache-control": {
    text: "A route with cache: public has Cache-Control with public and a time, and sets no cookie.",
    without: "each REST request reaches the service",
    check: (subject, { expect, skip, absent }) =>
      forEachPublicRead(subject, skip, async (send) => {
        const response = await send({ as: undefined });
        const value = response.headers["cache-control"];
        if (value === undefined) return absent();
        const isPublic = /\bpublic\b/.test(value) && /\b(?:s-maxage|max-age)=\d/.test(value);
        const isExpected = response.status !== 200 || (isPublic && response.headers["set-cookie"] === undefined);
        expect(response, isExpected, "Cache-Control: public, max-age=…, and no Set-Cookie");
      }),
  },
  "cache-same": {
    text: "A route with cache: public has the same response for all callers, or Vary: Authorization.",
    needs: "tokens",
    check: (subject, { expect, skip }) =>
      forEachPublicRead(subject, skip, async (send) => {
        const anonymous = await send({ as: undefined });
        const varies = /\bauthorization\b|^\*$/i.test(anonymous.headers["vary"] ?? "");
        for (const as of [firstUser, firstUser + 1]) {
          const { status, text } = await send({ as });
          const isSame = status === anonymous.status && text === anonymous.text;
          expect(anonymous, isSame || varies, `as user ${as} gets: ${status} ${text.slice(0, 200)}`);
        }
      }),
  },
});

type SendRead = (options?: RequestOptions, method?: string) => Promise<Exchange>;
type CheckRead = (send: SendRead, readable: Readable) => Promise<void>;

/** Of the routes with `cache: public`. */
function forEachPublicRead(subject: Subject, skip: RuleReport["skip"], check: CheckRead): Promise<void> {
  return forEachRead(subject, skip, check, ({ settings }) => settings.cache === "public");
}

async function forEachRead(
  subject: Subject,
  skip: RuleReport["skip"],
  check: CheckRead,
  isChecked: (operation: RestOperation) => boolean = () => true,
): Promise<void> {
  const readables = (await findReadables(subject, skip)).filter(({ operation }) => isChecked(operation));
  if (readables.length === 0) skip("no such route");
  for (const readable of readables) {
    const { path, as } = readable;
    await check((options = {}, method = "GET") => subject.send(method, path, { as, ...options }), readable);
  }
}

/** Lists with pages. */
async function findLists(subject: Subject, skip: RuleReport["skip"]): Promise<readonly Readable[]> {
  const hasPages = ({ operation }: Readable) =>
    ["limit", "cursor"].every((name) => hasParameter(operation, "query", name));
  const lists = (await findReadables(subject, () => {})).filter(hasPages);
  if (lists.length === 0) skip("no list with the parameters limit and cursor that can be read");
  return lists;
}

/** Reads of one resource, with an id that does not exist. */
export function readUnknown(subject: Subject): Promise<readonly Exchange[]> {
  const reads = operationsOf(subject, "GET").filter(({ template }) => template.endsWith("}"));
  const as = subject.issuer === undefined ? undefined : firstUser;
  const paths = reads.map((operation) => toPath(operation, () => unknownId));
  return Promise.all(paths.map((path) => subject.send("GET", path, { as })));
}

/** As many pages as the items of the large one need. */
async function walk(subject: Subject, { path, as }: Readable) {
  const items: unknown[] = [];
  const links: string[] = [];
  let next: string | undefined = `${path}?limit=${pageItems}`;
  while (next !== undefined && items.length < firstPageItems) {
    links.push(next);
    const response: Exchange = await subject.send("GET", next, { as });
    items.push(...itemsOf(response));
    next = readNext(response, path, subject);
  }
  return { items, links };
}

/** RFC 8288, or `page.next` of version 2. */
function readNext({ headers, json }: Exchange, path: string, subject: Subject): string | undefined {
  const [, link] = /<([^>]*)>\s*;[^,]*\brel="?next\b/.exec(headers["link"] ?? "") ?? [];
  if (link !== undefined) return toServicePath(link, subject);
  const cursor = memberOf(memberOf(json, "page"), "next");
  return typeof cursor === "string" ? `${path}?limit=${pageItems}&cursor=${encodeURIComponent(cursor)}` : undefined;
}

function idOf(item: unknown): unknown {
  return memberOf(item, "id") ?? item;
}
