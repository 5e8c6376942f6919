import type { RequestContext } from "@tributary/kit/graphql/request-context";
import type { OrderActions } from "../actions.ts";
import type { MoneyFormat } from "../money.ts";
import type { Loaders } from "./loaders.ts";

export interface Context extends RequestContext<OrderActions, Loaders> {
  /** Formats amounts for `Money.display`. One for the process, because its formatters are expensive to create. */
  readonly moneyFormat: MoneyFormat;
}
