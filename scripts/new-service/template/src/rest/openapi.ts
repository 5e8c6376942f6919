// The running service does not read this; it validates by model.ts. A test sends the requests of the examples to the running service and compares
// each response, except for the members in `varies`.
import type { OperationDocument, ServiceDocuments } from "@tributary/kit/openapi/openapi";
// BEGIN parent
import { anyId } from "@tributary/kit/openapi/schemas";
// END parent
import {
  bareList,
  examplePage,
  opaqueId,
  pageFields,
  pageOf,
  pageResponse,
  sortField,
} from "@tributary/kit/openapi/schemas";
import type { z } from "zod";
import { spareGadgetFields } from "../model.ts";
import type { routes } from "./routes.ts";
import {
  changeBody,
  type ChangeBody,
  newBody,
  type NewBody,
  spareGadgetBody,
  type SpareGadgetBody,
} from "./schemas.ts";

const path = { id: opaqueId("Its id.", "1") };
const representation = { schema: spareGadgetBody, headers: ["Last-Modified"] } as const;
/** Of the example of `createSpareGadget`, which the test sends first: its `Location` replaces this path. */
const createdOne = { follows: "createSpareGadget", path: "/spare-gadgets/1" } as const;
const created: NewBody = {
  // BEGIN parent
  parentThingId: "1",
  // END parent
  ...spareGadgetFields.examples,
};
const changed: ChangeBody = spareGadgetFields.examples;
const response: SpareGadgetBody = {
  id: "1",
  ...created,
  ...spareGadgetFields.examples,
  authorId: "1",
  createdAt: "2026-11-21T09:30:00.000Z",
  updatedAt: "2026-11-21T09:30:00.000Z",
};
const varies = [
  "id",
  // BEGIN parent
  "parentThingId",
  // END parent
  "createdAt",
  "updatedAt",
];

/** @param toList the schema of the response: an array in version 1, a page with cursors in version 2. */
function list(toList: (items: z.ZodType) => z.ZodType): OperationDocument {
  // Any row may be the newest, so its other members may differ too.
  const otherMembers = [
    // BEGIN parent
    "parentThingId",
    // END parent
    "authorId",
    ...spareGadgetFields.names,
  ];
  return {
    description: "All spare gadgets, newest first.",
    callers: "everyone",
    query: {
      ...pageFields,
      // BEGIN parent
      parentThingId: anyId("Only spare gadgets of this parent thing; none for an unknown id.", "1"),
      // END parent
      ...sortField,
    },
    response: pageResponse(toList, spareGadgetBody, "spare gadgets"),
    examples: [
      {
        name: "newest",
        summary: "The newest one",
        path: "/spare-gadgets?limit=1",
        response: examplePage(toList, response),
        varies: [...varies, ...otherMembers, "next"],
      },
    ],
  };
}

const getOne: OperationDocument = {
  description: "One spare gadget.",
  callers: "everyone",
  path,
  response: { status: 200, description: "The spare gadget.", ...representation },
  problems: ["NOT_FOUND"],
  examples: [{ name: "one", summary: "One by its id", ...createdOne, response, varies }],
};

const create: OperationDocument = {
  description:
    "Creates a spare gadget with the caller as its author. With an `Idempotency-Key` the request can be retried safely: for 24 hours a repetition gets the first response.",
  callers: ["gadget-shop:write"],
  body: newBody,
  response: {
    status: 201,
    description: "The new spare gadget.",
    ...representation,
    links: {
      itself: {
        operation: "getSpareGadget",
        parameters: { id: "$response.body#/id" },
        description: "The new spare gadget.",
      },
    },
  },
  problems: ["BAD_USER_INPUT"],
  examples: [
    {
      name: "first",
      summary: "Ada creates one",
      as: "ada",
      path: "/spare-gadgets",
      body: created,
      // BEGIN parent
      // Tests send it several times, each time for another parent thing: so they also pass if a rule allows one row for each author and parent thing.
      uniqueBody: (number) => ({ ...created, parentThingId: String(1_000 + number) }),
      // END parent
      response,
      varies,
    },
  ],
};

const change: OperationDocument = {
  description:
    "Applies a JSON Merge Patch (RFC 7396): an absent member keeps its value. Only the author of the spare gadget may change it.",
  callers: ["gadget-shop:write"],
  path,
  body: changeBody,
  ifMatch: "required",
  response: { status: 200, description: "The changed spare gadget.", ...representation },
  problems: ["BAD_USER_INPUT", "NOT_FOUND"],
  examples: [
    {
      name: "changed",
      summary: "Ada changes hers",
      as: "ada",
      ...createdOne,
      headers: { "If-Match": "*" },
      body: changed,
      response,
      varies,
    },
  ],
};

const remove: OperationDocument = {
  description: "Deletes a spare gadget. Only its author may delete it.",
  callers: ["gadget-shop:write"],
  path,
  ifMatch: "optional",
  response: { status: 204, description: "It is deleted." },
  problems: ["NOT_FOUND"],
  examples: [{ name: "deleted", summary: "Ada deletes hers", as: "ada", ...createdOne }],
};

/** A route without an operation does not compile. */
export const documents: ServiceDocuments<typeof routes> = {
  tag: { name: "Spare gadgets", description: "Spare gadgets and their authors." },
  operations: {
    listSpareGadgets: { 1: list(bareList), 2: list(pageOf) },
    getSpareGadget: { 1: getOne, 2: getOne },
    createSpareGadget: { 1: create, 2: create },
    changeSpareGadget: { 1: change, 2: change },
    deleteSpareGadget: { 1: remove, 2: remove },
  },
};
