// Compile-time checks that REST bodies have the members of their OpenAPI schemas: TypeScript alone accepts surplus members of a variable.
import type { z } from "zod";

/** Does not compile if `toBody` returns a member, at any depth, that the documented `Body` lacks, or lacks one that it requires. */
export function respondsWith<Body>() {
  return <ToBody extends (...args: never[]) => Body>(
    toBody: ToBody & Undocumented<Surplus<Body, ReturnType<ToBody>>>,
  ): ToBody => toBody;
}

/** Does not compile unless the documented schema accepts the same members as `Input`, the input type of the schema at run time. */
export function documentsRequestBody<Input>() {
  return <Schema extends z.ZodType<unknown, Input>>(
    schema: Schema &
      Undocumented<Surplus<z.input<Schema>, Input>> &
      Unread<Surplus<Input, z.input<Schema>>> &
      (Input extends z.input<Schema> ? unknown : { readonly otherTypes: never }),
  ): Schema => schema;
}

// `unknown` changes no intersection. Otherwise the compiler's message names the wrong members.
type Undocumented<Members> = [Members] extends [never] ? unknown : { readonly undocumentedMembers: Members };
type Unread<Members> = [Members] extends [never] ? unknown : { readonly unreadMembers: Members };

/** Paths such as `author.name`; `never` if there are none. */
type Surplus<Expected, Actual> = Actual extends readonly (infer Item)[]
  ? Surplus<ItemOf<Expected>, Item>
  : Actual extends object
    ? {
        [Name in keyof Actual & string]-?: Name extends NameOf<Expected>
          ? PathBelow<Name, Surplus<MemberOf<Expected, Name>, Actual[Name]>>
          : Name;
      }[keyof Actual & string]
    : never;

type PathBelow<Name extends string, Path> = Path extends string ? `${Name}.${Path}` : never;
type ItemOf<Value> = Value extends readonly (infer Item)[] ? Item : never;
type NameOf<Value> = Value extends object ? keyof Value : never;
type MemberOf<Value, Name> = Value extends object ? (Name extends keyof Value ? Value[Name] : never) : never;
