// Only documentation: the running service validates by model.ts, with which `documentsRequestBody` compares each request at compile time.
import { documentChanges, documentFields, documentNewFields } from "@tributary/kit/openapi/field-schemas";
// BEGIN parent
import { rowIdInput } from "@tributary/kit/openapi/schemas";
// END parent
import { opaqueId, timestamp } from "@tributary/kit/openapi/schemas";
import { documentsRequestBody } from "@tributary/kit/rest/documented-bodies";
import { z } from "zod";
import { type newSpareGadget, type spareGadgetChange, spareGadgetFields } from "../model.ts";

export const spareGadgetBody = z
  .strictObject({
    id: opaqueId("Its id.", "1"),
    // BEGIN parent
    parentThingId: opaqueId("The id of the parent thing.", "1"),
    // END parent
    authorId: opaqueId("The user who created it.", "1"),
    ...documentFields(spareGadgetFields),
    createdAt: timestamp("When it was created."),
    updatedAt: timestamp("When it was created or last changed."),
  })
  .meta({ id: "SpareGadget" });
export type SpareGadgetBody = z.output<typeof spareGadgetBody>;

export type NewBody = z.input<typeof newSpareGadget>;
export const newBody = documentsRequestBody<NewBody>()(
  z
    .strictObject({
      // BEGIN parent
      parentThingId: rowIdInput("The id of the parent thing. The service does not check that it exists."),
      // END parent
      ...documentNewFields(spareGadgetFields),
    })
    .meta({ id: "NewSpareGadget" }),
);

export type ChangeBody = z.input<typeof spareGadgetChange>;
export const changeBody = documentsRequestBody<ChangeBody>()(
  z.strictObject(documentChanges(spareGadgetFields)).meta({ id: "SpareGadgetChange" }),
);
