import type { RouteDeclaration } from "@tributary/kit/rest/routes";
import { freshSeconds, staleIfErrorSeconds } from "../groups.ts";

/**
 * How long caches may use a response. The REST proxy follows every write; the times are short for browsers (`browserSeconds`) and other shared
 * caches (`sharedSeconds`), because no invalidation reaches them.
 */
const freshness = {
  browserSeconds: 2,
  sharedSeconds: freshSeconds,
  staleWhileRevalidateSeconds: 10,
  staleIfErrorSeconds,
} as const;

export const routes = [
  {
    id: "listSpareGadgets",
    method: "GET",
    path: "/spare-gadgets",
    versions: [1, 2],
    query: [
      "limit",
      "cursor",
      // BEGIN parent
      "parentThingId",
      // END parent
      "sort",
    ],
    cache: "public",
    freshness,
    summary: "All spare gadgets, newest first",
  },
  {
    id: "getSpareGadget",
    method: "GET",
    path: "/spare-gadgets/:id",
    versions: [1, 2],
    cache: "public",
    freshness,
    summary: "One spare gadget",
  },
  {
    id: "createSpareGadget",
    method: "POST",
    path: "/spare-gadgets",
    versions: [1, 2],
    cache: "none",
    idempotencyKey: { optional: [1, 2], required: [] },
    summary: "Create a spare gadget",
  },
  {
    id: "changeSpareGadget",
    method: "PATCH",
    path: "/spare-gadgets/:id",
    versions: [1, 2],
    cache: "none",
    summary: "Change a spare gadget",
  },
  {
    id: "deleteSpareGadget",
    method: "DELETE",
    path: "/spare-gadgets/:id",
    versions: [1, 2],
    cache: "none",
    summary: "Delete a spare gadget",
  },
] as const satisfies readonly RouteDeclaration[];
