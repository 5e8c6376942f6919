import type { RequestContext } from "@tributary/kit/graphql/request-context";
import type { Actions } from "../actions.ts";
import type { Loaders } from "./loaders.ts";

export type Context = RequestContext<Actions, Loaders>;
