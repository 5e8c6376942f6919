// What each REST version responds with. Both have the same members; lists are arrays in version 1, and objects with cursors in version 2.
import { createProjection } from "@tributary/kit/http/etag";
import { respondsWith } from "@tributary/kit/rest/documented-bodies";
import { type SpareGadget, spareGadgetFields } from "../model.ts";
import type { RestVersion } from "./rest.ts";
import type { SpareGadgetBody } from "./schemas.ts";

/** `respondsWith` compares the members with the OpenAPI schema at compile time. */
const toJson = respondsWith<SpareGadgetBody>()((row: SpareGadget) => ({
  id: row.id,
  // BEGIN parent
  parentThingId: row.parentThingId,
  // END parent
  authorId: row.authorId,
  ...spareGadgetFields.of(row),
  createdAt: row.createdAt.toISOString(),
  updatedAt: row.updatedAt.toISOString(),
}));

const date = new Date("2026-01-02T03:04:05.678Z");
const sample: SpareGadget = {
  id: "1",
  // BEGIN parent
  parentThingId: "2",
  // END parent
  authorId: "3",
  ...spareGadgetFields.examples,
  createdAt: date,
  updatedAt: date,
  rowVersion: "1",
};
/** Every ETag contains a hash of these samples, so a release that represents a field differently changes all ETags. */
const samples = [sample, { ...sample, ...spareGadgetFields.cleared }].map(toJson);

export const version1: RestVersion = { projection: createProjection(1, samples), toJson };
export const version2: RestVersion = { projection: createProjection(2, samples), toJson };
