// The schema of the header rules in gateway.yaml. header-rules.ts checks what a schema cannot; request-headers.ts and response-headers.ts apply them.
import { z } from "zod";
import { createLinearPattern } from "./linear-pattern.ts";

const name = z.string().regex(/^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,200}$/, "has to be a header name");
/** RFC 9110, 5.5, without obs-text, and no leading or trailing white space, which HTTP parsers drop. */
const value = z
  .string()
  .regex(/^(?:[!-~](?:[\t -~]*[!-~])?)?$/, "has to be printable ASCII")
  .max(4_096);
const pattern = z
  .string()
  .min(1)
  .max(200)
  .refine((source) => isPattern(source), "has to be a regular expression, without back-references and look-around");
const named = z.union([name, z.array(name).min(1).max(100)]);

const selection = { named: named.optional(), matching: pattern.optional() };

const requestRule = z
  .strictObject({
    propagate: z
      .strictObject({
        ...selection,
        cookie: z
          .string()
          .regex(/^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,200}$/, "has to be a cookie's name")
          .optional(),
        rename: name.optional(),
        default: value.optional().describe("Sent if the client does not send the header."),
        varies: z
          .boolean()
          .optional()
          .describe("false only if no response depends on the header, such as for tracing. Default: true."),
      })
      .optional(),
    insert: z.strictObject({ name, value: value.optional(), claim: z.string().min(1).max(200).optional() }).optional(),
    remove: z.strictObject(selection).optional(),
  })
  .check(oneRule, (context) => {
    const { propagate, insert, remove } = context.value;
    if (propagate) requireOne(context, "propagate", propagate, ["named", "matching", "cookie"]);
    if (propagate?.rename !== undefined && typeof propagate.named !== "string")
      report(context, ["propagate", "rename"], "needs `named` with one name");
    if (propagate?.default !== undefined && typeof propagate.named !== "string")
      report(context, ["propagate", "default"], "needs `named` with one name");
    if (insert) requireOne(context, "insert", insert, ["value", "claim"]);
    if (remove) requireOne(context, "remove", remove, ["named", "matching"]);
  });

const responseRule = z
  .strictObject({
    propagate: z
      .strictObject({
        ...selection,
        rename: name.optional(),
        algorithm: z
          .enum(["first", "last", "append"])
          .optional()
          .describe(
            "Of several subgraph responses, in the order of the plan. Default: last; set-cookie always appends.",
          ),
        from_queries: z
          .boolean()
          .optional()
          .describe("Of set-cookie: also from queries, which are then neither shared nor cached. Default: false."),
      })
      .optional(),
    insert: z.strictObject({ name, value }).optional(),
    remove: z.strictObject(selection).optional(),
  })
  .check(oneRule, (context) => {
    const { propagate, remove } = context.value;
    if (propagate) requireOne(context, "propagate", propagate, ["named", "matching"]);
    if (propagate?.rename !== undefined && typeof propagate.named !== "string")
      report(context, ["propagate", "rename"], "needs `named` with one name");
    if (remove) requireOne(context, "remove", remove, ["named", "matching"]);
  });

export const headerRulesSchema = z
  .strictObject({
    request: z.array(requestRule).max(100).describe("From clients to subgraphs, in this order."),
    response: z.array(responseRule).max(100).describe("From subgraphs to clients, in this order."),
  })
  .partial();

export type HeaderRulesFile = z.infer<typeof headerRulesSchema>;
export type RequestRule = z.infer<typeof requestRule>;
export type ResponseRule = z.infer<typeof responseRule>;

type CheckContext = z.core.ParsePayload<object>;

function oneRule(context: CheckContext): void {
  const count = Object.values(context.value).filter((rule) => rule !== undefined).length;
  if (count !== 1) report(context, [], "needs exactly one of propagate, insert and remove");
}

function requireOne(context: CheckContext, key: string, rule: object, names: readonly string[]): void {
  const count = names.filter((member) => (rule as Record<string, unknown>)[member] !== undefined).length;
  if (count !== 1) report(context, [key], `needs exactly one of ${names.join(" and ")}`);
}

function report(context: CheckContext, path: PropertyKey[], message: string): void {
  context.issues.push({ code: "custom", input: context.value, path, message });
}

function isPattern(source: string): boolean {
  try {
    createLinearPattern(source);
    return true;
  } catch {
    return false;
  }
}
