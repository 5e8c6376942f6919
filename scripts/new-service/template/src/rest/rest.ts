// For a conditional request `readVersion` is called before `load`: if the client's version is current, the response is 304 without `load`.
import { type Projection, readPrecondition, writeEtag } from "@tributary/kit/http/etag";
import { readIdempotencyKey, toReplayHeaders } from "@tributary/kit/idempotency/idempotency-key";
import { type Cursors, nameList } from "@tributary/kit/lists/cursor";
import { requireBody } from "@tributary/kit/rest/body";
import type { RepresentationMetadata } from "@tributary/kit/rest/caching";
import { respondToRead } from "@tributary/kit/rest/conditional-read";
import { readUnmodifiedSince } from "@tributary/kit/rest/conditions";
import { readFilters, respondWithList } from "@tributary/kit/rest/lists";
import { type Handlers, type RestResponse, idOf } from "@tributary/kit/rest/rest-endpoint";
import type { Actions } from "../actions.ts";
import { groupsOfList, groupsOfOne, groupsOfWrite } from "../groups.ts";
import { readChangedFields, readListFilters, readNewBody, type SpareGadget, type SpareGadgetState } from "../model.ts";
import type { routes } from "./routes.ts";

export interface RestDeps {
  readonly actions: Actions;
  readonly cursors: Cursors;
}

export interface RestVersion {
  /** The version number and a hash of sample bodies: parts of every ETag. */
  readonly projection: Projection;
  toJson(row: SpareGadget): unknown;
}

export function createHandlers(
  { actions, cursors }: RestDeps,
  { projection, toJson }: RestVersion,
): Handlers<typeof routes> {
  return {
    async listSpareGadgets(request) {
      const filters = readFilters(request, readListFilters);
      return respondWithList<SpareGadget>({
        request,
        cursors,
        list: nameList("spare-gadgets", { ...filters }),
        projection,
        view: "public",
        audience: "everyone",
        // BEGIN parent
        groups: groupsOfList(filters),
        // END parent
        // ALONE groups: groupsOfList(),
        idOf: ({ id }) => id,
        toJson,
        readVersion: (page) => actions.listVersions(filters, page),
        load: (page) => actions.list(filters, page),
      });
    },
    async getSpareGadget(request) {
      return respondToRead(request, {
        missingGroups: groupsOfOne({ id: idOf(request) }),
        readVersion: async () => toMetadata(await actions.getState(idOf(request))),
        load: async () => toResponse(await actions.getOne(idOf(request))),
      });
    },
    async createSpareGadget({ identity, body, header }) {
      const input = () => ({
        idempotencyKey: readIdempotencyKey(header("idempotency-key")),
        ...readNewBody(requireBody(body)),
      });
      const { result, replayed } = await actions.create(identity, input);
      const headers = { Location: `/v${projection.version}/spare-gadgets/${result.id}`, ...toReplayHeaders(replayed) };
      // A replay invalidates again: the first response may have been lost.
      return { ...toResponse(result), status: 201, headers, invalidates: groupsOfWrite(result) };
    },
    async changeSpareGadget(request) {
      const precondition = () => readPrecondition(request.header);
      const input = () => readChangedFields(requireBody(request.body));
      const changed = await actions.change(request.identity, idOf(request), input, precondition);
      return { ...toResponse(changed), invalidates: groupsOfWrite(changed) };
    },
    async deleteSpareGadget(request) {
      // A client may delete without reading first, so If-Match is optional.
      const precondition = () => readPrecondition(request.header, "optional");
      const unmodifiedSince = readUnmodifiedSince(request.header);
      const deleted = await actions.delete(request.identity, idOf(request), precondition, unmodifiedSince);
      return { status: 204, invalidates: groupsOfWrite(deleted) };
    },
  };

  function toResponse(row: SpareGadget): RestResponse {
    return { status: 200, body: toJson(row), representation: toMetadata(row) };
  }

  function toMetadata(state: SpareGadgetState): RepresentationMetadata {
    return {
      etag: writeEtag(state.rowVersion, projection, "public"),
      lastModified: state.updatedAt,
      audience: "everyone",
      groups: groupsOfOne(state),
    };
  }
}
