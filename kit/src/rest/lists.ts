// The REST form of a list, for the list handlers in a service's rest/rest.ts. The GraphQL form is in lists/connection.ts.
import type { Cursors, CursorPosition } from "../lists/cursor.ts";
import { AppError, type ErrorCode, type ParameterProblem } from "../errors/app-error.ts";
import { type Projection, type RowVersion, writeListEtag } from "../http/etag.ts";
import type { ListPage, PageRequest } from "../lists/keyset.ts";
import type { ConditionalResponse, RestResponse, RestRequest } from "./rest-endpoint.ts";
import type { Audience, RepresentationMetadata } from "./caching.ts";
import { invalidQuery } from "./query.ts";
import { respondToRead } from "./conditional-read.ts";

const limitMax = 100;

/** A list response is cut at this size, so it may have fewer items than its `limit`. The rest is on the next page. */
export const listBytesMax = 1_048_576;

/**
 * Reads `limit` (1 to 100, 20 by default) and `cursor` from a list's query.
 * @param list from `nameList`.
 * @throws AppError 400 with every invalid parameter but filters, which `readFilters` reads first.
 */
export function readPageRequest(request: RestRequest, cursors: Cursors, list: string): PageRequest {
  const { limit = defaultLimit, cursor } = request.query;
  const problems = [...request.queryProblems, ...limitProblems(request)];
  let position: CursorPosition | undefined;
  try {
    position = cursor === undefined ? undefined : cursors.read(list, cursor);
  } catch (error) {
    const { message } = requireAppError(error, "INVALID_CURSOR");
    problems.push({ parameter: "cursor", code: "invalid_cursor", detail: message });
  }
  if (problems.length > 0) throw invalidQuery(problems);
  return { limit: Number(limit), position, bytesMax: listBytesMax };
}

/**
 * Reads a list's filters: all parameters but `limit` and `cursor`.
 * @param read throws BAD_USER_INPUT with pointers to the members of its argument.
 * @throws AppError 400 if a filter is invalid, with every other invalid parameter too, except the cursor: its signature depends on the
 * filters, so it cannot be checked.
 */
export function readFilters<F>(request: RestRequest, read: (filters: RestRequest["query"]) => F): F {
  const { limit: _limit, cursor: _cursor, ...filters } = request.query;
  try {
    return read(filters);
  } catch (error) {
    const { problems = [] } = requireAppError(error, "BAD_USER_INPUT");
    const filterProblems = problems.map(({ pointer, ...problem }) => ({
      parameter: pointer.slice("#/".length),
      ...problem,
    }));
    throw invalidQuery([...request.queryProblems, ...limitProblems(request), ...filterProblems]);
  }
}

const defaultLimit = "20";

function limitProblems({ query: { limit = defaultLimit } }: RestRequest): readonly ParameterProblem[] {
  if (/^[1-9]\d{0,2}$/.test(limit) && Number(limit) <= limitMax) return [];
  const detail = `The query parameter limit is a whole number from 1 to ${limitMax}.`;
  return [{ parameter: "limit", code: "range", detail }];
}

function requireAppError(error: unknown, code: ErrorCode): AppError {
  if (error instanceof AppError && error.code === code) return error;
  throw error;
}

export interface ListRead<T extends { readonly rowVersion: string }> {
  readonly request: RestRequest;
  readonly cursors: Cursors;
  /** The list's name with its filters, from `nameList`. */
  readonly list: string;
  readonly projection: Projection;
  /** Part of the ETag: names the set of fields that this caller may see. Callers with the same view get the same body for the same rows. */
  readonly view: string;
  /** As in `RepresentationMetadata`. */
  readonly audience: Audience;
  readonly groups: readonly string[];
  /** For cursors: the id by which the list is sorted. */
  readonly idOf: (item: T) => string;
  readonly toJson: (item: T) => unknown;
  /** Reads only the ids and versions of the same rows as `load`, by a cheaper statement. */
  readVersion(page: PageRequest): Promise<ListPage<RowVersion>>;
  load(page: PageRequest): Promise<ListPage<T>>;
}

/**
 * Called by the handler of a list route: reads the page that the query requests and writes it. A conditional request whose rows have not
 * changed gets a 304 without loading them.
 * @throws AppError 400 with every invalid parameter.
 */
export async function respondWithList<T extends { readonly rowVersion: string }>(
  o: ListRead<T>,
): Promise<RestResponse | ConditionalResponse> {
  const pageRequest = readPageRequest(o.request, o.cursors, o.list);
  return respondToRead(o.request, {
    readVersion: async () => toMetadata(o, pageRequest, await o.readVersion(pageRequest)),
    load: async () => {
      const page = await o.load(pageRequest);
      const items = page.items.map((item) => ({ id: o.idOf(item), rowVersion: item.rowVersion }));
      return toListResponse({ ...o, page, representation: toMetadata(o, pageRequest, { ...page, items }) });
    },
  });
}

function toMetadata<T extends { readonly rowVersion: string }>(
  { cursors, list, projection, view, audience, groups }: ListRead<T>,
  { limit, position }: PageRequest,
  { items, hasNext, hasPrev }: ListPage<RowVersion>,
): RepresentationMetadata {
  // A cursor in the ETag: when the signing key changes, a 304 must not confirm a body with cursors of the old key.
  const sampleCursor = cursors.write(list, { direction: "next", id: "" });
  const start = position ? [position.direction, position.id] : [];
  const etag = writeListEtag(items, projection, view, [sampleCursor, limit, start, hasNext, hasPrev]);
  return { etag, audience, groups };
}

/** What `toListResponse` writes; see `ListRead` for members of the same name. */
export interface ListResponseParts<T> {
  readonly request: RestRequest;
  readonly cursors: Cursors;
  readonly list: string;
  readonly page: ListPage<T>;
  readonly idOf: (item: T) => string;
  readonly toJson: (item: T) => unknown;
  readonly headers?: Readonly<Record<string, string>>;
  /** Only its REST version is used: in version 1, or without a projection, the body is a bare array; from 2 on an object with items and cursors. */
  readonly projection?: Projection;
  readonly representation?: RepresentationMetadata;
}

/**
 * Writes a page with links to the adjacent pages (`Link`, RFC 8288). A page above `listBytesMax` loses items at its end, or at its beginning
 * if it was requested backward, so that a client which continues in the same direction misses no item.
 */
export function toListResponse<T>(o: ListResponseParts<T>): RestResponse {
  const isBackward = goesBackward(o);
  const { rendered, items, isCut } = renderWithinLimit(o.page.items, o.toJson, isBackward);
  const first = items[0];
  const last = items.at(-1);
  const hasNext = o.page.hasNext || (isCut && !isBackward);
  const hasPrev = o.page.hasPrev || (isCut && isBackward);
  const next = hasNext && last !== undefined ? o.cursors.write(o.list, { direction: "next", id: o.idOf(last) }) : null;
  const prev =
    hasPrev && first !== undefined ? o.cursors.write(o.list, { direction: "prev", id: o.idOf(first) }) : null;
  const data = `[${rendered.join(",")}]`;
  const isBare = (o.projection?.version ?? 1) < 2;
  return {
    status: 200,
    headers: { ...o.headers, Link: writeLinks(o.request, next, prev) },
    bytes: Buffer.from(isBare ? data : `{"data":${data},"page":${JSON.stringify({ next, prev })}}`),
    ...(o.representation === undefined ? {} : { representation: o.representation }),
  };
}

/** Bytes reserved for the parts of the body around the items: brackets, and two cursors of at most 512 characters with their names. */
const envelopeBytes = 1_280;

/** Renders at least one item, and as many as fit into `listBytesMax`, from the beginning or from the end. Both results are in list order. */
function renderWithinLimit<T>(items: readonly T[], toJson: (item: T) => unknown, fromEnd: boolean) {
  const rendered: string[] = [];
  let bytes = envelopeBytes;
  for (const item of fromEnd ? items.toReversed() : items) {
    const text = JSON.stringify(toJson(item));
    bytes += Buffer.byteLength(text) + 1;
    if (bytes > listBytesMax && rendered.length > 0) break;
    rendered.push(text);
  }
  const isCut = rendered.length < items.length;
  if (!fromEnd) return { rendered, items: items.slice(0, rendered.length), isCut };
  return { rendered: rendered.reverse(), items: items.slice(items.length - rendered.length), isCut };
}

function goesBackward<T>({ request, cursors, list }: ListResponseParts<T>): boolean {
  const cursor = request.query["cursor"];
  return cursor !== undefined && cursors.read(list, cursor).direction === "prev";
}

function writeLinks(request: RestRequest, next: string | null, prev: string | null): string {
  const links = [linkTo(request, undefined, "first")];
  if (next !== null) links.push(linkTo(request, next, "next"));
  if (prev !== null) links.push(linkTo(request, prev, "prev"));
  return links.join(", ");
}

function linkTo({ path, query }: RestRequest, cursor: string | undefined, rel: string): string {
  const { cursor: _, ...others } = query;
  const parameters = new URLSearchParams({ ...others, ...(cursor === undefined ? {} : { cursor }) }).toString();
  return `<${path}${parameters === "" ? "" : `?${parameters}`}>; rel="${rel}"`;
}
