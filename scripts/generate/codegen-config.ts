import { z } from "zod";

const reference = z
  .string('has to be a reference like "../model.ts#User"')
  .regex(/^\.{1,2}\/[\w./-]+\.ts#[A-Za-z]\w*$/, 'has to be a reference like "../model.ts#User"');

/** A service's codegen.json. Paths are relative to src/graphql/. */
const codegenConfig = z.strictObject({
  /** The service's TypeScript type for a GraphQL type: { "User": "../model.ts#User" }. */
  mappers: z.record(z.string(), reference).optional(),
  /** Of a resolver's third argument, such as "./context.ts#Context". */
  contextType: reference.optional(),
  /** The TypeScript types of custom scalars, such as { "URL": "string" }. Added to { "DateTime": "Date" }. */
  scalars: z.record(z.string(), z.string()).optional(),
});
export type CodegenConfig = z.infer<typeof codegenConfig>;

/** @param text undefined without a codegen.json. @throws Error that names the invalid part. */
export function readCodegenConfig(text = "{}"): CodegenConfig {
  const result = codegenConfig.safeParse(JSON.parse(text));
  if (!result.success) throw new Error(`codegen.json is invalid: ${z.prettifyError(result.error)}`);
  return result.data;
}
