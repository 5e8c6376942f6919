import type { GraphQLFormattedError } from "graphql";

/** Stage 2 returns it for an invalid document or invalid variables, whose errors, unlike a Rejection, are several with locations. */
export class InvalidOperation {
  /** Masked, for the client. */
  readonly errors: readonly GraphQLFormattedError[];

  constructor(errors: readonly GraphQLFormattedError[]) {
    this.errors = errors;
  }
}
