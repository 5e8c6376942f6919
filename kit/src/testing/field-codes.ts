import { buildASTSchema, isObjectType, parse, TypeInfo, visit, visitWithTypeInfo } from "graphql";

interface FieldError {
  readonly path?: readonly (string | number)[];
  readonly locations?: readonly { readonly line: number; readonly column: number }[];
  readonly extensions: { readonly code: string };
}

interface Client {
  graphql(document: string, variables?: object, token?: string): Promise<{ readonly errors?: readonly FieldError[] }>;
}

interface FieldCode {
  /** `Mutation.placeOrder` */
  readonly field: string;
  readonly description: string;
  readonly code: string;
}

/** Which every field may have: an outage, and the limit of what one request reads. No field may have a bug. */
const codesOfEveryField = ["SERVICE_UNAVAILABLE", "PAYLOAD_TOO_LARGE"];

/** @throws Error if a field has an error whose code its description does not list. */
export function requireListedCodes(sdl: string, document: string, errors: readonly FieldError[] = []): void {
  const codes = findFieldCodes(sdl, document, errors);
  const missing = codes.find(
    ({ description, code }) => ![...codesOfEveryField, ...listCodes(description)].includes(code),
  );
  if (!missing) return;
  throw new Error(
    `${missing.field} has an error with the code ${missing.code}. To fix: list it in the description of the field, in schema.graphql, as "Errors: \`${missing.code}\`."`,
  );
}

/** Of each sentence "Errors: …" in a description, or in a whole schema. */
export function listCodes(text: string): readonly string[] {
  const lists = [...text.matchAll(/Errors: ([`\w, ]+)\./g)].map(([, list = ""]) => list);
  return lists.flatMap((list) => [...list.matchAll(/`(\w+)`/g)].map(([, code = ""]) => code));
}

/** `Mutation.placeOrder OUT_OF_STOCK`, sorted. Without the codes of idempotency keys, which `defineIdempotencyTests` tests. */
export function listFieldCodes(sdl: string): readonly string[] {
  const types = Object.values(buildASTSchema(parse(sdl), { assumeValidSDL: true }).getTypeMap()).filter(isObjectType);
  const codes = types.flatMap((type) =>
    Object.values(type.getFields()).flatMap(({ name, description }) =>
      listCodes(description ?? "").map((code) => `${type.name}.${name} ${code}`),
    ),
  );
  return codes.filter((code) => !code.includes(" IDEMPOTENCY_KEY_")).toSorted();
}

export type GraphqlRequest = readonly [document: string, variables?: object, token?: string | undefined];

/** What the requests are answered with, in the form of `listFieldCodes`. */
export async function collectFieldCodes(
  service: Client,
  sdl: string,
  requests: readonly GraphqlRequest[],
): Promise<readonly string[]> {
  const answered = new Set<string>();
  for (const [document, variables, token] of requests) {
    const { errors = [] } = await service.graphql(document, variables, token);
    for (const { field, code } of findFieldCodes(sdl, document, errors)) answered.add(`${field} ${code}`);
  }
  return [...answered].toSorted();
}

/** By the location of an error. `_entities` is not in the schema. */
function findFieldCodes(sdl: string, document: string, errors: readonly FieldError[]): readonly FieldCode[] {
  const ofFields = errors.filter(({ path }) => path !== undefined);
  if (ofFields.length === 0) return [];
  const types = new TypeInfo(buildASTSchema(parse(sdl), { assumeValidSDL: true }));
  const codes: FieldCode[] = [];
  const visitor = visitWithTypeInfo(types, {
    Field({ loc }) {
      const { name = "", description } = types.getFieldDef() ?? {};
      if (!loc || name === "") return;
      const field = `${types.getParentType()?.name}.${name}`;
      for (const { locations: [location] = [], extensions } of ofFields) {
        if (location?.line !== loc.startToken.line || location.column !== loc.startToken.column) continue;
        codes.push({ field, description: description ?? "", code: extensions.code });
      }
    },
  });
  visit(parse(document), visitor);
  return codes;
}
