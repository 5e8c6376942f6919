import type { Socket } from "node:net";
import type { Cors } from "@tributary/kit/cors";
import type { Admission } from "./admit/admission.ts";
import type { SharedCache } from "./cache/shared-cache.ts";
import type { Coding } from "./compression.ts";
import type { Destinations } from "./destinations.ts";
import { describeRequest, openOwnHead } from "./exchange.ts";
import { createLookup } from "./lookup.ts";
import { addOwnHead, type OwnHead } from "./own-head.ts";
import type { Retirements } from "./retirement.ts";
import type { RouteTable } from "./route-table.ts";
import { isHost } from "./target.ts";
import type { About } from "./telemetry/observations.ts";
import type { RequestObserver } from "./telemetry/request-observer.ts";
import { noteCacheStatus, RequestRecord } from "./telemetry/request-record.ts";
import type { Usage } from "./usage.ts";
import { tellLocation, tellVersion } from "./version-head.ts";
import { toLines } from "./wire/plain-answer.ts";
import type { AnswerAtOnce } from "./wire/shortcut.ts";

export interface CopyAnswersOptions {
  readonly table: RouteTable;
  readonly cors: Cors;
  readonly admission: Admission;
  readonly destinations: Destinations;
  readonly retirements: Retirements;
  readonly usage: Usage;
  readonly chooseCoding: (acceptEncoding: string | undefined) => Coding | undefined;
  readonly cache: SharedCache;
  /** Undefined where nobody watches. */
  readonly requests?: RequestObserver | undefined;
  /** Hears of each answer that its client did not take at once. */
  readonly onUnread: (socket: Socket, left: Promise<void>, about: About) => void;
}

/** Up to here an answer goes out as one text. A longer one has time for Node's way. */
const bodyBytesMax = 16_384;

/**
 * What `receive` (server.ts) does for a `GET` whose destination was asked for before and of which there is a fresh copy, in the same order and to
 * the same lines; a test holds the two against each other. Every refusal, and whatever else is not so, is left to `receive`: up to the first
 * line that counts something, nothing has happened.
 */
export function createCopyAnswers(o: CopyAnswersOptions): AnswerAtOnce {
  const { table, cors, admission, destinations, retirements, usage, chooseCoding, cache, requests } = o;
  const linesOf = createStoredLines();

  return (request, socket) => {
    const begin = requests && performance.now();
    const { method, url, headers } = request;
    const known = destinations.find(method, url, headers.accept);
    if (!known || !isHost(headers.host ?? "")) return undefined;
    const { found, route, resource } = known;
    const lookup = createLookup(request, route.service, resource, chooseCoding(headers["accept-encoding"]));
    const copy = cache.findCopy(lookup);
    if (!copy || copy.entry.status !== 200 || copy.entry.body.length > bodyBytesMax) return undefined;
    const { version } = found;
    const { own, requestId } = openOwnHead(headers);
    own.lines.push(...cors.headersFor(headers.origin));
    if (cors.varies) own.vary.push("Origin");
    try {
      retirements.check(version);
      admission.admit({ method, headers, socket }, own.lines);
    } catch {
      return undefined;
    }
    usage.count(version, route.id, headers);
    tellVersion(found, own, retirements, table);
    tellLocation(found, method, resource, own);
    const { status, stored, age, cacheStatus, body } = cache.useCopy(copy, lookup);
    if (requests && begin !== undefined) {
      const record = new RequestRecord(requests.begin(request, requestId));
      record.route = route;
      record.version = version;
      noteCacheStatus(record, cacheStatus);
      requests.end({ record, request, status, requestId, milliseconds: performance.now() - begin });
    }
    const said = `Age: ${age}\r\nCache-Status: ${cacheStatus}\r\n`;
    const lines = linesOf(stored, own) + said + toLines(own.lines) + toLines(own.ofAnswer);
    const onUnread = (unread: Socket, left: Promise<void>) => {
      // Of a copy: what stands for a missing trace is nobody else's.
      const asked = { requestId, method, url, headers: { ...headers }, route, span: undefined };
      o.onUnread(unread, left, describeRequest(asked));
    };
    return { status, lines, body, onUnread };
  };
}

/** The lines of what is stored, kept with it in the form that was asked for last: with what we add to `Vary`, or as a type of ours. */
function createStoredLines(): (stored: readonly string[], own: OwnHead) => string {
  const known = new WeakMap<readonly string[], { readonly form: string; readonly lines: string }>();

  return (stored, { vary, mediaType }) => {
    const made = known.get(stored);
    const form = `${vary.join()} ${mediaType ?? ""}`;
    if (made?.form === form) return made.lines;
    const lines = toLines(addOwnHead([...stored], { lines: [], ofAnswer: [], vary, mediaType }));
    known.set(stored, { form, lines });
    return lines;
  };
}
