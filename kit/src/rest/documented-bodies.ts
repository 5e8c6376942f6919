// Compile-time checks that the bodies of REST requests and responses have the members of their OpenAPI schemas. TypeScript alone accepts surplus
// members of a value that is not a literal. At run time these functions return their argument.
import type { z } from "zod";

/**
 * The conversion of a row into a response body. It does not compile if `toBody` returns a member, at any depth, that the documented `Body` lacks, or
 * lacks one that `Body` requires.
 * @example const toPostV1 = respondsWith<PostV1>()((post: Post) => ({ id: post.id }));
 */
export function respondsWith<Body>() {
  return <ToBody extends (...args: never[]) => Body>(
    toBody: ToBody & Undocumented<Surplus<Body, ReturnType<ToBody>>>,
  ): ToBody => toBody;
}

/**
 * The documented schema of a request body. It does not compile unless it accepts the same members, of the same types, as the schema that reads the
 * body at run time, whose input type is `Input`.
 * @example documentsRequestBody<NewPostV1>()(z.strictObject({ title: titleInput }))
 */
export function documentsRequestBody<Input>() {
  return <Schema extends z.ZodType<unknown, Input>>(
    schema: Schema &
      Undocumented<Surplus<z.input<Schema>, Input>> &
      Unread<Surplus<Input, z.input<Schema>>> &
      (Input extends z.input<Schema> ? unknown : { readonly otherTypes: never }),
  ): Schema => schema;
}

// `unknown` changes no intersection, so an argument without wrong members is accepted. Otherwise the compiler's message names the wrong members.
type Undocumented<Members> = [Members] extends [never] ? unknown : { readonly undocumentedMembers: Members };
type Unread<Members> = [Members] extends [never] ? unknown : { readonly unreadMembers: Members };

/** The members of `Actual`, at any depth, that `Expected` lacks, as paths such as `author.name`; `never` if there are none. */
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
