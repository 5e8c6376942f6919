import type { Cursors, CursorPosition } from "../lists/cursor.ts";
import { AppError, type ErrorCode, type ParameterProblem } from "../errors/app-error.ts";
import { type Projection, type RowVersion, writeListEtag } from "../http/etag.ts";
import { type ListPage, type PageRequest, pageBytesMax } from "../lists/keyset.ts";
import type { ConditionalResponse, RestResponse, RestRequest } from "./rest-endpoint.ts";
import type { Audience, RepresentationMetadata } from "./caching.ts";
import { invalidQuery } from "./query.ts";
import { respondToRead } from "./conditional-read.ts";

const defaultLimit = "20";
const limitMax = 100;
const limitPattern = /^[1-9]\d{0,2}$/;

/** Does not check filters: call `readFilters` first. @throws AppError 400 with every other invalid parameter. */
function readPageRequest(request: RestRequest, cursors: Cursors, listName: string): PageRequest {
  const { limit = defaultLimit, cursor } = request.query;
  const problems = [...request.queryProblems, ...findLimitProblems(request)];
  let position: CursorPosition | undefined;
  try {
    if (cursor !== undefined) position = cursors.read(listName, cursor);
  } catch (error) {
    const { message } = requireAppError(error, "INVALID_CURSOR");
    problems.push({ parameter: "cursor", code: "invalid_cursor", detail: message });
  }
  if (problems.length > 0) throw invalidQuery(problems);
  return { limit: Number(limit), position, bytesMax: pageBytesMax };
}

/**
 * @param read throws BAD_USER_INPUT with pointers to the members of its argument.
 * @throws AppError 400 with every other invalid parameter too, except the cursor: its signature depends on the filters.
 */
export function readFilters<F>(request: RestRequest, read: (filters: RestRequest["query"]) => F): F {
  const { limit: _limit, cursor: _cursor, ...filters } = request.query;
  try {
    return read(filters);
  } catch (error) {
    const { problems = [] } = requireAppError(error, "BAD_USER_INPUT");
    const filterProblems = problems.map(({ pointer, code, detail }) => ({
      parameter: pointer.slice("#/".length),
      code,
      detail,
    }));
    throw invalidQuery([...request.queryProblems, ...findLimitProblems(request), ...filterProblems]);
  }
}

function findLimitProblems({ query }: RestRequest): readonly ParameterProblem[] {
  const { limit = defaultLimit } = query;
  const isValid = limitPattern.test(limit) && Number(limit) <= limitMax;
  if (isValid) return [];
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
  readonly list: string;
  readonly projection: Projection;
  /** Part of the ETag: the set of fields that this caller may see. */
  readonly view: string;
  readonly audience: Audience;
  readonly groups: readonly string[];
  readonly idOf: (item: T) => string;
  readonly toJson: (item: T) => unknown;
  /** The ids and versions of the same rows as `load`, by a cheaper statement. */
  readVersion(page: PageRequest): Promise<ListPage<RowVersion>>;
  load(page: PageRequest): Promise<ListPage<T>>;
}

/** A conditional request whose rows have not changed gets a 304 without loading them. @throws AppError 400 with every invalid parameter. */
export async function respondWithList<T extends { readonly rowVersion: string }>(
  read: ListRead<T>,
): Promise<RestResponse | ConditionalResponse> {
  const { request, cursors, list, idOf } = read;
  const pageRequest = readPageRequest(request, cursors, list);
  return respondToRead(request, {
    async readVersion() {
      const versionPage = await read.readVersion(pageRequest);
      return toMetadata(read, pageRequest, versionPage);
    },
    async load() {
      const page = await read.load(pageRequest);
      const rowVersions = page.items.map((item) => ({ id: idOf(item), rowVersion: item.rowVersion }));
      const versionPage = { items: rowVersions, hasNext: page.hasNext, hasPrev: page.hasPrev };
      const isBackward = pageRequest.position?.direction === "prev";
      return toListResponse(read, page, isBackward, toMetadata(read, pageRequest, versionPage));
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

/**
 * A page above `pageBytesMax` loses items at its end, or at its beginning if it was requested backward, so that a client which continues in
 * the same direction misses no item. In version 1 the body is a bare array; from 2 on an object with items and cursors.
 */
function toListResponse<T extends { readonly rowVersion: string }>(
  read: ListRead<T>,
  page: ListPage<T>,
  isBackward: boolean,
  representation: RepresentationMetadata,
): RestResponse {
  const { renderedItems, items, isCut } = renderWithinLimit(page.items, read.toJson, isBackward);
  const hasNext = page.hasNext || (isCut && !isBackward);
  const hasPrev = page.hasPrev || (isCut && isBackward);
  const next = hasNext ? writeCursor(read, "next", items.at(-1)) : null;
  const prev = hasPrev ? writeCursor(read, "prev", items[0]) : null;
  const data = `[${renderedItems.join(",")}]`;
  const isBareArray = read.projection.version < 2;
  return {
    status: 200,
    headers: { Link: writeLinks(read.request, next, prev) },
    bytes: Buffer.from(isBareArray ? data : `{"data":${data},"page":${JSON.stringify({ next, prev })}}`),
    representation,
  };
}

function writeCursor<T extends { readonly rowVersion: string }>(
  { cursors, list, idOf }: ListRead<T>,
  direction: CursorPosition["direction"],
  item: T | undefined,
): string | null {
  return item === undefined ? null : cursors.write(list, { direction, id: idOf(item) });
}

/** Brackets, and two cursors of at most 512 characters with their names. */
const envelopeBytes = 1_280;

function renderWithinLimit<T>(items: readonly T[], toJson: (item: T) => unknown, startsAtEnd: boolean) {
  const renderedItems: string[] = [];
  let bytes = envelopeBytes;
  for (const item of startsAtEnd ? items.toReversed() : items) {
    const json = JSON.stringify(toJson(item));
    bytes += Buffer.byteLength(json) + 1;
    if (bytes > pageBytesMax && renderedItems.length > 0) break;
    renderedItems.push(json);
  }
  const renderedCount = renderedItems.length;
  const isCut = renderedCount < items.length;
  if (startsAtEnd) {
    renderedItems.reverse();
    return { renderedItems, items: items.slice(items.length - renderedCount), isCut };
  }
  return { renderedItems, items: items.slice(0, renderedCount), isCut };
}

function writeLinks(request: RestRequest, next: string | null, prev: string | null): string {
  const links = [linkTo(request, undefined, "first")];
  if (next !== null) links.push(linkTo(request, next, "next"));
  if (prev !== null) links.push(linkTo(request, prev, "prev"));
  return links.join(", ");
}

function linkTo({ path, query }: RestRequest, cursor: string | undefined, rel: string): string {
  const { cursor: _requestedCursor, ...otherParameters } = query;
  const parameters = new URLSearchParams(otherParameters);
  if (cursor !== undefined) parameters.set("cursor", cursor);
  const search = parameters.size === 0 ? "" : `?${parameters.toString()}`;
  return `<${path}${search}>; rel="${rel}"`;
}
